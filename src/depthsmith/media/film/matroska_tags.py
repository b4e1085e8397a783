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
from typing import BinaryIO, NamedTuple

from depthsmith.media.film import ebml
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
    encoded = ebml.element(_TRACKS, new)
    less = tracks.size - len(encoded)
    if less > 0:  # FFmpeg's sizes are longer than they must be: then nothing moves
        encoded = ebml.element(_TRACKS, new, longer=True) if less == 1 else encoded + _void(less)
    room = void.size - (len(encoded) - tracks.size)
    if room == 1:  # no element is that short; the size of another takes the byte
        encoded, room = ebml.element(_TRACKS, new, longer=True), 0
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
    for kind, payload in ebml.elements(tracks):
        if kind == _CRC:
            continue
        inner = payload
        if kind == _TRACK_ENTRY and not done:
            fields = list(ebml.elements(payload))
            if (_TRACK_TYPE, b"\x01") in fields:
                done = True
                inner = b"".join(
                    ebml.element(k, _video(p, tags) if k == _VIDEO else p) for k, p in fields
                )
        parts.append(ebml.element(kind, inner))
    if not done:
        raise ValueError("it has no video track")
    return _with_crc(b"".join(parts), tracks)


def _video(video: bytes, tags: Tags) -> bytes:
    replaced = (_STEREO_MODE, _PROJECTION, _DISPLAY_WIDTH, _DISPLAY_HEIGHT, _DISPLAY_UNIT)
    fields = dict(ebml.elements(video))
    kept = [ebml.element(k, p) for k, p in ebml.elements(video) if k not in replaced]
    width = int.from_bytes(fields[_PIXEL_WIDTH], "big") // tags.across
    height = int.from_bytes(fields[_PIXEL_HEIGHT], "big") // tags.down
    kept += [
        ebml.element(_DISPLAY_WIDTH, ebml.uint(width)),
        ebml.element(_DISPLAY_HEIGHT, ebml.uint(height)),
    ]
    if tags.stereo_mode is not None:
        kept.append(ebml.element(_STEREO_MODE, ebml.uint(tags.stereo_mode)))
    if tags.equirectangular is not None:
        projection = ebml.element(_PROJECTION_TYPE, ebml.uint(_EQUIRECTANGULAR))
        projection += ebml.element(_PROJECTION_PRIVATE, tags.equirectangular)
        kept.append(ebml.element(_PROJECTION, projection))
    return b"".join(kept)


def _move_seeks(seeks: bytes, moved: dict[int, int]) -> bytes:
    """The index of the head's elements, of unchanged length, with their new positions."""
    parts = []
    for kind, payload in ebml.elements(seeks):
        if kind == _CRC:
            continue
        inner = b""
        for field, value in ebml.elements(payload) if kind == _SEEK else ():
            position = int.from_bytes(value, "big")
            here = field == _SEEK_POSITION and position in moved
            inner += ebml.element(
                field, moved[position].to_bytes(len(value), "big") if here else value
            )
        parts.append(ebml.element(kind, inner if kind == _SEEK else payload))
    index = _with_crc(b"".join(parts), seeks)
    if len(index) != len(seeks):
        raise ValueError("its index is of an unusual form")
    return index


def _with_crc(content: bytes, old: bytes) -> bytes:
    """``content`` behind its checksum, if there was one."""
    if not old.startswith(bytes([_CRC])):
        return content
    return ebml.element(_CRC, struct.pack("<I", zlib.crc32(content))) + content


def _read(file: BinaryIO, at: int) -> _Element:
    file.seek(at)
    head = file.read(12)
    kind, length = ebml.number(head, 0, keep_marker=True)
    size, more = ebml.number(head, length)
    unknown = size == (1 << 7 * more) - 1
    if unknown and kind != _SEGMENT:
        raise ValueError(f"its element {kind:X} is of unknown size")
    return _Element(kind, at, length + more, length + more + size)


def _void(size: int) -> bytes:
    """An element of that many bytes in all, which says nothing."""
    if size == 0:
        return b""
    if size < 9:
        return ebml.element(_VOID, bytes(size - 2))
    return bytes([_VOID, 1]) + (size - 9).to_bytes(7, "big") + bytes(size - 9)
