"""What goes into the stabiliser, what comes out, and what it remembers between."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from depthsmith.errors import InputError, UsageError
from depthsmith.types import ByteArray, FloatArray, describe

Mode = Literal["off", "fast", "quality"]
Affine = Literal["scale-shift", "scale", "none"]

BLOCK = 12
"""Frames that are finished together. The look-ahead reaches to the end of the next block."""

LOOK_AHEAD = 2 * BLOCK - 1
"""Most frames after a frame that it depends on; frames between key frames add to it."""

MAX_EVERY = 12

_LARGEST = 1e30
"""Of inverse depth: sums and aligned values stay finite in float32."""


@dataclass(frozen=True)
class SteadySettings:
    """How depth is made steady.

    Attributes:
        mode: ``off`` leaves every frame as the network gave it, and only maps it to one
            range per shot. ``fast`` also aligns scale and shift and smooths the
            low-frequency base, with coarse flow, from the past alone. ``quality`` filters
            along dense flow, from both sides where frames may be looked ahead.
        live: no look-ahead; every pushed frame is finished at once.
        every: the network runs on every Nth frame; others have no depth of their own.
        affine: what the network leaves open from frame to frame. ``scale-shift`` for V1 and
            V2, ``scale`` for DA3, ``none`` for metres that must stay what they are.
        low_percentile, high_percentile: of the inverse depth of a shot; what lies between
            them takes the linear part of the range.
    """

    mode: Mode = "quality"
    live: bool = False
    every: int = 1
    affine: Affine = "scale-shift"
    low_percentile: float = 1.0
    high_percentile: float = 99.0

    def __post_init__(self) -> None:
        for what, known in (("mode", Mode), ("affine", Affine)):
            if getattr(self, what) not in get_args(known):
                names = ", ".join(get_args(known))
                raise UsageError(f"{what} is one of {names}, not {getattr(self, what)!r}")
        if self.every not in range(1, MAX_EVERY + 1):
            raise UsageError(f"every is 1 to {MAX_EVERY}, not {self.every}")
        if not 0.0 <= self.low_percentile < self.high_percentile <= 100.0:
            raise UsageError(
                "percentiles lie between 0 and 100, the low one first, not "
                f"{self.low_percentile:g} and {self.high_percentile:g}"
            )

    @property
    def look_ahead(self) -> int:
        """Most frames that are held back before one is finished."""
        return 0 if self.live else LOOK_AHEAD + self.every - 1


@dataclass(frozen=True, eq=False)
class DepthSample:
    """A frame as the network left it, padding cut off.

    Attributes:
        index: counts frames; the next sample has the next number.
        inverse: ``(h, w)`` float32 inverse depth, larger is nearer, finite and at most 1e30
            away from 0; up to what `SteadySettings.affine` leaves open. None between key
            frames.
        guide: ``(h, w, 3)`` uint8 RGB picture at the same size.
        cut: first frame of a shot. It has depth.
        time_s: presentation time in seconds.

    Raises:
        InputError: for arrays of other shapes or types, or values out of range.
    """

    index: int
    inverse: FloatArray | None
    guide: ByteArray
    cut: bool
    time_s: float

    def __post_init__(self) -> None:
        guide, inverse = np.asarray(self.guide), self.inverse
        if guide.dtype != np.uint8 or guide.shape[2:] != (3,) or not guide.size:
            raise InputError(f"guide must be (h, w, 3) uint8, not {describe(self.guide)}")
        if inverse is None:
            return
        inverse = np.asarray(inverse)
        if inverse.dtype != np.float32 or inverse.shape != guide.shape[:2]:
            raise InputError(
                f"inverse must be {guide.shape[:2]} float32, not {describe(self.inverse)}"
            )
        low, high = float(inverse.min()), float(inverse.max())
        if not (math.isfinite(low) and math.isfinite(high)):
            raise InputError(f"inverse depth of frame {self.index} is not finite everywhere")
        if max(-low, high) > _LARGEST:
            raise InputError(
                f"inverse depth of frame {self.index} goes from {low:.4g} to {high:.4g}; "
                f"it may reach {_LARGEST:g}"
            )


@dataclass(frozen=True, eq=False)
class State:
    """Everything that the frames after ``index`` need to know of those up to it.

    Attributes:
        index: of the frame that it follows.
        time_s: of that frame.
        age: frames of the shot up to it, itself included.
        guide: ``(h, w, 3)`` uint8, of that frame.
        key_index, key_inverse, key_guide: the last frame with depth of its own, where
            frames without may follow.
        steady: ``(m, n)`` float32, filtered inverse depth in the shot's unit, at the
            resolution that it is filtered in.
        trust: ``(g, k)`` float32, frames' worth of evidence in it, at that of flow.
        anchor: ``(h, w)`` float32, what ``steady`` was when the camera came to rest, at the
            resolution of flow; NaN where something has moved since. None while it moves.
        scale, shift: ``unit = scale * inverse + shift`` of that frame.
        low, high: ends of the range in the shot's unit.
        settled: frames that the range was measured on, up to where it stays.
    """

    index: int
    time_s: float
    age: int
    guide: ByteArray
    key_index: int
    key_inverse: FloatArray | None
    key_guide: ByteArray | None
    steady: FloatArray | None
    trust: FloatArray | None
    anchor: FloatArray | None
    scale: float
    shift: float
    low: float
    high: float
    settled: float

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """As named arrays, for an NPZ file. What is None is left out."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: np.asarray(value) for name, value in values.items() if value is not None}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> State:
        """Read what `to_arrays` gave.

        Raises:
            ValueError: if a part is missing or of another type.
        """
        values: dict[str, Any] = {}
        for part in fields(cls):
            value = arrays.get(part.name)
            kind = str(part.type)
            if value is None:
                if "None" not in kind:
                    raise ValueError(f"the state lacks {part.name}")
                values[part.name] = None
            elif kind in ("int", "float"):
                values[part.name] = int(value) if kind == "int" else float(value)
            else:
                expected = np.uint8 if "Byte" in kind else np.float32
                if value.dtype != expected:
                    raise ValueError(f"the state's {part.name} is {value.dtype}")
                values[part.name] = value
        return cls(**values)


@dataclass(frozen=True, eq=False)
class SteadyDepth:
    """A finished frame.

    Attributes:
        index: as in its sample.
        near: ``(h, w)`` float32 in [0, 1], 1 is nearest, the range steady within a shot.
        inverse: ``(h, w)`` float32 inverse depth in the sample's unit, made steady.
        state: what a new `Stabilizer` needs to go on after this frame.
    """

    index: int
    near: FloatArray = field(repr=False)
    inverse: FloatArray = field(repr=False)
    state: State = field(repr=False)
