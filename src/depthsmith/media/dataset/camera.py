"""Focal lengths, from the files that data sets keep them in."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from depthsmith.errors import DatasetError
from depthsmith.media.dataset.truth_file import read_bytes


def text_of(path: Path) -> str:
    """The text of a small file.

    Raises:
        DatasetError: if it cannot be read.
    """
    return read_bytes(path).decode("utf-8", errors="replace")


def matrix_focal_px(path: Path) -> float:
    """From a text file of a 3x3 intrinsic matrix, row by row (KITTI's depth selection).

    Raises:
        DatasetError: if it is none.
    """
    return _mean_focal(text_of(path).split(), path)


def kitti_focal_px(path: Path, camera: str) -> float:
    """From KITTI's ``calib_cam_to_cam.txt``: the rectified projection of ``camera``, ``02``.

    Raises:
        DatasetError: if it is not there.
    """
    for line in text_of(path).splitlines():
        key, _, values = line.partition(":")
        if key.strip() == f"P_rect_{camera}":
            row = values.split()
            return _mean_focal([*row[:3], *row[4:7]], path)
    raise DatasetError(f"{path} has no line P_rect_{camera}")


def colmap_focal_px(folder: Path, photo_name: str) -> float:
    """From COLMAP's ``cameras.txt`` and ``images.txt`` (ETH3D).

    Every model with two focal lengths begins with them; ETH3D uses no other.

    Raises:
        DatasetError: if the photo or its camera is not there.
    """
    camera_id = None
    for line in text_of(folder / "images.txt").splitlines():
        words = line.split()
        if len(words) == 10 and words[9].rsplit("/", 1)[-1] == photo_name:
            camera_id = words[8]
    for line in text_of(folder / "cameras.txt").splitlines():
        words = line.split()
        if camera_id is not None and words[:1] == [camera_id] and len(words) > 6:
            return _mean_focal([words[4], "0", "0", "0", words[5]], folder / "cameras.txt")
    raise DatasetError(f"{folder} has no camera for {photo_name}")


def sintel_focal_px(path: Path) -> float:
    """From Sintel's ``.cam``: a tag, then the 3x3 intrinsic matrix as float64.

    Raises:
        DatasetError: if it is damaged.
    """
    data = read_bytes(path)
    if len(data) < 76:
        raise DatasetError(f"{path} is damaged")
    return _mean_focal([str(v) for v in struct.unpack("<9d", data[4:76])], path)


def _mean_focal(matrix: list[str], path: Path) -> float:
    """Mean of fx and fy, the first and fifth number of a matrix."""
    try:
        focal_px = (float(matrix[0]) + float(matrix[4])) / 2
    except (ValueError, IndexError):
        focal_px = np.nan
    if not (np.isfinite(focal_px) and focal_px > 0):
        raise DatasetError(f"{path} is damaged: it holds no focal length")
    return focal_px
