"""Colour maps, against Matplotlib's published tables."""

from __future__ import annotations

import numpy as np
import pytest
from skimage import data

from depthsmith.depth.colormap import COLORMAPS, color_table, colorize, side_by_side
from depthsmith.errors import UsageError
from depthsmith.types import DepthKind, DepthMap, Size

LEVELS = (0, 64, 100, 128, 191, 255)

# python -c "import matplotlib as m; print([tuple(int(v) for v in
#   m.colormaps[name](i, bytes=True)[:3]) for i in LEVELS])" with Matplotlib 3.11.2
MATPLOTLIB = {
    "spectral": [  # Spectral_r
        (94, 79, 162), (137, 207, 164), (225, 243, 152), (254, 254, 189), (248, 142, 82),
        (158, 1, 66),
    ],
    "inferno": [
        (0, 0, 3), (87, 15, 109), (144, 36, 104), (187, 55, 84), (249, 140, 9), (252, 254, 164),
    ],
    "viridis": [
        (68, 1, 84), (58, 82, 139), (42, 118, 142), (32, 144, 140), (91, 200, 98), (253, 231, 36),
    ],
    "magma": [
        (0, 0, 3), (80, 18, 123), (137, 40, 129), (182, 54, 121), (251, 134, 96), (251, 252, 191),
    ],
    "turbo": [
        (48, 18, 59), (40, 187, 235), (63, 245, 138), (164, 252, 59), (251, 128, 34), (122, 4, 2),
    ],
    "plasma": [
        (12, 7, 134), (126, 3, 167), (174, 39, 145), (203, 71, 119), (247, 147, 65),
        (239, 248, 33),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", MATPLOTLIB)
def test_tables_are_matplotlibs(name: str) -> None:
    ours = color_table(name)[list(LEVELS)].astype(int)
    # OpenCV's tables and Matplotlib's truncation to bytes differ by a step; turbo by more,
    # OpenCV has it from the polynomial.
    assert np.abs(ours - MATPLOTLIB[name]).max() <= (4 if name == "turbo" else 1)


@pytest.mark.parametrize("name", COLORMAPS)
def test_every_map_is_a_table_of_256_colours(name: str) -> None:
    table = color_table(name)
    assert (table.shape, table.dtype) == ((256, 3), np.uint8)
    near = np.linspace(0, 1, 256, dtype=np.float32)[None]
    depth = DepthMap(near, DepthKind.NEAR, Size(1, 256))
    assert np.array_equal(colorize(depth, name)[0], table)


def test_gray_and_what_is_not_finite() -> None:
    values = np.array([[0, 0.5, 1, np.nan]], np.float32)
    rgb = colorize(DepthMap(values, DepthKind.NEAR, Size(1, 4)), "gray")
    assert rgb[0, :, 0].tolist() == [0, 128, 255, 0]
    with pytest.raises(UsageError, match="there are gray, inferno"):
        color_table("rainbow")
    with pytest.raises(UsageError, match="not inverse_depth; use to_near"):
        colorize(DepthMap(values, DepthKind.INVERSE_DEPTH, Size(1, 4)))


def test_side_by_side() -> None:
    rgb = data.coffee()
    pair = side_by_side(rgb, rgb[::-1])
    assert np.array_equal(pair, np.hstack([rgb, rgb[::-1]]))
    with pytest.raises(ValueError, match="two sizes"):
        side_by_side(rgb, rgb[1:])
