"""DINOv2 (Oquab et al., arXiv:2304.07193) with what Depth Anything 3 (arXiv:2511.10647) added."""

from __future__ import annotations

import numpy as np

from depthsmith.catalog import Architecture
from depthsmith.oracle import functions as f
from depthsmith.oracle.functions import Array
from depthsmith.oracle.parameters import Parameters

_PATCH, _GRID = 14, 37
_ROWS = 128  # queries at a time, so that their scores stay in the processor's cache


def features(
    p: Parameters, arch: Architecture, image: Array, *, position_embedding: str
) -> list[Array]:
    """The four token sets that the head reads, without the first token.

    Args:
        p: parameters below ``backbone``.
        arch: dimensions.
        image: normalised ``(3, H, W)``, multiples of 14.
        position_embedding: ``official`` or ``transformers``.
    """
    height, width = image.shape[1] // _PATCH, image.shape[2] // _PATCH
    patches = image.reshape(3, height, _PATCH, width, _PATCH).transpose(1, 3, 0, 2, 4)
    kernel = p["patch_embed.proj.weight"].reshape(arch.embed_dim, -1)
    x = f.linear(patches.reshape(height * width, -1), kernel, p["patch_embed.proj.bias"])
    x = np.concatenate([p["cls_token"][0], x])
    x = x + _positions(p["pos_embed"][0], height, width, position_embedding)  # (1 + N, C)

    start = arch.depth if arch.alt_start is None else arch.alt_start
    rows, columns = (place.ravel() + 1.0 for place in np.mgrid[:height, :width])
    own_place = _angles(rows, columns, arch.head_dim)
    same_place = _angles(np.ones_like(rows), np.ones_like(rows), arch.head_dim)

    chosen = []
    local = x
    for i in range(arch.depth):
        angles = None
        is_global = i >= start and i % 2 == 1
        if i == start:
            x = np.concatenate([p["camera_token"][0, :1], x[1:]])
        if i >= start:
            angles = same_place if is_global else own_place
        x = _block(p.below(f"blocks.{i}"), arch, x, angles)
        if not is_global:
            local = x
        if i in arch.out_layers:
            normed = f.layer_norm(x, p["norm.weight"], p["norm.bias"], arch.final_norm_eps)
            both = np.concatenate([local, normed], axis=1) if arch.family == "da3" else normed
            chosen.append(both[1:])
    return chosen


def _positions(table: Array, height: int, width: int, mode: str) -> Array:
    """Learned positions for a grid: (1 + 37*37, C) to (1 + height*width, C)."""
    if (height, width) == (_GRID, _GRID):
        return table
    grid = table[1:].reshape(_GRID, _GRID, -1)
    # The official code asks for a scale a tenth of a patch too large.
    extra = 0.1 if mode == "official" else 0.0
    steps = (_GRID / (side + extra) for side in (height, width))
    resampled = f.resample_bicubic(grid, height, width, *steps)
    return np.concatenate([table[:1], resampled.reshape(height * width, -1)])


def _block(p: Parameters, arch: Architecture, x: Array, angles: Array | None) -> Array:
    y = f.layer_norm(x, p["norm1.weight"], p["norm1.bias"], 1e-6)
    x = x + p["ls1.gamma"] * _attention(p.below("attn"), arch, y, angles)
    y = f.layer_norm(x, p["norm2.weight"], p["norm2.bias"], 1e-6)
    if arch.swiglu:
        gate, value = np.split(f.linear(y, p["mlp.w12.weight"], p["mlp.w12.bias"]), 2, axis=1)
        y = f.linear(gate * f.sigmoid(gate) * value, p["mlp.w3.weight"], p["mlp.w3.bias"])
    else:
        y = f.gelu(f.linear(y, p["mlp.fc1.weight"], p["mlp.fc1.bias"]))
        y = f.linear(y, p["mlp.fc2.weight"], p["mlp.fc2.bias"])
    return x + p["ls2.gamma"] * y


def _attention(p: Parameters, arch: Architecture, x: Array, angles: Array | None) -> Array:
    q, k, v = (f.linear(x, p[f"{name}.weight"], p[f"{name}.bias"]) for name in "qkv")
    result = np.empty_like(x)
    for head in range(arch.num_heads):
        part = slice(head * arch.head_dim, (head + 1) * arch.head_dim)
        query, key = q[:, part], k[:, part]
        if angles is not None:
            query = f.layer_norm(query, p["q_norm.weight"], p["q_norm.bias"], 1e-5)
            key = f.layer_norm(key, p["k_norm.weight"], p["k_norm.bias"], 1e-5)
            query, key = _rotate(query, angles), _rotate(key, angles)
        query = query / np.sqrt(arch.head_dim)
        for start in range(0, len(x), _ROWS):
            rows = slice(start, start + _ROWS)
            result[rows, part] = f.softmax(query[rows] @ key.T) @ v[:, part]
    return f.linear(result, p["proj.weight"], p["proj.bias"])


def _angles(rows: Array, columns: Array, head_dim: int) -> Array:
    """Rotary angles, ``(1 + N, 2, head_dim / 4)``: by row and by column; the first token at 0."""
    rates = 100.0 ** -np.linspace(0.0, 1.0, head_dim // 4, endpoint=False)
    places = np.stack([np.append(0.0, rows), np.append(0.0, columns)], axis=1)
    return places[:, :, None] * rates


def _rotate(x: Array, angles: Array) -> Array:
    """Rotate channel pairs (RoFormer, arXiv:2104.09864); a pair is a quarter of a head apart."""
    tokens, dim = x.shape
    pairs = x.reshape(tokens, 2, 2, dim // 4)  # (row or column, first or second of the pair)
    cos, sin = np.cos(angles), np.sin(angles)
    first, second = pairs[:, :, 0], pairs[:, :, 1]
    turned = np.stack([first * cos - second * sin, second * cos + first * sin], axis=2)
    return turned.reshape(tokens, dim)
