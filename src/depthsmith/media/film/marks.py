"""The mark by which films that depthsmith wrote are known again."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

MARK = "depthsmith"
"""Name of the tag in the file's metadata; its value says what the film shows."""

NAMES = "depthsmith: {}"
"""Name of the pictures' track. MP4 has no place for tags of other names."""


def is_own_film(path: Path) -> bool:
    """Whether a film was written by depthsmith. What cannot be read was not."""
    if not path.is_file():
        return False  # opening a pipe would wait for its writer
    import av

    with (
        contextlib.suppress(av.error.FFmpegError, OSError, ValueError),
        av.open(os.fspath(path), metadata_errors="replace") as container,
    ):
        if any(name.lower() == MARK for name in container.metadata):
            return True
        names = (stream.metadata.get("handler_name", "") for stream in container.streams)
        return any(name.startswith(NAMES.format("")) for name in names)
    return False
