"""ETH3D high-resolution multi-view (Schöps et al. 2017): depth as bare float32.

``SCENE/ground_truth_depth/dslr_images/NAME.JPG`` is no picture but the rows of float32 of the
photo ``SCENE/images/dslr_images/NAME.JPG`` (distorted), infinite where not measured; the two
may lie in separate folders. The focal length is in ``SCENE/dslr_calibration_jpg``. Evaluated
up to 72 m, as in Ranftl et al. 2020 (arXiv:1907.01341). The two-view scenes have the form of
Middlebury's.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path, PurePosixPath

import numpy as np
from PIL import Image

from depthsmith.errors import DatasetError
from depthsmith.media.dataset.camera import colmap_focal_px
from depthsmith.media.dataset.sample import Dataset, Missing, Sample, Truth
from depthsmith.media.dataset.tree import Tree
from depthsmith.media.dataset.truth_file import check_scale, read_bytes
from depthsmith.media.photo import read_photo

CAP_M = 72.0

_CALIBRATION = ("dslr_calibration_jpg", "cameras.txt")


def read_eth3d(tree: Tree, units_per_metre: float | None) -> Dataset:
    """ETH3D's photos with their depth."""
    photos = {
        (f.parts[-4], f.name): f for f in tree.files if f.parts[-3:-1] == ("images", "dslr_images")
        and len(f.parts) >= 4
    }  # fmt: skip
    cameras = {f.parts[-3]: f.parent for f in tree.files if f.parts[-2:] == _CALIBRATION}
    samples: list[Sample] = []
    missing: list[Missing] = []
    for depth in (f for f in tree.files if is_eth3d_truth(f)):
        scene = depth.parts[-4]
        photo = photos.get((scene, depth.name))
        if photo is None:
            missing.append(Missing(str(depth), f"no photo goes with {depth}"))
            continue
        path = tree.path(photo)
        camera = cameras.get(scene)
        folder = None if camera is None else tree.path(camera)
        truth = partial(_truth, tree.path(depth), path, folder, units_per_metre or 1.0)
        samples.append(Sample(str(photo.with_suffix("")), partial(read_photo, path), truth))
    return Dataset("eth3d", tree.root, tuple(samples), tuple(missing), CAP_M)


def is_eth3d_truth(file: PurePosixPath) -> bool:
    """Whether a file lies where ETH3D keeps depth."""
    return len(file.parts) >= 4 and file.parts[-3:-1] == ("ground_truth_depth", "dslr_images")


def _truth(depth: Path, photo: Path, calibration: Path | None, units: float) -> Truth:
    try:
        with Image.open(photo) as image:
            width, height = image.size  # as stored, which is how the depth lies
    except OSError as error:
        raise DatasetError(f"cannot read {photo}, which the depth takes its size from") from error
    data = read_bytes(depth)
    needed = 4 * width * height
    if len(data) != needed:
        raise DatasetError(
            f"{depth} has {len(data)} bytes, its photo of {width}x{height} needs {needed}"
        )
    depth_m = np.frombuffer(data, "<f4").reshape(height, width).astype(np.float32)
    depth_m /= np.float32(units)
    check_scale(depth_m, None, depth)
    focal_px = None if calibration is None else colmap_focal_px(calibration, photo.name)
    return Truth(depth_m, focal_px=focal_px)
