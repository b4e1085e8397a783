"""Names of tensors: the three layouts found in official files, and the one used here.

The names used here ("ours") are those of the original code, with the fused ``qkv`` split in
three: ``backbone.blocks.0.attn.q.weight``, ``head.scratch.layer1_rn.weight``. Layouts:

``transformers``  V1/V2 on the hub: ``backbone.encoder.layer.0.attention.attention.query.weight``
``original``      V1/V2 ``.pth`` and conversions: ``pretrained.blocks.0.attn.qkv.weight``
``da3``           Depth Anything 3: ``model.backbone.pretrained.blocks.0.attn.qkv.weight``
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from depthsmith.catalog import HEAD_HIDDEN, Architecture
from depthsmith.types import PATCH_SIZE

Tensors = Mapping[str, NDArray[np.generic]]
Layout = Literal["transformers", "original", "da3"]


def detect_layout(keys: Iterable[str]) -> Layout | None:
    """The layout that the tensor names belong to, or None for another network's."""
    for key in keys:
        if key.startswith(("backbone.embeddings.", "neck.reassemble_stage.")):
            return "transformers"
        if key.startswith(("pretrained.", "depth_head.")):
            return "original"
        if key.startswith(("model.backbone.pretrained.", "backbone.pretrained.")):
            return "da3"
    return None


def expected_shapes(arch: Architecture) -> dict[str, tuple[int, ...]]:
    """Every tensor that the depth (and sky) of ``arch`` is computed from, in our names."""
    E = arch.embed_dim
    shapes: dict[str, tuple[int, ...]] = {
        "backbone.cls_token": (1, 1, E),
        "backbone.pos_embed": (1, arch.position_tokens, E),
        "backbone.patch_embed.proj.weight": (E, 3, PATCH_SIZE, PATCH_SIZE),
        "backbone.patch_embed.proj.bias": (E,),
        **_affine("backbone.norm", E),
    }
    if arch.alt_start is not None:
        shapes["backbone.camera_token"] = (1, 2, E)
    for i in range(arch.depth):
        shapes |= _block(arch, i)
    return shapes | _head(arch)


def _block(arch: Architecture, i: int) -> dict[str, tuple[int, ...]]:
    E, hidden, block = arch.embed_dim, arch.mlp_dim, f"backbone.blocks.{i}"
    shapes: dict[str, tuple[int, ...]] = {f"{block}.ls1.gamma": (E,), f"{block}.ls2.gamma": (E,)}
    shapes |= _affine(f"{block}.norm1", E) | _affine(f"{block}.norm2", E)
    for projection in ("q", "k", "v", "proj"):
        shapes |= _linear(f"{block}.attn.{projection}", E, E)
    if arch.alt_start is not None and i >= arch.alt_start:
        for norm in ("q_norm", "k_norm"):
            shapes |= _affine(f"{block}.attn.{norm}", arch.head_dim)
    if arch.swiglu:
        shapes |= _linear(f"{block}.mlp.w12", E, 2 * hidden)
        shapes |= _linear(f"{block}.mlp.w3", hidden, E)
    else:
        shapes |= _linear(f"{block}.mlp.fc1", E, hidden)
        shapes |= _linear(f"{block}.mlp.fc2", hidden, E)
    return shapes


def _head(arch: Architecture) -> dict[str, tuple[int, ...]]:
    F, shapes = arch.features, dict[str, tuple[int, ...]]()
    if arch.head == "dual_dpt":
        shapes |= _affine("head.norm", arch.feature_dim)
    for i, channels in enumerate(arch.out_channels):
        shapes |= _conv(f"head.projects.{i}", arch.feature_dim, channels, 1)
        shapes[f"head.scratch.layer{i + 1}_rn.weight"] = (F, channels, 3, 3)
    c0, c1, _, c3 = arch.out_channels
    shapes |= _conv("head.resize_layers.0", c0, c0, 4)
    shapes |= _conv("head.resize_layers.1", c1, c1, 2)
    shapes |= _conv("head.resize_layers.3", c3, c3, 3)
    for level in (1, 2, 3, 4):
        fusion = f"head.scratch.refinenet{level}"
        for unit in ("resConfUnit1", "resConfUnit2")[level == 4 :]:
            shapes |= _conv(f"{fusion}.{unit}.conv1", F, F, 3)
            shapes |= _conv(f"{fusion}.{unit}.conv2", F, F, 3)
        shapes |= _conv(f"{fusion}.out_conv", F, F, 1)
    shapes |= _conv("head.scratch.output_conv1", F, F // 2, 3)
    outputs = 2 if arch.head == "dual_dpt" else 1  # depth and confidence
    for branch, channels in (("output_conv2", outputs), ("sky_output_conv2", 1)):
        if branch == "sky_output_conv2" and arch.head != "dpt_sky":
            continue
        shapes |= _conv(f"head.scratch.{branch}.0", F // 2, HEAD_HIDDEN, 3)
        shapes |= _conv(f"head.scratch.{branch}.2", HEAD_HIDDEN, channels, 1)
    return shapes


def _affine(name: str, dim: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (dim,), f"{name}.bias": (dim,)}


def _linear(name: str, inputs: int, outputs: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def _conv(name: str, inputs: int, outputs: int, kernel: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (outputs, inputs, kernel, kernel), f"{name}.bias": (outputs,)}


# Branches of the networks that the depth does not depend on.
_UNUSED: dict[Layout, re.Pattern[str]] = {
    # The mask token serves DINOv2's training; the topmost fusion has no lateral input.
    "transformers": re.compile(
        r"backbone\.embeddings\.mask_token$|neck\.fusion_stage\.layers\.0\.residual_layer1\."
    ),
    "original": re.compile(
        r"pretrained\.mask_token$|depth_head\.scratch\.refinenet4\.resConfUnit1\."
    ),
    # Cameras, rays and Gaussians.
    "da3": re.compile(
        r"(model\.)?(cam_enc|cam_dec|gs_head|gs_adapter)\.|(model\.)?head\.scratch\.\w+_aux\."
        r"|(model\.)?backbone\.pretrained\.mask_token$"
    ),
}


def is_unused(key: str, layout: Layout) -> bool:
    """Whether the tensor belongs to a known branch that depth does not need."""
    return _UNUSED[layout].match(key) is not None


def to_our_names(tensors: Tensors, layout: Layout) -> dict[str, NDArray[np.generic]]:
    """The same tensors under our names; a fused ``qkv`` becomes three views.

    Names of no known form keep their own, so that the caller can report them.
    """
    rename = _rename_transformers if layout == "transformers" else _rename_original
    named: dict[str, NDArray[np.generic]] = {}
    for key, tensor in tensors.items():
        name = rename(key)
        if ".attn.qkv." in name and tensor.shape[0] % 3 == 0:
            third = tensor.shape[0] // 3
            for i, projection in enumerate("qkv"):
                part = name.replace(".qkv.", f".{projection}.")
                named[part] = tensor[i * third : (i + 1) * third]
        else:
            named[name] = tensor
    return named


def _rename_original(key: str) -> str:
    key = key.removeprefix("model.")
    key = re.sub(r"^(backbone\.)?pretrained\.", "backbone.", key)
    return re.sub(r"^depth_head\.", "head.", key)


_TRANSFORMERS: list[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]] = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"^backbone\.embeddings\.position_embeddings$", "backbone.pos_embed"),
        (r"^backbone\.embeddings\.cls_token$", "backbone.cls_token"),
        (r"^backbone\.embeddings\.patch_embeddings\.projection\.", "backbone.patch_embed.proj."),
        (r"^backbone\.layernorm\.", "backbone.norm."),
        (r"^backbone\.encoder\.layer\.(\d+)\.", r"backbone.blocks.\1."),
        # On the hub, and as Transformers 5 names them in memory.
        (r"\.attention\.attention\.(q)uery\.", r".attn.\1."),
        (r"\.attention\.attention\.(k)ey\.", r".attn.\1."),
        (r"\.attention\.attention\.(v)alue\.", r".attn.\1."),
        (r"\.attention\.output\.dense\.", ".attn.proj."),
        (r"\.attention\.([qkv])_proj\.", r".attn.\1."),
        (r"\.attention\.o_proj\.", ".attn.proj."),
        (r"\.layer_scale([12])\.lambda1$", r".ls\1.gamma"),
        (r"\.mlp\.weights_in\.", ".mlp.w12."),
        (r"\.mlp\.weights_out\.", ".mlp.w3."),
        (r"^neck\.reassemble_stage\.layers\.(\d)\.projection\.", r"head.projects.\1."),
        (r"^neck\.reassemble_stage\.layers\.(\d)\.resize\.", r"head.resize_layers.\1."),
        (r"^neck\.convs\.(\d)\.", lambda m: f"head.scratch.layer{int(m[1]) + 1}_rn."),
        # Transformers counts the fusion from the top (0), the original from the bottom (4).
        (
            r"^neck\.fusion_stage\.layers\.(\d)\.",
            lambda m: f"head.scratch.refinenet{4 - int(m[1])}.",
        ),
        (r"\.residual_layer([12])\.convolution([12])\.", r".resConfUnit\1.conv\2."),
        (r"^(head\.scratch\.refinenet\d)\.projection\.", r"\1.out_conv."),
        (r"^head\.conv1\.", "head.scratch.output_conv1."),
        (r"^head\.conv2\.", "head.scratch.output_conv2.0."),
        (r"^head\.conv3\.", "head.scratch.output_conv2.2."),
    )
]


def _rename_transformers(key: str) -> str:
    for pattern, replacement in _TRANSFORMERS:
        key = pattern.sub(replacement, key)
    return key
