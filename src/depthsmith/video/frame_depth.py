"""A frame with its depth, and where such come from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

from depthsmith.depth.restore import restore
from depthsmith.film import FilmFrame, FilmInfo
from depthsmith.types import FloatArray, Placement

T = TypeVar("T")

Memory = Mapping[str, NDArray[Any]]
"""What later frames depend on, as named arrays: kept on disk, so that a stopped run can go on."""


@dataclass(frozen=True, eq=False)
class Seen:
    """A frame and its depth.

    Attributes:
        frame: its pictures are empty where nobody needs them.
        near: ``(h, w)`` float32 in [0, 1], 1 is nearest, at the size it was made in.
        placement: of the frame in that size, for `full_size`.
        inverse: ``(h, w)`` float32, inverse depth in the network's unit; None where unknown.
        memory: tells what the source needs to go on after this frame.
    """

    frame: FilmFrame
    near: FloatArray
    placement: Placement
    inverse: FloatArray | None
    memory: Callable[[], Memory]

    def full_size(self, values: FloatArray) -> FloatArray:
        """``near`` or ``inverse``, or what was calculated from them, at the frame's size.

        As `depthsmith.depth.restore.restore`, to a 32nd of a pixel of ``values``: OpenCV's way
        with aligned corners is three times as fast as the exact one.
        """
        place = self.placement
        (height, width), (rows, columns) = place.source, values.shape
        if not place.align_corners or min(height, width) < 2:
            return restore(values, replace(place, network=place.content, top=0, left=0))
        steps = np.array([[(columns - 1) / (width - 1), 0, 0], [0, (rows - 1) / (height - 1), 0]])
        restored: FloatArray = cv2.warpAffine(
            values, steps, (width, height), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
            borderMode=cv2.BORDER_REPLICATE,
        )  # fmt: skip
        return restored


class Threads(Protocol):
    """Where stages work."""

    def ahead(self, source: Iterable[T], name: str) -> Iterator[T]:
        """The items of ``source``, made ahead on a thread of their own."""


class DepthSource(Protocol):
    """Gives frames their depth."""

    @property
    def live(self) -> bool:
        """Whether nothing may be looked ahead."""

    @property
    def key(self) -> object:
        """Tells, by its ``repr``, all that the depth depends on beside the film."""

    def run(
        self,
        frames: Iterator[FilmFrame],
        film: FilmInfo,
        memory: Memory,
        threads: Threads,
        *,
        keep_pictures: bool,
    ) -> Iterator[Seen]:
        """Every frame with its depth, in order.

        Args:
            frames: in order; ``cut`` is set.
            film: that they are of.
            memory: of the last frame before these; empty at the film's start.
            threads: for stages that work side by side.
            keep_pictures: leave the pictures in the frames.
        """
