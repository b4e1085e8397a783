"""Frames of a sink in their order: none missing, none twice, times kept."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from depthsmith.film import FilmInfo, Span
from depthsmith.media.film.montage import Montage, make_montage
from depthsmith.media.film.probe import opened
from depthsmith.media.film.sink import State
from depthsmith.media.film.work import UNKNOWN, Work

_MICROSECOND = Fraction(1, 1_000_000)


class FrameList:
    """Keeps times of the frames that are not in a closed segment yet.

    Args:
        work: gets them with each segment.
    """

    def __init__(self, work: Work) -> None:
        self._work = work
        self._pts: list[int] = []
        self._durations: list[int] = []
        self._done = work.frames_done
        self._last = int(work.segments[-1].pts[-1]) if work.segments else None

    def __len__(self) -> int:
        """Of frames that are not in a closed segment."""
        return len(self._pts)

    def check(self, pts: int, index: int) -> None:
        """Make sure that a frame is the next.

        Raises:
            ValueError: if it is not.
        """
        expected = self._done + len(self._pts)
        if index != expected:
            raise ValueError(f"frame {index} was given where {expected} is the next")
        last = self._pts[-1] if self._pts else self._last
        if last is not None and pts <= last:
            raise ValueError(f"frame {index} is at {pts}, not after the one before at {last}")

    def add(self, pts: int, duration: int | None) -> None:
        """Take note of a frame that was written."""
        self._pts.append(pts)
        self._durations.append(duration if duration and duration > 0 else UNKNOWN)

    def close(
        self, files: Sequence[Path], *, state: State | None, facts: dict[str, Any] | None = None
    ) -> None:
        """Close a segment of all frames since the last one."""
        self._work.add(files, self._pts, self._durations, state=state, facts=facts)
        self._last = self._pts[-1]
        self._done += len(self._pts)
        self._pts, self._durations = [], []

    def montage(self, source: FilmInfo, spans: Sequence[Span]) -> Montage:
        """Of all frames in closed segments.

        Raises:
            FilmError: if the source cannot be read any more.
        """
        segments = self._work.segments
        with opened(source.path) as film:
            flags = getattr(film.format, "flags", 0)
            free = bool(int(getattr(flags, "value", flags)) & _TS_DISCONT)
            start = (film.start_time or 0) * _MICROSECOND
        return make_montage(
            np.concatenate([segment.pts for segment in segments]),
            np.concatenate([segment.durations for segment in segments]),
            unit=source.time_base,
            rate=source.frame_rate,
            spans=spans,
            origin=source.start or 0,
            file_start=start,
            free_clock=free,
        )


_TS_DISCONT = 0x0200
"""AVFMT_TS_DISCONT: of formats whose clock starts anywhere."""
