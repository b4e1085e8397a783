"""Write a pair as one MPO file: two JPEG pictures, of which plain viewers show the left.

Multi-Picture Format, CIPA DC-007: behind the first picture follows the second, and in the
application segment ``APP2`` of the first stands where. Both are of the type "multi-frame image,
disparity", which Pillow's own writer does not say; 3D cameras, televisions and viewers ask for
it.
"""

from __future__ import annotations

import io
import struct
from pathlib import Path

import numpy as np
from PIL import Image

from depthsmith.atomic import atomic_path
from depthsmith.errors import UsageError
from depthsmith.media.depth_levels import KEY
from depthsmith.media.rgb_file import check_picture
from depthsmith.types import ByteArray, StereoPair

_EXIF_SOFTWARE = 0x0131
_LARGEST_SIDE = 65500

_DISPARITY = 0x020002
_REPRESENTATIVE = 1 << 29
"""Flag of the picture that stands for all."""

# Tags of the directories, and types of their values.
_VERSION, _COUNT, _ENTRIES = 0xB000, 0xB001, 0xB002
_NUMBER, _BASE_VIEWPOINT, _CONVERGENCE_ANGLE, _BASELINE = 0xB101, 0xB204, 0xB205, 0xB206
_LONG, _RATIONAL, _UNDEFINED, _SIGNED_RATIONAL = 4, 5, 7, 10
_UNKNOWN = b"\xff" * 8
_HEAD = b"MPF\0"
_LITTLE_ENDIAN = b"II*\0\x08\0\0\0"


def write_mpo(path: str | Path, pair: StereoPair) -> None:
    """Write the two views, the left one first, as JPEG (quality 95, full chroma).

    Args:
        path: of the file; its folder exists.
        pair: of uint8 views.

    Raises:
        InputError: for views of 16 bits.
        UsageError: for another suffix than .mpo, or views too large for JPEG.
        OutputError: if the file cannot be written.
    """
    path = Path(path)
    check_picture(pair.left)
    if path.suffix.lower() != ".mpo":
        raise UsageError(f"a file of two pictures cannot be written as {path.name!r}; use .mpo")
    if max(pair.size) > _LARGEST_SIDE:
        raise UsageError(f"JPEG holds at most {_LARGEST_SIDE} pixels a side; use another format")
    left, right = _jpeg(pair.left), _jpeg(pair.right)
    at = _segment_place(left)
    # The segment is of the same length whatever stands in it.
    empty = _segment(_index(0, 0, 0) + _attributes(1, after=True))
    second = _insert(right, _segment(_LITTLE_ENDIAN + _attributes(2)))
    first_size = len(left) + len(empty)
    # Offsets count from the byte order mark.
    offset = first_size - (at + 4 + len(_HEAD))
    index = _index(first_size, len(second), offset)
    first = _insert(left, _segment(index + _attributes(1, after=True)))
    with atomic_path(path) as part:
        part.write_bytes(first + second)


def _jpeg(view: ByteArray) -> bytes:
    exif = Image.Exif()
    exif[_EXIF_SOFTWARE] = KEY
    file = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(view)).save(
        file, "JPEG", quality=95, subsampling=0, exif=exif
    )
    return file.getvalue()


def _segment_place(jpeg: bytes) -> int:
    """Behind the segments ``APP0`` and ``APP1``."""
    at = 2
    while jpeg[at] == 0xFF and jpeg[at + 1] in (0xE0, 0xE1):
        at += 2 + int.from_bytes(jpeg[at + 2 : at + 4], "big")
    return at


def _insert(jpeg: bytes, segment: bytes) -> bytes:
    at = _segment_place(jpeg)
    return jpeg[:at] + segment + jpeg[at:]


def _segment(content: bytes) -> bytes:
    return b"\xff\xe2" + struct.pack(">H", 2 + len(_HEAD) + len(content)) + _HEAD + content


def _index(first_size: int, second_size: int, second_offset: int) -> bytes:
    """The directory of the pictures, whose values lie behind it."""
    values_at = len(_LITTLE_ENDIAN) + 2 + 3 * 12 + 4
    entries = struct.pack("<IIIHH", _REPRESENTATIVE | _DISPARITY, first_size, 0, 0, 0)
    entries += struct.pack("<IIIHH", _DISPARITY, second_size, second_offset, 0, 0)
    fields = struct.pack("<HHI4s", _VERSION, _UNDEFINED, 4, b"0100")
    fields += struct.pack("<HHII", _COUNT, _LONG, 1, 2)
    fields += struct.pack("<HHII", _ENTRIES, _UNDEFINED, len(entries), values_at)
    following = values_at + len(entries)
    return _LITTLE_ENDIAN + struct.pack("<H", 3) + fields + struct.pack("<I", following) + entries


def _attributes(number: int, *, after: bool = False) -> bytes:
    """The directory of one picture: its number from the left; the angle between the views and
    their distance are not known.

    Args:
        after: whether the directory of the pictures comes before it.
    """
    start = len(_index(0, 0, 0)) if after else len(_LITTLE_ENDIAN)
    values_at = start + 2 + 4 * 12 + 4
    fields = struct.pack("<HHII", _NUMBER, _LONG, 1, number)
    fields += struct.pack("<HHII", _BASE_VIEWPOINT, _LONG, 1, 1)
    fields += struct.pack("<HHII", _CONVERGENCE_ANGLE, _SIGNED_RATIONAL, 1, values_at)
    fields += struct.pack("<HHII", _BASELINE, _RATIONAL, 1, values_at + 8)
    return struct.pack("<H", 4) + fields + struct.pack("<I", 0) + 2 * _UNKNOWN
