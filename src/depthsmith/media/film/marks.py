"""The mark by which films that depthsmith wrote are known again."""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

MARK = "depthsmith"
"""Name of the tag in the file's metadata; its value says what the film shows, and of what
job it is."""

NAMES = "depthsmith: {}"
"""Name of the pictures' track. MP4 has no place for tags of other names."""

_DIGITS = 12


def job_digest(key: str) -> str:
    """By which finished work is known that was to do the same; short, for people see it."""
    return hashlib.sha256(key.encode()).hexdigest()[:_DIGITS]


def is_own_film(path: Path) -> bool:
    """Whether a film was written by depthsmith. What cannot be read was not."""
    return mark_of(path) is not None


def mark_of(path: Path) -> str | None:
    """What the mark of a film says; None if there is none, or the film cannot be read."""
    if not path.is_file():
        return None  # opening a pipe would wait for its writer
    import av

    with (
        contextlib.suppress(av.error.FFmpegError, OSError, ValueError),
        av.open(os.fspath(path), metadata_errors="replace") as container,
    ):
        for name, value in container.metadata.items():
            if name.lower() == MARK:
                return value
        for stream in container.streams:
            name = stream.metadata.get("handler_name", "")
            if name.startswith(NAMES.format("")):
                return name.removeprefix(NAMES.format(""))
    return None
