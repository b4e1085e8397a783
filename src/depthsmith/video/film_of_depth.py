"""The depth of a film's frames from a depth film that is there already."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from depthsmith.errors import FilmError
from depthsmith.film import FilmFrame, FilmInfo, Span
from depthsmith.types import Placement, Size
from depthsmith.video.depth_frames import open_depth_film
from depthsmith.video.extent import extent_of
from depthsmith.video.frame_depth import Memory, Seen, Threads
from depthsmith.video.key import file_key

_SHAPES_APART = 0.02
"""By which the proportions of a film and its depth may differ."""


class FilmOfDepth:
    """A `DepthSource` that reads maps in which near is bright, frame for frame.

    Args:
        path: a gray film, or a folder of depth maps; of any size.
        spans: the parts that are taken of both films.
        inverted: far is bright.

    Raises:
        FilmError: if it cannot be read.
    """

    live = False

    def __init__(
        self, path: Path, *, spans: tuple[Span, ...] = (), inverted: bool = False
    ) -> None:
        self.path = path
        self.spans = spans
        self.inverted = inverted
        self._depths = open_depth_film(path)

    def check(self, film: FilmInfo) -> None:
        """Make sure, before any work, that it can be the depth of ``film``.

        Raises:
            FilmError: if it is too long or too short, as far as that is known.
        """
        if self.spans:
            self._spans_of(film)
            return
        ours, whole = self._depths.extent(), extent_of(film)
        if not ours.is_that_of(whole):
            raise FilmError(
                f"{self.path} has {ours}, {film.path} has {whole}; it is not that film's depth, "
                "or only that of a part (--start, --duration)"
            )

    @property
    def key(self) -> object:
        return (file_key(self.path), self.inverted)

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
        spans = self._spans_of(film)
        with contextlib.closing(self._depths.frames(skip=first, spans=spans)) as depths:
            for frame in frames:
                near = next(depths, None)
                if near is None:
                    raise FilmError(
                        f"{self.path} ends before frame {frame.index} of {film.path}; "
                        "it is not that film's depth, or only that of a part (--start, --duration)"
                    )
                size = Size(*near.shape)
                self._check_shape(size, film)
                kept = frame if keep_pictures else replace(frame, rgb=frame.rgb[:0], deep=None)
                yield Seen(
                    kept,
                    np.float32(1) - near if self.inverted else near,
                    Placement(film.size, size, 0, 0, size),
                    None,
                    _memory(frame.index),
                )
            if next(depths, None) is not None:
                raise FilmError(
                    f"{self.path} goes on after the last frame of {film.path}; it is not that "
                    "film's depth"
                )

    def _check_shape(self, size: Size, film: FilmInfo) -> None:
        (rows, columns), (height, width) = size, film.size
        padded = height + height % 2, width + width % 2  # as codecs need it
        if size != padded and abs(columns * height / (rows * width) - 1) > _SHAPES_APART:
            raise FilmError(
                f"{self.path} is {size.wxh}, {film.path} {film.size.wxh}: not the same proportions"
            )

    def _spans_of(self, film: FilmInfo) -> tuple[Span, ...]:
        """The parts of the depth film: none, if it was made of the parts only.

        Raises:
            FilmError: if it is as long as neither the film nor the parts.
        """
        ours, whole = self._depths.duration_s, film.duration_s
        if not self.spans or ours is None or whole is None or _alike(ours, whole):
            return self.spans
        ends = (whole if s.end_s is None else min(s.end_s, whole) for s in self.spans)
        parts = sum(max(0.0, e - s.start_s) for e, s in zip(ends, self.spans, strict=True))
        if _alike(ours, parts):
            return ()
        raise FilmError(
            f"{self.path} is {ours:.2f} s long: it belongs neither to all of {film.path} "
            f"({whole:.2f} s) nor to the part that is wanted ({parts:.2f} s)"
        )


def _alike(one: float, two: float) -> bool:
    """Whether two durations may be those of the same frames."""
    return abs(one - two) <= 0.25 + 0.01 * max(one, two)


def _memory(index: int) -> Callable[[], Memory]:
    return lambda: {"index": np.int64(index)}
