"""Presentation times that increase, whatever the file says."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from depthsmith.errors import FilmError

_JUMP_SECONDS = 1
_JUMP_FRAMES = 8  # no codec that films are made with shows a frame so much out of its order


class Timeline:
    """Hands times on as they are; repairs and counts those that cannot be.

    A time that is not there follows from the frame before. A time that repeats, or steps back
    a little, is moved to one unit after the frame before. A jump back by more than a second, or
    by some frames if the next one goes on from there, is a new recording in the same file:
    everything after it is shifted to follow what was before.

    Args:
        unit: seconds.
        step: duration of a frame where none says its own, in units.
        strict: the film, to raise about it instead; None to go on.
    """

    def __init__(self, unit: Fraction, step: int, strict: Path | None) -> None:
        self._unit, self._step, self._strict = unit, max(step, 1), strict
        self._shift = 0
        self._last: int | None = None
        self._last_duration: int | None = None
        # Of the frame before, if it was moved: its own time, and by how much it is early.
        self._moved_from: int | None = None
        self._early = 0
        self.derived = self.moved = self.jumps = 0

    @property
    def untouched(self) -> bool:
        """Whether all times so far are the file's own."""
        return not (self.derived or self.moved or self.jumps)

    @property
    def notes(self) -> tuple[str, ...]:
        found = (
            (self.derived, "frames without a time, which was derived from the frames before: {}"),
            (self.moved, "frames with a time not after the frame before, moved by a tick: {}"),
            (self.jumps, "jumps back in time, joined there: {}"),
        )
        return tuple(text.format(count) for count, text in found if count)

    def place(self, pts: int | None, duration: int | None) -> int:
        """The time of the next frame.

        Raises:
            FilmError: if ``strict`` and the file's time cannot be taken.
        """
        expected = None if self._last is None else self._last + (self._last_duration or self._step)
        if pts is None:
            self._refuse("a frame without a time", expected)
            self.derived += 1
            placed = expected or 0
        else:
            placed = pts + self._shift
        if self._last is not None and placed <= self._last:
            self._refuse("a frame that is not later than the one before", placed)
            assert expected is not None
            back = self._last - placed
            goes_on = self._moved_from is not None and self._moved_from < placed
            if back * self._unit > _JUMP_SECONDS or (goes_on and back > _JUMP_FRAMES * self._step):
                self.jumps += 1
                expected += self._early
                self._shift += expected - placed
                placed = expected
                self._moved_from, self._early = None, 0
            else:
                self.moved += 1
                self._moved_from, self._early = placed, expected - self._last - 1
                placed = self._last + 1
        else:
            self._moved_from, self._early = None, 0
        self._last, self._last_duration = placed, duration
        return placed

    def restart(self) -> None:
        """Forget the frame before, after a seek."""
        self._last = self._last_duration = None

    def _refuse(self, what: str, at: int | None) -> None:
        if self._strict is not None:
            at_s = float((at or 0) * self._unit)
            raise FilmError(f"{self._strict} has {what}, at {at_s:.3f} s")
