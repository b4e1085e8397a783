"""Learned position embedding, resampled from its 37x37 grid to the input's grid.

The official code asks ``F.interpolate`` for a scale factor of (grid + 0.1) / 37 per axis,
Transformers for the size; torch then samples at different places. Both leave the grid alone
when it is 37x37. Bicubic with a = -0.75, half-pixel centres, no antialias
(``dinov2.py: interpolate_pos_encoding``).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray
from onnxscript import OpBuilder, nn

from depthsmith.catalog import POSITION_GRID
from depthsmith.graph.grid import Grid, shape_of
from depthsmith.graph.weights import Weights, f64, parameter
from depthsmith.types import Size

PositionEmbedding = Literal["official", "transformers"]

_CUBIC_A = -0.75
_OFFSET = 0.1
_M = POSITION_GRID


class ClassAndPositions(nn.Module):
    """Puts the class token before the patches and adds the position embedding to all.

    Class token and its position are both constants and are added when the file is built.
    """

    def __init__(self, weights: Weights, grid: Grid, mode: PositionEmbedding) -> None:
        super().__init__()
        cls_token, pos_embed = weights["cls_token"], weights["pos_embed"]
        dim = pos_embed.shape[-1]
        self.cls_token = parameter((1, 1, dim), lambda: f64(cls_token) + f64(pos_embed)[:, :1])
        if grid.fixed is not None:
            fixed = grid.fixed
            self.pos_embed = parameter(
                (1, grid.tokens, dim), lambda: resample_positions(f64(pos_embed), fixed, mode)
            )
        else:
            self.pos_embed = parameter(
                (1, dim, _M, _M),
                lambda: f64(pos_embed)[:, 1:].reshape(1, _M, _M, dim).transpose(0, 3, 1, 2),
            )
        self.dim = dim
        self.grid = grid
        self.mode = mode

    def forward(self, op: OpBuilder, x: ir.Value, grid: Grid) -> ir.Value:
        positions = self.pos_embed if grid.fixed is not None else self._resize(op, grid)
        x = op.Add(x, positions)  # (B, N, C)
        batch = op.Shape(x, start=0, end=1)
        cls_token = op.Expand(self.cls_token, op.Concat(batch, [1, 1], axis=0))
        return op.Concat(cls_token, x, axis=1)  # (B, 1 + N, C)

    def _resize(self, op: OpBuilder, grid: Grid) -> ir.Value:
        options = {
            "mode": "cubic",
            "cubic_coeff_a": _CUBIC_A,
            "coordinate_transformation_mode": "half_pixel",
        }
        hw = grid.times(op, 1)
        if self.mode == "transformers":
            size = shape_of(op, [1, self.dim], hw)
            resized = op.Resize(self.pos_embed, None, None, size, **options)
        else:
            # Without the offset the scale of a 37x37 grid is 1 and cubic leaves it alone.
            native = op.ReduceMin(op.Cast(op.Equal(hw, [_M, _M]), to=1), keepdims=1)
            offset = op.Mul(op.Sub(1.0, native), _OFFSET)
            scale = op.Div(op.Add(op.Cast(hw, to=1), offset), float(_M))
            scales = op.Concat([1.0, 1.0], scale, axis=0)
            resized = op.Resize(self.pos_embed, None, scales, None, **options)
        flat = op.Reshape(resized, [1, self.dim, -1])
        return op.Transpose(flat, perm=[0, 2, 1])  # (1, N, C)


def resample_positions(
    pos_embed: NDArray[np.float64], grid: Size, mode: PositionEmbedding
) -> NDArray[np.float64]:
    """Positions of the patches of ``grid``: ``(1, 1 + 37*37, C)`` to ``(1, h*w, C)``."""
    dim = pos_embed.shape[-1]
    patches = pos_embed[0, 1:].reshape(_M, _M, dim)
    if grid != Size(_M, _M):
        offset = _OFFSET if mode == "official" else 0.0
        rows, columns = (_cubic_matrix(side, (side + offset) / _M) for side in grid)
        patches = np.einsum("hy,wx,yxc->hwc", rows, columns, patches, optimize=True)
    return patches.reshape(1, -1, dim)


def _cubic_matrix(outputs: int, scale: float) -> NDArray[np.float64]:
    """Cubic convolution along one axis as a matrix of ``(outputs, 37)``, edges replicated."""
    centre = (np.arange(outputs) + 0.5) / scale - 0.5
    first = np.floor(centre).astype(int) - 1
    matrix = np.zeros((outputs, _M))
    for tap in range(4):
        index = first + tap
        np.add.at(
            matrix, (np.arange(outputs), index.clip(0, _M - 1)), _cubic(np.abs(centre - index))
        )
    return matrix


def _cubic(distance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Keys' cubic convolution kernel (IEEE Trans. ASSP 29, 1981), for distances up to 2."""
    a, t = _CUBIC_A, distance
    near = ((a + 2) * t - (a + 3)) * t * t + 1
    far = ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
    return np.where(t <= 1, near, far)
