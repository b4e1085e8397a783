"""From linear light to a picture: defocus, exposure, tone curve, noise."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from scenes.describe import Look

_BLUR_LAYERS = 6
_MAX_BLUR_PX = 40.0
_KNEE = 0.8  # highlights are compressed above this share of full scale


def develop(
    linear: NDArray[np.float32],
    depth_m: NDArray[np.float32],
    focal_px: float,
    look: Look,
    noise_seed: int,
) -> NDArray[np.uint8]:
    """``(H, W, 3)`` uint8 sRGB from linear light ``(H, W, 3)`` float32 and depth ``(H, W)``."""
    if look.aperture_m > 0.0:
        linear = defocus(linear, depth_m, focal_px, look.aperture_m, look.focus_m)
    values = linear * np.float32(look.exposure)
    if look.noise > 0.0:
        rng = np.random.default_rng([look.seed, noise_seed])
        # Shot noise grows with the square root of light, read noise is a tenth of it.
        strength = look.noise * np.sqrt(np.clip(values, 0.0, 1.0) + np.float32(0.01))
        values = values + strength * rng.standard_normal(values.shape, dtype=np.float32)
    return tone(values)


def tone(values: NDArray[np.float32]) -> NDArray[np.uint8]:
    """sRGB's curve with a soft shoulder, by table: 1.0 becomes about 0.95 of full scale."""
    index = np.clip(values, 0.0, 4.0) * np.float32((_CURVE.size - 1) / 4.0)
    return np.asarray(_CURVE[np.rint(index).astype(np.int32)])


def _curve() -> NDArray[np.uint8]:
    linear = np.linspace(0.0, 4.0, 1 << 16)
    over = np.maximum(linear - _KNEE, 0.0)
    soft = np.where(
        linear < _KNEE, linear, _KNEE + (1 - _KNEE) * (1 - np.exp(-over / (1 - _KNEE)))
    )
    encoded = np.where(soft <= 0.0031308, soft * 12.92, 1.055 * soft ** (1 / 2.4) - 0.055)
    return np.rint(encoded * 255.0).astype(np.uint8)


_CURVE = _curve()


def blur_px(
    depth_m: NDArray[np.float32], focal_px: float, aperture_m: float, focus_m: float
) -> NDArray[np.float32]:
    """Signed diameter of the blur in pixels, positive in front of the focus.

    A thin lens spreads a point like the views from across its opening do: by the disparity
    of a baseline as wide as the aperture, converged at the focus.
    """
    spread = focal_px * aperture_m * (1.0 / depth_m - 1.0 / focus_m)
    return np.asarray(np.clip(spread, -_MAX_BLUR_PX, _MAX_BLUR_PX), np.float32)


def defocus(
    linear: NDArray[np.float32],
    depth_m: NDArray[np.float32],
    focal_px: float,
    aperture_m: float,
    focus_m: float,
) -> NDArray[np.float32]:
    """Blur by depth: layers of similar blur, each spread by a disc, laid over those behind.

    What a blurred edge should let shine through from behind is not known; such edges come
    out up to a quarter narrower than a lens would make them.
    """
    spread = blur_px(depth_m, focal_px, aperture_m, focus_m)
    low, high = float(spread.min()), float(spread.max())
    if max(-low, high) < 0.75:
        return linear
    high = max(high, low + 0.5)
    edges = np.linspace(low, high, _BLUR_LAYERS + 1)
    middles = 0.5 * (edges[1:] + edges[:-1])
    result = np.zeros((*depth_m.shape, 4), np.float32)
    for middle in middles:  # from far to near
        # Each pixel belongs to its two nearest layers in part, so that no step shows.
        share = np.clip(1.0 - np.abs(spread - middle) / (edges[1] - edges[0]), 0.0, 1.0)
        if middle == middles[0]:
            share[spread <= middle] = 1.0
        if middle == middles[-1]:
            share[spread >= middle] = 1.0
        layer = np.dstack([linear * share[..., None], share]).astype(np.float32)
        layer = cv2.filter2D(layer, -1, _disc(abs(middle)), borderType=cv2.BORDER_REPLICATE)
        result = layer + result * (1.0 - np.clip(layer[..., 3:], 0.0, 1.0))
    return np.asarray(result[..., :3] / np.maximum(result[..., 3:], 1e-4), np.float32)


def _disc(diameter: float) -> NDArray[np.float32]:
    reach = int(np.ceil(diameter / 2.0))
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    disc = np.clip(diameter / 2.0 + 0.5 - np.hypot(x, y), 0.0, 1.0)
    return np.asarray(disc / disc.sum(), np.float32)
