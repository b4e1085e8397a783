"""The network's output back to the size of the photo."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from depthsmith.errors import ModelError
from depthsmith.types import BoolArray, FloatArray, Placement, Size

_BAND_ROWS = 256


def restore(values: NDArray[Any], placement: Placement) -> FloatArray:
    """Cut the padding off and resize to the photo by bilinear interpolation.

    Args:
        values: ``(h, w)`` output at the network's input size.
        placement: from `depthsmith.depth.fit.fit`.

    Returns:
        ``(H, W)`` float32. What is not finite spreads to its neighbours.

    Raises:
        ModelError: if the output does not have the size of the input.
    """
    content = _content(values, placement).astype(np.float32)
    if placement.align_corners:
        return _align_corners(content, placement.source)
    return _half_pixel(content, placement.source)


def restore_mask(mask: NDArray[Any], placement: Placement) -> BoolArray:
    """The same for a mask: each pixel of the photo takes the value that is nearest to it.

    Args:
        mask: ``(h, w)`` bool at the network's input size.

    Returns:
        ``(H, W)`` bool.
    """
    content = _content(mask, placement).astype(np.bool_)
    rows, columns = (
        np.rint(_positions(old, new, placement.align_corners)).astype(np.intp).clip(0, old - 1)
        for old, new in zip(content.shape, placement.source, strict=True)
    )
    restored: BoolArray = content[rows][:, columns]
    return restored


def _content(values: NDArray[Any], placement: Placement) -> NDArray[Any]:
    if values.shape != tuple(placement.network):
        raise ModelError(
            f"the network's output has shape {values.shape}, its input {placement.network}; "
            "the output must follow the input (`depthsmith verify` tells more)"
        )
    return values[placement.rows, placement.columns]


def _half_pixel(content: FloatArray, size: Size) -> FloatArray:
    """``F.interpolate(mode="bilinear", align_corners=False)``."""
    if content.shape == tuple(size):
        return content
    restored: FloatArray = cv2.resize(
        content, (size.width, size.height), interpolation=cv2.INTER_LINEAR
    )
    return restored


def _align_corners(content: FloatArray, size: Size) -> FloatArray:
    """``F.interpolate(mode="bilinear", align_corners=True)``.

    OpenCV has this only with weights rounded to 1/32 (``remap``, ``warpAffine``).
    """
    left, right, weight = _neighbours(content.shape[1], size.width)
    wide = content[:, left] * (1 - weight) + content[:, right] * weight  # (h, W)
    upper, lower, weight = _neighbours(content.shape[0], size.height)
    restored = np.empty(size, np.float32)
    for top in range(0, size.height, _BAND_ROWS):
        rows = slice(top, top + _BAND_ROWS)
        share = weight[rows, None]
        restored[rows] = wide[upper[rows]] * (1 - share) + wide[lower[rows]] * share
    return restored


def _neighbours(old: int, new: int) -> tuple[NDArray[np.intp], NDArray[np.intp], FloatArray]:
    """The two samples that each new one lies between, and the share of the second."""
    position = _positions(old, new, align_corners=True)
    first = np.minimum(position.astype(np.intp), old - 1)
    second = np.minimum(first + 1, old - 1)
    share: FloatArray = (position - first).astype(np.float32)
    return first, second, share


def _positions(old: int, new: int, align_corners: bool) -> NDArray[np.float64]:
    """Where the new samples lie among the old ones, in units of those."""
    index = np.arange(new, dtype=np.float64)
    if align_corners:
        return index * ((old - 1) / (new - 1)) if new > 1 else index
    return (index + 0.5) * (old / new) - 0.5
