"""Times and rates as people write them: ``90``, ``1:30``, ``0:01:30.5``, ``1:00-2:00``, ``8M``."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from depthsmith.errors import UsageError
from depthsmith.film import Span

_TIME = re.compile(r"(?:(?:(\d+):)?(\d{1,2}):)?(\d+(?:\.\d*)?|\.\d+)s?")

_RATE = re.compile(r"(\d+(?:\.\d*)?)([kKmM]?)(?:bit/s|bps)?")
_UNITS = {"": 1, "k": 1_000, "m": 1_000_000}


def parse_time(text: str) -> float:
    """Seconds.

    Raises:
        UsageError: if it is no time.
    """
    found = _TIME.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"{text!r} is no time; write seconds, M:SS or H:MM:SS")
    hours, minutes, seconds = found.groups()
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + float(seconds)


def parse_bit_rate(text: str | None) -> int | None:
    """Bit/s from ``8M``, ``500k`` or a plain number.

    Raises:
        UsageError: if it is none.
    """
    if text is None:
        return None
    found = _RATE.fullmatch(text.strip())
    rate = round(float(found[1]) * _UNITS[found[2].lower()]) if found else 0
    if rate < 1:
        raise UsageError(f"{text!r} is no bit rate; write 8M or 500k")
    return rate


def parse_spans(
    start: str | None = None, duration: str | None = None, segments: Sequence[str] = ()
) -> tuple[Span, ...]:
    """The parts that the options name; none for the whole film.

    Args:
        start: where the part begins.
        duration: how long it is.
        segments: parts ``A-B``, in order; the end may be left out.

    Raises:
        UsageError: for times that are none, parts that are empty, overlap or go back, or both
            ways at once.
    """
    if segments and (start or duration):
        raise UsageError("--segment says it all; leave out --start and --duration")
    if segments:
        spans = tuple(_segment(text) for text in segments)
        for before, after in itertools.pairwise(spans):
            if before.end_s is None or after.start_s < before.end_s:
                raise UsageError("segments must follow each other in the film's order")
        return spans
    if start is None and duration is None:
        return ()
    first = parse_time(start) if start else 0.0
    if duration is None:
        return (Span(first),)
    length = parse_time(duration)
    if not length > 0:
        raise UsageError("--duration must be longer than 0")
    return (Span(first, first + length),)


def _segment(text: str) -> Span:
    begin, dash, end = text.partition("-")
    if not dash:
        raise UsageError(f"{text!r} is no segment; write A-B, as in 1:00-2:00")
    return Span(parse_time(begin) if begin else 0.0, parse_time(end) if end.strip() else None)
