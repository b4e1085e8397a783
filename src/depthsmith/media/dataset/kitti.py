"""KITTI depth (Uhrig et al. 2017, arXiv:1708.06500): 16-bit PNG of 1/256 m, 0 is no value.

- the selection: ``groundtruth_depth/…_sync_groundtruth_depth_0000000005_image_02.png`` with
  ``image/…_sync_image_0000000005_image_02.png`` and ``intrinsics/`` beside;
- the annotated drives: ``DRIVE/proj_depth/groundtruth/image_02/0000000005.png``, the photo
  anywhere below the same folder in ``DRIVE/image_02/data/``;
- else any folder of pairs, in 1/256 m.

Photos without depth are no fault here: the first and last of each drive have none. Evaluated
up to 80 m inside the crop of Garg et al. 2016.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath

from depthsmith.media.dataset.camera import kitti_focal_px, matrix_focal_px
from depthsmith.media.dataset.pairs import read_pairs
from depthsmith.media.dataset.sample import Dataset, Missing, Sample, Truth
from depthsmith.media.dataset.tree import Tree
from depthsmith.media.dataset.truth_file import read_truth
from depthsmith.media.photo import read_photo

UNITS_PER_METRE = 256.0
CAP_M = 80.0

_CALIBRATION = "calib_cam_to_cam.txt"


def read_kitti(tree: Tree, units_per_metre: float | None) -> Dataset:
    """KITTI depth in any of the forms above.

    Raises:
        DatasetError: if it holds no picture with depth.
    """
    units = units_per_metre or UNITS_PER_METRE
    truths = [f for f in tree.ending(".png") if is_kitti_truth(f)]
    if not truths:
        dataset = read_pairs(tree, units)
        return replace(dataset, layout="kitti", cap_m=CAP_M, crop="garg")
    photos = tree.photos()
    by_drive = {_drive_key(key): key for key in photos if key.parent.name == "data"}
    files = set(tree.files)
    calibrations = {f.parent.name: f for f in tree.named(_CALIBRATION)}
    samples: list[Sample] = []
    missing: list[Missing] = []
    for truth in truths:
        intrinsics: Path | None = None
        camera = ""
        if truth.parent.name == "groundtruth_depth":
            name = truth.stem.replace("_groundtruth_depth_", "_image_")
            key = truth.parent.parent / "image" / name
            text = truth.parent.parent / "intrinsics" / f"{name}.txt"
            if text in files:
                intrinsics = tree.path(text)
        else:
            drive, camera = truth.parts[-5], truth.parent.name
            key = by_drive.get((drive, camera, truth.stem), PurePosixPath())
            calibration = calibrations.get(drive[:10])  # by the date
            intrinsics = None if calibration is None else tree.path(calibration)
        if key not in photos:
            missing.append(Missing(str(truth), f"no photo goes with {truth}"))
            continue
        samples.append(
            Sample(
                str(key),
                partial(read_photo, tree.path(photos[key])),
                partial(_truth, tree.path(truth), units, intrinsics, camera),
            )
        )
    return Dataset("kitti", tree.root, tuple(samples), tuple(missing), CAP_M, "garg")


def is_kitti_truth(file: PurePosixPath) -> bool:
    """Whether a file lies where KITTI keeps depth."""
    parts = file.parts
    annotated = len(parts) >= 5 and parts[-4:-2] == ("proj_depth", "groundtruth")
    selected = file.parent.name == "groundtruth_depth" and "_groundtruth_depth_" in file.name
    return annotated or selected


def _drive_key(photo: PurePosixPath) -> tuple[str, str, str]:
    """Drive, camera and number of ``DRIVE/image_02/data/0000000005``."""
    parts = ("", "", *photo.parts)
    return parts[-4], parts[-3], photo.name


def _truth(path: Path, units: float, intrinsics: Path | None, camera: str) -> Truth:
    focal_px = None
    if intrinsics is not None:
        if intrinsics.name == _CALIBRATION:
            focal_px = kitti_focal_px(intrinsics, camera.removeprefix("image_"))
        else:
            focal_px = matrix_focal_px(intrinsics)
    return read_truth(path, units_per_metre=units, focal_px=focal_px)
