"""How long a film is, as far as it can be known before it is read."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass

from depthsmith.errors import FilmError
from depthsmith.film import FilmInfo, Span
from depthsmith.media.film.probe import opened
from depthsmith.media.film.read import FilmReader

_TAIL_S = 1.0
# Of a frame: clocks of containers round.
_SAME_END = 0.75
_SAME_RATE = 0.002
# Of the frames: what a damaged film may have lost, between its ends and in all.
_LOST_WITHIN, _LOST = 0.1, 0.02


@dataclass(frozen=True)
class Extent:
    """How long a film is.

    Attributes:
        count: tells how many frames there are, damaged ones too; None where unknown.
        last_s: when its last frame is shown, seconds after the first; None where unknown.
        rate: frames a second on average; None where unknown.
    """

    count: Callable[[], int | None]
    last_s: float | None = None
    rate: float | None = None

    def __str__(self) -> str:
        count = self.count()
        parts = [] if count is None else [f"{count} frames"]
        if self.last_s is not None:
            parts.append(f"its last one at {self.last_s:.2f} s")
        return ", ".join(parts)

    def is_that_of(self, film: Extent) -> bool:
        """Whether this can be a film of as many frames, each for one of ``film``.

        Only what cannot be is denied. Frames are paired one by one, so another rate is no
        obstacle; and what was made of a damaged film lacks what that lacks.
        """
        same_end = False
        if self.last_s is not None and film.last_s is not None and film.rate:
            same_end = abs(self.last_s - film.last_s) * film.rate <= _SAME_END
            if self.rate and abs(self.rate / film.rate - 1) < _SAME_RATE:
                return same_end
        ours, whole = self.count(), film.count()
        if ours is None or whole is None:
            return True
        lost = _LOST_WITHIN if same_end else _LOST
        return whole * (1 - lost) <= ours <= whole


def extent_of(film: FilmInfo) -> Extent:
    """Decodes the last second of ``film``; counts frames when asked to, which reads it all.

    What it says of its length need not be so: it may break off, and the rate of Matroska is a
    guess.
    """
    if film.duration_s is None:
        return Extent(lambda: _count(film))
    last = None
    tail = FilmReader(film, spans=[Span(max(0.0, film.duration_s - _TAIL_S))])
    with contextlib.suppress(FilmError), contextlib.closing(tail):
        for frame in tail:
            last = float((frame.pts - (film.start or 0)) * film.time_base)
    if last is None:  # it ends before its declared end, or has long pictures
        return Extent(lambda: None)
    rate = None if film.frame_rate is None else float(film.frame_rate)
    return Extent(lambda: _count(film), last, rate)


def _count(film: FilmInfo) -> int | None:
    """By demuxing."""
    import av

    with opened(film.path) as file:
        try:
            packets = file.demux(file.streams[film.stream])
            return sum(1 for packet in packets if packet.size and not packet.is_discard)
        except av.error.FFmpegError:
            return None
