"""DINOv2 as Depth Anything uses it: image to four sets of patch tokens.

Attribute names follow the checkpoint (``backbone.blocks.0.attn.proj.weight``).
"""

from __future__ import annotations

from typing import Literal

import onnx_ir as ir
from onnxscript import OpBuilder, nn

from depthsmith.catalog import Architecture
from depthsmith.graph.grid import Grid
from depthsmith.graph.layers import LayerNorm, Linear, gelu, silu
from depthsmith.graph.position import ClassAndPositions, PositionEmbedding
from depthsmith.graph.rope import Rope, global_rope, local_rope
from depthsmith.graph.weights import Weights, f64, parameter

AttentionForm = Literal["portable", "fused"]

_BLOCK_EPS = 1e-6
_QK_NORM_EPS = 1e-5


class Attention(nn.Module):
    """Multi-head self-attention, as standard operators or as ONNX Runtime's one kernel."""

    def __init__(
        self, weights: Weights, arch: Architecture, *, qk_norm: bool, form: AttentionForm
    ) -> None:
        super().__init__()
        self.heads, self.head_dim, self.form = arch.num_heads, arch.head_dim, form
        # The scale of the scores moves into the queries; the kernel of its own accord does so.
        scale = self.head_dim**-0.5 if form == "portable" else 1.0
        self.q = Linear(weights.below("q"), scale=1.0 if qk_norm else scale)
        self.k = Linear(weights.below("k"))
        self.v = Linear(weights.below("v"))
        self.q_norm = self.k_norm = None
        if qk_norm:
            self.q_norm = LayerNorm(weights.below("q_norm"), eps=_QK_NORM_EPS, scale=scale)
            self.k_norm = LayerNorm(weights.below("k_norm"), eps=_QK_NORM_EPS)
        # LayerScale follows the output projection and is folded into it by the block.
        self.proj: Linear

    def forward(self, op: OpBuilder, x: ir.Value, rope: Rope | None) -> ir.Value:
        q, k, v = self.q(op, x), self.k(op, x), self.v(op, x)  # (B, N, C)
        split, merged = [0, 0, self.heads, self.head_dim], [0, 0, self.heads * self.head_dim]
        if self.form == "portable" or self.q_norm is not None:
            q, k = op.Reshape(q, split), op.Reshape(k, split)  # (B, N, heads, head_dim)
        if self.q_norm is not None and self.k_norm is not None:
            q, k = self.q_norm(op, q), self.k_norm(op, k)
        if rope is not None:
            q, k = (rope.rotate(op, t, self.head_dim) for t in (q, k))
        if self.form == "fused":
            if self.q_norm is not None:
                q, k = op.Reshape(q, merged), op.Reshape(k, merged)
            x = op.MultiHeadAttention(
                q, k, v, num_heads=self.heads, _domain="com.microsoft", _version=1
            )
            return self.proj(op, x)
        v = op.Transpose(op.Reshape(v, split), perm=[0, 2, 1, 3])  # (B, heads, N, head_dim)
        q = op.Transpose(q, perm=[0, 2, 1, 3])
        scores = op.MatMul(q, op.Transpose(k, perm=[0, 2, 3, 1]))  # (B, heads, N, N)
        x = op.MatMul(op.Softmax(scores, axis=-1), v)
        x = op.Reshape(op.Transpose(x, perm=[0, 2, 1, 3]), merged)  # (B, N, C)
        return self.proj(op, x)


class Mlp(nn.Module):
    """Feed-forward layer with GELU; LayerScale folded into the second projection."""

    def __init__(self, weights: Weights, gamma: Weights) -> None:
        super().__init__()
        self.fc1 = Linear(weights.below("fc1"))
        self.fc2 = Linear(weights.below("fc2"), scale=f64(gamma["gamma"]))

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        return self.fc2(op, gelu(op, self.fc1(op, x)))


class SwiGLU(nn.Module):
    """Feed-forward layer of the giant: ``w3(silu(w1 x) * w2 x)``, both halves in ``w12``."""

    def __init__(self, weights: Weights, gamma: Weights) -> None:
        super().__init__()
        self.w12 = Linear(weights.below("w12"))
        self.w3 = Linear(weights.below("w3"), scale=f64(gamma["gamma"]))
        self.hidden = weights["w3.weight"].shape[1]

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        gate, value = op.Split(self.w12(op, x), [self.hidden] * 2, axis=-1, _outputs=2)
        return self.w3(op, op.Mul(silu(op, gate), value))


class Block(nn.Module):
    """Pre-norm transformer block."""

    def __init__(
        self, weights: Weights, arch: Architecture, *, qk_norm: bool, form: AttentionForm
    ) -> None:
        super().__init__()
        self.norm1 = LayerNorm(weights.below("norm1"), eps=_BLOCK_EPS)
        self.attn = Attention(weights.below("attn"), arch, qk_norm=qk_norm, form=form)
        self.attn.proj = Linear(weights.below("attn.proj"), scale=f64(weights["ls1.gamma"]))
        self.norm2 = LayerNorm(weights.below("norm2"), eps=_BLOCK_EPS)
        feed_forward = SwiGLU if arch.swiglu else Mlp
        self.mlp = feed_forward(weights.below("mlp"), weights.below("ls2"))

    def forward(self, op: OpBuilder, x: ir.Value, rope: Rope | None = None) -> ir.Value:
        x = op.Add(x, self.attn(op, self.norm1(op, x), rope))
        return op.Add(x, self.mlp(op, self.norm2(op, x)))


class DinoV2(nn.Module):
    """Patch tokens to the four feature sets that the head reads.

    Depth Anything 3's main series, from block ``alt_start`` on: the camera token takes the
    class token's place, queries and keys are normalised and turned, odd blocks are global,
    and a feature is the last local output beside the (normalised) output itself.
    """

    def __init__(
        self,
        weights: Weights,
        arch: Architecture,
        grid: Grid,
        *,
        position_embedding: PositionEmbedding,
        attention: AttentionForm,
    ) -> None:
        super().__init__("backbone")
        self.arch = arch
        self.tokens = ClassAndPositions(weights, grid, position_embedding)
        start = arch.depth if arch.alt_start is None else arch.alt_start
        self.blocks = nn.ModuleList(
            [
                Block(weights.below(f"blocks.{i}"), arch, qk_norm=i >= start, form=attention)
                for i in range(max(arch.out_layers) + 1)  # later blocks would feed nothing
            ]
        )
        self.norm = LayerNorm(weights.below("norm"), eps=arch.final_norm_eps)
        if arch.alt_start is not None:
            dim, camera = arch.embed_dim, weights["camera_token"]
            # The first of the two is the reference view's; a single view is its own.
            self.camera_token = parameter((1, 1, dim), lambda: f64(camera)[:, :1])

    def forward(self, op: OpBuilder, x: ir.Value, grid: Grid) -> list[ir.Value]:
        """``(B, N, C)`` patch embeddings to four of ``(B, N, C)`` or ``(B, N, 2C)``."""
        arch, start = self.arch, self.arch.alt_start
        x = self.tokens(op, x, grid)  # (B, 1 + N, C)
        local = x
        features = []
        ropes: tuple[Rope, Rope] | None = None
        for i, block in enumerate(self.blocks):
            if start is not None and i == start:
                x = self._camera_for_class(op, x)
                ropes = local_rope(op, grid, arch.head_dim), global_rope(op, grid, arch.head_dim)
            if ropes is None:
                x = local = block(op, x)
            elif i % 2 == 1:
                x = block(op, x, ropes[1])
            else:
                x = local = block(op, x, ropes[0])
            if i in arch.out_layers:
                feature = self.norm(op, x)
                if arch.family == "da3":
                    feature = op.Concat(local, feature, axis=-1)
                features.append(_patches(op, feature))
        return features

    def _camera_for_class(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        batch = op.Shape(x, start=0, end=1)
        camera = op.Expand(self.camera_token, op.Concat(batch, [1, 1], axis=0))
        return op.Concat(camera, _patches(op, x), axis=1)


def _patches(op: OpBuilder, tokens: ir.Value) -> ir.Value:
    """Drop the class or camera token: ``(B, 1 + N, C)`` to ``(B, N, C)``."""
    return op.Slice(tokens, [1], [2**31 - 1], [1])
