"""Files that appear under their final name only when whole."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from depthsmith.errors import OutputError

_STALE_SECONDS = 3600.0
# A name that just fits into the 255 bytes of file systems leaves no room for more. Letters
# take up to four.
_STEM_LENGTH = 40


@contextlib.contextmanager
def atomic_path(target: Path) -> Iterator[Path]:
    """Yield a path beside ``target`` to write to; flush and rename it when the block succeeds.

    When the block fails, or the process is killed, ``target`` stays what it was. The yielded
    path keeps the suffix of ``target``, so that libraries which choose a format by name work.
    What a killed process left beside the target is removed by the next one, an hour later.

    Raises:
        OutputError: if the file cannot be written (no such folder, no permission, disk full).
    """
    with atomic_paths([target]) as (part,), writing(target):
        yield part


@contextlib.contextmanager
def atomic_paths(targets: Sequence[Path]) -> Iterator[tuple[Path, ...]]:
    """As `atomic_path`, for files that belong together: they are all there, or none is.

    Wrap what is written to each of the paths in `writing`, so that errors name its target.
    Killed between two renames, a process leaves the first of the files, whole.
    """
    parts = []
    for target in targets:
        stem = target.stem[:_STEM_LENGTH]
        parts.append(target.with_name(f".{stem}.{secrets.token_hex(4)}.part{target.suffix}"))
        with writing(target):
            for stale in target.parent.glob(f".{_escape(stem)}.*.part{_escape(target.suffix)}"):
                if time.time() - stale.stat().st_mtime > _STALE_SECONDS:
                    stale.unlink(missing_ok=True)
    try:
        yield tuple(parts)
        for part, target in zip(parts, targets, strict=True):
            with writing(target), part.open("rb+") as file:
                os.fsync(file.fileno())
        with contextlib.ExitStack() as undo:
            for part, target in zip(parts, targets, strict=True):
                with writing(target):
                    part.replace(target)
                undo.callback(_remove, target)
            undo.pop_all()
    finally:
        for part in parts:
            _remove(part)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def writing(target: Path) -> Iterator[None]:
    """Turn an ``OSError`` of the block into an `OutputError` that names ``target``.

    Only errors of writing are meant: wrap nothing that also reads a user's input.
    """
    try:
        yield
    except OSError as error:
        raise OutputError(f"cannot write {target}: {_reason(error, target)}") from error


def _reason(error: OSError, target: Path) -> str:
    if error.errno == errno.ENOSPC:
        return "the disk is full"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"no permission to write in {target.parent}"
    if isinstance(error, FileNotFoundError) and not target.parent.exists():
        return f"the folder {target.parent} does not exist"
    if isinstance(error, NotADirectoryError):
        return f"{target.parent} is not a folder"
    if isinstance(error, IsADirectoryError):
        return "it is a folder; name a file"
    return error.strerror or str(error)


def _escape(text: str) -> str:
    import glob

    return glob.escape(text)
