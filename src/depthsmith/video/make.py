"""One film through all stages."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

from depthsmith.errors import FilmError, UsageError
from depthsmith.film import FilmFrame, FilmInfo, Span
from depthsmith.media.film.read import FilmReader
from depthsmith.media.film.shots import MEMORY, with_cuts
from depthsmith.media.film.sink import Sink, Written
from depthsmith.video.frame_depth import DepthSource, Memory, Seen
from depthsmith.video.key import file_key
from depthsmith.video.painters import Painter
from depthsmith.video.relay import Relay

T = TypeVar("T")

SEGMENT_FRAMES = 120
"""A killed run loses at most so many frames. Part of what a film looks like: segments end
groups of pictures."""

# Frames that wait between two stages; enough to bridge what takes longer now and then.
_AHEAD = 4
_PAINTER, _SHOTS = "painter.", "shots"

Progress = Callable[[int, int | None], None]
"""Is told how many frames are written, and of how many, as far as that is known."""


@dataclass(frozen=True)
class Reading:
    """What is read of a film.

    Attributes:
        spans: its parts; all of it if empty.
        strict: stop at the first damaged frame.
        allow_truncated: take what there is of a film that ends early.

    Raises:
        UsageError: if parts overlap or go back.
    """

    spans: tuple[Span, ...] = ()
    strict: bool = False
    allow_truncated: bool = False

    def __post_init__(self) -> None:
        for one, after in pairwise(self.spans):
            if one.end_s is None or one.end_s > after.start_s:
                raise UsageError("parts of a film must ascend and not overlap")


@dataclass(frozen=True)
class Made:
    """What was made of one film.

    Attributes:
        written: see `Written`.
        shots: how many there are; 0 if it was finished before.
        skipped: damaged frames that are not in the result.
        resumed_at: frame that the work was continued from; 0 if it was not, all frames if
            nothing was left to do.
        notes: what a user may want to know, one clause each.
    """

    written: Written
    shots: int
    skipped: int
    resumed_at: int
    notes: tuple[str, ...]


def make(
    film: FilmInfo,
    sink: Sink,
    source: DepthSource,
    painter: Painter,
    *,
    reading: Reading,
    progress: Progress,
) -> Made:
    """Read ``film``, estimate, steady, paint and write, all at the same time.

    Whatever happens, every thread has ended when this returns or raises. Closed segments stay
    for a later run unless it succeeds.

    Args:
        sink: is finished, or aborted when something fails, or nothing is to be done.

    Raises:
        FilmError: if the film cannot be read, ends early, or has changed meanwhile.
        ModelError, InputError: if the network fails.
        OutputError: if the result cannot be written.
    """
    if sink.finished is not None:
        sink.abort()
        return Made(sink.finished, 0, 0, sink.finished.frames, ())
    start, known = sink.frames_done, file_key(film.path)
    # Shots are found anew from a little before the first frame that is wanted.
    reader = FilmReader(
        film,
        spans=reading.spans,
        strict=reading.strict,
        deep=painter.content == "deep",
        skip=max(0, start - MEMORY),
    )
    done, shots = start, int((sink.state or {}).get(_SHOTS, 0))
    total = _expected(film, reading.spans)
    try:
        with contextlib.closing(reader), _one_thread_in_opencv(), _Threads() as threads:
            for seen, picture, memory in _pictures(reader, sink, source, painter, threads):
                frame = seen.frame
                sink.write(picture, frame.pts, frame.duration, frame.index)
                done, shots = frame.index + 1, shots + frame.cut
                if done % SEGMENT_FRAMES == 0:
                    sink.close_segment({**memory(), _SHOTS: np.int64(shots)})
                progress(done, total)
        _check_length(reader, reading, film)
        _check_same(film, known)
        written = sink.finish()
    except BaseException:
        sink.abort()
        raise
    notes = (*film.notes, *reader.notes, *sink.notes, *written.notes)
    return Made(written, shots, reader.skipped, start, tuple(dict.fromkeys(notes)))


def _pictures(
    reader: FilmReader,
    sink: Sink,
    source: DepthSource,
    painter: Painter,
    threads: _Threads,
) -> Iterator[tuple[Seen, NDArray[Any], Callable[[], Memory]]]:
    """The finished pictures, each with what a run that goes on after it needs."""
    earlier = {k: v for k, v in (sink.state or {}).items() if k != _SHOTS}
    painter.recall({k.removeprefix(_PAINTER): v for k, v in earlier.items() if _is_painters(k)})
    frames = threads.ahead(_from(with_cuts(reader, live=source.live), sink.frames_done), "read")
    seen = source.run(
        frames,
        reader.info,
        {k: v for k, v in earlier.items() if not _is_painters(k)},
        threads,
        keep_pictures=painter.needs_picture,
    )
    return threads.ahead(_painted(seen, painter), "paint")


def _painted(
    seen: Iterator[Seen], painter: Painter
) -> Iterator[tuple[Seen, NDArray[Any], Callable[[], Memory]]]:
    for one in seen:
        picture = painter.paint(one)
        yield one, picture, _memory(one.memory, painter.memory())


def _memory(source: Callable[[], Memory], painter: Memory) -> Callable[[], Memory]:
    return lambda: {**source(), **{_PAINTER + name: value for name, value in painter.items()}}


def _is_painters(name: str) -> bool:
    return name.startswith(_PAINTER)


@contextlib.contextmanager
def _one_thread_in_opencv() -> Iterator[None]:
    """The stages are what works side by side; OpenCV's own threads only take their cores."""
    before = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        yield
    finally:
        cv2.setNumThreads(before)


class _Threads(contextlib.ExitStack):
    """Ends every thread when the block is left."""

    def ahead(self, source: Iterable[T], name: str) -> Iterator[T]:
        return self.enter_context(Relay(source, _AHEAD, name))


def _from(frames: Iterator[FilmFrame], first: int) -> Iterator[FilmFrame]:
    for frame in frames:
        if frame.index >= first:
            yield frame


def _check_length(reader: FilmReader, reading: Reading, film: FilmInfo) -> None:
    """A result that is shorter than its source is an error, unless that is allowed."""
    if reader.missing_s and not reading.allow_truncated:
        raise FilmError(
            f"{film.path} is truncated: {reader.missing_s:.2f} s are missing at its end; "
            "take what there is with --allow-truncated"
        )


def _check_same(film: FilmInfo, known: object) -> None:
    """The tracks are read at the end, and would be those of another film."""
    if file_key(film.path) != known:
        raise FilmError(f"{film.path} has changed while it was read; start again")


def _expected(film: FilmInfo, spans: Sequence[Span]) -> int | None:
    """About how many frames there will be."""
    if not spans:
        return film.frame_count
    if film.frame_rate is None or film.duration_s is None:
        return None
    seconds = sum((s.end_s or film.duration_s) - s.start_s for s in spans)
    return max(1, round(seconds * float(film.frame_rate)))
