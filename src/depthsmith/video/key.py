"""A digest of everything that a film's result depends on: work is continued with the same only."""

from __future__ import annotations

import hashlib
from pathlib import Path

from depthsmith._version import __version__
from depthsmith.errors import FilmError
from depthsmith.pipeline import Predictor
from depthsmith.runtime.session import OrtSession

_HEAD_BYTES = 1 << 20


def job_key(film: Path, *settings: object) -> str:
    """The digest.

    Args:
        film: is known as `file_key` tells.
        settings: frozen values whose ``repr`` tells all.

    Raises:
        FilmError: if the film cannot be read.
    """
    return hashlib.sha256(repr([__version__, file_key(film), *settings]).encode()).hexdigest()


def file_key(path: Path) -> tuple[object, ...]:
    """What a file, or the files of a folder, are known by: size, time of change and, of a file,
    its first megabyte.

    Raises:
        FilmError: if it cannot be read.
    """
    try:
        if path.is_dir():
            stats = [(p.name, p.stat()) for p in sorted(path.iterdir())]
            return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats)
        stat = path.stat()
        with path.open("rb") as file:
            head = hashlib.sha256(file.read(_HEAD_BYTES)).hexdigest()
    except OSError as error:
        raise FilmError(f"cannot read {path}: {error.strerror}") from error
    return (stat.st_size, stat.st_mtime_ns, head)


def network_key(predictor: Predictor) -> tuple[object, ...]:
    """What a network is known by: its contract, its file and how it is fed."""
    session = predictor.session
    parts = [predictor.contract, predictor.fit, predictor.resolution, session.provider]
    if isinstance(session, OrtSession):
        model = session.path.stat()
        parts.append(model.st_size)
        if predictor.contract.source is None:  # else one that is built anew is the same
            parts.append(model.st_mtime_ns)
    return tuple(parts)
