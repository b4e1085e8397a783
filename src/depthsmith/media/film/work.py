"""What a run leaves while it goes, so that it can be killed at any moment and continued.

Beside the target, in a hidden folder::

    .film_depth.1a2b3c4d.depthsmith/
        lock                 held by the process that is at work
        job.json             the key of what is being done
        00000.mkv            the files of a closed segment; what they are is the sink's business
        00000.times.npz      pts and durations of its frames
        00000.state.npz      what the next frame depends on; of the last two segments
        00000.json           written last: sizes and checksums of the above. Only with it, a
                             segment is there

Everything is flushed to the disk before the file that vouches for it is renamed into place.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthsmith.atomic import writing
from depthsmith.errors import UsageError
from depthsmith.media.film.lasting import (
    checksum,
    read_arrays,
    read_json,
    save,
    whole,
    write_json,
)
from depthsmith.media.film.sink import State

FORMAT = 1
"""Version of the folder; raised when it would be misread."""

UNKNOWN = -1
"""For a duration."""

_STEM_LENGTH = 40
_STATES_KEPT = 2


@dataclass(frozen=True, eq=False)
class Segment:
    """A closed segment.

    Attributes:
        number: counts from 0.
        files: in order.
        pts, durations: ``(N,)`` int64, in the source's time base; `UNKNOWN` where it is.
        facts: what the sink has noted, JSON.
    """

    number: int
    files: tuple[Path, ...]
    pts: NDArray[np.int64]
    durations: NDArray[np.int64]
    facts: dict[str, Any]

    @property
    def frames(self) -> int:
        return len(self.pts)


class Work:
    """The work on one target. Open with `Work.open`.

    Attributes:
        target: what is being made.
        folder: where the work is kept.
        segments: closed ones, in order.
        state: of the last segment that an earlier run has closed.
        notes: what a user may want to know of what was left, one clause each.
    """

    def __init__(self, target: Path, folder: Path, lock: Any) -> None:
        self.target, self.folder = target, folder
        self._lock = lock
        self.segments: list[Segment] = []
        self.notes: tuple[str, ...] = ()
        self.state: dict[str, NDArray[Any]] | None = None

    @classmethod
    def open(cls, target: Path, key: str, *, resume: bool) -> Work:
        """Begin, or continue what an earlier run has left.

        Args:
            target: what is being made.
            key: a digest of everything that the result depends on.
            resume: keep what is there; else it is thrown away.

        Raises:
            UsageError: if ``resume`` finds work of another key, or another process is at it.
            OutputError: if the folder cannot be written.
        """
        import filelock

        folder = work_folder(target)
        lock = filelock.FileLock(folder / "lock", timeout=0)
        with writing(target):
            folder.mkdir(exist_ok=True)
            try:
                lock.acquire()
            except filelock.Timeout:
                raise UsageError(
                    f"another depthsmith is at work on {target}; wait for it, or write elsewhere"
                ) from None
        work = cls(target, folder, lock)
        try:
            with writing(target):
                work._begin(key, resume)
        except BaseException:
            lock.release()
            raise
        return work

    @property
    def frames_done(self) -> int:
        return sum(segment.frames for segment in self.segments)

    def path(self, ending: str) -> Path:
        """Of a file of the next segment: its number and ``ending``."""
        return self.folder / f"{len(self.segments):05d}{ending}"

    def add(
        self,
        files: Sequence[Path],
        pts: Sequence[int],
        durations: Sequence[int],
        *,
        state: State | None,
        facts: dict[str, Any] | None = None,
    ) -> None:
        """Close a segment: from here on it survives.

        Args:
            files: in the folder or below, whole.
            pts, durations: of its frames, in the source's time base.
            state: what the next frame depends on.
            facts: anything that JSON takes.

        Raises:
            OutputError: if it cannot be written.
            ValueError: if ``state`` holds objects.
        """
        times, memory = self.path(".times.npz"), self.path(".state.npz")
        arrays = {name: np.asarray(value) for name, value in (state or {}).items()}
        if any(array.dtype.hasobject for array in arrays.values()):
            raise ValueError("a state holds arrays of numbers, not objects")
        segment = Segment(
            number=len(self.segments),
            files=tuple(files),
            pts=np.asarray(pts, np.int64),
            durations=np.asarray(durations, np.int64),
            facts=dict(facts or {}),
        )
        with writing(self.target):
            save(times, {"pts": segment.pts, "durations": segment.durations})
            sums = {self._name(path): checksum(path) for path in (*files, times)}
            if state is not None:
                save(memory, arrays)
                sums[memory.name] = checksum(memory)
            record = {
                "frames": segment.frames,
                "files": [self._name(path) for path in files],
                "sums": sums,
                "facts": segment.facts,
            }
            write_json(self.path(".json"), record)
        self.segments.append(segment)
        old = segment.number - _STATES_KEPT
        if old >= 0:
            (self.folder / f"{old:05d}.state.npz").unlink(missing_ok=True)

    def _name(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix()

    def release(self) -> None:
        """Let another process at it. What is there stays, unless nothing was finished."""
        # On the disk, for an interrupt may come between a segment's end and its being counted.
        if kept_frames(self.target):
            self._lock.release()
        else:
            self.discard()

    def discard(self) -> None:
        """Remove all of it."""
        self._lock.release()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _begin(self, key: str, resume: bool) -> None:
        job = {"format": FORMAT, "key": key}
        there = read_json(self.folder / "job.json")
        if resume and there is not None:
            if there != job:
                raise UsageError(
                    f"what is left of {self.target} was begun with another film, model or "
                    "options; use the same, or start again without --resume"
                )
            self._load()
            closed = sum(1 for path in self.folder.glob("*.json") if path.stem.isdecimal())
            if lost := closed - len(self.segments):
                self.notes = (f"{lost} damaged segments of the earlier run are made again",)
        self._sweep()
        write_json(self.folder / "job.json", job)

    def _load(self) -> None:
        """Take the segments that are whole, up to the first that is not."""
        while (segment := self._segment()) is not None:
            self.segments.append(segment)
        # After damage, the last segment's state may be gone already; then go back further.
        while self.segments:
            last = self.segments[-1]
            record = read_json(self.folder / f"{last.number:05d}.json") or {}
            name = f"{last.number:05d}.state.npz"
            if name not in record.get("sums", {}):
                return  # closed without a state
            if whole(self.folder / name, record["sums"][name]):
                self.state = read_arrays(self.folder / name)
                return
            self.segments.pop()

    def _segment(self) -> Segment | None:
        record = read_json(self.path(".json"))
        try:
            if record is None:
                return None
            for name in (*record["files"], self.path(".times.npz").name):
                if not whole(self.folder / name, record["sums"][name]):
                    return None
            times = read_arrays(self.path(".times.npz"))
            return Segment(
                number=len(self.segments),
                files=tuple(self.folder / name for name in record["files"]),
                pts=times["pts"],
                durations=times["durations"],
                facts=record["facts"],
            )
        except (KeyError, TypeError, ValueError):
            return None

    def _sweep(self) -> None:
        """Remove everything that belongs to no segment."""
        kept = {"lock", "job.json"}
        for segment in self.segments:
            kept |= {self._name(path) for path in segment.files}
            kept |= {f"{segment.number:05d}{end}" for end in (".json", ".times.npz", ".state.npz")}
        for path in self.folder.rglob("*"):
            if self._name(path) not in kept and not path.is_dir():
                path.unlink()


def kept_frames(target: Path) -> int:
    """How many frames of ``target`` are in closed segments of a run that did not end."""
    records = (read_json(work_folder(target) / f"{n:05d}.json") for n in itertools.count())
    return sum(record["frames"] for record in itertools.takewhile(bool, records) if record)


def work_folder(target: Path) -> Path:
    """Where the work on ``target`` is kept."""
    digest = hashlib.sha256(os.fsencode(target.name)).hexdigest()[:8]
    return target.with_name(f".{target.name[:_STEM_LENGTH]}.{digest}.depthsmith")
