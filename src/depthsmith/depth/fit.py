"""A photo into the network's input: resize, pad, normalise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from depthsmith.contract import IMAGENET_MEAN, IMAGENET_STD, InputSpec, Preprocessing, SizeRule
from depthsmith.depth.restore import restore, restore_mask
from depthsmith.depth.sizes import (
    DEFAULT_RESOLUTION,
    da3_bounded_size,
    letterbox_size,
    official_size,
    stretch_size,
)
from depthsmith.errors import UsageError
from depthsmith.types import ByteArray, FloatArray, Placement, Size

__all__ = ["Fitted", "Method", "fit", "official_size", "restore", "restore_mask", "to_input"]

Method = Literal["official", "letterbox", "stretch"]

_BAND_ROWS = 64


@dataclass(frozen=True, eq=False)
class Fitted:
    """A photo at the network's input size.

    Attributes:
        pixels: ``(h, w, 3)`` RGB, uint8, or float32 in 0..255. Float values may lie outside of
            that range: cubic interpolation overshoots, and V1 and V2 keep it.
        placement: how to get back to the photo.
    """

    pixels: ByteArray | FloatArray
    placement: Placement


def fit(
    rgb: ByteArray,
    *,
    method: Method,
    preprocessing: Preprocessing | None,
    rule: SizeRule,
    resolution: int | None = None,
) -> Fitted:
    """Bring a photo to a size that the network accepts.

    ``official`` does what the family's own code does: V1 and V2 resize by cubic interpolation
    in float64 (``image2tensor``), DA3 in uint8 by area or cubic, in two steps
    (``InputProcessor``). ``letterbox`` keeps the aspect ratio and pads with the ImageNet mean,
    which normalises to 0. ``stretch`` fills the size by cubic interpolation in uint8.

    Args:
        rgb: ``(H, W, 3)`` uint8, upright.
        method: see above.
        preprocessing: the family; None where unknown, which rules out ``official``.
        rule: sizes that the file accepts.
        resolution: target side in pixels (see `official_size`), for files of free size.

    Raises:
        UsageError: if ``official`` does not go with the file, or ``resolution`` with a fixed
            size.
    """
    source = Size(*rgb.shape[:2])
    if resolution is not None and rule.fixed is not None and method != "official":
        raise UsageError(
            f"this file has the fixed size {rule.fixed}, a resolution cannot be chosen; "
            "build one with --size dynamic"
        )
    if method == "stretch":
        network = stretch_size(rule, resolution)
        pixels = _resize(rgb, network, cv2.INTER_CUBIC)
        return Fitted(pixels, Placement(source, network, 0, 0, network))
    if method == "letterbox":
        network, content = letterbox_size(source, preprocessing, rule, resolution)
        return _letterbox(rgb, network, content)
    if preprocessing is None:
        raise UsageError(
            "it is not known how the authors of this network prepare its pictures; "
            "use --fit letterbox or --fit stretch"
        )
    placement = _official_placement(source, preprocessing, rule, resolution)
    network = placement.network
    if preprocessing == "da3":
        bounded = da3_bounded_size(source, resolution or DEFAULT_RESOLUTION["da3"])
        return Fitted(_area_or_cubic(_area_or_cubic(rgb, bounded), network), placement)
    return Fitted(_cubic_float64(rgb, network), placement)


def fit_by_area(
    rgb: ByteArray, preprocessing: Preprocessing, rule: SizeRule, resolution: int | None = None
) -> Fitted:
    """The official size, had by area where the picture shrinks, in uint8.

    Args:
        rgb: ``(H, W, 3)`` uint8, upright.
        preprocessing, rule, resolution: as `fit`.

    Raises:
        UsageError: if the file does not take that size.
    """
    source = Size(*rgb.shape[:2])
    placement = _official_placement(source, preprocessing, rule, resolution)
    network = placement.network
    return Fitted(_area_or_cubic(rgb, network), placement)


def _official_placement(
    source: Size, preprocessing: Preprocessing, rule: SizeRule, resolution: int | None
) -> Placement:
    network = official_size(source, preprocessing, resolution)
    if not rule.accepts(network):
        raise UsageError(
            f"--fit official makes an input of {network} (height x width) of this {source.wxh} "
            "photo, which the file does not take; use --fit letterbox, or a file built with "
            "--size dynamic"
        )
    # V2's infer_image goes back with align_corners=True, V1's run.py with False.
    return Placement(source, network, 0, 0, network, align_corners=preprocessing == "da2")


def to_input(pixels: Sequence[NDArray[Any]] | NDArray[Any], spec: InputSpec) -> NDArray[Any]:
    """A batch as the graph takes it.

    Args:
        pixels: ``N`` arrays ``(h, w, 3)`` of one size, RGB, uint8 or float in 0..255.
        spec: dtype, layout and normalisation of the graph's input.

    Returns:
        ``(N, 3, h, w)``, ``(N, h, w, 3)`` or ``(N, 1, 3, h, w)`` of ``spec.dtype``.

    Raises:
        UsageError: if the normalisation is not known, or is not possible in uint8.
    """
    if spec.normalization is None:
        raise UsageError(
            f"it is not known how the input {spec.name!r} is normalised; "
            "say it with --normalization imagenet, zero_one or none"
        )
    if spec.dtype == "uint8" and spec.normalization != "none":
        raise UsageError(f"the input {spec.name!r} is uint8, which cannot be normalised outside")
    height, width = np.shape(pixels[0])[:2]
    batch = np.empty((len(pixels), 3, height, width), spec.dtype)
    for target, photo in zip(batch, pixels, strict=True):
        if photo.dtype == np.uint8 and spec.dtype == "float32" and spec.normalization != "none":
            _look_up(photo, spec, target)
        else:
            target[...] = _normalize(photo, spec).transpose(2, 0, 1)
    if spec.layout == "NHWC":
        return np.ascontiguousarray(batch.transpose(0, 2, 3, 1))  # (N, h, w, 3)
    return batch[:, None] if spec.layout == "NSCHW" else batch


def _look_up(photo: ByteArray, spec: InputSpec, planes: FloatArray) -> None:
    """`_normalize` of all levels there are, looked up: a film has no time for float64."""
    table = _unit(np.arange(256)[:, None].repeat(3, axis=1), spec).astype(np.float32)
    for channel, levels in enumerate(cv2.split(photo)):
        cv2.LUT(levels, table[:, channel], planes[channel])


def _normalize(photo: NDArray[Any], spec: InputSpec) -> NDArray[Any]:
    if spec.dtype == "uint8":
        levels: NDArray[Any] = np.clip(np.rint(photo), 0, 255)
        return levels
    return photo if spec.normalization == "none" else _unit(photo, spec)


def _unit(levels: NDArray[Any], spec: InputSpec) -> NDArray[Any]:
    unit = levels.astype(np.float64) / 255.0
    if spec.normalization == "zero_one":
        return unit
    normalized: NDArray[Any] = (unit - IMAGENET_MEAN) / IMAGENET_STD
    return normalized


def _letterbox(rgb: ByteArray, network: Size, content: Size) -> Fitted:
    source = Size(*rgb.shape[:2])
    top, left = (network.height - content.height) // 2, (network.width - content.width) // 2
    placement = Placement(source, network, top, left, content)
    inside = _area_or_cubic(rgb, content)
    if content == network:
        return Fitted(inside, placement)
    # Float, because the mean is no whole number of 255ths.
    mean = np.asarray(IMAGENET_MEAN, np.float32) * np.float32(255)
    pixels: FloatArray = np.tile(mean, (*network, 1))
    pixels[placement.rows, placement.columns] = inside
    return Fitted(pixels, placement)


def _area_or_cubic(rgb: ByteArray, size: Size) -> ByteArray:
    """Resize by cubic interpolation if a side grows, else by area, as DA3 does."""
    grows = size.height > rgb.shape[0] or size.width > rgb.shape[1]
    return _resize(rgb, size, cv2.INTER_CUBIC if grows else cv2.INTER_AREA)


def _resize(rgb: ByteArray, size: Size, interpolation: int) -> ByteArray:
    if size == rgb.shape[:2]:
        return rgb
    resized: ByteArray = cv2.resize(rgb, (size.width, size.height), interpolation=interpolation)
    return resized


def _cubic_float64(rgb: ByteArray, size: Size) -> FloatArray:
    """Cubic interpolation in float64, the overshoot kept.

    Rows first, a band at a time, then columns: the same numbers as in one call, without
    24 bytes per pixel of the photo.
    """
    height = rgb.shape[0]
    wide = np.empty((height, size.width, 3))
    for top in range(0, height, _BAND_ROWS):
        band = rgb[top : top + _BAND_ROWS] / 255.0
        shape = (size.width, band.shape[0])
        wide[top : top + _BAND_ROWS] = cv2.resize(band, shape, interpolation=cv2.INTER_CUBIC)
    unit = cv2.resize(wide, (size.width, size.height), interpolation=cv2.INTER_CUBIC)
    pixels: FloatArray = (unit * 255.0).astype(np.float32)
    return pixels
