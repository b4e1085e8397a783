"""The image input: pixels to patch embeddings.

A patch embedding is a linear layer over the 3*14*14 values of a patch. Written so (and not as
a strided convolution) the reshape fails for an input that is no multiple of 14, where a
convolution would quietly drop the rest. ImageNet normalisation is linear as well: folded into
the layer it costs nothing, and the uint8 picture goes in as it is.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
from onnxscript import OpBuilder, nn

from depthsmith.contract import IMAGENET_MEAN, IMAGENET_STD
from depthsmith.graph.grid import Grid, shape_of
from depthsmith.graph.weights import Weights, f64, parameter
from depthsmith.types import PATCH_SIZE

_VALUES = 3 * PATCH_SIZE * PATCH_SIZE


class PatchEmbed(nn.Module):
    """``nn.Conv2d(3, C, kernel_size=14, stride=14)`` as one MatMul."""

    def __init__(self, weights: Weights, *, fold_preprocess: bool) -> None:
        super().__init__("backbone.patch_embed.proj")
        weight, bias = weights["weight"], weights["bias"]
        dim = weight.shape[0]
        self.fold_preprocess = fold_preprocess
        # (value / 255 - mean) / std == value * scale - shift
        scale = 1.0 / (255.0 * np.array(IMAGENET_STD)) if fold_preprocess else np.ones(3)
        shift = np.array(IMAGENET_MEAN) / IMAGENET_STD if fold_preprocess else np.zeros(3)
        self.weight = parameter(
            (_VALUES, dim),
            lambda: (f64(weight) * scale[:, None, None]).reshape(dim, _VALUES).T,
        )
        self.bias = parameter(
            (dim,), lambda: f64(bias) - np.einsum("ocyx,c->o", f64(weight), shift)
        )

    def forward(self, op: OpBuilder, x: ir.Value, grid: Grid) -> ir.Value:
        rows, columns, side = grid.side(op, 0), grid.side(op, 1), [PATCH_SIZE]
        if self.fold_preprocess:
            x = op.Reshape(x, shape_of(op, [0], rows, side, columns, side, [3]))
            x = op.Transpose(x, perm=[0, 1, 3, 5, 2, 4])
            x = op.Cast(x, to=ir.DataType.FLOAT)
        else:
            x = op.Reshape(x, shape_of(op, [0, 3], rows, side, columns, side))
            x = op.Transpose(x, perm=[0, 2, 4, 1, 3, 5])
        x = op.Reshape(x, [0, -1, _VALUES])  # (B, h, w, 3, 14, 14) -> (B, N, 588)
        return op.Add(op.MatMul(x, self.weight), self.bias)  # (B, N, C)


def grid_of_input(op: OpBuilder, x: ir.Value, *, channels_last: bool) -> Grid:
    """The grid of a dynamic input, read from its shape when the graph runs."""
    first = 1 if channels_last else 2
    pixels = op.Shape(x, start=first, end=first + 2)
    return Grid(None, op.Div(pixels, [PATCH_SIZE, PATCH_SIZE]))
