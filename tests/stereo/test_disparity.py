"""Disparity by its formulas, its signs on a screen, and its options."""

from __future__ import annotations

import math

import numpy as np
import pytest

from depthsmith.errors import InputError, UsageError
from depthsmith.stereo import (
    StereoSettings,
    auto_convergence,
    metres_to_disparity,
    near_to_disparity,
    render_pair,
)
from scenes import Camera

BANDS = np.repeat(np.float32([0.0, 0.25, 0.5, 0.75, 1.0]), 40)[:, None] * np.ones((1, 400), "f4")


def checkerboard():
    """A red bar over a checkerboard, which shows where each band went."""
    y, x = np.mgrid[:200, :400]
    rgb = np.repeat((((y // 8 + x // 8) % 2) * 120 + 60)[..., None], 3, axis=2).astype(np.uint8)
    rgb[:, 190:210] = (255, 0, 0)
    return rgb


def bar_position(view, band):
    """Column of the middle of the red bar in a band."""
    rows = view[band * 40 + 10 : band * 40 + 30].astype(int)
    red = (rows[..., 0] > 200) & (rows[..., 1] < 100)
    return float(np.nonzero(red)[1].mean())


@pytest.mark.parametrize("eyes", ["both", "left", "right"])
def test_five_bands(eyes):
    """8 % of 400 pixels are 32: bands are at -16, -8, 0, 8 and 16 pixels."""
    settings = StereoSettings(max_disparity=8.0, eyes=eyes)
    disparity = near_to_disparity(BANDS, 400, settings)
    pair = render_pair(checkerboard(), disparity, settings)
    there = bar_position(checkerboard(), 0)
    for band, expected in enumerate((-16, -8, 0, 8, 16)):
        left, right = bar_position(pair.left, band), bar_position(pair.right, band)
        assert left - right == pytest.approx(expected, abs=0.1)
        # Near content moves right in the left eye and left in the right eye.
        shares = {"both": (0.5, 0.5), "left": (1, 0), "right": (0, 1)}[eyes]
        assert left == pytest.approx(there + shares[0] * expected, abs=0.1)
        assert right == pytest.approx(there - shares[1] * expected, abs=0.1)
    if eyes == "both":
        middle = slice(80, 120)
        assert np.array_equal(pair.left[middle], checkerboard()[middle])
        assert np.array_equal(pair.right[middle], checkerboard()[middle])
    else:
        kept = pair.right if eyes == "left" else pair.left
        assert np.array_equal(kept, checkerboard())


def test_convergence_is_the_plane_without_disparity():
    for convergence in (0.0, 0.25, 1.0):
        settings = StereoSettings(convergence=convergence)
        disparity = near_to_disparity(BANDS, 1000, settings)
        assert np.all(disparity[np.float32(convergence) == BANDS] == 0)
        assert np.all(disparity[np.float32(convergence) < BANDS] > 0)
        assert np.all(disparity[np.float32(convergence) > BANDS] < 0)


def test_swap_exchanges_the_views():
    settings = StereoSettings(max_disparity=8.0)
    disparity = near_to_disparity(BANDS, 400, settings)
    pair = render_pair(checkerboard(), disparity, settings)
    swapped = render_pair(checkerboard(), disparity, StereoSettings(max_disparity=8.0, swap=True))
    assert np.array_equal(pair.left, swapped.right)
    assert np.array_equal(pair.right, swapped.left)


def test_strength_eye_distance_and_max_disparity_multiply():
    near = np.float32([[0.0, 1.0]])
    base = np.ptp(near_to_disparity(near, 1000, StereoSettings(max_disparity=2.0)))
    assert base == pytest.approx(20.0)
    more = StereoSettings(max_disparity=4.0, strength=1.5, eye_distance_mm=31.5)
    assert np.ptp(near_to_disparity(near, 1000, more)) == pytest.approx(30.0)
    # Nothing is clipped, however much is asked for.
    much = StereoSettings(max_disparity=50.0, strength=4.0)
    assert np.ptp(near_to_disparity(near, 1000, much)) == pytest.approx(2000.0)
    assert not near_to_disparity(near, 1000, StereoSettings(strength=0.0)).any()


def test_metres_are_those_of_two_cameras():
    """Against the projection of points into a shifted pair of cameras."""
    camera = Camera.looking(90, 160, fov_deg=60)
    z = np.float32([[0.8, 1.0, 2.0, 5.0, 50.0]])
    far, near = 1 / 50.0, 1 / 0.8
    convergence_m = 1 / (far + 0.3 * (near - far))
    left, right = camera.stereo(0.065, convergence_m)
    points = np.stack([np.full(5, 0.1), z[0].astype(float), np.zeros(5)], axis=1)
    expected = left.project(points)[0] - right.project(points)[0]
    settings = StereoSettings(convergence=0.3, eye_distance_mm=65)
    disparity = metres_to_disparity(z, 160, camera.focal_px, settings)
    assert disparity[0] == pytest.approx(expected, abs=1e-4)
    assert metres_to_disparity(np.float32([[1.0, np.inf]]), 160, 100.0, settings)[0, 1] < 0
    limited = StereoSettings(max_disparity=2.0)
    assert np.ptp(metres_to_disparity(z, 160, camera.focal_px, limited)) == pytest.approx(3.2)


def test_auto_convergence_is_what_is_in_the_middle():
    near = np.zeros((120, 200), np.float32)
    near[30:90, 50:150] = 0.6
    assert auto_convergence(near) == pytest.approx(0.6)
    settings = StereoSettings(convergence="auto")
    assert near_to_disparity(near, 1000, settings)[60, 100] == pytest.approx(0.0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"strength": -1.0}, {"strength": float("nan")}, {"eye_distance_mm": 0.0},
        {"max_disparity": 0.0}, {"max_disparity": 101.0}, {"convergence": 1.5},
        {"convergence": "middle"}, {"eyes": "none"},
    ],
)  # fmt: skip
def test_settings_out_of_range(wrong):
    with pytest.raises(UsageError):
        StereoSettings(**wrong)


def test_maps_that_are_none():
    settings = StereoSettings()
    for bad in (np.float32([[0.0, np.nan]]), np.float32([[0.0, 1.5]]), np.zeros((2, 2)), [[0.5]]):
        with pytest.raises(InputError):
            near_to_disparity(bad, 100, settings)
    with pytest.raises(InputError):
        metres_to_disparity(np.float32([[0.0, 1.0]]), 100, 100.0, settings)
    with pytest.raises(UsageError):
        metres_to_disparity(np.float32([[1.0]]), 100, 0.0, settings)
    for width in (0, -100, math.nan, math.inf):
        with pytest.raises(UsageError, match="the width"):
            near_to_disparity(np.float32([[0.0, 1.0]]), width, settings)
        with pytest.raises(UsageError, match="the width"):
            metres_to_disparity(np.float32([[1.0]]), width, 100.0, settings)
