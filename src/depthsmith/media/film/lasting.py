"""Files that are still there, and still the same, after a crash."""

from __future__ import annotations

import contextlib
import json
import os
import zlib
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

_CHUNK = 1 << 22
_PREFIX = "a_"


def sync(path: Path) -> None:
    """Make sure that a file is on the disk."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def save(path: Path, arrays: dict[str, NDArray[Any]]) -> None:
    """Write arrays of any names."""
    with path.open("wb") as file:
        # Prefixed: a name could be that of an argument.
        np.savez(file, **{_PREFIX + name: array for name, array in arrays.items()})  # type: ignore[arg-type]


def checksum(path: Path) -> list[int]:
    """Size and CRC-32, with the file on the disk."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())
        return _sum(file)


def _sum(file: BinaryIO) -> list[int]:
    size = total = 0
    while chunk := file.read(_CHUNK):
        total = zlib.crc32(chunk, total)
        size += len(chunk)
    return [size, total]


def whole(path: Path, expected: list[int]) -> bool:
    """Whether a file is there, with the `checksum` that it had."""
    with contextlib.suppress(OSError):
        if path.stat().st_size == expected[0]:
            with path.open("rb") as file:
                return _sum(file) == expected
    return False


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """What `save` wrote."""
    with np.load(path, allow_pickle=False) as arrays:
        return {name.removeprefix(_PREFIX): array for name, array in arrays.items()}


def write_json(path: Path, document: dict[str, Any]) -> None:
    """Write a file that is there whole or not at all, also after a power cut."""
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8") as file:
        json.dump(document, file)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Make a rename last. Windows has no such thing, nor needs it."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def read_json(path: Path) -> dict[str, Any] | None:
    """What `write_json` wrote; None if there is nothing of the kind."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None
