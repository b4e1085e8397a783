"""The maps of a depth film: of a gray film, or of a folder of files."""

from __future__ import annotations

import contextlib
import itertools
import re
import zipfile
from collections.abc import Generator, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Protocol

import numpy as np

from depthsmith.errors import FilmError, ImageError
from depthsmith.film import Span, WordArray
from depthsmith.media.depth_reading import read_depth
from depthsmith.media.film.probe import probe
from depthsmith.media.film.read import FilmReader
from depthsmith.media.film.sequence import frame_times
from depthsmith.types import DepthKind, FloatArray
from depthsmith.video.extent import Extent, extent_of

Maps = Generator[FloatArray, None, None]
_GRID = 8  # every so many pixels are looked at
_MOST_COLOR = 2000  # of 65535; an encoder's rounding is far below
_ROUNDING = 1e-3  # of 16-bit floating-point numbers
MAP_SUFFIXES = frozenset({".png", ".exr", ".tif", ".tiff", ".npy", ".pfm"})
CHUNK_SUFFIX = ".npz"


class DepthFrames(Protocol):
    """A depth film in which near is bright."""

    @property
    def duration_s(self) -> float | None:
        """About how long it is; None where unknown."""

    def extent(self) -> Extent:
        """How long it is, looked up."""

    def frames(self, *, skip: int = 0, spans: Sequence[Span] = ()) -> Maps:
        """The maps in order, each ``(h, w)`` float32 in [0, 1].

        Args:
            skip: so many are left out at the start.
            spans: parts of a film, or of a folder that knows the times of its frames.

        Raises:
            FilmError, ImageError: if something cannot be read, or is no near map.
        """


def open_depth_film(path: Path, *, colors: bool = False) -> DepthFrames:
    """Open a gray film, or a folder of depth maps in the order of their names.

    Args:
        colors: take the green of a film in colours, instead of refusing it.

    Raises:
        FilmError: if it cannot be read, or a folder holds no depth maps.
    """
    if path.is_dir():
        return _FolderFrames(path)
    try:
        return _FilmFrames(path, colors)
    except FilmError as error:
        if path.is_file() and path.suffix.lower() in (*MAP_SUFFIXES, CHUNK_SUFFIX):
            raise FilmError(
                f"{path} is one depth map; a film needs one for each frame: "
                "a depth film, or a folder of maps"
            ) from error
        raise


class _FilmFrames:
    def __init__(self, path: Path, colors: bool) -> None:
        self.info = probe(path)
        self.colors = colors
        self.duration_s = self.info.duration_s

    def extent(self) -> Extent:
        return extent_of(self.info)

    def frames(self, *, skip: int = 0, spans: Sequence[Span] = ()) -> Maps:
        reader = FilmReader(self.info, spans=spans, deep=True, skip=skip)
        with contextlib.closing(reader):
            for frame in reader:
                assert frame.deep is not None
                if not self.colors and _is_colored(frame.deep):
                    raise FilmError(
                        f"{self.info.path} is in colours; a depth film is gray, near is bright"
                    )
                yield frame.deep[..., 1].astype(np.float32) / np.float32(65535)


class _FolderFrames:
    def __init__(self, path: Path) -> None:
        self.path = path
        names = sorted(p for p in path.iterdir() if not p.name.startswith("."))
        self.chunks = [p for p in names if p.suffix.lower() == CHUNK_SUFFIX]
        self.maps = [p for p in names if p.suffix.lower() in MAP_SUFFIXES]
        if not (self.chunks or self.maps):
            raise FilmError(f"{path} holds no depth maps")
        self.times = frame_times(path)
        self.duration_s = float(self.times[-1]) if self.times else None

    def extent(self) -> Extent:
        if not self.times:
            return Extent(lambda: len(self.maps) or None)
        return Extent(lambda: len(self.times or ()), float(self.times[-1]))

    def frames(self, *, skip: int = 0, spans: Sequence[Span] = ()) -> Maps:
        numbers: Iterator[int] = itertools.count()
        if spans:
            numbers = iter(self._numbers(spans))
        numbers = itertools.islice(numbers, skip, None)
        yield from self._of_chunks(numbers) if self.chunks else self._of_files(numbers)

    def _numbers(self, spans: Sequence[Span]) -> list[int]:
        """Of the maps whose times are in a part, as `FilmReader` takes them."""
        times = self.times
        if times is None:
            raise FilmError(
                f"parts can be taken of depth films and of folders that depthsmith made, with "
                f"their times.json; {self.path} has none"
            )
        found = []
        for span in spans:
            start = Fraction(span.start_s).limit_denominator(1_000_000)
            end = None if span.end_s is None else Fraction(span.end_s).limit_denominator(1_000_000)
            found += [n for n, t in enumerate(times) if start <= t and (end is None or t < end)]
        if not found:
            raise FilmError(f"{self.path} has no frame in the part that is wanted")
        return found

    def _of_files(self, numbers: Iterator[int]) -> Maps:
        for number in numbers:
            if number >= len(self.maps):
                return
            yield _near(read_depth(self.maps[number], DepthKind.NEAR).values, self.maps[number])

    def _of_chunks(self, numbers: Iterator[int]) -> Maps:
        wanted = next(numbers, None)
        begin = 0
        for path, after in zip(self.chunks, [*self.chunks[1:], None], strict=True):
            end = None if after is None else _first_of(after)
            if wanted is None:
                return
            if end is not None and wanted >= end:  # it need not be read
                begin = end
                continue
            near = _chunk(path)
            while wanted is not None and wanted < begin + len(near):
                yield _near(near[wanted - begin].astype(np.float32), path)
                wanted = next(numbers, None)
            begin += len(near)


def _near(values: FloatArray, path: Path) -> FloatArray:
    """A map as it is, if it goes from 0 to 1 but for rounding.

    Raises:
        ImageError: if it does not.
    """
    low, high = float(values.min()), float(values.max())
    if not (low >= -_ROUNDING and high <= 1 + _ROUNDING):
        raise ImageError(f"{path} holds values from {low:g} to {high:g}; near maps go from 0 to 1")
    return np.clip(values, 0, 1)


def _is_colored(deep: WordArray) -> bool:
    """Whether a picture has more colour than rounding gives it."""
    few = deep[::_GRID, ::_GRID].astype(np.int32)
    return int(np.abs(few[..., 0] - few[..., 2]).mean()) > _MOST_COLOR


def _first_of(chunk: Path) -> int | None:
    """Number of its first map, if its name says it."""
    found = re.fullmatch(r"chunk_(\d+)", chunk.stem)
    return int(found[1]) if found else None


def _chunk(path: Path) -> FloatArray:
    try:
        with np.load(path) as arrays:
            near: FloatArray = arrays["near"]
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise ImageError(f"{path} holds no near maps") from error
    if near.ndim != 3 or near.dtype.kind != "f":
        raise ImageError(f"{path} holds no near maps")
    return near
