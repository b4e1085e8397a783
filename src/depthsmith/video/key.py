"""A digest of everything that a film's result depends on: work is continued with the same only."""

from __future__ import annotations

import hashlib
from pathlib import Path

from depthsmith._version import __version__
from depthsmith.errors import FilmError
from depthsmith.pipeline import Predictor
from depthsmith.runtime.session import OrtSession

_HEAD_BYTES = 1 << 20


def job_key(film: Path, predictor: Predictor, *settings: object) -> str:
    """The digest.

    Args:
        film: is known by its size, its time of change and its first megabyte.
        predictor: by its contract and its file.
        settings: frozen values whose ``repr`` tells all.

    Raises:
        FilmError: if the film cannot be read.
    """
    digest = hashlib.sha256()
    try:
        stat = film.stat()
        with film.open("rb") as file:
            digest.update(file.read(_HEAD_BYTES))
    except OSError as error:
        raise FilmError(f"cannot read {film}: {error.strerror}") from error
    parts: list[object] = [__version__, stat.st_size, stat.st_mtime_ns]
    parts += [predictor.contract, predictor.fit, predictor.resolution, predictor.session.provider]
    session = predictor.session
    if isinstance(session, OrtSession):
        model = session.path.stat()
        parts += [model.st_size, model.st_mtime_ns]
    digest.update(repr([*parts, *settings]).encode())
    return digest.hexdigest()
