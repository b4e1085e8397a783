"""FFmpeg's failures on writing, as one line."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator
from pathlib import Path

from depthsmith.atomic import writing
from depthsmith.errors import OutputError


@contextlib.contextmanager
def writing_film(target: Path) -> Iterator[None]:
    """Turn any failure of FFmpeg or the system in the block into an `OutputError`.

    Wrap nothing that reads a user's film.
    """
    import av

    try:
        with writing(target):
            yield
    except av.error.FFmpegError as error:
        raise OutputError(f"cannot write {target}: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    if getattr(error, "errno", None) == errno.EFBIG:
        return "the file would be larger than allowed here"
    reason = getattr(error, "strerror", None) or str(error)
    return f"FFmpeg says {str(reason).splitlines()[0]!r}"
