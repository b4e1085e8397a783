"""DPT (Ranftl et al., arXiv:2103.13413): reassemble, fuse, predict."""

from __future__ import annotations

import numpy as np

from depthsmith.catalog import Architecture
from depthsmith.oracle import functions as f
from depthsmith.oracle.functions import Array
from depthsmith.oracle.parameters import Parameters


def maps(
    p: Parameters, arch: Architecture, tokens: list[Array], height: int, width: int
) -> dict[str, Array]:
    """Every map the head gives, ``(14 * height, 14 * width)`` by name.

    Args:
        p: parameters below ``head``.
        arch: dimensions.
        tokens: four sets of ``(height * width, C)``.
        height, width: in patches.
    """
    dual = arch.head == "dual_dpt"
    scratch = p.below("scratch")
    pyramid = [
        _reassemble(p, level, t, height, width, dual=dual) for level, t in enumerate(tokens)
    ]
    laterals = [f.conv2d(x, scratch[f"layer{i}_rn.weight"]) for i, x in enumerate(pyramid, 1)]

    fused = None
    for level in (4, 3, 2, 1):
        q = scratch.below(f"refinenet{level}")
        x = laterals[level - 1]
        fused = x if fused is None else fused + _residual(q.below("resConfUnit1"), x)
        fused = _residual(q.below("resConfUnit2"), fused)
        # Each level is enlarged to the next one's size, the last to twice its own.
        size = laterals[level - 2].shape[1:] if level > 1 else (8 * height, 8 * width)
        fused = f.upsample(fused, *size)
        fused = f.conv2d(fused, q["out_conv.weight"], q["out_conv.bias"])
    assert fused is not None

    x = f.conv2d(fused, scratch["output_conv1.weight"], scratch["output_conv1.bias"])
    x = f.upsample(x, 14 * height, 14 * width)
    if dual:
        x = x + uv_embedding(*x.shape, aspect=width / height)
    logits = _predict(scratch.below("output_conv2"), x)
    if dual:
        return {"depth": np.exp(logits[0]), "confidence": np.exp(logits[1]) + 1.0}
    if arch.head == "dpt_sky":
        sky = f.relu(_predict(scratch.below("sky_output_conv2"), x))
        return {"depth": np.exp(logits[0]), "sky": sky[0]}
    if arch.max_depth_m is not None:
        return {"predicted_depth": arch.max_depth_m * f.sigmoid(logits[0])}
    return {"predicted_depth": f.relu(logits[0])}


def _reassemble(
    p: Parameters, level: int, tokens: Array, height: int, width: int, *, dual: bool
) -> Array:
    """Tokens to a map of 4, 2, 1 or 1/2 times the patch grid."""
    if dual:
        tokens = f.layer_norm(tokens, p["norm.weight"], p["norm.bias"], 1e-5)
    x = tokens.T.reshape(-1, height, width)
    x = f.conv2d(x, p[f"projects.{level}.weight"], p[f"projects.{level}.bias"])
    if dual:
        x = x + uv_embedding(*x.shape, aspect=width / height)
    if level == 2:
        return x
    weight, bias = p[f"resize_layers.{level}.weight"], p[f"resize_layers.{level}.bias"]
    if level == 3:
        return f.conv2d(x, weight, bias, stride=2)
    return f.conv_transpose2d(x, weight, bias)


def _residual(p: Parameters, x: Array) -> Array:
    y = f.conv2d(f.relu(x), p["conv1.weight"], p["conv1.bias"])
    return x + f.conv2d(f.relu(y), p["conv2.weight"], p["conv2.bias"])


def _predict(p: Parameters, x: Array) -> Array:
    hidden = f.relu(f.conv2d(x, p["0.weight"], p["0.bias"]))
    return f.conv2d(hidden, p["2.weight"], p["2.bias"])


def uv_embedding(channels: int, height: int, width: int, *, aspect: float) -> Array:
    """Where a pixel lies in the picture, as waves: ``(channels, height, width)``.

    The picture is centred at 0 with a diagonal from -1 to 1; quarter of the channels each:
    sine and cosine of the column, sine and cosine of the row (head_utils.py).
    """
    diagonal = np.sqrt(aspect**2 + 1.0)
    u = aspect / diagonal * np.linspace(-(width - 1) / width, (width - 1) / width, width)
    v = 1.0 / diagonal * np.linspace(-(height - 1) / height, (height - 1) / height, height)
    rates = 100.0 ** -(np.arange(channels // 4) / (channels / 4))
    waves = []
    for place, shape in ((u, (1, width)), (v, (height, 1))):
        angle = np.outer(rates, place).reshape(-1, *shape)
        for wave in (np.sin(angle), np.cos(angle)):
            waves.append(np.broadcast_to(wave, (channels // 4, height, width)))
    return 0.1 * np.concatenate(waves)
