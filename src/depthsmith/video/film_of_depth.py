"""The depth of a film's frames from a depth film that is there already."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from depthsmith.errors import FilmError
from depthsmith.film import FilmFrame, FilmInfo, Span
from depthsmith.media.film.probe import probe
from depthsmith.media.film.read import FilmReader
from depthsmith.types import FloatArray, Placement
from depthsmith.video.frame_depth import Memory, Seen, Threads


class FilmOfDepth:
    """A `DepthSource` that reads a gray film in which near is bright, frame for frame.

    Args:
        path: of the film; it may be smaller or larger than the film that it belongs to.
        spans: the parts that are taken of both.
        inverted: far is bright.

    Raises:
        FilmError: if it cannot be read.
    """

    live = False

    def __init__(
        self, path: Path, *, spans: tuple[Span, ...] = (), inverted: bool = False
    ) -> None:
        self.info = probe(path)
        self.spans = spans
        self.inverted = inverted

    def run(
        self,
        frames: Iterator[FilmFrame],
        film: FilmInfo,
        memory: Memory,
        threads: Threads,
        *,
        keep_pictures: bool,
    ) -> Iterator[Seen]:
        first = int(memory["index"]) + 1 if "index" in memory else 0
        return threads.ahead(self._seen(frames, film, first, keep_pictures), "depth film")

    def _seen(
        self, frames: Iterator[FilmFrame], film: FilmInfo, first: int, keep_pictures: bool
    ) -> Iterator[Seen]:
        place = Placement(film.size, self.info.size, 0, 0, self.info.size)
        reader = FilmReader(self.info, spans=self.spans, deep=True, skip=first)
        with contextlib.closing(reader):
            depths = iter(reader)
            for frame in frames:
                depth = next(depths, None)
                if depth is None:
                    raise FilmError(
                        f"{self.info.path} ends before frame {frame.index} of {film.path}; "
                        "it is not that film's depth"
                    )
                kept = frame if keep_pictures else replace(frame, rgb=frame.rgb[:0], deep=None)
                yield Seen(kept, self._near(depth), place, None, _memory(frame.index))

    def _near(self, depth: FilmFrame) -> FloatArray:
        assert depth.deep is not None
        near: FloatArray = depth.deep[..., 1].astype(np.float32) / np.float32(65535)
        return np.float32(1) - near if self.inverted else near


def _memory(index: int) -> Callable[[], Memory]:
    return lambda: {"index": np.int64(index)}
