"""UV position embedding of the DualDPT head (``depth_anything_3/model/utils/head_utils.py``).

Sines and cosines of where a pixel lies in the picture's plane, whose diagonal is scaled to 2,
times 0.1. The first half of the channels depends on the column only, the second on the row
only; so instead of a map of (C, H, W) two thin ones are added, each zero in the other half.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray
from onnxscript import OpBuilder

from depthsmith.graph.grid import Grid

_RATIO = 0.1
_OMEGA = 100.0
_AXES = ("row", "column")


def add_uv_embedding(
    op: OpBuilder, x: ir.Value, grid: Grid, factor: int, channels: int, name: str
) -> ir.Value:
    """Add the embedding to the map ``name`` of ``(B, channels, factor * h, factor * w)``.

    Maps of one head need different names: two of them may have the same number of channels.
    """
    quarter = channels // 4
    omega = _OMEGA ** -(np.arange(quarter) / quarter)
    for axis, shape in ((1, (1, channels, 1, -1)), (0, (1, channels, -1, 1))):
        if grid.fixed is not None:
            places = _fixed_places(grid, factor, axis)
            values = _thin(np.outer(omega, places), channels, axis).reshape(shape)
            table = f"uv_{name}_{_AXES[axis]}"
            thin = op.initializer(ir.tensor(values.astype(np.float32)), table)
        else:
            thin = _dynamic_thin(op, grid, factor, axis, omega, channels, name)
        x = op.Add(x, thin)
    return x


def _fixed_places(grid: Grid, factor: int, axis: int) -> NDArray[np.float64]:
    """Coordinate of each row or column: within +-span, at pixel centres."""
    assert grid.fixed is not None
    count = grid.fixed[axis] * factor
    span = grid.fixed[axis] / np.hypot(*grid.fixed)
    return span * (2 * np.arange(count) - (count - 1)) / count


def _thin(angles: NDArray[np.float64], channels: int, axis: int) -> NDArray[np.float64]:
    """``(C/4, n)`` angles to ``(C, n)``, zero in the half of the other axis."""
    waves = _RATIO * np.concatenate([np.sin(angles), np.cos(angles)])
    zeros = np.zeros((channels // 2, angles.shape[1]))
    return np.concatenate([waves, zeros] if axis == 1 else [zeros, waves])


def _dynamic_thin(
    op: OpBuilder,
    grid: Grid,
    factor: int,
    axis: int,
    omega: NDArray[np.float64],
    channels: int,
    name: str,
) -> ir.Value:
    both = op.Cast(grid.times(op, 1), to=1)
    diagonal = op.Sqrt(op.ReduceSum(op.Mul(both, both), keepdims=1))
    side = op.Slice(both, [axis], [axis + 1], [0])
    count = op.Mul(side, float(factor))
    steps = op.Cast(op.Range(0, op.Squeeze(op.Cast(count, to=7)), 1), to=1)
    places = op.Div(op.Sub(op.Add(steps, steps), op.Sub(count, 1.0)), count)
    places = op.Mul(places, op.Div(side, diagonal))  # (n,)
    table = f"uv_{name}_{_AXES[axis]}_omega"
    column = op.initializer(ir.tensor(omega[:, None].astype(np.float32)), table)
    angles = op.Mul(column, op.Unsqueeze(places, [0]))  # (C/4, n)
    waves = op.Mul(op.Concat(op.Sin(angles), op.Cos(angles), axis=0), _RATIO)  # (C/2, n)
    pads = [0, 0, channels // 2, 0] if axis == 1 else [channels // 2, 0, 0, 0]
    thin = op.Pad(waves, pads)  # (C, n)
    return op.Unsqueeze(thin, [0, 2] if axis == 1 else [0, 3])
