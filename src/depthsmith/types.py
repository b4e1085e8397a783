"""The values that pass between stages: frozen, validated, numpy only.

Sizes are always ``height, width``. Colour is RGB, uint8, ``(H, W, 3)`` outside of the
network's own input.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from depthsmith.errors import InputError

FloatArray = NDArray[np.float32]
ByteArray = NDArray[np.uint8]
BoolArray = NDArray[np.bool_]
PixelArray = NDArray[Any]
"""Colours of 8 or 16 bits, uint8 or uint16: 16 are those of HDR films."""

PATCH_SIZE = 14
"""Side of a ViT patch in pixels, the same for every Depth Anything network."""


class Size(NamedTuple):
    """Height and width in pixels. Printed in that order, as of arrays and of networks' inputs."""

    height: int
    width: int

    def __str__(self) -> str:
        return f"{self.height}x{self.width}"

    @property
    def wxh(self) -> str:
        """``1920x1080``, width first: how people are told the size of a picture."""
        return f"{self.width}x{self.height}"


class DepthKind(str, Enum):
    """What a depth value means.

    ``INVERSE_DEPTH``  1/z up to an unknown scale and shift; larger is nearer.
    ``DEPTH``          z up to an unknown scale; larger is farther.
    ``DEPTH_M``        z in metres; larger is farther.
    ``CANONICAL``      z in metres at a focal length of 300 px:
                       ``metres = focal_px * value / 300``; larger is farther.
    ``NEAR``           [0, 1] over one picture, 1 is nearest.
    """

    INVERSE_DEPTH = "inverse_depth"
    DEPTH = "depth"
    DEPTH_M = "depth_m"
    CANONICAL = "canonical_depth"
    NEAR = "near"

    @property
    def larger_is_nearer(self) -> bool:
        return self in (DepthKind.INVERSE_DEPTH, DepthKind.NEAR)

    @property
    def polarity(self) -> str:
        """``larger_is_nearer`` or ``larger_is_farther``, as written in contracts."""
        return "larger_is_nearer" if self.larger_is_nearer else "larger_is_farther"

    @property
    def unit(self) -> str:
        """``m``, ``m*300/focal_px``, ``normalized`` or ``relative``."""
        return {
            DepthKind.DEPTH_M: "m",
            DepthKind.CANONICAL: "m*300/focal_px",
            DepthKind.NEAR: "normalized",
        }.get(self, "relative")


@dataclass(frozen=True, eq=False)
class Photo:
    """A picture, upright, as 8-bit RGB.

    Attributes:
        rgb: ``(H, W, 3)`` uint8, orientation already applied.
        path: where it came from, if from a file.
        focal_35mm: EXIF focal length in 35 mm film equivalent, in millimetres.
        notes: what was done on reading that a user may want to know, one clause each
            ("first of 3 pages", "alpha composited over black").

    Raises:
        InputError: for an array of another shape or type.
    """

    rgb: ByteArray = field(repr=False)
    path: Path | None = None
    focal_35mm: float | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not _is_picture(self.rgb, np.uint8):
            raise InputError(f"Photo.rgb must be (H, W, 3) uint8, not {describe(self.rgb)}")

    @property
    def size(self) -> Size:
        return Size(*self.rgb.shape[:2])

    def focal_px(self) -> float | None:
        """Focal length in pixels from EXIF's 35 mm equivalent, or None.

        35 mm film has a diagonal of 43.27 mm; the equivalence is by diagonal (CIPA DC-008).
        """
        if not self.focal_35mm:
            return None
        return self.focal_35mm * float(np.hypot(*self.size)) / float(np.hypot(36.0, 24.0))


@dataclass(frozen=True)
class Placement:
    """How a source picture lies inside the network's input, and so how to get back.

    Attributes:
        source: size of the picture.
        network: size of the network's input.
        top, left: first row and column of the picture's content in the input, pixels.
        content: size of the content; the rest of the input is padding.
        align_corners: whether the way back to ``source`` aligns corner centres
            (``F.interpolate(align_corners=True)``) or half pixels.
    """

    source: Size
    network: Size
    top: int
    left: int
    content: Size
    align_corners: bool = False

    def __post_init__(self) -> None:
        if (
            min(self.top, self.left) < 0
            or self.top + self.content.height > self.network.height
            or self.left + self.content.width > self.network.width
            or min(self.content) < 1
        ):
            raise ValueError(f"content does not lie inside the network's input: {self}")

    @property
    def rows(self) -> slice:
        return slice(self.top, self.top + self.content.height)

    @property
    def columns(self) -> slice:
        return slice(self.left, self.left + self.content.width)


@dataclass(frozen=True, eq=False)
class DepthMap:
    """A depth map that says what it is.

    Attributes:
        values: ``(H, W)`` float32.
        kind: what the values mean (unit and polarity follow from it).
        source_size: size of the picture it belongs to.
        sky: ``(H, W)`` bool, True where the network saw sky; None without a sky head.
        confidence: ``(H, W)`` float32, at least 1, larger is surer; None without.
        model: name of the model that made it, or of the file.

    Raises:
        InputError: for arrays of other shapes or types.
    """

    values: FloatArray
    kind: DepthKind
    source_size: Size
    sky: BoolArray | None = None
    confidence: FloatArray | None = None
    model: str = ""
    notes: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        values: object = self.values
        if not (
            isinstance(values, np.ndarray) and values.dtype == np.float32 and values.ndim == 2
        ):
            raise InputError(f"DepthMap.values must be (H, W) float32, not {describe(values)}")
        for name in ("sky", "confidence"):
            other = getattr(self, name)
            if other is not None and np.shape(other) != self.values.shape:
                raise InputError(
                    f"DepthMap.{name} is {describe(other)}, values {describe(self.values)}"
                )

    @property
    def size(self) -> Size:
        return Size(*self.values.shape)

    @property
    def unit(self) -> str:
        return self.kind.unit

    @property
    def polarity(self) -> str:
        return self.kind.polarity

    def __repr__(self) -> str:
        finite = self.values[np.isfinite(self.values)]
        span = f"{finite.min():.4g} to {finite.max():.4g}" if finite.size else "nothing finite"
        return f"DepthMap({self.size} {self.kind.value}, {span} {self.unit})"


@dataclass(frozen=True, eq=False)
class StereoPair:
    """What the two eyes see.

    Attributes:
        left, right: ``(H, W, 3)`` RGB, uint8 or uint16 both, of one size, not empty.

    Raises:
        InputError: for other arrays.
    """

    left: PixelArray
    right: PixelArray

    def __post_init__(self) -> None:
        for name in ("left", "right"):
            view = getattr(self, name)
            if not _is_picture(view, np.uint8, np.uint16) or not view.size:
                raise InputError(
                    f"StereoPair.{name} must be (H, W, 3) uint8 or uint16, not {describe(view)}"
                )
        if self.left.shape != self.right.shape or self.left.dtype != self.right.dtype:
            raise InputError(
                f"the views are {describe(self.left)} and {describe(self.right)}; "
                "they must be of one size and type"
            )

    @property
    def size(self) -> Size:
        """Of one view."""
        return Size(*self.left.shape[:2])

    def __repr__(self) -> str:
        return f"StereoPair({self.size})"


def describe(value: object) -> str:
    """Shape and type of an array, for messages; of anything else its type."""
    if isinstance(value, np.ndarray):
        return f"{value.shape} {value.dtype}"
    return type(value).__name__


def _is_picture(value: object, *dtypes: type[np.generic]) -> bool:
    return isinstance(value, np.ndarray) and value.dtype in dtypes and value.shape[2:] == (3,)
