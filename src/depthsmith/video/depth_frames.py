"""The maps of a depth film: of a gray film, or of a folder of files."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from depthsmith.errors import FilmError, ImageError
from depthsmith.film import Span
from depthsmith.media.depth_reading import read_depth
from depthsmith.media.film.probe import probe
from depthsmith.media.film.read import FilmReader
from depthsmith.types import DepthKind, FloatArray

Maps = Generator[FloatArray, None, None]
_MAP_SUFFIXES = frozenset({".png", ".exr", ".tif", ".tiff", ".npy", ".pfm"})


class DepthFrames(Protocol):
    """A depth film in which near is bright."""

    def frames(self, *, skip: int = 0, spans: Sequence[Span] = ()) -> Maps:
        """The maps in order, each ``(h, w)`` float32 in [0, 1].

        Args:
            skip: so many are left out at the start.
            spans: parts of a film; folders have none.

        Raises:
            FilmError, ImageError: if something cannot be read, or is no near map.
        """


def open_depth_film(path: Path) -> DepthFrames:
    """Open a gray film, or a folder of depth maps in the order of their names.

    Raises:
        FilmError: if it cannot be read, or a folder holds no depth maps.
    """
    return _FolderFrames(path) if path.is_dir() else _FilmFrames(path)


class _FilmFrames:
    def __init__(self, path: Path) -> None:
        self.info = probe(path)

    def frames(self, *, skip: int = 0, spans: Sequence[Span] = ()) -> Maps:
        reader = FilmReader(self.info, spans=spans, deep=True, skip=skip)
        with contextlib.closing(reader):
            for frame in reader:
                assert frame.deep is not None
                yield frame.deep[..., 1].astype(np.float32) / np.float32(65535)


class _FolderFrames:
    def __init__(self, path: Path) -> None:
        self.path = path
        names = sorted(p for p in path.iterdir() if not p.name.startswith("."))
        self.chunks = [p for p in names if p.suffix.lower() == ".npz"]
        self.maps = [p for p in names if p.suffix.lower() in _MAP_SUFFIXES]
        if not (self.chunks or self.maps):
            raise FilmError(f"{path} holds no depth maps")

    def frames(self, *, skip: int = 0, spans: Sequence[Span] = ()) -> Maps:
        if spans:
            raise FilmError(f"{self.path} is a folder; parts can be taken of films only")
        maps = self._of_chunks() if self.chunks else self._of_files()
        for index, near in enumerate(maps):
            if index >= skip:
                yield near

    def _of_files(self) -> Maps:
        for path in self.maps:
            yield np.clip(read_depth(path, DepthKind.NEAR).values, 0, 1)

    def _of_chunks(self) -> Maps:
        for path in self.chunks:
            try:
                with np.load(path) as arrays:
                    near = arrays["near"]
            except (OSError, ValueError, KeyError) as error:
                raise ImageError(f"{path} holds no near maps") from error
            yield from near.astype(np.float32)
