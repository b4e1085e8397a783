"""The bridge from checkpoint tensors to graph initializers.

A `Weights` is a view of the checkpoint below one prefix; modules take from it what they need.
What a module derives from a tensor (a transpose, a folded scale) is computed only when the
file is written, one tensor at a time, so that a large checkpoint is never in memory twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray
from onnxscript import nn

Array = NDArray[np.generic]


class Weights:
    """Checkpoint tensors whose names begin with ``prefix``."""

    def __init__(self, tensors: Mapping[str, Array], prefix: str = "") -> None:
        self._tensors = tensors
        self._prefix = prefix

    def __getitem__(self, name: str) -> Array:
        return self._tensors[self._prefix + name]

    def below(self, name: object) -> Weights:
        """The tensors below ``name``: ``weights.below("attn")["q.weight"]``."""
        return Weights(self._tensors, f"{self._prefix}{name}.")


def parameter(shape: tuple[int, ...], compute: Callable[[], NDArray[np.floating]]) -> nn.Parameter:
    """A float32 initializer whose values are computed when the file is written."""

    def evaluate() -> ir.TensorProtocol:
        values = compute()
        if values.shape != shape:
            raise AssertionError(f"a parameter of shape {shape} was computed as {values.shape}")
        return ir.Tensor(np.ascontiguousarray(values, dtype=np.float32))

    lazy = ir.LazyTensor(evaluate, dtype=ir.DataType.FLOAT, shape=ir.Shape(shape), cache=False)
    return nn.Parameter(shape, data=lazy)


def stored(tensor: Array) -> nn.Parameter:
    """A float32 initializer with the values of ``tensor`` as they are."""
    return parameter(tensor.shape, lambda: tensor.astype(np.float32, copy=False))


def f64(tensor: Array) -> NDArray[np.float64]:
    """``tensor`` in float64, in which everything is folded."""
    return tensor.astype(np.float64)
