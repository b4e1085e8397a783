"""DPT heads: four token sets to full-resolution maps.

``Dpt`` is the head of V1, V2 and (with a sky branch) DA3 Mono and Metric; ``DualDpt`` that of
DA3's main series, of which only the depth branch is built. Ranftl et al., "Vision Transformers
for Dense Prediction", arXiv:2103.13413; ``depth_anything_v2/dpt.py``,
``depth_anything_3/model/{dpt,dualdpt}.py``.
"""

from __future__ import annotations

from collections.abc import Callable

import onnx_ir as ir
from onnxscript import OpBuilder, nn

from depthsmith.catalog import Architecture
from depthsmith.graph.grid import Grid, shape_of
from depthsmith.graph.layers import Conv2d, ConvTranspose2d, LayerNorm, upsample
from depthsmith.graph.uv import add_uv_embedding
from depthsmith.graph.weights import Weights
from depthsmith.types import PATCH_SIZE

_NORM_EPS = 1e-5


class ResidualConvUnit(nn.Module):
    """Pre-activation residual unit of two 3x3 convolutions."""

    def __init__(self, weights: Weights) -> None:
        super().__init__()
        self.conv1 = Conv2d(weights.below("conv1"))
        self.conv2 = Conv2d(weights.below("conv2"))

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        y = self.conv1(op, op.Relu(x))
        return op.Add(self.conv2(op, op.Relu(y)), x)


class FeatureFusion(nn.Module):
    """Adds the lateral map, refines, enlarges, projects."""

    def __init__(self, weights: Weights, *, lateral: bool) -> None:
        super().__init__()
        self.resConfUnit1 = ResidualConvUnit(weights.below("resConfUnit1")) if lateral else None
        self.resConfUnit2 = ResidualConvUnit(weights.below("resConfUnit2"))
        self.out_conv = Conv2d(weights.below("out_conv"))

    def forward(
        self, op: OpBuilder, x: ir.Value, lateral: ir.Value | None, hw: ir.Value | list[int]
    ) -> ir.Value:
        if self.resConfUnit1 is not None:
            x = op.Add(x, self.resConfUnit1(op, lateral))
        x = self.resConfUnit2(op, x)
        return self.out_conv(op, upsample(op, x, hw))


class Scratch(nn.Module):
    """What the original code calls scratch: adapters, fusions and output convolutions."""

    def __init__(self, weights: Weights, *, sky: bool) -> None:
        super().__init__()
        for level in (1, 2, 3, 4):
            adapter = Conv2d(weights.below(f"layer{level}_rn"), bias=False)
            setattr(self, f"layer{level}_rn", adapter)
            fusion = FeatureFusion(weights.below(f"refinenet{level}"), lateral=level < 4)
            setattr(self, f"refinenet{level}", fusion)
        self.output_conv1 = Conv2d(weights.below("output_conv1"))
        self.output_conv2 = OutputConv(weights.below("output_conv2"))
        if sky:
            self.sky_output_conv2 = OutputConv(weights.below("sky_output_conv2"))

    def forward(self, op: OpBuilder, maps: list[ir.Value], grid: Grid) -> ir.Value:
        """Fuse maps of 4, 2, 1 and 1/2 times the grid; the result has 8 times the grid."""
        lateral = [getattr(self, f"layer{i + 1}_rn")(op, m) for i, m in enumerate(maps)]
        sizes = [grid.times(op, factor) for factor in (8, 4, 2, 1)]  # of refinenet1..4's output
        x = lateral[3]
        for level in (4, 3, 2, 1):
            fusion = getattr(self, f"refinenet{level}")
            x = fusion(op, x, None if level == 4 else lateral[level - 1], sizes[level - 1])
        return self.output_conv1(op, x)  # (B, F/2, 8h, 8w)


class OutputConv(nn.Module):
    """3x3 convolution, ReLU, 1x1 convolution."""

    def __init__(self, weights: Weights) -> None:
        super().__init__()
        self.conv3 = Conv2d(weights.below(0))
        self.conv3._set_name("0")
        self.conv1 = Conv2d(weights.below(2))
        self.conv1._set_name("2")

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        return self.conv1(op, op.Relu(self.conv3(op, x)))


class _Head(nn.Module):
    """What both heads share: reassembling tokens into maps, fusing, enlarging."""

    def __init__(self, weights: Weights, arch: Architecture) -> None:
        super().__init__("head")
        self.projects = nn.ModuleList([Conv2d(weights.below(f"projects.{i}")) for i in range(4)])
        self.resize_layers = nn.ModuleList(
            [
                ConvTranspose2d(weights.below("resize_layers.0")),
                ConvTranspose2d(weights.below("resize_layers.1")),
                Identity(),
                Conv2d(weights.below("resize_layers.3"), stride=2),
            ]
        )
        self.scratch = Scratch(weights.below("scratch"), sky=arch.head == "dpt_sky")
        self.arch = arch

    def reassemble(
        self,
        op: OpBuilder,
        features: list[ir.Value],
        grid: Grid,
        embed: Callable[[ir.Value, int], ir.Value] = lambda x, _: x,
    ) -> list[ir.Value]:
        """Token sets to maps of 4, 2, 1 and 1/2 times the grid."""
        maps = []
        for i, tokens in enumerate(features):
            x = op.Transpose(tokens, perm=[0, 2, 1])
            x = op.Reshape(x, shape_of(op, [0, self.arch.feature_dim], grid.times(op, 1)))
            x = embed(self.projects[i](op, x), i)
            maps.append(self.resize_layers[i](op, x))
        return maps

    def full_size(self, op: OpBuilder, x: ir.Value, grid: Grid) -> ir.Value:
        """``(B, F/2, 8h, 8w)`` to the input's size."""
        return upsample(op, x, grid.times(op, PATCH_SIZE))


class Identity(nn.Module):
    """``nn.Identity``: the third map keeps its size."""

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        return x


class Dpt(_Head):
    """Head of V1 and V2, and with a sky branch that of DA3 Mono and Metric."""

    def forward(self, op: OpBuilder, features: list[ir.Value], grid: Grid) -> dict[str, ir.Value]:
        """Four of ``(B, N, C)`` to maps of ``(B, H, W)`` by output name."""
        arch = self.arch
        x = self.scratch(op, self.reassemble(op, features, grid), grid)
        x = self.full_size(op, x, grid)
        logit = self.scratch.output_conv2(op, x)  # (B, 1, H, W)
        if arch.head == "dpt_sky":
            sky = op.Relu(self.scratch.sky_output_conv2(op, x))
            return {arch.output_name: squeeze(op, op.Exp(logit)), "sky": squeeze(op, sky)}
        if arch.max_depth_m is not None:
            depth = op.Mul(op.Sigmoid(logit), arch.max_depth_m)
        else:
            depth = op.Relu(logit)
        return {arch.output_name: squeeze(op, depth)}


class DualDpt(_Head):
    """Depth branch of DA3's main series; ``confidence`` adds its second output."""

    def __init__(self, weights: Weights, arch: Architecture, *, confidence: bool) -> None:
        super().__init__(weights, arch)
        self.norm = LayerNorm(weights.below("norm"), eps=_NORM_EPS)
        self.confidence = confidence

    def forward(self, op: OpBuilder, features: list[ir.Value], grid: Grid) -> dict[str, ir.Value]:
        features = [self.norm(op, f) for f in features]

        def embed(x: ir.Value, i: int) -> ir.Value:
            return add_uv_embedding(op, x, grid, 1, self.arch.out_channels[i], f"map{i}")

        maps = self.reassemble(op, features, grid, embed)
        x = self.full_size(op, self.scratch(op, maps, grid), grid)
        x = add_uv_embedding(op, x, grid, PATCH_SIZE, self.arch.features // 2, "full")
        logits = self.scratch.output_conv2(op, x)  # (B, 2, H, W)
        depth, confidence = op.Split(logits, [1, 1], axis=1, _outputs=2)
        outputs = {self.arch.output_name: squeeze(op, op.Exp(depth))}
        if self.confidence:
            outputs["confidence"] = squeeze(op, op.Add(op.Exp(confidence), 1.0))
        return outputs


def squeeze(op: OpBuilder, x: ir.Value) -> ir.Value:
    """``(B, 1, H, W)`` to ``(B, H, W)``."""
    return op.Squeeze(x, [1])
