"""Boxes ``st3d`` and ``sv3d`` in an MP4 or MOV file.

They belong into the entry of the sample description, ``moov/trak/mdia/minf/stbl/stsd/avc1``,
so the boxes around grow. What comes after ``moov`` moves back; if that is the pictures, their
offsets move with them. Boxes: ISO/IEC 14496-12; the two: Google, "Spherical Video V2 RFC".
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple

from depthsmith.media.film.stereo_tags import SOURCE, Tags

_ENTRY_HEAD = 78
"""Bytes of a VisualSampleEntry before the boxes in it."""
_CHUNK = 1 << 22


class _Box(NamedTuple):
    """A box at the top of a file: where it begins, how long its head and all of it are."""

    kind: bytes
    start: int
    head: int
    size: int


def tag_mp4(file: BinaryIO, tags: Tags) -> None:
    """Tag the first video track.

    Args:
        file: opened for reading and writing, whole and not fragmented.

    Raises:
        ValueError: if it is not that.
    """
    boxes = list(_top(file))
    movies = [box for box in boxes if box.kind == b"moov"]
    if len(movies) != 1:
        raise ValueError(f"it has {len(movies)} boxes moov, not one")
    if any(box.kind == b"moof" for box in boxes):
        raise ValueError("it is fragmented; remux it first")
    moov = movies[0]
    file.seek(moov.start + moov.head)
    payload = file.read(moov.size - moov.head)
    tagged = _tag_first_video(payload, tags)
    end = moov.start + moov.size
    growth = len(_box(b"moov", tagged)) - moov.size
    if any(box.kind == b"mdat" and box.start > moov.start for box in boxes):
        try:
            tagged = _move_chunks(tagged, end, growth)
        except struct.error:
            # Beyond 4 GiB after the move: leave everything where it is, and moov goes last.
            file.seek(moov.start + 4)
            file.write(b"free")
            file.seek(0, os.SEEK_END)
            file.write(_box(b"moov", _tag_first_video(payload, tags)))
            return
    _move_rest(file, end, growth)
    file.seek(moov.start)
    file.write(_box(b"moov", tagged))


def stereo_boxes(tags: Tags) -> bytes:
    """The boxes themselves."""
    boxes = b""
    if tags.st3d is not None:
        boxes += _box(b"st3d", bytes(4) + bytes([tags.st3d]))
    if tags.equirectangular is not None:
        projection = _box(b"prhd", bytes(4 + 12)) + _box(b"equi", tags.equirectangular)
        header = _box(b"svhd", bytes(4) + SOURCE + b"\0")
        boxes += _box(b"sv3d", header + _box(b"proj", projection))
    return boxes


def _tag_first_video(movie: bytes, tags: Tags) -> bytes:
    done = False

    def track(payload: bytes) -> bytes:
        nonlocal done
        if done or _handler(payload) != b"vide":
            return payload
        done = True
        return _edit(
            payload, (b"mdia", b"minf", b"stbl", b"stsd"), lambda stsd: _entries(stsd, tags)
        )

    movie = _edit(movie, (b"trak",), track)
    if not done:
        raise ValueError("it has no video track")
    return movie


def _entries(description: bytes, tags: Tags) -> bytes:
    """Every entry of a box ``stsd`` with the new boxes."""
    head, rest = description[:8], description[8:]
    return head + b"".join(_box(kind, _entry(entry, tags)) for kind, entry in _inside(rest))


def _entry(entry: bytes, tags: Tags) -> bytes:
    """They come after the codec's own box and before what may end an entry (``pasp``)."""
    before, after = b"", b""
    for kind, payload in _inside(entry[_ENTRY_HEAD:]):
        if kind in (b"st3d", b"sv3d"):
            continue
        if kind in (b"pasp", b"clap") or after:
            after += _box(kind, payload)
        else:
            before += _box(kind, payload)
    return entry[:_ENTRY_HEAD] + before + stereo_boxes(tags) + after


def _move_chunks(movie: bytes, first: int, by: int) -> bytes:
    """Offsets of at least ``first``, in the tables of all tracks, become larger by ``by``."""

    def move(code: str) -> Callable[[bytes], bytes]:
        def table(payload: bytes) -> bytes:
            (count,) = struct.unpack_from(">I", payload, 4)
            offsets = struct.unpack_from(f">{count}{code}", payload, 8)
            moved = [offset + by if offset >= first else offset for offset in offsets]
            return payload[:8] + struct.pack(f">{count}{code}", *moved)

        return table

    for kind, code in ((b"stco", "I"), (b"co64", "Q")):
        movie = _edit(movie, (b"trak", b"mdia", b"minf", b"stbl", kind), move(code))
    return movie


def _move_rest(file: BinaryIO, start: int, by: int) -> None:
    """Move what lies behind ``start`` towards the end (or, negative, the beginning)."""
    size = file.seek(0, os.SEEK_END)
    if by > 0:
        at = size
        while at > start:
            at, until = max(start, at - _CHUNK), at
            file.seek(at)
            chunk = file.read(until - at)
            file.seek(at + by)
            file.write(chunk)
    elif by < 0:
        at = start
        while at < size:
            file.seek(at)
            chunk = file.read(_CHUNK)
            file.seek(at + by)
            file.write(chunk)
            at += len(chunk)
        file.truncate(size + by)


def _handler(track: bytes) -> bytes:
    for kind, media in _inside(track):
        if kind == b"mdia":
            for inner, payload in _inside(media):
                if inner == b"hdlr":
                    return payload[8:12]
    return b""


def _edit(payload: bytes, path: tuple[bytes, ...], change: Callable[[bytes], bytes]) -> bytes:
    """Boxes at ``path`` in a container changed, all others as they are."""
    parts = []
    for kind, inner in _inside(payload):
        if kind == path[0]:
            inner = change(inner) if len(path) == 1 else _edit(inner, path[1:], change)  # noqa: PLW2901
        parts.append(_box(kind, inner))
    return b"".join(parts)


def _inside(payload: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Kind and payload of the boxes in a container. Four zeros may end one in QuickTime."""
    at = 0
    while at + 8 <= len(payload):
        size, kind = struct.unpack_from(">I4s", payload, at)
        head = 8
        if size == 1:
            (size,) = struct.unpack_from(">Q", payload, at + 8)
            head = 16
        elif size == 0:
            size = len(payload) - at
        if size < head or at + size > len(payload):
            raise ValueError(f"its box {kind!r} is damaged")
        yield kind, payload[at + head : at + size]
        at += size


def _top(file: BinaryIO) -> Iterator[_Box]:
    end = file.seek(0, os.SEEK_END)
    at = 0
    while at + 8 <= end:
        file.seek(at)
        size, kind = struct.unpack(">I4s", file.read(8))
        head = 8
        if size == 1:
            (size,) = struct.unpack(">Q", file.read(8))
            head = 16
        elif size == 0:
            size = end - at
        if size < head or at + size > end:
            raise ValueError(f"its box {kind!r} is damaged, or it is no MP4 file")
        yield _Box(kind, at, head, size)
        at += size


def _box(kind: bytes, payload: bytes) -> bytes:
    size = len(payload) + 8
    if size < 1 << 32:
        return struct.pack(">I4s", size, kind) + payload
    return struct.pack(">I4sQ", 1, kind, size + 8) + payload
