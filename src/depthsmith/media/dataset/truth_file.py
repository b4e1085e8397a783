"""Read one file of measured depth, and its mask."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from depthsmith.errors import DatasetError
from depthsmith.media.dataset.sample import Truth
from depthsmith.media.depth_reading import read_depth, read_maps
from depthsmith.media.image_file import load_image_file
from depthsmith.types import BoolArray, DepthKind, FloatArray

TRUTH_SUFFIXES = (".png", ".tif", ".tiff", ".exr", ".pfm", ".npy", ".npz", ".dpt")
FLOAT_SUFFIXES = (".exr", ".pfm", ".npy", ".npz", ".dpt")

MILLIMETRES = 1000.0
"""What whole numbers are taken for unless something else is said: ROS, NYU, most others."""

_FARTHEST_MEDIAN_M = 1000.0
_NEAREST_MEDIAN_M = 0.01
_DPT_TAG = 202021.25  # the first number of Sintel's files


def read_truth(
    path: Path,
    *,
    units_per_metre: float | None = None,
    mask: Path | None = None,
    focal_px: float | None = None,
) -> Truth:
    """Read measured depth as metres.

    PNG and TIFF of whole numbers are millimetres, files of floating-point numbers metres,
    unless ``units_per_metre`` says otherwise. Files that depthsmith wrote say it themselves.
    NPZ may hold an array ``mask`` beside its ``depth``.

    Args:
        path: PNG, TIFF, EXR, PFM, NPY, NPZ or Sintel's DPT.
        units_per_metre: how many of the file's units make a metre: 256 for KITTI.
        mask: a file that is not 0 where the depth counts.
        focal_px: passed on.

    Raises:
        ImageError, DatasetError: if a file cannot be read, is no depth, or does not say its
            scale while it has to.
        DatasetError: if the median of the depth is beyond belief (1 cm to 1 km), or the mask
            has another size.
    """
    values, own_mask = _read(path, units_per_metre)
    both = None if own_mask is None else _fitting(own_mask, values, path)
    if mask is not None:
        other = _fitting(read_mask(mask), values, path)
        both = other if both is None else np.logical_and(both, other)
    check_scale(values, both, path)
    return Truth(values, both, focal_px)


def read_mask(path: Path) -> BoolArray:
    """Read a mask: True where the file is not 0.

    Args:
        path: a picture of any kind, or NPY.

    Returns:
        ``(H, W)`` bool.

    Raises:
        ImageError, DatasetError: if it cannot be read.
    """
    if path.suffix.lower() == ".npy":
        values = read_maps(path, None)[0]["depth"]
    else:
        pixels = load_image_file(path, max_pixels=None, allow_truncated=False).pixels
        if isinstance(pixels, Image.Image) and pixels.mode == "P":
            pixels = pixels.convert("RGB")
        values = np.asarray(pixels)
        if values.ndim == 3:
            colors = 1 if values.shape[2] == 2 else 3
            values = np.asarray(values[..., :colors].any(axis=2))
    values = _flat(values, path)
    return np.asarray(np.nan_to_num(values.astype(np.float32)) != 0)


def read_dpt(path: Path) -> FloatArray:
    """Sintel's depth: a tag, width and height as int32, then float32 by rows, little endian.

    Source: ``depth_read`` of the data set's Python tools.

    Raises:
        DatasetError: if it is no such file, or truncated.
    """
    data = read_bytes(path)
    if len(data) < 12 or struct.unpack("<f", data[:4])[0] != np.float32(_DPT_TAG):
        raise DatasetError(f"{path} is no DPT file of Sintel's")
    width, height = struct.unpack("<ii", data[4:12])
    if width < 1 or height < 1 or len(data) != 12 + 4 * width * height:
        raise DatasetError(f"{path} is damaged: {len(data)} bytes for {width}x{height}")
    values: FloatArray = np.frombuffer(data, "<f4", offset=12).reshape(height, width)
    return values.astype(np.float32)


def check_scale(depth_m: FloatArray, mask: BoolArray | None, name: Path | str) -> None:
    """Refuse depth that cannot be in metres, because its scale was not what it is taken for.

    Raises:
        DatasetError: if the median of what is measured lies outside of 1 cm to 1 km.
    """
    known = np.isfinite(depth_m) & (depth_m > 0)
    if mask is not None:
        known &= mask
    if not known.any():
        return  # said where the pixels that count are chosen
    median = float(np.median(depth_m[known]))
    if not _NEAREST_MEDIAN_M <= median <= _FARTHEST_MEDIAN_M:
        raise DatasetError(
            f"the median depth of {name} would be {median:.4g} m, so its scale is another; say "
            "how many of its units make a metre, as in --depth-scale 1000 for millimetres"
        )


def read_bytes(path: Path) -> bytes:
    """All of a file.

    Raises:
        DatasetError: if it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror}") from error


def _read(path: Path, units_per_metre: float | None) -> tuple[FloatArray, BoolArray | None]:
    if path.suffix.lower() == ".dpt":
        return read_dpt(path) / np.float32(units_per_metre or 1.0), None
    maps, header = read_maps(path, None)
    if header:
        if units_per_metre is not None:
            raise DatasetError(f"{path} says its scale itself; leave --depth-scale out")
        return read_depth(path, DepthKind.DEPTH_M, max_pixels=None).values, None
    values = _flat(maps["depth"], path)
    if units_per_metre is None:
        if values.dtype.itemsize == 1:
            raise DatasetError(
                f"{path} has 8 bits and does not say its scale; give --depth-scale, the number "
                "of its units in a metre"
            )
        units_per_metre = 1.0 if values.dtype.kind == "f" else MILLIMETRES
    metres = (values.astype(np.float64) / units_per_metre).astype(np.float32)
    mask = None if "mask" not in maps else _flat(maps["mask"], path).astype(np.bool_)
    return metres, mask


def _fitting(mask: BoolArray, values: FloatArray, path: Path) -> BoolArray:
    if mask.shape != values.shape:
        raise DatasetError(
            f"the mask of {path} is {_size(mask)}, the depth {_size(values)}; they must have "
            "one size"
        )
    return mask


def _flat(values: NDArray[Any], path: Path) -> NDArray[Any]:
    """``(H, W)``; axes of one are dropped."""
    if values.ndim > 2:
        values = values.reshape([n for n in values.shape if n != 1])
    if values.ndim != 2 or values.dtype.kind not in "buif" or min(values.shape) < 1:
        raise DatasetError(f"{path} holds {values.shape} {values.dtype}, not a map (H, W)")
    return values


def _size(array: NDArray[Any]) -> str:
    return "x".join(str(n) for n in array.shape[::-1])
