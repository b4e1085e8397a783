"""Is what was written what was meant? Read back by demuxing."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path
from typing import Any

from depthsmith.errors import OutputError
from depthsmith.media.film.montage import Montage
from depthsmith.media.film.probe import tagged_end_s
from depthsmith.media.film.sink import Written
from depthsmith.types import Size

_KINDS = ("audio", "subtitle")


def verify_film(
    file: Path, target: Path, montage: Montage, size: Size, streams: dict[str, int]
) -> None:
    """Compare number, times and size of the pictures, the duration, and the other streams.

    Args:
        file: what was written.
        target: how it will be called.
        montage: what was meant.
        size: of the pictures in the file.
        streams: how many of each type there should be.

    Raises:
        OutputError: if anything differs.
    """
    import av

    try:
        with av.open(os.fspath(file)) as film:
            for kind in _KINDS:
                found = len([s for s in film.streams if s.type == kind])
                if found != streams.get(kind, 0):
                    raise _wrong(target, f"{found} {kind} tracks", f"{streams.get(kind, 0)}")
            pictures = next(s for s in film.streams.video if not s.disposition & _COVER)
            unit = pictures.time_base
            shape = Size(pictures.height, pictures.width)
            end = _end(pictures)
            times = [packet.pts for packet in film.demux(pictures) if packet.size]
    except (av.error.FFmpegError, StopIteration, TypeError) as error:
        raise OutputError(f"what was written as {target} cannot be read back: {error}") from error
    if shape != size:
        raise _wrong(target, f"pictures of {shape.wxh}", size.wxh)
    if len(times) != len(montage.pts):
        raise _wrong(target, f"{len(times)} frames", f"{len(montage.pts)}")
    # What the container's clock rounds, or the last digit where it is the source's own.
    most = unit / 2
    for got, meant in zip(sorted(times), montage.pts.tolist(), strict=True):
        if abs(got * unit - meant * montage.unit) > most:
            raise _wrong(target, f"a frame at {_s(got * unit)}", _s(meant * montage.unit))
    # The last frame's own length is the least sure of all: containers may not say it.
    frame = int(montage.durations[-1]) * montage.unit + unit
    if end is not None and abs(end - montage.end) > frame:
        raise _wrong(target, f"an end at {_s(end)}", _s(montage.end))


def written_before(targets: tuple[Path, ...]) -> Written | None:
    """What is to be said of films of an earlier run; None if they cannot be read."""
    import av

    try:
        with av.open(os.fspath(targets[0])) as film:
            pictures = next(s for s in film.streams.video if not s.disposition & _COVER)
            times = [packet.pts for packet in film.demux(pictures) if packet.size]
            end = _end(pictures) or max(times) * pictures.time_base
            return Written(targets, len(times), end - min(times) * pictures.time_base)
    except (av.error.FFmpegError, StopIteration, TypeError, ValueError):
        return None


def _end(pictures: Any) -> Fraction | None:
    """As declared. Durations of packets say nothing: those of Matroska are guessed, those of
    MP4 are the distances in the order of decoding.
    """
    tagged = tagged_end_s(pictures)
    if tagged is not None:
        return Fraction(tagged).limit_denominator(1_000_000_000)
    if not pictures.duration:
        return None
    end: Fraction = ((pictures.start_time or 0) + pictures.duration) * pictures.time_base
    return end


_COVER = 1 << 10
"""AV_DISPOSITION_ATTACHED_PIC"""


def _s(time: Fraction) -> str:
    return f"{float(time):.6f} s"


def _wrong(target: Path, found: str, meant: str) -> OutputError:
    return OutputError(
        f"what was written as {target} has {found} where {meant} was meant; it is not kept"
    )
