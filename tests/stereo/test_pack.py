"""Layouts by closed form; Dubois' matrices from the spectra of screen and glasses."""

from __future__ import annotations

import numpy as np
import pytest
import skimage.data
from skimage.color import rgb2gray
from skimage.measure import block_reduce

from depthsmith.errors import InputError, UsageError
from depthsmith.stereo import (
    FORMATS,
    StereoSettings,
    anaglyph,
    cross_eyed,
    interlaced_rows,
    pack,
    render_pair,
    side_by_side,
    top_bottom,
    with_depth,
)
from depthsmith.stereo.pack import DUBOIS_LEFT, DUBOIS_RIGHT
from depthsmith.types import StereoPair

LEFT = np.ascontiguousarray(skimage.data.chelsea()[:120, :200])
RIGHT = np.ascontiguousarray(skimage.data.coffee()[:120, :200])
PAIR = StereoPair(LEFT, RIGHT)


def test_full_layouts_hold_the_views():
    assert np.array_equal(side_by_side(PAIR), np.hstack([LEFT, RIGHT]))
    assert np.array_equal(cross_eyed(PAIR), np.hstack([RIGHT, LEFT]))
    assert np.array_equal(top_bottom(PAIR), np.vstack([LEFT, RIGHT]))


def test_rendered_pairs_are_side_by_side_already():
    disparity = np.full((120, 200), 6, np.float32)
    for swap in (False, True):
        pair = render_pair(LEFT, disparity, StereoSettings(swap=swap))
        packed = side_by_side(pair)
        assert np.shares_memory(packed, pair.left)
        assert np.array_equal(packed, np.hstack([pair.left, pair.right]))
    exchanged = StereoPair(pair.right, pair.left)
    assert np.array_equal(side_by_side(exchanged), np.hstack([pair.right, pair.left]))


def test_half_layouts_halve():
    for packed, block in (
        (side_by_side(PAIR, half=True), (1, 2, 1)),
        (top_bottom(PAIR, half=True), (2, 1, 1)),
    ):
        assert packed.shape == LEFT.shape
        views = [block_reduce(v.astype(float), block, np.mean) for v in (LEFT, RIGHT)]
        expected = np.concatenate(views, axis=0 if block[0] == 2 else 1)
        assert np.abs(packed - expected).max() <= 0.51


@pytest.mark.parametrize("layout", sorted(FORMATS))
def test_sixteen_bits_are_packed_alike(layout):
    deep = StereoPair(LEFT.astype(np.uint16) * 257, RIGHT.astype(np.uint16) * 257)
    packed, shallow = pack(deep, layout), pack(PAIR, layout)
    assert packed.dtype == np.uint16
    # Half a level of 8 bits; in shadows sRGB is steep, and Dubois' colours are mixed there.
    assert np.abs(packed / 257 - shallow).max() <= 0.51


def test_sixteen_bits_side_by_side_need_no_copy():
    rgb = LEFT.astype(np.uint16) * 257
    pair = render_pair(rgb, np.full((120, 200), 6, np.float32))
    packed = side_by_side(pair)
    assert np.shares_memory(packed, pair.left)
    assert np.array_equal(packed, np.hstack([pair.left, pair.right]))
    assert with_depth(rgb, np.ones((120, 200), np.float32))[0, -1, 0] == 65535
    with pytest.raises(InputError, match="uint16"):
        StereoPair(rgb, LEFT)


def test_half_layouts_of_odd_sizes():
    odd = StereoPair(LEFT[:119, :199], RIGHT[:119, :199])
    assert side_by_side(odd, half=True).shape == (119, 198, 3)
    assert top_bottom(odd, half=True).shape == (118, 199, 3)


def test_rows_take_turns():
    rows = interlaced_rows(PAIR)
    assert np.array_equal(rows[0::2], LEFT[0::2])
    assert np.array_equal(rows[1::2], RIGHT[1::2])


def test_colour_anaglyphs():
    def gray(rgb):  # Rec. 601
        return rgb @ np.array([299, 587, 114]) / 1000

    color = anaglyph(PAIR, "color")
    assert np.array_equal(color[..., 0], LEFT[..., 0])
    assert np.array_equal(color[..., 1:], RIGHT[..., 1:])
    half = anaglyph(PAIR, "half-color")
    assert np.abs(half[..., 0] - gray(LEFT)).max() <= 0.51
    assert np.array_equal(half[..., 1:], RIGHT[..., 1:])
    plain = anaglyph(PAIR, "gray")
    assert np.abs(plain[..., 0] - gray(LEFT)).max() <= 0.51
    assert np.abs(plain[..., 1] - gray(RIGHT)).max() <= 0.51
    assert np.array_equal(plain[..., 1], plain[..., 2])


def test_dubois_matrices_are_the_projection():
    """Least squares through measured spectra (Sanders and McAllister 2003, their table)."""
    left = np.array([[5.42327, 0.807004, 0.047325], [2.70972, 0.50201, 0.0250529],
                     [5.50941e-05, 0.000411221, 0.00240686]])  # fmt: skip
    right = np.array([[0.180431, 1.6395, 2.00309], [0.448214, 6.31551, 1.35757],
                      [0.289201, 2.3925, 11.062]])  # fmt: skip
    screen = np.array([[11.6638, 8.3959, 4.65843], [7.10807, 16.6845, 2.45008],
                       [0.527874, 3.79124, 24.0604]])  # fmt: skip
    seen = np.concatenate([left, right])
    wanted = np.kron(np.eye(2), screen)
    mixed = np.linalg.solve(seen.T @ seen, seen.T @ wanted)
    mixed /= mixed.sum(axis=1, keepdims=True)  # white stays white
    ours = np.concatenate([DUBOIS_LEFT, DUBOIS_RIGHT], axis=1)
    assert ours == pytest.approx(mixed, abs=2e-5)


def test_dubois_works_on_light():
    """A gray picture for both eyes stays what it is; black and white do too."""
    ramp = np.repeat(np.arange(256, dtype=np.uint8)[None, :, None], 3, axis=2)
    mixed = anaglyph(StereoPair(ramp, ramp), "dubois")
    assert np.abs(mixed.astype(int) - ramp).max() <= 1
    # One eye alone, by the definition of sRGB.
    black = np.zeros_like(ramp)
    linear = ((np.arange(256) / 255 + 0.055) / 1.055) ** 2.4
    share = np.sum(DUBOIS_LEFT[0]) * linear[100:]
    expected = 255 * (1.055 * share.clip(0, 1) ** (1 / 2.4) - 0.055)
    red = anaglyph(StereoPair(ramp, black), "dubois")[0, 100:, 0]
    assert np.abs(red - expected).max() <= 0.6


def test_red_bar_for_the_left_eye():
    """What only one eye sees has the colour of that eye's glass."""
    black = np.zeros((40, 60, 3), np.uint8)
    bar = black.copy()
    bar[:, 20:30] = 255
    for method in ("color", "half-color", "gray", "dubois"):
        red = anaglyph(StereoPair(bar, black), method)[0, 25].astype(int)
        assert red[0] > 200 and red[1:].max() < 60
        cyan = anaglyph(StereoPair(black, bar), method)[0, 25].astype(int)
        assert cyan[0] < 60 and cyan[1:].min() > 200


def test_picture_with_its_depth():
    near = rgb2gray(LEFT).astype(np.float32)
    packed = with_depth(LEFT, near)
    assert np.array_equal(packed[:, :200], LEFT)
    assert np.abs(packed[:, 200:, 1] / 255 - near).max() <= 0.5 / 255 + 1e-6
    with pytest.raises(InputError):
        with_depth(LEFT, near[:-1])
    for wrong in (near.astype(np.float64), near * np.float32(np.nan), None):
        with pytest.raises(InputError, match="depth"):
            with_depth(LEFT, wrong)


def test_by_name():
    for name in FORMATS:
        assert pack(PAIR, name).dtype == np.uint8
    for wrong in ("sideways", ""):
        with pytest.raises(UsageError, match="half-sbs"):
            pack(PAIR, wrong)
    with pytest.raises(UsageError):
        anaglyph(PAIR, "green")
    with pytest.raises(InputError):
        StereoPair(LEFT, RIGHT[:-1])
    with pytest.raises(InputError, match="a StereoPair, not tuple"):
        pack((LEFT, RIGHT), "sbs")
    for no_picture in (LEFT / 255, LEFT[..., 0], LEFT[:0], LEFT.tolist(), None):
        with pytest.raises(InputError, match="must be"):
            StereoPair(no_picture, no_picture)
