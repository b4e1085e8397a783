"""2D rotary position embedding of Depth Anything 3 (``dinov2/layers/rope.py``).

The first half of a head's channels turns with the row, the second with the column. Patches
count from 1, the camera token stands at 0. A "global" block sees all patches of a view at the
same place (1, 1), so only the angle between camera token and patches remains.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray
from onnxscript import OpBuilder

from depthsmith.graph.grid import Grid, shape_of

_FREQUENCY = 100.0


class Rope(NamedTuple):
    """Cosines and sines for each token: ``(1 + N, 1, head_dim)``, in the graph."""

    cos: ir.Value
    sin: ir.Value

    def rotate(self, op: OpBuilder, x: ir.Value, head_dim: int) -> ir.Value:
        """Turn queries or keys of shape (B, 1 + N, heads, head_dim)."""
        quarter = head_dim // 4
        y1, y2, x1, x2 = op.Split(x, [quarter] * 4, axis=-1, _outputs=4)
        turned = op.Concat(op.Neg(y2), y1, op.Neg(x2), x1, axis=-1)
        return op.Add(op.Mul(x, self.cos), op.Mul(turned, self.sin))


def inverse_frequencies(head_dim: int) -> NDArray[np.float64]:
    """Angle per step of each channel pair, ``(head_dim / 4,)`` radians."""
    half = head_dim // 2
    return _FREQUENCY ** -(np.arange(0, half, 2) / half)


def local_rope(op: OpBuilder, grid: Grid, head_dim: int) -> Rope:
    """Tables for blocks that know where each patch is."""
    frequencies = inverse_frequencies(head_dim)
    if grid.fixed is not None:
        rows, columns = np.mgrid[: grid.fixed.height, : grid.fixed.width] + 1.0
        return _tables(op, "rope_local", rows.ravel(), columns.ravel(), frequencies)
    rows = _axis_angles(op, grid, 0, frequencies)  # (h, 1, D/2)
    columns = _axis_angles(op, grid, 1, frequencies)  # (1, w, D/2)
    half = [head_dim // 2]
    full = shape_of(op, grid.times(op, 1), half)
    angles = op.Concat(op.Expand(rows, full), op.Expand(columns, full), axis=-1)
    return _with_camera(op, op.Reshape(angles, [-1, 1, head_dim]), head_dim)


def global_rope(op: OpBuilder, grid: Grid, head_dim: int) -> Rope:
    """Tables for blocks that see all patches at (1, 1)."""
    frequencies = inverse_frequencies(head_dim)
    if grid.fixed is not None:
        ones = np.ones(grid.tokens)
        return _tables(op, "rope_global", ones, ones, frequencies)
    row = _constant(op, "rope_global_angles", np.tile(frequencies, 4).reshape(1, 1, head_dim))
    count = op.ReduceProd(grid.times(op, 1), keepdims=1)
    angles = op.Expand(row, op.Concat(count, [1, head_dim], axis=0))
    return _with_camera(op, angles, head_dim)


def _axis_angles(
    op: OpBuilder, grid: Grid, axis: int, frequencies: NDArray[np.float64]
) -> ir.Value:
    side = op.Squeeze(grid.side(op, axis))
    place = op.Cast(op.Add(op.Range(0, side, 1), 1), to=1)
    place = op.Reshape(place, [-1, 1, 1] if axis == 0 else [1, -1, 1])
    # Each angle serves a pair of channels.
    pairs = _constant(op, f"rope_frequencies_{axis}", np.tile(frequencies, 2))
    return op.Mul(place, pairs)


def _with_camera(op: OpBuilder, angles: ir.Value, head_dim: int) -> Rope:
    camera = op.Expand(0.0, [1, 1, head_dim])
    angles = op.Concat(camera, angles, axis=0)
    return Rope(op.Cos(angles), op.Sin(angles))


def _tables(
    op: OpBuilder,
    name: str,
    rows: NDArray[np.float64],
    columns: NDArray[np.float64],
    frequencies: NDArray[np.float64],
) -> Rope:
    y, x = (np.outer(np.concatenate([[0.0], p]), frequencies) for p in (rows, columns))
    angles = np.concatenate([y, y, x, x], axis=1)[:, None, :]
    return Rope(
        _constant(op, f"{name}_cos", np.cos(angles)), _constant(op, f"{name}_sin", np.sin(angles))
    )


def _constant(op: OpBuilder, name: str, values: NDArray[np.float64]) -> ir.Value:
    return op.initializer(ir.tensor(values.astype(np.float32)), name)
