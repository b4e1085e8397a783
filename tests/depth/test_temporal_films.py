"""Steady depth on rendered films with exact depth and flow."""

from __future__ import annotations

from functools import cache

import pytest
from temporal_films import (
    HELD_OUT,
    TYPICAL,
    Accuracy,
    NetworkErrors,
    TrueFilm,
    accuracy,
    network_like,
    running_minmax,
    samples,
    steadied,
    true_film,
    unsteadiness,
)

from depthsmith.depth.temporal import SteadySettings
from scenes import CameraPath

# Name: kinds of scene, seed, path of the camera or None for the film's own.
FILMS: dict[str, tuple[tuple[str, ...], int, CameraPath | None]] = {
    "street": (("street",), 1, None),
    "portrait": (("portrait",), 3, None),
    "fast pan": (("street",), 5, CameraPath(pan_deg_s=45.0, shake_deg=0.1)),
    "still camera": (("room",), 6, CameraPath()),
    # Not looked at while the stabiliser was made.
    "cuts": (("tabletop", "nature"), 21, None),
    "room": (("room",), 22, None),
}
ERRORS: dict[str, tuple[NetworkErrors, int]] = {
    "street": (TYPICAL, 0),
    "portrait": (TYPICAL, 0),
    "fast pan": (TYPICAL, 0),
    "still camera": (TYPICAL, 0),
    "cuts": (HELD_OUT[0], 5),
    "room": (HELD_OUT[1], 6),
}


def film_of(name: str) -> TrueFilm:
    kinds, seed, path = FILMS[name]
    return true_film(kinds, seed, 24 // len(kinds), (126, 224), path)


@cache
def measured(name: str, mode: str, every: int = 1) -> tuple[float, Accuracy]:
    """Flicker and accuracy of a film in a mode; ``ema`` is the plain way."""
    film = film_of(name)
    raw = network_like(film, *ERRORS[name])
    if mode == "ema":
        return unsteadiness(film, running_minmax(film, raw)), accuracy(film, raw)
    done = steadied(samples(film, raw, every), SteadySettings(mode=mode, every=every))
    near = [result.near for result in done]
    return unsteadiness(film, near), accuracy(film, [result.inverse for result in done])


@pytest.mark.parametrize("name", FILMS)
def test_quality_is_steady(name: str) -> None:
    flicker, _ = measured(name, "quality")
    assert flicker <= 0.35 * measured(name, "off")[0]
    assert flicker <= 0.8 * measured(name, "ema")[0]


@pytest.mark.parametrize("name", FILMS)
def test_quality_is_not_less_accurate(name: str) -> None:
    ours, plain = measured(name, "quality")[1], measured(name, "off")[1]
    assert ours.abs_rel <= plain.abs_rel
    assert ours.error <= plain.error


@pytest.mark.parametrize("name", FILMS)
def test_quality_leaves_no_ghosts(name: str) -> None:
    ours, plain = measured(name, "quality")[1], measured(name, "off")[1]
    assert ours.at_moving <= plain.at_moving


@pytest.mark.parametrize("name", FILMS)
def test_fast_is_steadier_and_not_less_accurate(name: str) -> None:
    flicker, ours = measured(name, "fast")
    plain_flicker, plain = measured(name, "off")
    assert flicker <= 0.7 * plain_flicker
    assert ours.abs_rel <= plain.abs_rel


@pytest.mark.parametrize("every", [2, 3, 4])
@pytest.mark.parametrize("name", ["street", "fast pan", "cuts"])
def test_key_frames_are_enough(name: str, every: int) -> None:
    """With every Nth frame alone it is still better than every frame without."""
    flicker, ours = measured(name, "quality", every)
    plain_flicker, plain = measured(name, "off")
    assert flicker <= 0.35 * plain_flicker
    assert ours.abs_rel <= plain.abs_rel
    assert ours.at_moving <= plain.at_moving
