"""The measure of flicker against closed forms and exact flow."""

from __future__ import annotations

import dataclasses

import cv2
import numpy as np
import pytest
import skimage.data
from numpy.typing import NDArray
from temporal_films import TYPICAL, network_like, samples, steadied, true_film, unsteadiness

from depthsmith.depth.temporal import SteadySettings, flicker
from depthsmith.errors import InputError

Array = NDArray[np.float32]


def ramp(height: int = 60, width: int = 90) -> Array:
    return np.tile(np.linspace(0.1, 0.9, width, dtype=np.float32), (height, 1))


def gliding(count: int, px: int = 3) -> tuple[list[Array], list[NDArray[np.uint8]]]:
    """A photo that moves by whole pixels, and a depth map that moves with it."""
    photo = skimage.data.coffee()
    depth = cv2.GaussianBlur(photo[..., 0].astype(np.float32), (0, 0), 4) / 255.0
    windows = [(slice(40, 200), slice(20 + px * i, 260 + px * i)) for i in range(count)]
    return [depth[w] for w in windows], [photo[w] for w in windows]


def test_what_does_not_change_does_not_flicker() -> None:
    report = flicker([ramp()] * 5)
    assert (report.error, report.pumping, report.frames) == (0.0, 0.0, 5)


@pytest.mark.parametrize("value", [0.02, -0.05])
def test_a_shift_is_pumping_of_its_size(value: float) -> None:
    report = flicker([ramp(), ramp() + np.float32(value)])
    assert report.error == pytest.approx(abs(value), rel=1e-4)
    assert report.pumping == pytest.approx(abs(value), rel=1e-4)


def test_a_scale_is_pumping_of_its_size() -> None:
    """0.04 times the mean of the ramp, 0.5."""
    report = flicker([ramp(), ramp() * np.float32(1.04)])
    assert report.error == pytest.approx(0.02, rel=1e-3)
    assert report.pumping == pytest.approx(0.02, rel=1e-3)


def test_noise_is_no_pumping() -> None:
    """The mean of the difference of two normal variables is 2/sqrt(pi) of their deviation."""
    rng = np.random.default_rng(0)
    maps = [ramp() + 0.01 * rng.standard_normal((60, 90)).astype(np.float32) for _ in range(6)]
    report = flicker(maps)
    assert report.error == pytest.approx(0.01 * 2 / np.sqrt(np.pi), rel=0.02)
    assert report.pumping < 0.05 * report.error


def test_motion_is_followed() -> None:
    maps, photos = gliding(6)
    still = flicker(maps)
    moving = flicker(maps, photos)
    assert not still.compensated
    assert moving.compensated
    assert moving.error < 0.1 * still.error
    exact = [(np.full((*maps[0].shape, 2), (-3.0, 0.0), np.float32), np.ones(maps[0].shape, bool))]
    assert flicker(maps, flows=exact * 5).error < 1e-6


def test_exposure_does_not_hide_flicker() -> None:
    """The film gets brighter and its depth jumps: the jump counts."""
    maps, photos = gliding(4)
    jumping = [m + np.float32(0.03 * (i % 2)) for i, m in enumerate(maps)]
    brighter = [
        np.clip(p * (1.0 + 0.2 * i), 0, 255).astype(np.uint8) for i, p in enumerate(photos)
    ]
    assert flicker(jumping, brighter).error == pytest.approx(0.03, rel=0.15)


def test_cuts_do_not_count() -> None:
    one, other = ramp(), ramp()[:, ::-1].copy()
    maps, cuts = [one, one, other, other, other], [True, False, True, False, False]
    report = flicker(maps, cuts=cuts)
    assert report.error == 0.0
    assert [(shot.start, shot.frames) for shot in report.shots] == [(0, 2), (2, 3)]
    assert flicker(maps).error > 0.1


def test_the_worst_pair_is_named() -> None:
    maps = [ramp(), ramp(), ramp() + np.float32(0.1), ramp() + np.float32(0.1)]
    worst, first = flicker(maps).shots[0].worst
    assert (round(worst, 4), first) == (0.1, 1)


def test_found_flow_measures_what_exact_flow_does() -> None:
    film = true_film(("street",), 1, 24, (126, 224), None)
    raw = network_like(film, TYPICAL, 0)
    flows = [
        None if f is None or s is None else (f, s)
        for f, s in zip(film.flows, film.seen, strict=True)
    ]
    for mode in ("off", "quality"):
        near = [r.near for r in steadied(samples(film, raw), SteadySettings(mode=mode))]
        found = flicker(near, film.guides, film.cuts)
        exact = flicker(near, cuts=film.cuts, flows=flows)
        assert exact.error == pytest.approx(unsteadiness(film, near), rel=0.02)
        assert found.error == pytest.approx(exact.error, rel=0.2)


def test_large_maps_are_measured_smaller() -> None:
    big = cv2.resize(ramp(), (1800, 1200))
    report = flicker([big, big + np.float32(0.02)], [np.zeros((90, 130, 3), np.uint8)] * 2)
    assert report.error == pytest.approx(0.02, rel=1e-3)


def test_maps_come_one_at_a_time() -> None:
    """An endless film is measured frame by frame: no more than needed is taken."""
    taken = []

    def maps() -> object:
        for index in range(4):
            taken.append(index)
            yield ramp()

    def guides() -> object:
        for index in range(4):
            assert len(taken) == index + 1
            yield np.zeros((60, 90, 3), np.uint8)

    assert flicker(maps(), guides()).frames == 4


@pytest.mark.parametrize(("guides", "said"), [(2, "depth film is longer"), (4, "film is longer")])
def test_films_of_two_lengths_are_refused(guides: int, said: str) -> None:
    with pytest.raises(InputError, match=said):
        flicker([ramp()] * 3, [np.zeros((60, 90, 3), np.uint8)] * guides)


def test_a_change_of_size_is_refused() -> None:
    with pytest.raises(InputError, match="frame 1 has another size"):
        flicker([ramp(), ramp(50)])


@pytest.mark.parametrize("count", [0, 1])
def test_short_films(count: int) -> None:
    report = flicker([ramp()] * count)
    assert dataclasses.astuple(report)[:3] == (count, 0.0, 0.0)
