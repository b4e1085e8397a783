"""Steady depth of frames in memory, through a network whose depth is the mean over colour."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import skimage.data
from PIL import Image, ImageFilter

import depthsmith
from depthsmith.depth.temporal import SteadySettings
from depthsmith.errors import UsageError
from depthsmith.film import Span
from depthsmith.types import DepthKind, Size
from films import frame_number, make_film_file, rgb_frames
from tiny_onnx import mean_model


@pytest.fixture
def predictor(tmp_path: Path) -> depthsmith.Predictor:
    file = mean_model(tmp_path / "mean.onnx")
    return depthsmith.load(
        file, kind="inverse-depth", normalization="none", family="da2", resolution=84
    )


def picture(number: int) -> np.ndarray:
    photo = skimage.data.coffee() if number == 1 else skimage.data.astronaut()[:384]
    small = Image.fromarray(photo).resize((128, 96), Image.Resampling.BOX)
    return np.asarray(small.filter(ImageFilter.GaussianBlur(2)))


def test_live_depth_comes_before_the_next_frame(predictor: depthsmith.Predictor) -> None:
    asked = 0

    def camera() -> Iterator[np.ndarray]:
        nonlocal asked
        for _ in range(10):
            asked += 1
            yield picture(1)

    for every in (1, 3):
        asked = 0
        settings = SteadySettings(live=True, every=every)
        maps = depthsmith.predict_frames(predictor, camera(), settings=settings)
        for number, depth in enumerate(maps, start=1):
            assert asked == number
            assert (depth.kind, depth.size) == (DepthKind.NEAR, Size(96, 128))


@pytest.mark.parametrize("live", [True, False])
def test_each_shot_has_its_own_range(predictor: depthsmith.Predictor, live: bool) -> None:
    """Off, near is linear in what the network gives, over the percentiles of the shot."""
    frames = [picture(1)] * 20 + [picture(2)] * 20
    settings = SteadySettings(mode="off", live=live)
    maps = list(depthsmith.predict_frames(predictor, frames, settings=settings))
    assert len(maps) == 40
    for number in (5, 30):
        near, given = maps[number].values, frames[number].mean(axis=2)
        assert near.min() < 0.05 and near.max() > 0.9
        middle = (near > 0.1) & (near < 0.85)
        line = np.polyfit(given[middle], near[middle], 1)
    assert np.median(np.abs(np.polyval(line, given[middle]) - near[middle])) < 0.01


def test_films_in_one_call(tmp_path: Path) -> None:
    """As the commands do it: their tests say what is in the files."""
    source = make_film_file(tmp_path / "a.mp4", size=(96, 128))
    network = {
        "model": mean_model(tmp_path / "mean.onnx"),
        "kind": "inverse-depth",
        "normalization": "none",
        "family": "da2",
        "resolution": 84,
    }
    told: list[tuple[int, int | None]] = []
    made = depthsmith.make_depth_film(
        source,
        tmp_path / "b.mkv",
        steady=SteadySettings("off"),
        coding=depthsmith.Coding("ffv1"),
        spans=[depthsmith.Span(0.5)],
        progress=lambda done, total: told.append((done, total)),
        **network,
    )
    assert (made.written.frames, told[-1]) == (15, (15, 15))
    assert [frame_number(rgb) for rgb in rgb_frames(tmp_path / "b.mkv")] == list(range(15, 30))
    depth = tmp_path / "b.mkv"
    made = depthsmith.make_stereo_film(
        source, tmp_path / "c.mp4", depth=depth, spans=[depthsmith.Span(0.5)]
    )
    assert made.written.frames == 15  # the depth film is known to be that of the part


@pytest.mark.parametrize(
    "frames",
    [
        [np.zeros((40, 60), np.uint8)],
        [np.zeros((40, 60, 3), np.float32)],
        [np.zeros((40, 60, 3), np.uint8), np.zeros((40, 61, 3), np.uint8)],
        ["frame.png"],
    ],
)
def test_what_is_no_frame(predictor: depthsmith.Predictor, frames: list[np.ndarray]) -> None:
    with pytest.raises(depthsmith.InputError, match=r"frame [01] "):
        list(depthsmith.predict_frames(predictor, frames))


@pytest.mark.parametrize("live", [True, False])
def test_frames_may_lie_in_the_same_memory(predictor: depthsmith.Predictor, live: bool) -> None:
    """As `cv2.VideoCapture.read` draws them, where it is given an array."""
    frames = [np.roll(picture(1), 3 * n, axis=1) for n in range(8)]

    def camera() -> Iterator[np.ndarray]:
        memory = np.empty_like(frames[0])
        for frame in frames:
            memory[:] = frame
            yield memory

    settings = SteadySettings(live=live)
    expected = depthsmith.predict_frames(predictor, frames, settings=settings)
    found = depthsmith.predict_frames(predictor, camera(), settings=settings)
    for one, other in zip(expected, found, strict=True):
        assert np.array_equal(one.values, other.values)


def test_no_rate_and_no_batch(predictor: depthsmith.Predictor) -> None:
    for wrong in ({"fps": 0}, {"fps": -5}, {"fps": np.nan}, {"fps": np.inf}, {"batch": 0}):
        with pytest.raises(UsageError, match="positive"):
            next(depthsmith.predict_frames(predictor, [picture(1)], **wrong))
    with pytest.raises(UsageError, match="every"):
        SteadySettings(every=2.5)


def test_films_that_cannot_be(tmp_path: Path) -> None:
    """Said before anything is there."""
    film, target = make_film_file(tmp_path / "a.mp4"), tmp_path / "b.mkv"
    for wrong in ((-1, 2), (2, 1), (1, 1), (np.nan, 1), (0, np.nan), (np.inf, None)):
        with pytest.raises(UsageError, match="no part"):
            Span(*wrong)
    with pytest.raises(UsageError, match="overlap"):
        depthsmith.make_depth_film(film, target, spans=[Span(0, 1), Span(0.5)])
    with pytest.raises(UsageError, match="films are written as"):
        depthsmith.make_depth_film(film, tmp_path / "b", format="bmp")
    with pytest.raises(UsageError, match="films are made as"):
        depthsmith.make_depth_film(film, tmp_path / "b", format="exr", as_="deep")
    with pytest.raises(UsageError, match="leave out model"):
        depthsmith.make_stereo_film(film, target, depth=film, model="da2-small")
    assert list(tmp_path.iterdir()) == [film]
