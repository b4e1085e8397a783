"""When everything is shown: from the source's clock to the clock of what is written.

Without spans the clocks are the same, so that a first picture at 0.5 s stays there, and sound
before it too. They differ where the source's starts anywhere (MPEG transport and program
streams, recordings of live streams: it then starts at 0) or has pictures before 0.

With spans, parts follow each other from 0 on: a part begins with its first picture and ends
when its last picture's time is over.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from depthsmith.film import Span
from depthsmith.media.film.work import UNKNOWN

_LATE_SECONDS = 60
"""No film made to be watched begins later; a recording of a live stream does."""

_LEAST_SHARE = 8
"""The distance of two pictures is taken for that of the next if it is no smaller part than this
of the usual one."""


@dataclass(frozen=True)
class Part:
    """A stretch of the source, in seconds: ``[begin, end)`` goes to ``to`` and on."""

    begin: Fraction
    end: Fraction
    to: Fraction


@dataclass(frozen=True, eq=False)
class Montage:
    """Where the times of the source go.

    Attributes:
        unit: of the pictures' times, in seconds.
        pts: ``(N,)`` int64, of the pictures in what is written; they increase.
        durations: ``(N,)`` int64, all known. Within a part up to the next picture.
        parts: ascending; empty where everything is taken, ``shift`` later.
        shift: seconds.
        note: what a user may want to know, or empty.
    """

    unit: Fraction
    pts: NDArray[np.int64]
    durations: NDArray[np.int64]
    parts: tuple[Part, ...] = ()
    shift: Fraction = Fraction(0)
    note: str = ""

    @property
    def end(self) -> Fraction:
        """When the last picture's time is over, in what is written."""
        return (int(self.pts[-1]) + int(self.durations[-1])) * self.unit

    @property
    def duration(self) -> Fraction:
        """From the first picture on."""
        return self.end - int(self.pts[0]) * self.unit

    def place(self, time: Fraction) -> Fraction | None:
        """Where something that begins at ``time`` goes; None if it is left out."""
        if not self.parts:
            return time + self.shift
        number = bisect.bisect_right([part.begin for part in self.parts], time) - 1
        if number < 0 or time >= self.parts[number].end:
            return None
        return self.parts[number].to + time - self.parts[number].begin

    def cut(self, begin: Fraction, end: Fraction) -> list[tuple[Fraction, Fraction, Fraction]]:
        """What is taken of something from ``begin`` to ``end``: begin, end, where it goes."""
        if not self.parts:
            return [(begin, end, begin + self.shift)]
        pieces = []
        for part in self.parts:
            first, last = max(begin, part.begin), min(end, part.end)
            if first < last:
                pieces.append((first, last, part.to + first - part.begin))
        return pieces

    def clip(self, begin: Fraction, end: Fraction) -> list[tuple[Fraction, Fraction]]:
        """Where something from ``begin`` to ``end`` is seen; in one where parts follow on."""
        pieces: list[tuple[Fraction, Fraction]] = []
        for first, last, to in self.cut(begin, end):
            if pieces and pieces[-1][1] == to:
                pieces[-1] = (pieces[-1][0], to + last - first)
            else:
                pieces.append((to, to + last - first))
        return pieces


def make_montage(
    pts: NDArray[np.int64],
    durations: NDArray[np.int64],
    *,
    unit: Fraction,
    rate: Fraction | None,
    spans: Sequence[Span] = (),
    origin: int = 0,
    file_start: Fraction = Fraction(0),
    free_clock: bool = False,
) -> Montage:
    """The montage of pictures that were taken.

    Args:
        pts, durations: ``(N,)`` int64 in the source's time; `UNKNOWN` durations follow from
            the next picture, or from the one before.
        unit: of those, in seconds.
        rate: of the source, where only one picture has no duration either.
        spans: of the source, which were asked for; ``origin`` is their 0.
        file_start: the earliest time of anything in the source, in seconds.
        free_clock: whether the source's format has a clock that starts anywhere.

    Raises:
        ValueError: if times do not increase.
    """
    if len(pts) == 0 or np.any(np.diff(pts) <= 0):
        raise ValueError("the times of pictures must increase")
    begins = _begins(pts, spans, unit, origin)
    lasts = [*(begin - 1 for begin in begins[1:]), len(pts) - 1]
    spaced = np.append(np.diff(pts), UNKNOWN).astype(np.int64)
    for last in lasts:
        spaced[last] = durations[last]
        if spaced[last] <= 0:
            usual = max(1, round(1 / ((rate or 25) * unit)))
            before = int(spaced[last - 1]) if last not in begins else 0
            # A time that was moved by a tick is no measure.
            spaced[last] = before if before * _LEAST_SHARE >= usual else usual
    if not spans:
        shift, note = _shift(int(pts[0]), unit, file_start, free_clock)
        moved = pts + int(shift / unit)
        return Montage(unit, moved, spaced, shift=shift, note=note)
    parts, moved, to = [], pts.copy(), 0
    for begin, last in zip(begins, lasts, strict=True):
        end = int(pts[last] + spaced[last])
        parts.append(Part(int(pts[begin]) * unit, end * unit, to * unit))
        moved[begin : last + 1] += to - pts[begin]
        to += end - int(pts[begin])
    return Montage(unit, moved, spaced, tuple(parts))


def _begins(
    pts: NDArray[np.int64], spans: Sequence[Span], unit: Fraction, origin: int
) -> list[int]:
    """Number of the first picture of each span that has any."""
    begins = [0]
    for span in spans[1:]:
        # Microseconds, as the reader of films takes them.
        start = origin + Fraction(span.start_s).limit_denominator(1_000_000) / unit
        first = int(np.searchsorted(pts, math.ceil(start)))
        if begins[-1] < first < len(pts):
            begins.append(first)
    return begins


def _shift(
    first: int, unit: Fraction, file_start: Fraction, free_clock: bool
) -> tuple[Fraction, str]:
    """By how much everything is moved, a multiple of ``unit``."""
    if free_clock or file_start >= _LATE_SECONDS:
        start = min(file_start, first * unit)
        moved = -math.floor(start / unit) * unit
        # A transport stream's clock says nothing; that of other files may be missed.
        note = "" if free_clock else f"times begin at 0, not at {float(start):.3f} s"
        return moved, note
    if first < 0:
        return -first * unit, f"times begin at 0, not at {float(first * unit):.3f} s"
    return Fraction(0), ""
