"""A file for each eye: written, verified and continued as one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from written_films import SEGMENT, open_sink, packets

from depthsmith.atomic import atomic_paths
from depthsmith.errors import OutputError
from depthsmith.media.film import film_sink
from depthsmith.media.film.marks import is_own_film
from depthsmith.media.film.probe import probe
from depthsmith.media.film.read import FilmReader
from depthsmith.media.film.segments import SegmentWriter
from depthsmith.media.film.work import work_folder
from films import AudioSpec, SubtitleSpec, frame_number, frame_times, make_film_file, rgb_frames

FRAMES = 40


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_film_file(
        tmp_path_factory.mktemp("film") / "a.mkv",
        parts=((0.5, 60), (10 / 24, 24)),
        first_pts_s=0.5,
        audio=(AudioSpec("aac", "eng"), AudioSpec("ac3", "deu")),
        subtitles=(SubtitleSpec(((0.1, 0.4, "Hello"),), "eng"),),
    )


def pair(folder: Path) -> tuple[Path, Path]:
    return folder / "b_left.mkv", folder / "b_right.mkv"


def open_pair(source: Path, folder: Path, *, resume: bool = False) -> Any:
    left, right = pair(folder)
    return open_sink(
        probe(source), left, "rgb", codec="ffv1", resume=resume, sink_options={"right": right}
    )


def run(sink: Any, source: Path, upto: int = FRAMES) -> None:
    """The left view is the frame, the right one the same upside down."""
    for frame in FilmReader(probe(source)):
        if sink.frames_done <= frame.index < upto:
            both = np.concatenate([frame.rgb, frame.rgb[::-1]], axis=1)
            sink.write(both, frame.pts, frame.duration, frame.index)
            if (frame.index + 1) % SEGMENT == 0:
                sink.close_segment({})


@pytest.fixture(scope="module")
def whole(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    sink = open_pair(source, folder)
    run(sink, source)
    written = sink.finish()
    assert written.paths == pair(folder)
    assert len(written.copied) == 3
    return folder


def test_each_eye_has_its_view_all_times_and_all_tracks(source: Path, whole: Path) -> None:
    left, right = pair(whole)
    assert [frame_number(v) for v in rgb_frames(left)] == list(range(FRAMES))
    assert [frame_number(v[::-1]) for v in rgb_frames(right)] == list(range(FRAMES))
    for path in (left, right):
        assert frame_times(path) == pytest.approx(frame_times(source), abs=1e-3)
        assert is_own_film(path)
    sound = [[p for p in packets(path) if p[0] > 0] for path in (left, right)]
    assert sound[0] == sound[1]
    assert {stream for stream, *_ in sound[0]} == {1, 2, 3}
    assert sorted(p.name for p in whole.iterdir()) == [left.name, right.name]


@pytest.mark.parametrize("stop", [3, SEGMENT, SEGMENT + 2, FRAMES])
def test_continued_is_as_if_never_stopped(
    source: Path, whole: Path, tmp_path: Path, stop: int
) -> None:
    sink = open_pair(source, tmp_path)
    run(sink, source, stop)
    sink.abort()
    sink = open_pair(source, tmp_path, resume=True)
    assert sink.frames_done == stop - stop % SEGMENT
    run(sink, source)
    sink.finish()
    for one, two in zip(pair(whole), pair(tmp_path), strict=True):
        assert packets(one) == packets(two)


def test_finished_are_both_or_none(source: Path, tmp_path: Path) -> None:
    sink = open_pair(source, tmp_path)
    run(sink, source)
    sink.finish()
    for is_finished in (True, False):
        sink = open_pair(source, tmp_path, resume=True)
        sink.abort()
        assert (sink.finished is not None) == is_finished
        pair(tmp_path)[1].unlink(missing_ok=True)


@pytest.mark.parametrize("damaged", ["00001.mkv", "00001.right.mkv"])
def test_a_segment_is_that_of_both_eyes(
    source: Path, whole: Path, tmp_path: Path, damaged: str
) -> None:
    """As after a kill between the two, or a fault of the disk."""
    sink = open_pair(source, tmp_path)
    run(sink, source, 2 * SEGMENT)
    sink.abort()
    (work_folder(pair(tmp_path)[0]) / damaged).unlink()
    sink = open_pair(source, tmp_path, resume=True)
    assert sink.frames_done == SEGMENT
    run(sink, source)
    sink.finish()
    for one, two in zip(pair(whole), pair(tmp_path), strict=True):
        assert packets(one) == packets(two)


def test_there_are_both_or_none(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left, right = pair(tmp_path)
    left.write_bytes(b"of an earlier run")
    sink = open_pair(source, tmp_path)
    run(sink, source)
    verify = film_sink.verify_film

    def fail(file: Path, target: Path, *rest: Any) -> None:
        if target == right:
            raise OutputError("not what was meant")
        verify(file, target, *rest)

    monkeypatch.setattr(film_sink, "verify_film", fail)
    with pytest.raises(OutputError, match="meant"):
        sink.finish()
    sink.abort()
    assert left.read_bytes() == b"of an earlier run"
    assert not right.exists()
    assert not list(tmp_path.glob("*.part*"))
    monkeypatch.undo()
    sink = open_pair(source, tmp_path, resume=True)
    assert sink.frames_done == FRAMES
    assert sink.finish().frames == FRAMES


def test_an_eye_that_cannot_be_encoded_leaves_nothing(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    close = SegmentWriter.close

    def fail(writer: SegmentWriter) -> None:
        if writer.path.name.endswith(".right.mkv"):
            raise OutputError("the disk is full")
        close(writer)

    monkeypatch.setattr(SegmentWriter, "close", fail)
    sink = open_pair(source, tmp_path)
    with pytest.raises(OutputError, match="full"):
        run(sink, source)
    sink.abort()
    assert list(tmp_path.iterdir()) == []


def test_files_that_belong_together(tmp_path: Path) -> None:
    """The second cannot take its place: the first does not stay alone."""
    targets = [tmp_path / "a.txt", tmp_path / "b.txt"]
    targets[1].mkdir()
    with pytest.raises(OutputError, match=r"b\.txt"), atomic_paths(targets) as parts:
        for part in parts:
            part.write_text("new")
    assert [p.name for p in tmp_path.iterdir()] == ["b.txt"]
    targets[1].rmdir()
    with atomic_paths(targets) as parts:
        for part in parts:
            part.write_text("new")
        assert list(tmp_path.glob("[ab].txt")) == []
    assert [path.read_text() for path in targets] == ["new", "new"]
