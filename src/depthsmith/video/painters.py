"""From a frame and its depth to the picture that is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from depthsmith.depth.colormap import colorize, side_by_side
from depthsmith.media.film.encoding import Content
from depthsmith.types import ByteArray, DepthKind, DepthMap, FloatArray, Size
from depthsmith.video.frame_depth import Memory, Seen

# The inverse of a thousand kilometres.
_FARTHEST = np.float32(1e-6)


class Painter(Protocol):
    """Makes what a sink takes."""

    @property
    def content(self) -> Content:
        """Of the pictures, see `Content`."""

    @property
    def needs_picture(self) -> bool:
        """Whether frames are needed beside their depth; they are let go of early if not."""

    def size_of(self, source: Size) -> Size:
        """Size of what is made of a film of this size."""

    def paint(self, seen: Seen) -> NDArray[Any]:
        """The picture, in memory of its own."""

    def memory(self) -> Memory:
        """What the pictures after the last one depend on, beside their frames."""

    def recall(self, memory: Memory) -> None:
        """Go on after the picture that ``memory`` is of."""


class Forgetful:
    """A painter whose pictures depend on nothing but their frame."""

    def memory(self) -> Memory:
        return {}

    def recall(self, memory: Memory) -> None:
        pass


@dataclass(frozen=True)
class DepthPainter(Forgetful):
    """Depth as data: ``(H, W)`` float32.

    Attributes:
        kind: ``NEAR``, or another kind for formats that hold any number.
    """

    kind: DepthKind = DepthKind.NEAR
    content: Content = "gray"
    needs_picture: bool = False

    def size_of(self, source: Size) -> Size:
        return source

    def paint(self, seen: Seen) -> FloatArray:
        if self.kind is DepthKind.NEAR:
            return seen.full_size(seen.near)
        assert seen.inverse is not None  # networks give it
        if self.kind is DepthKind.INVERSE_DEPTH:
            return seen.full_size(seen.inverse)
        return seen.full_size(np.float32(1) / np.maximum(seen.inverse, _FARTHEST))


@dataclass(frozen=True)
class LookPainter(Forgetful):
    """Depth to look at: ``(H, W, 3)`` uint8, or with ``beside`` the frame on its left.

    Attributes:
        colormap: see `depthsmith.depth.colormap`; None for gray.
        beside: whether the frame stands beside it.
    """

    colormap: str | None = None
    beside: bool = False
    content: Content = "rgb"

    @property
    def needs_picture(self) -> bool:
        return self.beside

    def size_of(self, source: Size) -> Size:
        return Size(source.height, source.width * (2 if self.beside else 1))

    def paint(self, seen: Seen) -> ByteArray:
        near = seen.full_size(seen.near)
        shown = DepthMap(near, DepthKind.NEAR, Size(*near.shape))
        picture = colorize(shown, self.colormap or "gray")
        return side_by_side(seen.frame.rgb, picture) if self.beside else picture
