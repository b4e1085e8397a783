"""The pictures that files are checked with: noise, a smooth structured one, a real photo."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from depthsmith.contract import IMAGENET_MEAN, IMAGENET_STD
from depthsmith.types import ByteArray, Size

NAMES = ("noise", "smooth", "photo")


def picture(name: str, size: Size) -> ByteArray:
    """One of `NAMES` as ``(H, W, 3)`` uint8 RGB, the same on every machine.

    The photo is "ascent", a public-domain photograph that PyWavelets ships.
    """
    if name == "noise":
        return np.random.default_rng(14).integers(0, 256, (*size, 3), dtype=np.uint8)
    if name == "smooth":
        return _smooth(size)
    return _photo(size)


def _smooth(size: Size) -> ByteArray:
    """Gradients, slow waves and a disc with an edge: structure at every scale."""
    y, x = (np.mgrid[: size.height, : size.width] + 0.5) / np.reshape(size, (2, 1, 1))
    waves = 0.5 + 0.25 * np.sin(9 * x + 4 * y) + 0.25 * np.cos(13 * y * y - 5 * x)
    disc = np.hypot(x - 0.6, y - 0.45) < 0.22
    channels = [waves, np.where(disc, 0.9 - 0.5 * y, y), 0.5 * (x + waves)]
    return np.round(255 * np.clip(np.stack(channels, axis=-1), 0, 1)).astype(np.uint8)


def _photo(size: Size) -> ByteArray:
    import cv2
    import pywt.data

    gray = pywt.data.ascent().astype(np.uint8)  # (512, 512)
    resized = cv2.resize(gray, (size.width, size.height), interpolation=cv2.INTER_LINEAR)
    # A tint, so that swapped channels show.
    tint = np.array([1.0, 0.85, 0.7])
    return np.round(resized[..., None] * tint).astype(np.uint8)


def normalized(rgb: ByteArray) -> NDArray[np.float64]:
    """``(H, W, 3)`` uint8 to the network's ``(3, H, W)`` float64, ImageNet-normalised."""
    return ((rgb / 255.0 - IMAGENET_MEAN) / IMAGENET_STD).transpose(2, 0, 1)


def as_input(rgb: ByteArray, dtype: str, layout: str, normalization: str) -> NDArray[np.generic]:
    """One picture as a batch of one in the form that an input declares."""
    if normalization == "imagenet":
        chw = normalized(rgb)
    else:
        chw = rgb.transpose(2, 0, 1) / (255.0 if normalization == "zero_one" else 1.0)
    batch = chw[None].astype(dtype)
    if layout == "NHWC":
        return np.ascontiguousarray(batch.transpose(0, 2, 3, 1))
    return batch[:, None] if layout == "NSCHW" else batch
