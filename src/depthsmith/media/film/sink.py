"""Where the pictures of a film go: what a video file and a picture sequence have in common.

The life of a sink::

    sink = open_film(target, …, key=key, resume=True)    # or open_sequence(…)
    sink.finished                      nothing is to be done any more; None if there is
    sink.frames_done, sink.state       what an earlier run left; 0 and None for a fresh start
    sink.write(pixels, pts, duration, index)             # index == frames_done, and on
    sink.close_segment(state)          from here on a killed run can be continued from here
    …
    report = sink.finish()             the file is there under its own name
    sink.abort()                       instead: nothing under the final name, the work is kept

A continued run gives the same file as one that was not interrupted, if the caller closes its
segments after the same frames and hands in everything that its next frame depends on as state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

State = Mapping[str, NDArray[Any]]
"""What the next frame depends on, as arrays by name. No objects."""


@dataclass(frozen=True)
class Written:
    """What came out.

    Attributes:
        paths: of the file or folder; of both eyes' files.
        frames: how many pictures.
        duration: from the first picture's time to the end of the last, in seconds.
        copied, converted, dropped: tracks of the source, one short text each.
        notes: what a user may want to know, one clause each.
    """

    paths: tuple[Path, ...]
    frames: int
    duration: Fraction
    copied: tuple[str, ...] = ()
    converted: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        """Of the file or folder, or of the left eye's file."""
        return self.paths[0]


class Sink(Protocol):
    """Takes the pictures of one film in order. Used by one thread at a time."""

    @property
    def finished(self) -> Written | None:
        """What an earlier run has finished that was to do the same; None if there is work."""

    @property
    def frames_done(self) -> int:
        """How many frames closed segments hold; the next to write has this index."""

    @property
    def state(self) -> dict[str, NDArray[Any]] | None:
        """As given to the last `close_segment` of the run that is continued, else None."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What is known before the first frame, such as padding to even sizes."""

    def write(self, pixels: NDArray[Any], pts: int, duration: int | None, index: int) -> None:
        """Add a picture. What is written can be lost until its segment is closed.

        Args:
            pixels: ``(H, W)`` float32 or ``(H, W, 3)`` uint8 or uint16, as the sink was opened
                for; not kept or changed.
            pts, duration: of `FilmFrame`, in the source's time base.
            index: of `FilmFrame`, to make sure that none is missing or there twice.

        Raises:
            OutputError: if it cannot be written.
        """

    def close_segment(self, state: State | None = None) -> None:
        """Make what was written so far safe. Does nothing without new frames.

        Raises:
            OutputError: if it cannot be written.
        """

    def finish(self) -> Written:
        """Close, put the file together under its own name and remove the work folder.

        Raises:
            OutputError: if it cannot be written, or what was written is not what it should be.
            FilmError: if the source can no longer be read, or there was no frame.
        """

    def abort(self) -> None:
        """Let go of everything; closed segments stay for a later run. May be called twice.

        Safe after any error, from another thread than `write` only once that has returned.
        """
