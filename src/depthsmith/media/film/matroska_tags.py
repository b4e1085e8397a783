"""Elements ``StereoMode`` and ``Projection`` in a Matroska or WebM file.

They belong into ``Segment/Tracks/TrackEntry/Video``, at the head of the file. FFmpeg leaves a
``Void`` there, from which the growth of ``Tracks`` is taken: what lies between them moves, and
nothing behind does. ``DisplayWidth`` and ``DisplayHeight`` are those of one view. Elements: IETF
RFC 8794 (EBML) and RFC 9559, section 18.10.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from depthsmith.media.film.stereo_tags import Tags

_SEGMENT, _CLUSTER, _SEEK_HEAD, _TRACKS = 0x18538067, 0x1F43B675, 0x114D9B74, 0x1654AE6B
_VOID, _CRC = 0xEC, 0xBF
_SEEK, _SEEK_ID, _SEEK_POSITION = 0x4DBB, 0x53AB, 0x53AC
_TRACK_ENTRY, _TRACK_TYPE, _VIDEO = 0xAE, 0x83, 0xE0
_PIXEL_WIDTH, _PIXEL_HEIGHT = 0xB0, 0xBA
_DISPLAY_WIDTH, _DISPLAY_HEIGHT, _DISPLAY_UNIT = 0x54B0, 0x54BA, 0x54B2
_STEREO_MODE, _PROJECTION, _PROJECTION_TYPE, _PROJECTION_PRIVATE = 0x53B8, 0x7670, 0x7671, 0x7672
_EQUIRECTANGULAR = 1

_MOST_BYTES = 1 << 26
"""Of the head of a file, up to the end of ``Tracks``."""


class _Element(NamedTuple):
    """Where it begins, and how long its head and all of it are."""

    id: int
    start: int
    head: int
    size: int


def tag_matroska(file: BinaryIO, tags: Tags) -> None:
    """Tag the first video track.

    Args:
        file: opened for reading and writing, whole.

    Raises:
        ValueError: if it is no Matroska file, or has too little room before its tracks.
    """
    base, elements = _head(file)
    tracks = elements[-1]
    index, void = next(
        ((n, e) for n, e in enumerate(elements) if e.id == _VOID),
        (0, None),
    )
    if void is None:
        raise ValueError("it has no room for tags")
    between = elements[index + 1 : -1]
    file.seek(void.start)
    old = file.read(tracks.start + tracks.size - void.start)
    moving = old[void.size : tracks.start - void.start]
    new = _tag_first_video(old[tracks.start - void.start + tracks.head :], tags)
    encoded = _element(_TRACKS, new)
    room = void.size - (len(encoded) - tracks.size)
    if room == 1:  # no element is that short; the size of another takes the byte
        encoded, room = _element(_TRACKS, new, longer=True), 0
    if room < 0:
        raise ValueError("it has too little room for tags")
    shift = void.size - room
    moved = {element.start - base: element.start - base - shift for element in between}
    moved[tracks.start - base] = tracks.start - base - shift
    seek = next((e for e in elements if e.id == _SEEK_HEAD), None)
    if seek is not None:
        file.seek(seek.start + seek.head)
        index_new = _move_seeks(file.read(seek.size - seek.head), moved)
        file.seek(seek.start + seek.head)
        file.write(index_new)
    file.seek(void.start)
    file.write(_void(room) + moving + encoded)


def _head(file: BinaryIO) -> tuple[int, list[_Element]]:
    """Where the segment's elements begin, and those up to ``Tracks``."""
    end = file.seek(0, os.SEEK_END)
    at = 0
    while at < end:
        element = _read(file, at)
        if element.id == _SEGMENT:
            break
        at += element.size
    else:
        raise ValueError("it is no Matroska file")
    base = at = element.start + element.head
    elements = []
    while at < end and at - base < _MOST_BYTES:
        element = _read(file, at)
        if element.id == _CLUSTER:
            break
        elements.append(element)
        if element.id == _TRACKS:
            return base, elements
        at += element.size
    raise ValueError("it has no tracks before its pictures")


def _tag_first_video(tracks: bytes, tags: Tags) -> bytes:
    parts, done = [], False
    for kind, payload in _inside(tracks):
        if kind == _CRC:
            continue
        inner = payload
        if kind == _TRACK_ENTRY and not done:
            fields = list(_inside(payload))
            if (_TRACK_TYPE, b"\x01") in fields:
                done = True
                inner = b"".join(
                    _element(k, _video(p, tags) if k == _VIDEO else p) for k, p in fields
                )
        parts.append(_element(kind, inner))
    if not done:
        raise ValueError("it has no video track")
    return _with_crc(b"".join(parts), tracks)


def _video(video: bytes, tags: Tags) -> bytes:
    replaced = (_STEREO_MODE, _PROJECTION, _DISPLAY_WIDTH, _DISPLAY_HEIGHT, _DISPLAY_UNIT)
    fields = dict(_inside(video))
    kept = [_element(k, p) for k, p in _inside(video) if k not in replaced]
    width = int.from_bytes(fields[_PIXEL_WIDTH], "big") // tags.across
    height = int.from_bytes(fields[_PIXEL_HEIGHT], "big") // tags.down
    kept += [_element(_DISPLAY_WIDTH, _uint(width)), _element(_DISPLAY_HEIGHT, _uint(height))]
    if tags.stereo_mode is not None:
        kept.append(_element(_STEREO_MODE, _uint(tags.stereo_mode)))
    if tags.equirectangular is not None:
        projection = _element(_PROJECTION_TYPE, _uint(_EQUIRECTANGULAR))
        projection += _element(_PROJECTION_PRIVATE, tags.equirectangular)
        kept.append(_element(_PROJECTION, projection))
    return b"".join(kept)


def _move_seeks(seeks: bytes, moved: dict[int, int]) -> bytes:
    """The index of the head's elements, of unchanged length, with their new positions."""
    parts = []
    for kind, payload in _inside(seeks):
        if kind == _CRC:
            continue
        inner = b""
        for field, value in _inside(payload) if kind == _SEEK else ():
            position = int.from_bytes(value, "big")
            here = field == _SEEK_POSITION and position in moved
            inner += _element(
                field, moved[position].to_bytes(len(value), "big") if here else value
            )
        parts.append(_element(kind, inner if kind == _SEEK else payload))
    index = _with_crc(b"".join(parts), seeks)
    if len(index) != len(seeks):
        raise ValueError("its index is of an unusual form")
    return index


def _with_crc(content: bytes, old: bytes) -> bytes:
    """``content`` behind its checksum, if there was one."""
    if not old.startswith(bytes([_CRC])):
        return content
    return _element(_CRC, struct.pack("<I", zlib.crc32(content))) + content


def _inside(payload: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(payload):
        kind, length = _number(payload, at, keep_marker=True)
        size, more = _number(payload, at + length)
        begin = at + length + more
        if begin + size > len(payload):
            raise ValueError(f"its element {kind:X} is damaged")
        yield kind, payload[begin : begin + size]
        at = begin + size


def _read(file: BinaryIO, at: int) -> _Element:
    file.seek(at)
    head = file.read(12)
    kind, length = _number(head, 0, keep_marker=True)
    size, more = _number(head, length)
    unknown = size == (1 << 7 * more) - 1
    if unknown and kind != _SEGMENT:
        raise ValueError(f"its element {kind:X} is of unknown size")
    return _Element(kind, at, length + more, length + more + size)


def _number(data: bytes, at: int, *, keep_marker: bool = False) -> tuple[int, int]:
    """A number of variable length, and how many bytes it has."""
    first = data[at]
    length = 9 - first.bit_length()
    if length > 8 or at + length > len(data):
        raise ValueError("it is damaged, or no Matroska file")
    value = int.from_bytes(data[at : at + length], "big")
    return (value if keep_marker else value & ((1 << 7 * length) - 1)), length


def _element(kind: int, payload: bytes, *, longer: bool = False) -> bytes:
    size = len(payload)
    # All ones would mean an unknown size.
    length = next(n for n in range(1, 9) if size < (1 << 7 * n) - 1) + longer
    head = (size | 1 << 7 * length).to_bytes(length, "big")
    return kind.to_bytes((kind.bit_length() + 7) // 8, "big") + head + payload


def _void(size: int) -> bytes:
    """An element of that many bytes in all, which says nothing."""
    if size == 0:
        return b""
    if size < 9:
        return _element(_VOID, bytes(size - 2))
    return bytes([_VOID, 1]) + (size - 9).to_bytes(7, "big") + bytes(size - 9)


def _uint(value: int) -> bytes:
    return value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big")
