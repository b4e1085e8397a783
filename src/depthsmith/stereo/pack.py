"""A pair as one picture."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import cv2
import numpy as np

from depthsmith.errors import InputError, UsageError
from depthsmith.types import FloatArray, PixelArray, StereoPair, describe

Anaglyph = Literal["color", "half-color", "gray", "dubois"]

LUMA = (0.299, 0.587, 0.114)
"""Rec. 601."""

DUBOIS_LEFT = (
    (0.4561000, 0.5004838, 0.1763809),
    (-0.0400822, -0.0378246, -0.0157589),
    (-0.0152161, -0.0205971, -0.0054686),
)
DUBOIS_RIGHT = (
    (-0.0434706, -0.0879388, -0.0015553),
    (0.3784760, 0.7336400, -0.0184503),
    (-0.0721527, -0.1129606, 1.2263951),
)
"""Red-cyan glasses before an sRGB screen: E. Dubois, "A projection method to generate anaglyph
stereo images", ICASSP 2001, with the filters and screen of W. Sanders and D. McAllister,
"Producing anaglyphs from synthetic images", Proc. SPIE 5006 (2003). They mix light, so they
work on linear RGB."""


def side_by_side(pair: StereoPair, *, half: bool = False) -> PixelArray:
    """The left view on the left: ``(H, 2 W, 3)``, or ``(H, W, 3)`` of half as wide views.

    An odd width loses a column in the half form.
    """
    if half:
        height, width = pair.size
        return np.concatenate([_resize(v, height, width // 2) for v in _views(pair)], axis=1)
    return _in_one_array(pair)


def cross_eyed(pair: StereoPair) -> PixelArray:
    """The right view on the left, for crossing one's eyes: ``(H, 2 W, 3)``."""
    return np.concatenate([pair.right, pair.left], axis=1)


def top_bottom(pair: StereoPair, *, half: bool = False) -> PixelArray:
    """The left view above: ``(2 H, W, 3)``, or ``(H, W, 3)`` of half as high views.

    An odd height loses a row in the half form.
    """
    height, width = pair.size
    views = [_resize(v, height // 2, width) for v in _views(pair)] if half else _views(pair)
    return np.concatenate(views, axis=0)


def interlaced_rows(pair: StereoPair) -> PixelArray:
    """The first, third, … row of the left view, the others of the right: ``(H, W, 3)``."""
    rows = pair.left.copy()
    rows[1::2] = pair.right[1::2]
    return rows


def anaglyph(pair: StereoPair, method: Anaglyph = "dubois") -> PixelArray:
    """For red-cyan glasses, red on the left eye: ``(H, W, 3)``.

    ``color``: red of the left view, green and blue of the right. ``half-color``: the same
    with the brightness of the left view as red, which calms red things. ``gray``: the
    brightness of both. ``dubois``: what looks most alike through the glasses, see
    `DUBOIS_LEFT`.

    Raises:
        UsageError: for an unknown method.
    """
    if method == "dubois":
        return _dubois(pair)
    if method not in ("color", "half-color", "gray"):
        raise UsageError(f"an anaglyph is color, half-color, gray or dubois, not {method!r}")
    mixed = pair.right.copy()
    if method == "gray":
        mixed[...] = _luma(pair.right)[..., None]
    mixed[..., 0] = pair.left[..., 0] if method == "color" else _luma(pair.left)
    return mixed


def with_depth(rgb: PixelArray, near: FloatArray) -> PixelArray:
    """The picture and, right of it, its depth in gray, near is white: ``(H, 2 W, 3)``.

    Args:
        rgb: ``(H, W, 3)`` uint8 or uint16.
        near: ``(H, W)`` float32 from 0 to 1.

    Raises:
        InputError: for arrays of other shapes or types, or a depth that is not a number.
    """
    rgb, near = np.asarray(rgb), np.asarray(near)
    if rgb.dtype not in (np.uint8, np.uint16) or rgb.shape[2:] != (3,):
        raise InputError(f"the picture is {describe(rgb)}; it must be (H, W, 3) uint8 or uint16")
    if near.shape != rgb.shape[:2] or near.dtype != np.float32:
        raise InputError(
            f"the depth is {describe(near)}; of this picture it must be {rgb.shape[:2]} float32"
        )
    if np.isnan(near).any():
        raise InputError("the depth map holds values that are not finite")
    white = np.iinfo(rgb.dtype).max
    gray = np.rint(np.clip(near, 0, 1) * np.float32(white)).astype(rgb.dtype)
    return np.concatenate([rgb, np.repeat(gray[..., None], 3, axis=2)], axis=1)


FORMATS: dict[str, Callable[[StereoPair], PixelArray]] = {
    "sbs": side_by_side,
    "half-sbs": lambda pair: side_by_side(pair, half=True),
    "tb": top_bottom,
    "half-tb": lambda pair: top_bottom(pair, half=True),
    "cross-eyed": cross_eyed,
    "anaglyph": anaglyph,
    "anaglyph-color": lambda pair: anaglyph(pair, "color"),
    "anaglyph-half-color": lambda pair: anaglyph(pair, "half-color"),
    "anaglyph-gray": lambda pair: anaglyph(pair, "gray"),
    "anaglyph-dubois": anaglyph,
    "interlaced": interlaced_rows,
}


def pack(pair: StereoPair, layout: str) -> PixelArray:
    """By name.

    Raises:
        UsageError: for a name that is not in `FORMATS`.
        InputError: for what is no pair.
    """
    if not isinstance(pair, StereoPair):
        raise InputError(f"the views are a StereoPair, not {describe(pair)}")
    if layout not in FORMATS:
        raise UsageError(f"the layout is one of {', '.join(FORMATS)}, not {layout!r}")
    return FORMATS[layout](pair)


def _views(pair: StereoPair) -> list[PixelArray]:
    return [pair.left, pair.right]


def _in_one_array(pair: StereoPair) -> PixelArray:
    """Side by side; without a copy where the renderer has drawn them so."""
    left, right = pair.left, pair.right
    height, width = pair.size
    size = left.itemsize
    strides = (6 * width * size, 3 * size, size)
    if left.strides == right.strides == strides and left.ctypes.data + 3 * width * size == (
        right.ctypes.data
    ):
        return np.lib.stride_tricks.as_strided(left, (height, 2 * width, 3), strides)
    return np.concatenate(_views(pair), axis=1)


def _resize(view: PixelArray, height: int, width: int) -> PixelArray:
    # INTER_AREA is the mean of what falls into a pixel.
    return np.asarray(
        cv2.resize(view, (max(1, width), max(1, height)), interpolation=cv2.INTER_AREA)
    )


def _luma(view: PixelArray) -> PixelArray:
    luma = view.astype(np.float32) @ np.array(LUMA, np.float32)
    return np.rint(luma).astype(view.dtype)


def _dubois(pair: StereoPair) -> PixelArray:
    white = np.iinfo(pair.left.dtype).max
    levels = np.arange(white + 1) / white
    linear = np.where(levels <= 0.04045, levels / 12.92, ((levels + 0.055) / 1.055) ** 2.4)
    linear = linear.astype(np.float32)
    mixed = linear[pair.left] @ np.array(DUBOIS_LEFT, np.float32).T
    mixed += linear[pair.right] @ np.array(DUBOIS_RIGHT, np.float32).T
    np.clip(mixed, 0, 1, out=mixed)
    encoded = np.where(mixed <= 0.0031308, mixed * 12.92, 1.055 * mixed ** (1 / 2.4) - 0.055)
    return np.rint(encoded * white).astype(pair.left.dtype)
