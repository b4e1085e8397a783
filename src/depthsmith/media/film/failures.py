"""FFmpeg's failures on writing, as one line."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from depthsmith.atomic import writing
from depthsmith.errors import OutputError


class MuxerError(OutputError):
    """FFmpeg does not take what it was given. The disk is not to blame."""


@contextlib.contextmanager
def writing_film(target: Path) -> Iterator[None]:
    """Turn any failure of FFmpeg or the system in the block into an `OutputError`.

    Wrap nothing that reads a user's film.

    Raises:
        MuxerError: if FFmpeg failed for other reasons than the system.
    """
    import av

    try:
        with writing(target):
            yield
    except av.error.FFmpegError as error:
        reason = getattr(error, "strerror", None) or str(error)
        said = str(reason).splitlines()[0]
        raise MuxerError(f"cannot write {target}: FFmpeg says {said!r}") from error
