"""Films whose making is stopped: killed, out of disk, not allowed, and then continued."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from written_films import SEGMENT, gray_of, open_sink, packets, write

from depthsmith.errors import FilmError, OutputError, UsageError
from depthsmith.media.film.probe import probe
from depthsmith.media.film.read import FilmReader
from depthsmith.media.film.sequence import open_sequence
from depthsmith.media.film.work import Work, work_folder
from depthsmith.types import DepthKind
from films import AudioSpec, frame_number, make_film_file, rgb_frames

FRAMES = 60


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("film")
    return make_film_file(folder / "a.mp4", parts=((2, 30),), audio=(AudioSpec(),))


def run(sink: Any, source: Path, upto: int = FRAMES) -> None:
    """Write frames from where the sink is; their state is the sum of all numbers so far."""
    total = int(sink.state["total"]) if sink.state else 0
    for frame in FilmReader(probe(source)):
        if frame.index == upto:
            return
        if frame.index < sink.frames_done:
            continue
        sink.write(gray_of(frame.rgb), frame.pts, frame.duration, frame.index)
        total += frame.index
        if (frame.index + 1) % SEGMENT == 0:
            sink.close_segment({"total": np.array(total), "file": np.eye(3, dtype=np.float32)})


@pytest.fixture(scope="module")
def whole(source: Path) -> Path:
    """An uninterrupted run."""
    target = source.with_name("whole.mp4")
    sink = open_sink(probe(source), target)
    run(sink, source)
    sink.finish()
    return target


def leftovers(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


# The 26th frame lies two frames into the third segment: 24 are safe.
@pytest.mark.parametrize("stop", [3, SEGMENT, 26, FRAMES])
def test_continued_is_as_if_never_stopped(
    source: Path, whole: Path, tmp_path: Path, stop: int
) -> None:
    target = tmp_path / "out.mp4"
    info = probe(source)
    sink = open_sink(info, target)
    run(sink, source, stop)
    sink.abort()
    sink.abort()
    assert not target.exists()
    sink = open_sink(info, target, resume=True)
    safe = stop - stop % SEGMENT
    assert sink.frames_done == safe
    if safe:
        assert int(sink.state["total"]) == sum(range(safe))
        assert np.array_equal(sink.state["file"], np.eye(3))
    else:
        assert sink.state is None
    run(sink, source)
    assert sink.finish().frames == FRAMES
    assert packets(target) == packets(whole)
    assert leftovers(tmp_path) == ["out.mp4"]


KILLED = """
import sys
from pathlib import Path
sys.path[:0] = {paths!r}
from test_film_write_work import run
from written_films import open_sink
from depthsmith.media.film.probe import probe
import os, signal
source, target = Path({source!r}), Path({target!r})
sink = open_sink(probe(source), target)
run(sink, source, 30)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_process_leaves_its_segments(source: Path, whole: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.mp4"
    here = Path(__file__).parent
    program = KILLED.format(
        paths=[str(here), str(here.parent)], source=str(source), target=str(target)
    )
    done = subprocess.run([sys.executable, "-c", program], check=False)
    assert done.returncode == -signal.SIGKILL
    assert not target.exists()
    sink = open_sink(probe(source), target, resume=True)
    assert sink.frames_done == 24
    run(sink, source)
    sink.finish()
    assert packets(target) == packets(whole)


def test_without_resume_it_starts_again(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.mp4"
    sink = open_sink(probe(source), target)
    run(sink, source, 26)
    sink.abort()
    sink = open_sink(probe(source), target)
    assert (sink.frames_done, sink.state) == (0, None)
    sink.abort()


@pytest.mark.parametrize("suffix", [".mp4", ".mkv"])
def test_what_is_finished_is_known_by_its_job(source: Path, tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"out{suffix}"
    sink = open_sink(probe(source), target)
    run(sink, source)
    done = sink.finish()
    again = open_sink(probe(source), target, resume=True)
    again.abort()
    found = again.finished
    assert (found.paths, found.frames, found.duration) == ((target,), FRAMES, done.duration)
    for options in ({"resume": True, "key": "other"}, {"resume": False}):
        other = open_sink(probe(source), target, **options)
        assert other.finished is None
        run(other, source, 26)
        other.abort()
    left = open_sink(probe(source), target, resume=True)
    assert (left.finished, left.frames_done) == (None, 24), "what is begun anew is gone on with"
    left.abort()


def test_other_work_is_not_continued(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.mp4"
    sink = open_sink(probe(source), target)
    run(sink, source, 26)
    sink.abort()
    with pytest.raises(UsageError, match="--resume") as caught:
        open_sink(probe(source), target, key="other", resume=True)
    assert "\n" not in str(caught.value)
    assert open_sink(probe(source), target, resume=True).frames_done == 24


def test_one_process_at_a_time(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.mp4"
    sink = open_sink(probe(source), target)
    with pytest.raises(UsageError, match="another depthsmith"):
        open_sink(probe(source), target, resume=True)
    other = open_sink(probe(source), tmp_path / "other.mp4")
    sink.abort()
    open_sink(probe(source), target).abort()
    other.abort()


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 255
    path.write_bytes(data)


def _remove(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize("damage", [_cut, _flip, _remove])
@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("00001.mkv", 12),
        ("00001.times.npz", 12),
        ("00001.json", 12),
        ("00001.state.npz", 12),
        ("00000.mkv", 0),
        # Only the state before the last is of use to nobody.
        ("00000.state.npz", 24),
    ],
)
def test_what_is_damaged_is_made_again(
    source: Path, whole: Path, tmp_path: Path, damage: Any, name: str, safe: int
) -> None:
    target = tmp_path / "out.mp4"
    sink = open_sink(probe(source), target)
    run(sink, source, 26)
    sink.abort()
    damage(work_folder(target) / name)
    sink = open_sink(probe(source), target, resume=True)
    assert sink.frames_done == safe
    there = name != "00001.json" or damage is not _remove
    assert any("damaged" in note for note in sink.notes) == (safe < 24 and there)
    run(sink, source)
    sink.finish()
    assert packets(target) == packets(whole)


def test_states_do_not_pile_up(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.mp4"
    sink = open_sink(probe(source), target)
    run(sink, source)
    assert [p.name for p in sorted(work_folder(target).glob("*.state.npz"))] == [
        "00003.state.npz", "00004.state.npz",
    ]  # fmt: skip
    sink.abort()
    # The last two are broken: nothing that is left can be followed.
    for path in work_folder(target).glob("0000[34].mkv"):
        path.unlink()
    sink = open_sink(probe(source), target, resume=True)
    assert (sink.frames_done, sink.state) == (0, None)
    sink.abort()


def test_frames_come_in_order(source: Path, tmp_path: Path) -> None:
    sink = open_sink(probe(source), tmp_path / "out.mp4")
    near = np.zeros((96, 128), np.float32)
    sink.write(near, 0, 512, 0)
    for pts, index in ((512, 2), (512, 0), (0, 1), (-512, 1)):
        with pytest.raises(ValueError, match="frame"):
            sink.write(near, pts, 512, index)
    sink.write(near, 512, 512, 1)
    assert sink.finish().frames == 2


def test_no_frame_no_film(source: Path, tmp_path: Path) -> None:
    sink = open_sink(probe(source), tmp_path / "out.mp4")
    sink.close_segment({})
    with pytest.raises(FilmError, match="no frame"):
        sink.finish()
    sink.abort()
    assert not (tmp_path / "out.mp4").exists()


def test_an_old_film_stays_until_the_new_one_is_whole(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.mp4"
    target.write_bytes(b"old")
    sink = open_sink(probe(source), target)
    run(sink, source, 26)
    assert target.read_bytes() == b"old"
    sink.abort()
    assert target.read_bytes() == b"old"
    write(source, target)
    assert [frame_number(rgb) for rgb in rgb_frames(target)] == list(range(FRAMES))


@contextlib.contextmanager
def small_files(size: int) -> Iterator[None]:
    """Limit how large a file may get: writing beyond fails, as on a full disk.

    For no longer than needed: the test's own output may go to a file.
    """
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("size", [100, 2_000, 20_000])
def test_no_room_in_a_segment(source: Path, tmp_path: Path, size: int) -> None:
    target = tmp_path / "out.mp4"
    rng = np.random.default_rng(0)
    sink = None
    with small_files(size), pytest.raises(OutputError) as caught:
        sink = open_sink(probe(source), target)
        for index in range(FRAMES):
            sink.write(rng.random((96, 128), np.float32), 512 * index, 512, index)
            if (index + 1) % SEGMENT == 0:
                sink.close_segment()
    assert "\n" not in str(caught.value)
    assert str(target) in str(caught.value)
    if sink is not None:
        sink.abort()
    assert not target.exists()


def test_no_room_for_the_whole(source: Path, whole: Path, tmp_path: Path) -> None:
    """The segments fit, the film does not: it can be finished once there is room."""
    target = tmp_path / "out.mp4"
    sink = open_sink(probe(source), target)
    run(sink, source)
    room = whole.stat().st_size // 2
    with small_files(room), pytest.raises(OutputError, match="File too large") as caught:
        sink.finish()
    assert "\n" not in str(caught.value)
    sink.abort()
    assert leftovers(tmp_path) == [work_folder(target).name]
    sink = open_sink(probe(source), target, resume=True)
    assert sink.frames_done == FRAMES
    sink.finish()
    assert packets(target) == packets(whole)


def test_a_full_disk_says_so(source: Path) -> None:
    """A device that is always full stands for the disk."""
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("there is no /dev/full here")
    from depthsmith.media.film.failures import writing_film

    with pytest.raises(OutputError, match="the disk is full"), writing_film(Path("a.mp4")):
        import av

        with av.open(str(full), "w", format="matroska") as output:
            stream = output.add_stream("ffv1", rate=30)
            stream.width, stream.height = 640, 480
            noise = np.random.default_rng(0).integers(0, 255, (480, 640, 3), np.uint8)
            for _ in range(30):
                output.mux(stream.encode(av.VideoFrame.from_ndarray(noise, format="rgb24")))
            output.mux(stream.encode(None))


@pytest.mark.parametrize("suffix", [".mp4", ""])
def test_a_folder_that_may_not_be_written(source: Path, suffix: str) -> None:
    """The root of the file system, in a process of its own: root may write there."""
    info = probe(source)
    child = os.fork()
    if child == 0:
        said = ""
        try:
            if os.geteuid() == 0:
                os.setuid(65534)
            if suffix:
                open_sink(info, Path("/out.mp4"))
            else:
                open_sequence(Path("/out"), info, "npz", DepthKind.NEAR, info.size, key="")
        except OutputError as error:
            said = str(error)
        finally:
            os._exit(0 if "no permission to write in /" in said else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert not Path("/out.mp4").exists()


def test_a_folder_that_is_not_there(source: Path, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="does not exist"):
        open_sink(probe(source), tmp_path / "no" / "out.mp4")
    (tmp_path / "dir.mp4").mkdir()
    with pytest.raises(OutputError, match="folder"):
        open_sink(probe(source), tmp_path / "dir.mp4")
    assert leftovers(tmp_path) == ["dir.mp4"]


def test_a_state_holds_arrays_only(tmp_path: Path) -> None:
    work = Work.open(tmp_path / "a.mp4", "key", resume=False)
    with pytest.raises(ValueError, match="objects"):
        work.add([], [0], [1], state={"a": np.array([object()])})
    work.discard()
    assert leftovers(tmp_path) == []


def test_a_source_that_is_gone(source: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone.mp4"
    gone.write_bytes(source.read_bytes())
    sink = open_sink(probe(gone), tmp_path / "out.mp4")
    run(sink, gone)
    gone.unlink()
    with pytest.raises(FilmError, match="does not exist"):
        sink.finish()
    sink.abort()
    assert not (tmp_path / "out.mp4").exists()
