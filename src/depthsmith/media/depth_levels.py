"""What a depth file says of its numbers: ``value = offset + scale * level``, for PNG."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthsmith.types import BoolArray, DepthKind, DepthMap, FloatArray

KEY = "depthsmith"
"""Under which the JSON stands in a depth file; also how our own files are known."""

HEADER_FORMAT = 1
"""Version of the JSON; raised when a reader of an older one would misread it."""

MILLIMETRE = 0.001


@dataclass(frozen=True)
class Quantization:
    """How levels become values.

    Attributes:
        scale, offset: ``value = offset + scale * level``, in the unit of the kind.
        invalid: the level that stands for no value; None if there is none.
    """

    scale: float
    offset: float = 0.0
    invalid: int | None = None

    def to_values(self, levels: NDArray[Any]) -> FloatArray:
        """``(H, W)`` float32, NaN where invalid."""
        values = self.offset + self.scale * levels.astype(np.float64)
        if self.invalid is not None:
            values[levels == self.invalid] = np.nan
        result: FloatArray = values.astype(np.float32)
        return result


def quantize(depth: DepthMap, bits: int) -> tuple[NDArray[Any], Quantization, tuple[str, ...]]:
    """Levels of a depth map; nothing is ever clipped.

    ===============  =========================================================================
    near             0..1 over all levels
    inverse_depth    least to largest value over all levels
    depth_m          1 mm a level, the convention of ROS and of most data sets; the next
                     coarser of 1, 2, 5, 10… mm that holds the farthest value, if need be
    depth,           0 to the largest value, so that ratios of depths are ratios of levels
    canonical_depth
    ===============  =========================================================================

    Level 0 is no value for the kinds that are depth (also for depth that is not positive), and
    for the others if some values are not finite.

    Args:
        depth: of any kind.
        bits: 8 or 16.

    Returns:
        ``(H, W)`` uint8 or uint16, what they mean, and notes.

    Raises:
        ValueError: if a near map has values outside of [0, 1].
    """
    top = (1 << bits) - 1
    valid: BoolArray = np.isfinite(depth.values)
    if not valid.any():
        dtype = np.uint8 if bits == 8 else np.uint16
        note = "there is no valid value; all is written as 0"
        return np.zeros(depth.size, dtype), Quantization(1.0, 0.0, 0), (note,)
    low, high = (float(f(depth.values[valid])) for f in (np.min, np.max))
    notes: tuple[str, ...] = ()
    first: int
    if not depth.kind.larger_is_nearer and low >= 0 and high > 0:
        valid &= depth.values > 0
        first, scale = 1, high / top
        if depth.kind is DepthKind.DEPTH_M:
            # The farthest may round down to the last level, as 65.535 m in float32 has to.
            scale = _round_step(high / (top + 0.49))
            if bits == 16 and scale > MILLIMETRE:
                notes = (f"up to {high:.4g} m: one level is {scale * 1000:g} mm, not 1 mm",)
        quantization = Quantization(scale, 0.0, 0)
    else:
        if depth.kind is DepthKind.NEAR:
            if low < 0 or high > 1:
                raise ValueError(f"near lies in [0, 1], not {low:g} to {high:g}")
            low, high = 0.0, 1.0
        first = 0 if valid.all() else 1
        scale = (high - low) / (top - first) or 1.0
        quantization = Quantization(scale, low - first * scale, 0 if first else None)
    levels = _to_levels(depth.values, valid, quantization, first, top)
    missing = int(valid.size - valid.sum())
    if missing:
        notes = (*notes, f"{missing} invalid values are written as 0")
    return levels, quantization, notes


def _to_levels(
    values: FloatArray, valid: BoolArray, quantization: Quantization, first: int, top: int
) -> NDArray[Any]:
    dtype = np.uint8 if top == 255 else np.uint16
    levels = np.zeros(values.shape, dtype)
    exact = (values[valid].astype(np.float64) - quantization.offset) / quantization.scale
    levels[valid] = np.clip(np.rint(exact), first, top)  # only rounding reaches beyond
    return levels


def _round_step(least: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten, from a millimetre on, that is enough."""
    if least <= MILLIMETRE:
        return MILLIMETRE
    power = math.floor(math.log10(least))
    steps = (float(f"{digit}e{power + up}") for up in (0, 1) for digit in (1, 2, 5))
    return next(step for step in steps if step >= least)
