"""Sequences of depth files, read back with Pillow, OpenEXR and numpy."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import OpenEXR
import pytest
from PIL import Image

from depthsmith.errors import OutputError, UsageError
from depthsmith.film import Span
from depthsmith.media.depth_file import read_depth
from depthsmith.media.film import sequence
from depthsmith.media.film.probe import probe
from depthsmith.media.film.read import FilmReader
from depthsmith.media.film.sequence import is_own_sequence, open_sequence
from depthsmith.types import DepthKind
from films import frame_times, make_film_file

FRAMES = 25
SIZE = (96, 128)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("film")
    return make_film_file(folder / "a.mp4", parts=((0.5, 30), (1, 10)), first_pts_s=0.5)


def values(index: int, kind: DepthKind) -> np.ndarray:
    near = np.random.default_rng(index).random(SIZE, np.float32)
    return near if kind is DepthKind.NEAR else near * 30 + index


def open_at(source: Path, target: Path, format: str, kind: DepthKind, **options: Any) -> Any:
    info = probe(source)
    return open_sequence(target, info, format, kind, info.size, key="key", model="m", **options)


def run(sink: Any, source: Path, kind: DepthKind, upto: int = FRAMES, spans: Any = ()) -> None:
    for frame in FilmReader(probe(source), spans=spans):
        if sink.frames_done <= frame.index < upto:
            sink.write(values(frame.index, kind), frame.pts, frame.duration, frame.index)
            if frame.index % 4 == 3:
                sink.close_segment({"at": np.array(frame.index)})


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_png16(source: Path, tmp_path: Path) -> None:
    sink = open_at(source, tmp_path / "out", "png16", DepthKind.NEAR)
    run(sink, source, DepthKind.NEAR)
    assert not (tmp_path / "out").exists()
    written = sink.finish()
    assert (written.frames, written.path) == (FRAMES, tmp_path / "out")
    names = [f"{index:06d}.png" for index in range(FRAMES)]
    assert sorted(contents(tmp_path / "out")) == [*names, "times.json"]
    for index in (0, FRAMES - 1):
        with Image.open(tmp_path / "out" / names[index]) as image:
            levels = np.asarray(image)
        assert np.array_equal(
            levels, np.rint(values(index, DepthKind.NEAR).astype(np.float64) * 65535)
        )
    times = json.loads((tmp_path / "out" / "times.json").read_text())
    assert times["files"] == names
    assert (times["kind"], times["polarity"], times["source"]) == (
        "near", "larger_is_nearer", "a.mp4",
    )  # fmt: skip
    unit = Fraction(*times["time_base"])
    assert np.allclose([float(pts * unit) for pts in times["pts"]], frame_times(source), atol=1e-9)
    assert sum(times["durations"]) * unit == Fraction(3, 2) == written.duration
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("kind", [DepthKind.DEPTH_M, DepthKind.INVERSE_DEPTH])
def test_exr(source: Path, tmp_path: Path, kind: DepthKind) -> None:
    sink = open_at(source, tmp_path / "out", "exr", kind)
    run(sink, source, kind)
    sink.finish()
    file = tmp_path / "out" / "000007.exr"
    with OpenEXR.File(str(file)) as exr:
        channel = "Z" if kind is DepthKind.DEPTH_M else "Y"
        assert np.array_equal(exr.channels()[channel].pixels, values(7, kind))
    assert read_depth(file).kind is kind


def test_npz_chunks(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sequence, "_CHUNK_BYTES", 3 * 4 * SIZE[0] * SIZE[1])
    sink = open_at(source, tmp_path / "out", "npz", DepthKind.DEPTH_M)
    run(sink, source, DepthKind.DEPTH_M)
    sink.finish()
    times = json.loads((tmp_path / "out" / "times.json").read_text())
    maps, pts = [], []
    for name in times["files"]:
        with np.load(tmp_path / "out" / name) as chunk:
            assert chunk["depth_m"].dtype == np.float32
            assert len(chunk["depth_m"]) == len(chunk["pts"]) <= 3
            assert chunk["time_base"].tolist() == times["time_base"]
            assert int(name.removeprefix("chunk_").removesuffix(".npz")) == len(maps)
            maps += [*chunk["depth_m"]]
            pts += chunk["pts"].tolist()
    assert pts == times["source_pts"]
    assert np.array_equal(maps, [values(index, DepthKind.DEPTH_M) for index in range(FRAMES)])


@pytest.mark.parametrize("format", ["png16", "exr", "npz"])
def test_continued_is_as_if_never_stopped(source: Path, tmp_path: Path, format: str) -> None:
    whole = open_at(source, tmp_path / "whole", format, DepthKind.NEAR)
    run(whole, source, DepthKind.NEAR)
    whole.finish()
    target = tmp_path / "out"
    sink = open_at(source, target, format, DepthKind.NEAR)
    run(sink, source, DepthKind.NEAR, 10)
    sink.abort()
    sink = open_at(source, target, format, DepthKind.NEAR, resume=True)
    assert sink.frames_done == 8
    assert sink.state["at"] == 7
    run(sink, source, DepthKind.NEAR)
    done = sink.finish()
    assert contents(target) == contents(tmp_path / "whole")
    again = open_at(source, target, format, DepthKind.NEAR, resume=True)
    again.abort()
    assert again.finished == done
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "whole"]


def test_parts_follow_each_other(source: Path, tmp_path: Path) -> None:
    spans = (Span(0, 0.2), Span(1, 1.3))
    sink = open_at(source, tmp_path / "out", "npz", DepthKind.NEAR, spans=spans)
    run(sink, source, DepthKind.NEAR, spans=spans)
    assert sink.finish().frames == 9
    times = json.loads((tmp_path / "out" / "times.json").read_text())
    unit = Fraction(*times["time_base"])
    assert [pts * unit for pts in times["pts"]] == [
        *(Fraction(n, 30) for n in range(6)), *(Fraction(2 + n, 10) for n in range(3)),
    ]  # fmt: skip
    assert times["source_pts"][6] * unit == Fraction(3, 2)


def test_what_is_there_already(source: Path, tmp_path: Path) -> None:
    """A sequence of ours is replaced, another folder or file is not."""
    target = tmp_path / "out"
    for upto in (12, 5):
        sink = open_at(source, target, "png16", DepthKind.NEAR)
        run(sink, source, DepthKind.NEAR, upto)
        sink.finish()
        assert len(contents(target)) == upto + 1
        assert is_own_sequence(target)
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.jpg").write_bytes(b"mine")
    (tmp_path / "file").write_bytes(b"mine")
    for name in ("photos", "file"):
        with pytest.raises(OutputError, match=name):
            open_at(source, tmp_path / name, "png16", DepthKind.NEAR)
    assert not is_own_sequence(tmp_path / "photos")
    assert (tmp_path / "photos" / "a.jpg").read_bytes() == b"mine"


def test_what_others_put_into_our_folder_is_not_lost(source: Path, tmp_path: Path) -> None:
    """A project of a compositor, say; what file managers leave there does not count."""
    target = tmp_path / "out"
    for stray in (".DS_Store", "shot.nk", "000900.png"):
        sink = open_at(source, target, "png16", DepthKind.NEAR)
        run(sink, source, DepthKind.NEAR, 5)
        sink.finish()
        (target / stray).write_bytes(b"mine")
        if stray != ".DS_Store":
            with pytest.raises(OutputError, match=stray):
                open_at(source, target, "png16", DepthKind.NEAR)
            assert (target / stray).read_bytes() == b"mine"
            (target / stray).unlink()
    sink = open_at(source, target, "png16", DepthKind.NEAR)
    run(sink, source, DepthKind.NEAR, 5)
    (target / "late").mkdir()
    with pytest.raises(OutputError, match="late"):
        sink.finish()
    sink.abort()
    assert (target / "late").is_dir()


def test_what_does_not_go_together(source: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="exr or npz"):
        open_at(source, tmp_path / "out", "png16", DepthKind.DEPTH_M)
    with pytest.raises(UsageError, match="png16"):
        open_at(source, tmp_path / "out", "jpeg", DepthKind.NEAR)
    sink = open_at(source, tmp_path / "out", "png16", DepthKind.NEAR)
    with pytest.raises(ValueError, match="near"):
        sink.write(values(3, DepthKind.DEPTH_M), 0, 1, 0)
    with pytest.raises(ValueError, match="maps"):
        sink.write(values(0, DepthKind.NEAR)[1:], 0, 1, 0)
    sink.abort()
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_not_there(source: Path, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="does not exist"):
        open_at(source, tmp_path / "no" / "out", "npz", DepthKind.NEAR)
