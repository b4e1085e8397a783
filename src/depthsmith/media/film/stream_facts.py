"""Facts about a stream that FFmpeg's muxers write, but that PyAV cannot set.

They are parameters of a stream, which new streams take from another one, as it was read from
a file. So a file is made in memory that has the stream's head and says what is to be said: a
Matroska header without packets, IETF RFC 9559.
"""

from __future__ import annotations

import contextlib
import io
import re
import struct
from collections.abc import Callable
from typing import Any

from depthsmith.film import ColorTags
from depthsmith.media.film.ebml import element, elements, uint

_HEAD, _SEGMENT, _INFO, _TRACKS, _CLUSTER = (
    0x1A45DFA3, 0x18538067, 0x1549A966, 0x1654AE6B, 0x1F43B675,
)  # fmt: skip
_CRC, _TRACK_ENTRY, _TIMESTAMP = 0xBF, 0xAE, 0xE7
_CODEC_DELAY = 0x56AA
_VIDEO, _COLOUR, _MAX_CLL, _MAX_FALL, _MASTERING = 0xE0, 0x55B0, 0x55BC, 0x55BD, 0x55D0
# Chromaticities x and y of red, green, blue and white; most and least luminance.
_MASTERING_FIELDS = {
    "R": (0x55D1, 0x55D2), "G": (0x55D3, 0x55D4), "B": (0x55D5, 0x55D6),
    "WP": (0x55D7, 0x55D8), "L": (0x55D9, 0x55DA),
}  # fmt: skip

Change = Callable[[bytes], bytes]


def with_priming(stream: Any, samples: int, keep: contextlib.ExitStack) -> Any:
    """A stream like ``stream`` that says how many samples at its begin are not for hearing.

    MP4 says so by an edit list, from which it does not get into the parameters; without them
    Matroska plays those samples, and everything else later.

    Args:
        keep: closes the file that the result belongs to.
    """
    delay = round(samples * 1_000_000_000 / stream.codec_context.sample_rate)
    return _changed(stream, lambda track: _with(track, {_CODEC_DELAY: uint(delay)}), keep)


def with_hdr(stream: Any, color: ColorTags, keep: contextlib.ExitStack) -> Any:
    """A stream like ``stream`` that says for which screen its pictures were made."""
    fields: dict[int, bytes] = {}
    if color.content_light is not None:
        fields |= {_MAX_CLL: uint(color.content_light[0]), _MAX_FALL: uint(color.content_light[1])}
    if color.mastering is not None and (mastering := _mastering(color.mastering)):
        fields[_MASTERING] = mastering
    if not fields:
        return stream

    def change(track: bytes) -> bytes:
        video = next(payload for kind, payload in elements(track) if kind == _VIDEO)
        colour = next((p for kind, p in elements(video) if kind == _COLOUR), b"")
        return _with(track, {_VIDEO: _with(video, {_COLOUR: _with(colour, fields)})})

    return _changed(stream, change, keep)


def _mastering(text: str) -> bytes:
    """From x265's notation: units of 0.00002, and of 0.0001 cd/m2."""
    parts = []
    for name, first, second in re.findall(r"(R|G|B|WP|L)\((\d+),(\d+)\)", text):
        unit = 10_000 if name == "L" else 50_000
        for kind, value in zip(_MASTERING_FIELDS[name], (first, second), strict=True):
            parts.append(element(kind, struct.pack(">d", int(value) / unit)))
    return b"".join(parts)


def _changed(stream: Any, change: Change, keep: contextlib.ExitStack) -> Any:
    """``stream`` with its track entry changed; as it is if Matroska does not take it."""
    import av

    try:
        head = io.BytesIO()
        with av.open(head, "w", format="matroska") as output:
            output.add_stream_from_template(stream, opaque=True)
            output.start_encoding()
        told = keep.enter_context(av.open(io.BytesIO(_rewritten(head.getvalue(), change))))
    except (av.error.FFmpegError, ValueError, StopIteration):
        return stream
    return told.streams[0]


def _rewritten(file: bytes, change: Change) -> bytes:
    top = dict(elements(file))
    inside = dict(elements(top[_SEGMENT]))
    tracks = b"".join(
        element(kind, change(payload) if kind == _TRACK_ENTRY else payload)
        for kind, payload in elements(inside[_TRACKS])
        if kind != _CRC
    )
    segment = element(_INFO, inside[_INFO]) + element(_TRACKS, tracks)
    segment += element(_CLUSTER, element(_TIMESTAMP, uint(0)))
    return element(_HEAD, top[_HEAD]) + element(_SEGMENT, segment)


def _with(payload: bytes, fields: dict[int, bytes]) -> bytes:
    """``payload`` with these elements in place of those of their kinds."""
    kept = [element(kind, p) for kind, p in elements(payload) if kind not in fields]
    return b"".join([*kept, *(element(kind, p) for kind, p in fields.items())])
