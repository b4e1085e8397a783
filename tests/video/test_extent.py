"""Depth films that are not as long as their film are refused before any work."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from depthsmith.errors import FilmError
from depthsmith.film import Span
from depthsmith.media.film.probe import probe
from depthsmith.video.extent import Extent, extent_of
from depthsmith.video.film_of_depth import FilmOfDepth
from films import frame_times, make_film_file
from films.damage import damage_packets, truncate

SIZE = (48, 64)


def check(depth: Path, film: Path) -> None:
    FilmOfDepth(depth).check(probe(film))


def gray(path: Path, *parts: tuple[float, int]) -> Path:
    return make_film_file(path, size=SIZE, parts=parts)


def maps(folder: Path, count: int) -> Path:
    folder.mkdir()
    for n in range(count):
        Image.fromarray(np.zeros(SIZE, np.uint8)).save(folder / f"{n:04d}.png")
    return folder


@pytest.mark.parametrize("suffix", ["mp4", "mkv", "mov"])
@pytest.mark.parametrize("first", [0.0, 0.5])
def test_the_last_frame_is_known(tmp_path: Path, suffix: str, first: float) -> None:
    film = make_film_file(
        tmp_path / f"a.{suffix}", size=SIZE, parts=((1, 60), (2, 24)), first_pts_s=first
    )
    times = frame_times(film)
    assert extent_of(probe(film)).last_s == pytest.approx(times[-1] - times[0], abs=2e-3)


@pytest.mark.parametrize("suffix", ["mp4", "mkv"])
def test_one_frame_is_enough(tmp_path: Path, suffix: str) -> None:
    film = gray(tmp_path / "a.mp4", (4, 25))
    check(gray(tmp_path / f"same.{suffix}", (4, 25)), film)
    for count in (50, 99, 101, 130):
        depth = gray(tmp_path / f"{count}.{suffix}", (count / 25, 25))
        with pytest.raises(FilmError, match=rf"{count} frames.* has 100 frames"):
            check(depth, film)


def test_another_rate_is_no_obstacle_but_another_number(tmp_path: Path) -> None:
    film = gray(tmp_path / "a.mkv", (4, 25))
    check(gray(tmp_path / "b.mp4", (2, 50)), film)
    check(gray(tmp_path / "c.mp4", (5, 20)), film)
    for n, part in enumerate([(4, 12), (4, 30), (4, 50)]):
        with pytest.raises(FilmError, match="not that film's depth"):
            check(gray(tmp_path / f"{n}.mp4", part), film)


def test_a_variable_rate(tmp_path: Path) -> None:
    film = gray(tmp_path / "a.mkv", (1, 60), (1, 24), (1, 10))
    check(gray(tmp_path / "b.mp4", (1, 60), (1, 24), (1, 10)), film)
    with pytest.raises(FilmError, match="not that film's depth"):
        check(gray(tmp_path / "c.mp4", (1, 60), (1, 24)), film)


def test_folders_of_maps(tmp_path: Path) -> None:
    film = gray(tmp_path / "a.mp4", (4, 25))
    check(maps(tmp_path / "maps", 100), film)
    for count in (60, 150):
        with pytest.raises(FilmError, match=rf"{count} frames"):
            check(maps(tmp_path / str(count), count), film)


def test_what_a_damaged_film_has_lost(tmp_path: Path) -> None:
    """Its depth has fewer frames, but ends with it."""
    film = damage_packets(gray(tmp_path / "a.mp4", (4, 25)), [30, 31, 50])
    whole = extent_of(probe(film))
    assert whole.last_s == pytest.approx(3.96)
    assert Extent(lambda: 97, 3.96, 24.25).is_that_of(whole)
    assert not Extent(lambda: 97, 3.84, 24.25).is_that_of(whole)


def test_a_film_that_breaks_off_is_found_out_by_reading(tmp_path: Path) -> None:
    film = gray(tmp_path / "a.mkv", (4, 25))
    truncate(film, 0.5)
    check(gray(tmp_path / "d.mp4", (2, 25)), film)


def test_a_part(tmp_path: Path) -> None:
    film = gray(tmp_path / "a.mp4", (4, 25))
    depth = FilmOfDepth(gray(tmp_path / "d.mp4", (1, 25)), spans=(Span(1, 2),))
    depth.check(probe(film))
    with pytest.raises(FilmError, match="neither to all"):
        FilmOfDepth(tmp_path / "d.mp4", spans=(Span(1, 3),)).check(probe(film))
