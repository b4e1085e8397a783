"""Layers shared by backbone and heads. Each names the torch behaviour it stands for."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray
from onnxscript import OpBuilder, nn

from depthsmith.graph.weights import Weights, f64, parameter, stored


class Linear(nn.Module):
    """``nn.Linear``, the weight transposed so that it is one MatMul over any leading axes.

    ``scale`` (per output channel, or one number) is folded into weight and bias:
    ``scale * (x @ W.T + b)``. That is how LayerScale and the attention scale cost nothing.
    """

    def __init__(self, weights: Weights, *, scale: NDArray[np.float64] | float = 1.0) -> None:
        super().__init__()
        weight, bias = weights["weight"], weights["bias"]
        outputs, inputs = weight.shape
        self.weight = parameter((inputs, outputs), lambda: f64(weight).T * scale)
        self.bias = parameter((outputs,), lambda: f64(bias) * scale)

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        return op.Add(op.MatMul(x, self.weight), self.bias)  # (..., in) -> (..., out)


class LayerNorm(nn.Module):
    """``nn.LayerNorm`` over the last axis; ``scale`` is folded into its affine part."""

    def __init__(self, weights: Weights, *, eps: float, scale: float = 1.0) -> None:
        super().__init__()
        weight, bias = weights["weight"], weights["bias"]
        self.weight = parameter(weight.shape, lambda: f64(weight) * scale)
        self.bias = parameter(bias.shape, lambda: f64(bias) * scale)
        self.eps = eps

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        return op.LayerNormalization(x, self.weight, self.bias, axis=-1, epsilon=self.eps)


class Conv2d(nn.Module):
    """``nn.Conv2d`` with a square kernel and padding of half of it."""

    def __init__(self, weights: Weights, *, stride: int = 1, bias: bool = True) -> None:
        super().__init__()
        self.weight = stored(weights["weight"])
        self.bias = stored(weights["bias"]) if bias else None
        self.kernel = weights["weight"].shape[-1]
        self.stride = stride

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        inputs = [x, self.weight] + ([self.bias] if self.bias is not None else [])
        return op.Conv(
            *inputs,
            kernel_shape=[self.kernel] * 2,
            strides=[self.stride] * 2,
            pads=[self.kernel // 2] * 4,
        )


class ConvTranspose2d(nn.Module):
    """``nn.ConvTranspose2d`` with stride equal to the kernel: every pixel becomes a block."""

    def __init__(self, weights: Weights) -> None:
        super().__init__()
        self.weight = stored(weights["weight"])
        self.bias = stored(weights["bias"])
        self.kernel = weights["weight"].shape[-1]

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        side = [self.kernel] * 2
        return op.ConvTranspose(x, self.weight, self.bias, kernel_shape=side, strides=side)


def gelu(op: OpBuilder, x: ir.Value) -> ir.Value:
    """``F.gelu(approximate="none")``, in the form that ONNX Runtime fuses into one kernel."""
    return op.Mul(op.Mul(x, op.Add(op.Erf(op.Div(x, 2.0**0.5)), 1.0)), 0.5)


def silu(op: OpBuilder, x: ir.Value) -> ir.Value:
    """``F.silu``."""
    return op.Mul(x, op.Sigmoid(x))


def upsample(op: OpBuilder, x: ir.Value, hw: ir.Value | list[int]) -> ir.Value:
    """``F.interpolate(size=hw, mode="bilinear", align_corners=True)``.

    Explicit sizes: a scale would have to be a float whose product with the old size may
    round down to one pixel less.
    """
    size = op.Concat(op.Shape(x, start=0, end=2), hw, axis=0)  # (B, C, H, W)
    return op.Resize(
        x, None, None, size, mode="linear", coordinate_transformation_mode="align_corners"
    )
