"""Outlines of billboards: ``(128, 128)`` uint8, inside where at least 128.

Values in between make the edge straight when it is sampled bilinearly.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import skimage.data
from numpy.typing import NDArray
from scipy import ndimage

from scenes.pose import Array
from scenes.textures import SIDE as TILE_SIDE
from scenes.textures import fractal

SIDE = 128

Outline = Any
"""``(SIDE, SIDE)``, bool, or float from 0 to 1."""

_Y, _X = (np.mgrid[:SIDE, :SIDE] + 0.5) / (SIDE / 2) - 1.0


def _noise(rng: np.random.Generator, slope: float) -> Array:
    return fractal(rng, slope)[:: TILE_SIDE // SIDE, :: TILE_SIDE // SIDE]


def _full(_rng: np.random.Generator) -> Outline:
    return np.ones((SIDE, SIDE))


def _blob(rng: np.random.Generator) -> Outline:
    """A star-shaped outline of a few waves."""
    angle, radius = np.arctan2(_Y, _X), np.hypot(_X, _Y)
    outline = np.full_like(angle, 0.65)
    for wave in range(2, 8):
        outline += rng.normal(0.0, 0.2 / wave) * np.cos(wave * angle + rng.uniform(0.0, 6.3))
    return radius < np.clip(outline, 0.15, 0.95)


def _foliage(rng: np.random.Generator) -> Outline:
    """Ragged, with holes near the rim."""
    radius = np.hypot(_X, _Y)
    return (0.4 * _noise(rng, rng.uniform(1.1, 1.5)) + 1.2 - 1.7 * radius > 0) & (radius < 0.96)


def _bush(rng: np.random.Generator) -> Outline:
    """Foliage that grows out of the lower edge."""
    reach = np.hypot(_X, np.minimum(_Y - 0.2, 0.0))
    return (0.3 * _noise(rng, 1.4) + 1.1 - 1.6 * reach > 0) & (np.hypot(_X, _Y) < 1.2)


def _leaf(rng: np.random.Generator) -> Outline:
    width = rng.uniform(0.35, 0.6) * np.sqrt(np.clip(1.0 - _Y**2, 0.0, 1.0))
    notch = 0.06 * np.abs(np.sin(_Y * rng.integers(6, 14)))
    return np.abs(_X) < width * (1.0 - notch * 3)


def _person(rng: np.random.Generator) -> Outline:
    head = (_X / 0.16) ** 2 + ((_Y + 0.78) / 0.19) ** 2 < 1
    broad = rng.uniform(0.3, 0.42)
    trunk = ((np.abs(_X) / broad) ** 4 + ((_Y + 0.2) / 0.42) ** 4 < 1) & (_Y > -0.62)
    legs = (np.abs(np.abs(_X) - 0.15 - 0.05 * _Y) < 0.12) & (_Y > 0.1) & (_Y < 0.98)
    return head | trunk | legs


def _horse(_rng: np.random.Generator) -> Outline:
    """The silhouette that scikit-image carries."""
    outline = ~np.asarray(skimage.data.horse()).astype(bool)
    zoom = (SIDE / outline.shape[0], SIDE / outline.shape[1])
    return np.asarray(ndimage.zoom(outline.astype(float), zoom, order=1))[:SIDE, :SIDE]


MASKS: dict[str, Callable[[np.random.Generator], Outline]] = {
    "": _full, "blob": _blob, "foliage": _foliage, "bush": _bush, "leaf": _leaf,
    "person": _person, "horse": _horse,
}  # fmt: skip


@lru_cache(maxsize=128)
def outline(name: str, variant: int) -> NDArray[np.uint8]:
    """The outline, its first row at the top.

    Raises:
        KeyError: for a name that is not in `MASKS`.
    """
    rng = np.random.default_rng([list(MASKS).index(name), variant])
    mask = MASKS[name](rng).astype(np.float64)
    soft = mask if name == "" else ndimage.gaussian_filter(mask, 0.8, mode="nearest")
    return np.rint(np.clip(soft, 0.0, 1.0) * 255.0).astype(np.uint8)
