"""Depth films read again: their parts, and what is none. Maps come from the command ``video``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from depthsmith.errors import FilmError, ImageError, UsageError
from depthsmith.film import Span
from depthsmith.media.film.probe import probe
from depthsmith.media.film.sequence import open_sequence
from depthsmith.stereo import StereoSettings
from depthsmith.types import DepthKind, Size
from depthsmith.video.depth_frames import open_depth_film
from depthsmith.video.stereo_painter import StereoPainter
from films import make_film_file

SIZE = Size(24, 32)
FRAMES = 30


def level(number: int) -> np.float32:
    """Of every pixel of a map, exact in 16 bits."""
    return np.float32(number * 1000 / 65535)


@pytest.fixture(params=["png16", "exr", "npz"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Of a film of two rates, in two segments."""
    film = probe(make_film_file(tmp_path / "a.mkv", size=SIZE, parts=((1, 20), (1, 10))))
    sink = open_sequence(
        tmp_path / "maps", film, request.param, DepthKind.NEAR, SIZE, key="key", model="none"
    )
    for number in range(FRAMES):
        pts = 50 * number if number < 20 else 1000 + 100 * (number - 20)
        sink.write(np.full(SIZE, level(number), np.float32), pts, None, number)
        if number == 14:
            sink.close_segment()
    return sink.finish().path


def numbers(path: Path, *spans: Span, skip: int = 0) -> list[int]:
    maps = list(open_depth_film(path).frames(skip=skip, spans=spans))
    assert all(np.ptp(near) == 0 and near.shape == SIZE for near in maps)
    return [round(float(near[0, 0]) * 65535 / 1000) for near in maps]


def test_parts_of_a_folder(folder: Path) -> None:
    assert numbers(folder) == list(range(30))
    assert numbers(folder, skip=13) == list(range(13, 30))
    assert numbers(folder, Span(0.2, 0.4)) == [4, 5, 6, 7]
    assert numbers(folder, Span(0, 0.1), Span(0.9, 1.3), skip=1) == [1, 18, 19, 20, 21, 22]
    assert numbers(folder, Span(1.85)) == [29]
    with pytest.raises(FilmError, match="no frame in the part"):
        numbers(folder, Span(5))
    (folder / "times.json").unlink()
    assert numbers(folder) == list(range(30))
    with pytest.raises(FilmError, match=r"times\.json"):
        numbers(folder, Span(0, 1))


@pytest.mark.parametrize("value", [1.5, -0.1, np.nan, np.inf])
@pytest.mark.parametrize("chunks", [False, True])
def test_numbers_that_are_no_near_are_not_cut_to_it(
    value: float, chunks: bool, tmp_path: Path
) -> None:
    near = np.full(SIZE, 0.5, np.float32)
    near[3, 4] = value
    if chunks:
        np.savez(tmp_path / "chunk_0.npz", near=near[None])
    else:
        np.save(tmp_path / "0.npy", near)
    with pytest.raises(ImageError, match="from 0 to 1"):
        next(open_depth_film(tmp_path).frames())


def test_a_film_in_colours_is_no_depth(tmp_path: Path) -> None:
    path = make_film_file(tmp_path / "a.mp4")
    with pytest.raises(FilmError, match="in colours"):
        next(open_depth_film(path).frames())
    assert next(open_depth_film(path, colors=True).frames()).shape == (96, 128)


@pytest.mark.parametrize("name", ["0.npy", "0.png"])
def test_one_map_is_not_the_depth_of_a_film(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if path.suffix == ".npy":
        np.save(path, np.full(SIZE, 0.5, np.float32))
    else:
        Image.fromarray(np.full(SIZE, 99, np.uint8)).save(path)
    with pytest.raises(FilmError, match="one depth map; a film needs one for each frame"):
        open_depth_film(path)


def test_half_spheres_of_absurd_size_are_not_made() -> None:
    """Refused before memory is asked for."""
    with pytest.raises(UsageError, match="up to 8192"):
        StereoPainter(Size(96, 128), "vr180", StereoSettings(), side=30_000)
    painter = StereoPainter(Size(96, 128), "vr180", StereoSettings(), side=4096)
    assert painter.size_of(Size(96, 128)) == Size(4096, 8192)
