"""Seamless texture tiles, made from noise or cut from the photos that scikit-image carries.

A tile is ``(256, 256, 3)`` uint8 and holds the square root of linear reflectance, which
spends its 256 steps where the eye sees them. `pyramid` adds the mip levels, averaged in
linear light.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import skimage.data
import skimage.transform
from numpy.typing import NDArray

from scenes.pose import Array

SIDE = 256
LEVELS = 9
"""256, 128, … 1."""

_ROW, _COLUMN = np.mgrid[:SIDE, :SIDE]


def fractal(rng: np.random.Generator, slope: float, stretch: float = 1.0) -> Array:
    """Periodic noise with a 1/f^slope spectrum: ``(SIDE, SIDE)``, mean 0, deviation 1.

    ``stretch`` above 1 draws it out along the rows.
    """
    frequency = np.fft.fftfreq(SIDE)
    radius = np.hypot(frequency[:, None], frequency[None, :] * stretch)
    radius[0, 0] = np.inf
    spectrum = np.fft.fft2(rng.normal(size=(SIDE, SIDE))) / radius**slope
    noise = np.fft.ifft2(spectrum).real
    return np.asarray(noise / noise.std())


def _gray(value: Array) -> Array:
    return np.repeat(value[..., None], 3, axis=2)


def _tinted(value: Array, red: float, green: float, blue: float) -> Array:
    return np.stack([value * red, value * green, value * blue], axis=2)


def _blend(mask: Array, inside: Array, outside: Array) -> Array:
    return np.asarray(inside * mask[..., None] + outside * (1.0 - mask[..., None]))


def _colour(rng: np.random.Generator, spread: float = 0.12) -> Array:
    return np.asarray(np.clip(rng.uniform(0.45, 0.9) + rng.normal(0.0, spread, 3), 0.1, 1.0))


def _plain(rng: np.random.Generator) -> Array:
    return 0.85 + 0.02 * _gray(fractal(rng, 0.8))


def _plaster(rng: np.random.Generator) -> Array:
    return 0.82 + 0.03 * _gray(fractal(rng, 1.4)) + 0.025 * _gray(fractal(rng, 0.5))


def _grain(rng: np.random.Generator) -> Array:
    rings = 0.5 + 0.5 * np.sin(_ROW * (2 * np.pi * 8 / SIDE) + 2.5 * fractal(rng, 1.6, 6.0))
    return np.asarray(0.75 + 0.1 * rings + 0.05 * fractal(rng, 0.8, 12.0))


def _wood(rng: np.random.Generator) -> Array:
    return _tinted(_grain(rng), 1.0, 0.82, 0.62)


def _boards(rng: np.random.Generator) -> Array:
    count = int(rng.choice([4, 8]))
    step = SIDE // count
    board = _ROW // step
    tone = rng.normal(0.0, 0.06, count)[board]
    slide = rng.integers(0, SIDE, count)[board]
    grain = _grain(rng)[_ROW, (_COLUMN + slide) % SIDE]
    end = (_COLUMN + slide) % SIDE < 2
    gap = (_ROW % step < 2) | end
    return _tinted(np.where(gap, 0.35, grain + tone), 1.0, 0.84, 0.66)


def _bricks(rng: np.random.Generator) -> Array:
    high = SIDE // int(rng.choice([8, 16]))
    wide = high * 2
    row = _ROW // high
    column = (_COLUMN + (row % 2) * high) % SIDE
    mortar = (_ROW % high < 3) | (column % wide < 3)
    tone = rng.normal(0.0, 0.06, (SIDE // high, SIDE // wide))[row, column // wide]
    stone = _tinted(0.68 + tone + 0.04 * fractal(rng, 0.6), 1.0, 0.72, 0.62)
    return np.where(mortar[..., None], 0.78, stone)


def _tiles(rng: np.random.Generator) -> Array:
    step = SIDE // int(rng.choice([2, 4, 8]))
    joint = (_ROW % step < 3) | (_COLUMN % step < 3)
    tone = rng.normal(0.0, 0.04, (SIDE // step, SIDE // step))[_ROW // step, _COLUMN // step]
    face = _gray(0.85 + tone + 0.02 * fractal(rng, 1.5))
    return np.where(joint[..., None], 0.5, face)


def _checker(rng: np.random.Generator) -> Array:
    step = SIDE // int(rng.choice([2, 4]))
    odd = (_ROW // step + _COLUMN // step) % 2
    return _blend(odd.astype(float), _colour(rng), _colour(rng) * 0.5) + 0.02 * _gray(
        fractal(rng, 0.8)
    )


def _stripes(rng: np.random.Generator) -> Array:
    period = SIDE // int(rng.choice([4, 8, 16]))
    band = (_COLUMN % period < period * rng.uniform(0.3, 0.7)).astype(float)
    return _blend(band, _colour(rng, 0.2), _colour(rng, 0.2)) + 0.02 * _gray(fractal(rng, 0.4))


def _cloth(rng: np.random.Generator) -> Array:
    weave = np.sin(_ROW * (2 * np.pi * 64 / SIDE)) * np.sin(_COLUMN * (2 * np.pi * 64 / SIDE))
    return _gray(0.75 + 0.06 * weave + 0.05 * fractal(rng, 1.2))


def _carpet(rng: np.random.Generator) -> Array:
    figure = 1.0 / (1.0 + np.exp(-3.0 * fractal(rng, 1.6)))
    return _blend(figure, _colour(rng, 0.2), _colour(rng, 0.2)) + 0.05 * _gray(fractal(rng, 0.1))


def _dots(rng: np.random.Generator) -> Array:
    step = SIDE // int(rng.choice([4, 8]))
    distance = np.hypot(_ROW % step - step / 2 + 0.5, _COLUMN % step - step / 2 + 0.5)
    spot = np.clip(step * 0.3 - distance + 0.5, 0.0, 1.0)
    return _blend(spot, _colour(rng, 0.25), _colour(rng, 0.1))


def _rock(rng: np.random.Generator) -> Array:
    crack = np.abs(fractal(rng, 1.5))
    return _gray(0.62 + 0.12 * np.minimum(crack, 1.0) + 0.06 * fractal(rng, 0.6))


def _concrete(rng: np.random.Generator) -> Array:
    return _gray(0.7 + 0.05 * fractal(rng, 1.3) + 0.035 * fractal(rng, 0.3))


def _asphalt(rng: np.random.Generator) -> Array:
    return _gray(0.45 + 0.03 * fractal(rng, 1.3) + 0.06 * fractal(rng, 0.1))


def _lawn(rng: np.random.Generator) -> Array:
    blade = 0.6 + 0.1 * fractal(rng, 0.5) + 0.06 * fractal(rng, 1.6)
    dry = 1.0 / (1.0 + np.exp(-2.0 * fractal(rng, 1.8)))
    return _gray(blade) * _blend(dry, np.array([0.85, 1.0, 0.5]), np.array([0.65, 0.95, 0.45]))


def _leaves(rng: np.random.Generator) -> Array:
    light = np.clip(0.5 + 0.22 * fractal(rng, 0.9), 0.1, 1.0)
    return _tinted(light, 0.75, 1.0, 0.5)


def _bark(rng: np.random.Generator) -> Array:
    return _tinted(0.5 + 0.14 * fractal(rng, 0.9, 0.25), 1.0, 0.85, 0.7)


def _facade(rng: np.random.Generator) -> Array:
    step = SIDE // int(rng.choice([2, 4]))
    x, y = (_COLUMN % step) / step, (_ROW % step) / step
    margin = rng.uniform(0.15, 0.3)
    frame = (np.abs(x - 0.5) < 0.5 - margin) & (np.abs(y - 0.5) < 0.38)
    glass = frame & (np.abs(x - 0.5) > 0.02) & (np.abs(x - 0.5) < 0.46 - margin)
    glass &= np.abs(y - 0.5) < 0.34
    shade = rng.uniform(0.2, 0.5, (SIDE // step, SIDE // step))[_ROW // step, _COLUMN // step]
    wall = _gray(0.78 + 0.03 * fractal(rng, 0.8))
    pane = _tinted(shade + 0.15 * (1.0 - y), 0.85, 0.95, 1.1)
    return np.where(glass[..., None], pane, np.where(frame[..., None], 0.92, wall))


def _print(rng: np.random.Generator) -> Array:
    """A printed page: lines of words of ragged length."""
    page = np.full((SIDE, SIDE), 0.93)
    line = 12
    for top in range(16, SIDE - 20, line):
        column = 16
        end = int(rng.integers(SIDE // 2, SIDE - 16))
        while column < end:
            width = int(rng.integers(6, 34))
            page[top : top + 6, column : min(column + width, SIDE - 16)] = 0.25
            column += width + 5
    return _gray(page) + 0.02 * _gray(fractal(rng, 0.4))


def _clouds(rng: np.random.Generator) -> Array:
    return _gray(np.clip(0.5 + 0.22 * fractal(rng, 1.7), 0.0, 1.0))


_PHOTOS = ("astronaut", "coffee", "chelsea", "rocket", "camera", "coins", "moon")
_MATERIALS = ("brick", "grass", "gravel")  # of scikit-image, gray and nearly seamless


def _cut(name: str, rng: np.random.Generator, smallest: float) -> Array:
    """A square part of a photo, at the tile's size, square root of linear light."""
    photo = np.asarray(getattr(skimage.data, name)()) / 255.0
    photo = photo if photo.ndim == 3 else _gray(photo)
    height, width = photo.shape[:2]
    side = int(min(height, width) * rng.uniform(smallest, 1.0))
    top, left = rng.integers(0, height - side + 1), rng.integers(0, width - side + 1)
    part = photo[top : top + side, left : left + side, :3]
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    resize: Callable[..., Array] = skimage.transform.resize  # has no types of its own
    small = resize(linear, (SIDE, SIDE), order=1, anti_aliasing=True)
    return np.asarray(np.sqrt(np.clip(small, 0.0, 1.0)))


def _photo(rng: np.random.Generator) -> Array:
    return _cut(str(rng.choice(_PHOTOS)), rng, 0.75)


def _photo_stone(rng: np.random.Generator) -> Array:
    part = _cut(str(rng.choice(_MATERIALS)), rng, 0.45)
    return _mirror(part / part.mean() * 0.65)


def _photo_pattern(rng: np.random.Generator) -> Array:
    part = _cut(str(rng.choice(_PHOTOS)), rng, 0.2)
    return _mirror(part / part.mean() * 0.7)


def _mirror(tile: Array) -> Array:
    """Seamless by reflection, at half the size."""
    small = tile.reshape(SIDE // 2, 2, SIDE // 2, 2, 3).mean((1, 3))
    top = np.concatenate([small, small[:, ::-1]], axis=1)
    return np.concatenate([top, top[::-1]], axis=0)


TILES: dict[str, Callable[[np.random.Generator], Array]] = {
    "plain": _plain, "plaster": _plaster, "wood": _wood, "boards": _boards,
    "bricks": _bricks, "tiles": _tiles, "checker": _checker, "stripes": _stripes,
    "cloth": _cloth, "carpet": _carpet, "dots": _dots, "rock": _rock,
    "concrete": _concrete, "asphalt": _asphalt, "lawn": _lawn, "leaves": _leaves,
    "bark": _bark, "facade": _facade, "print": _print, "clouds": _clouds,
    "photo": _photo, "photo-stone": _photo_stone, "photo-pattern": _photo_pattern,
}  # fmt: skip


@lru_cache(maxsize=256)
def pyramid(name: str, variant: int) -> NDArray[np.uint8]:
    """All mip levels of a tile one after the other: ``(sum of side², 3)`` uint8.

    Raises:
        KeyError: for a name that is not in `TILES`.
    """
    rng = np.random.default_rng([list(TILES).index(name), variant])
    linear = np.clip(TILES[name](rng), 0.0, 1.0) ** 2
    levels = []
    while True:
        levels.append(np.rint(np.sqrt(linear) * 255.0).astype(np.uint8).reshape(-1, 3))
        side = linear.shape[0]
        if side == 1:
            return np.concatenate(levels)
        linear = linear.reshape(side // 2, 2, side // 2, 2, 3).mean((1, 3))
