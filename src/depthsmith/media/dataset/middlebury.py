"""Middlebury stereo (Scharstein et al. 2014): disparity and calibration for each scene.

``SCENE/im0.png``, ``SCENE/disp0.pfm`` (or ``disp0GT.pfm``, as in ETH3D's two-view scenes) and
``SCENE/calib.txt``. Depth in millimetres is ``baseline * f / (disparity + doffs)``; disparity
is infinite where it is not known.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from depthsmith.errors import DatasetError
from depthsmith.media.dataset.camera import text_of
from depthsmith.media.dataset.sample import Dataset, Missing, Sample, Truth
from depthsmith.media.dataset.tree import Tree
from depthsmith.media.dataset.truth_file import check_scale
from depthsmith.media.depth_reading import read_depth
from depthsmith.media.photo import read_photo
from depthsmith.types import DepthKind

CALIBRATION = "calib.txt"
DISPARITIES = ("disp0.pfm", "disp0GT.pfm")


def read_middlebury(tree: Tree, units_per_metre: float | None) -> Dataset:
    """Middlebury's scenes with their depth."""
    photos = tree.photos()
    calibrations = set(tree.named(CALIBRATION))
    samples: list[Sample] = []
    missing: list[Missing] = []
    for disparity in tree.named(*DISPARITIES):
        key = disparity.with_name("im0")
        calibration = disparity.with_name(CALIBRATION)
        if key not in photos:
            missing.append(Missing(str(disparity), f"no photo {key}.png goes with {disparity}"))
        elif calibration not in calibrations:
            missing.append(Missing(str(disparity), f"no {calibration} goes with {disparity}"))
        else:
            truth = partial(_truth, tree.path(disparity), tree.path(calibration))
            samples.append(Sample(str(key), partial(read_photo, tree.path(photos[key])), truth))
    return Dataset("middlebury", tree.root, tuple(samples), tuple(missing))


def _truth(disparity: Path, calibration: Path) -> Truth:
    focal_px, doffs_px, baseline_mm = read_calibration(calibration)
    values = read_depth(disparity, DepthKind.INVERSE_DEPTH).values.astype(np.float64)
    shifted = values + doffs_px
    known = np.isfinite(values) & (shifted > 0)
    depth_m = np.full(values.shape, np.nan, np.float32)
    depth_m[known] = baseline_mm / 1000 * focal_px / shifted[known]
    check_scale(depth_m, None, disparity)
    return Truth(depth_m, focal_px=focal_px)


def read_calibration(path: Path) -> tuple[float, float, float]:
    """Focal length in pixels, offset of the principal points in pixels, baseline in mm.

    Raises:
        DatasetError: if the file does not say them.
    """
    lines = (line.partition("=") for line in text_of(path).splitlines())
    values = {key.strip(): value.strip() for key, _, value in lines}
    try:
        focal_px = float(values["cam0"].strip("[]").split()[0])
        numbers = focal_px, float(values["doffs"]), float(values["baseline"])
    except (KeyError, ValueError, IndexError) as error:
        raise DatasetError(f"{path} does not say cam0, doffs and baseline") from error
    if not (np.isfinite(numbers).all() and focal_px > 0 and numbers[2] > 0):
        raise DatasetError(f"{path} is damaged: focal length and baseline must be positive")
    return numbers
