"""How steady a depth film is, beside the film that it was made of."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from depthsmith.depth.temporal.flicker import FlickerReport, flicker
from depthsmith.errors import FilmError
from depthsmith.film import FilmFrame, Span
from depthsmith.media.film.probe import probe
from depthsmith.media.film.read import FilmReader
from depthsmith.media.film.shots import with_cuts
from depthsmith.types import ByteArray, FloatArray
from depthsmith.video.depth_frames import open_depth_film


def measure(
    depth: Path, source: Path | None = None, *, spans: Sequence[Span] = ()
) -> FlickerReport:
    """Measure a depth film; see `depthsmith.depth.temporal.flicker`.

    Args:
        depth: a gray film, or a folder of depth maps.
        source: the film that it was made of, whose motion is followed. Without it every
            change counts, and shots are told apart by the depth alone.
        spans: the parts of ``source`` that ``depth`` was made of.

    Raises:
        FilmError: if a film cannot be read, or the two do not have as many frames.
    """
    depths = open_depth_film(depth, colors=True)
    with contextlib.ExitStack() as stack:
        if source is None:
            shown = with_cuts(_as_pictures(depths.frames()))
        else:
            reader = stack.enter_context(FilmReader(probe(source), spans=spans))
            shown = with_cuts(reader)
        pairs = _Pairs(depths.frames(), shown, depth, source)
        nears = iter(pairs)
        guides = pairs.guides() if source is not None else None
        return flicker(nears, guides, pairs.cuts())


class _Pairs:
    """Two films side by side, as the three iterators that the measure takes in step."""

    def __init__(
        self,
        depths: Iterator[FloatArray],
        shown: Iterator[FilmFrame],
        depth: Path,
        source: Path | None,
    ) -> None:
        self._depths, self._shown = depths, shown
        self._names = depth, source
        self._frame: FilmFrame | None = None

    def __iter__(self) -> Iterator[FloatArray]:
        for index, near in enumerate(self._depths):
            self._frame = next(self._shown, None)
            if self._frame is None:
                raise self._unequal(f"more than the {index} frames")
            yield near
        self._frame = next(self._shown, None)
        if self._frame is not None:
            raise self._unequal("fewer frames than those")

    def guides(self) -> Iterator[ByteArray]:
        while self._frame is not None:
            yield self._frame.rgb

    def cuts(self) -> Iterator[bool]:
        while self._frame is not None:
            yield self._frame.cut

    def _unequal(self, what: str) -> FilmError:
        depth, source = self._names
        return FilmError(f"{depth} has {what} of {source}; it is not that film's depth")


def _as_pictures(depths: Iterator[FloatArray]) -> Iterator[FilmFrame]:
    for index, near in enumerate(depths):
        gray = (near * 255).astype("uint8")[..., None].repeat(3, axis=2)
        yield FilmFrame(index, index, None, gray)
