"""The patch grid of a graph: known when built (fixed size) or only when run (dynamic)."""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir
from onnxscript import OpBuilder

from depthsmith.types import PATCH_SIZE, Size


@dataclass(frozen=True)
class Grid:
    """Height and width of the input in patches.

    Attributes:
        fixed: the two numbers, or None.
        dynamic: the same as an int64 tensor of shape (2,) in the graph, or None.
    """

    fixed: Size | None
    dynamic: ir.Value | None = None

    @classmethod
    def of_pixels(cls, size: Size) -> Grid:
        return cls(Size(size.height // PATCH_SIZE, size.width // PATCH_SIZE))

    @property
    def tokens(self) -> int:
        """Patches of a fixed grid."""
        assert self.fixed is not None
        return self.fixed.height * self.fixed.width

    def times(self, op: OpBuilder, factor: int) -> ir.Value | list[int]:
        """``[factor * height, factor * width]``."""
        if self.fixed is not None:
            return [factor * self.fixed.height, factor * self.fixed.width]
        assert self.dynamic is not None
        return self.dynamic if factor == 1 else op.Mul(self.dynamic, [factor, factor])

    def side(self, op: OpBuilder, axis: int) -> ir.Value | list[int]:
        """Height (axis 0) or width (axis 1), as a tensor of shape (1,)."""
        if self.fixed is not None:
            return [self.fixed[axis]]
        return op.Slice(self.dynamic, [axis], [axis + 1], [0])


def shape_of(op: OpBuilder, *parts: ir.Value | list[int]) -> ir.Value | list[int]:
    """One shape from parts: a plain list where all are, else a Concat in the graph."""
    if all(isinstance(part, list) for part in parts):
        return [number for part in parts for number in part]  # type: ignore[union-attr]
    return op.Concat(*parts, axis=0)
