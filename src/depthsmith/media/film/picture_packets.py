"""Packets of segments with their true times."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from depthsmith.errors import OutputError
from depthsmith.media.film.montage import Montage
from depthsmith.media.film.segments import UNIT
from depthsmith.media.film.work import Segment


def picture_packets(
    segments: Sequence[Segment], montage: Montage, stream: Any
) -> Iterator[tuple[Fraction, Any]]:
    """Each packet for ``stream``, after the second at which it is to be decoded.

    Pictures that are shown after later ones come earlier in the file. Decoding times are the
    pictures' own in increasing order, moved ahead by as many pictures as that can be.

    Raises:
        OutputError: if a segment does not hold what it held.
    """
    delay = max((segment.facts.get("reorder", 0) for segment in segments), default=0)
    pts, unit = montage.pts, montage.unit
    early = _early(pts.tolist(), delay, int(montage.durations[0]))
    base = coded = 0
    head: bytes | None = None
    for segment in segments:
        seen = 0
        for number, packet, extradata in _read(segment):
            if head is None:
                head = extradata
            if not 0 <= number < segment.frames or extradata != head:
                raise _damaged(segment)
            index = base + number
            packet.time_base = unit
            packet.pts = int(pts[index])
            packet.dts = early[coded] if coded < delay else int(pts[coded - delay])
            seen, coded = seen + 1, coded + 1
            # MP4 takes the last packet's for the last picture's.
            shown = index if coded < len(pts) else -1
            packet.duration = int(montage.durations[shown])
            packet.stream = stream
            yield packet.dts * unit, packet
        if seen != segment.frames:
            raise _damaged(segment)
        base += segment.frames


def _early(pts: list[int], delay: int, step: int) -> list[int]:
    """Decoding times of the first packets, before the first picture is shown.

    As far apart as the last pictures, so that decoding takes as long as showing: MP4 takes the
    one for the other.
    """
    if len(pts) <= delay:
        return [pts[0] - back * step for back in range(delay, 0, -1)]
    return [pts[0] - (pts[-1] - pts[-1 - back]) for back in range(delay, 0, -1)]


def _read(segment: Segment) -> Iterator[tuple[int, Any, bytes]]:
    import av

    try:
        with av.open(os.fspath(segment.files[0])) as file:
            pictures = file.streams.video[0]
            extradata = pictures.codec_context.extradata or b""
            for packet in file.demux(pictures):
                if packet.size:
                    yield round(packet.pts * pictures.time_base / UNIT), packet, extradata
    except (av.error.FFmpegError, IndexError) as error:
        raise _damaged(segment) from error


def _damaged(segment: Segment) -> OutputError:
    return OutputError(f"{segment.files[0]} is damaged; start again without --resume")
