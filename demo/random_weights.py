"""V2-Small with random weights, in the layout of the official repository.

For machines that reach no model hub. Everything about the checkpoint is as in
``depth-anything/Depth-Anything-V2-Small-hf`` (names, shapes, ``config.json``) but its numbers,
so it takes the same way through depthsmith. Its depth means nothing.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from depthsmith import MODELS
from depthsmith.checkpoint.layouts import expected_shapes

Array = NDArray[np.float32]

_CONFIG = {
    "architectures": ["DepthAnythingForDepthEstimation"],
    "backbone_config": {
        "architectures": ["Dinov2Model"],
        "hidden_size": 384,
        "image_size": 518,
        "model_type": "dinov2",
        "num_attention_heads": 6,
        "out_features": ["stage3", "stage6", "stage9", "stage12"],
        "out_indices": [3, 6, 9, 12],
        "patch_size": 14,
        "reshape_hidden_states": False,
        "torch_dtype": "float32",
    },
    "fusion_hidden_size": 64,
    "head_hidden_size": 32,
    "head_in_index": -1,
    "initializer_range": 0.02,
    "model_type": "depth_anything",
    "neck_hidden_sizes": [48, 96, 192, 384],
    "patch_size": 14,
    "reassemble_factors": [4, 2, 1, 0.5],
    "reassemble_hidden_size": 384,
    "torch_dtype": "float32",
}

# depthsmith's names -> those in the hub's file
_HUB_NAMES = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"^backbone\.pos_embed$", "backbone.embeddings.position_embeddings"),
        (r"^backbone\.cls_token$", "backbone.embeddings.cls_token"),
        (r"^backbone\.patch_embed\.proj\.", "backbone.embeddings.patch_embeddings.projection."),
        (r"^backbone\.norm\.", "backbone.layernorm."),
        (r"^backbone\.blocks\.", "backbone.encoder.layer."),
        (r"\.attn\.q\.", ".attention.attention.query."),
        (r"\.attn\.k\.", ".attention.attention.key."),
        (r"\.attn\.v\.", ".attention.attention.value."),
        (r"\.attn\.proj\.", ".attention.output.dense."),
        (r"\.ls([12])\.gamma$", r".layer_scale\1.lambda1"),
        (r"^head\.projects\.(\d)\.", r"neck.reassemble_stage.layers.\1.projection."),
        (r"^head\.resize_layers\.(\d)\.", r"neck.reassemble_stage.layers.\1.resize."),
        (r"\.resConfUnit([12])\.conv([12])\.", r".residual_layer\1.convolution\2."),
        (r"\.out_conv\.", ".projection."),
        (r"^head\.scratch\.output_conv1\.", "head.conv1."),
        (r"^head\.scratch\.output_conv2\.0\.", "head.conv2."),
        (r"^head\.scratch\.output_conv2\.2\.", "head.conv3."),
    )
)


def write_random_checkpoint(folder: Path, *, seed: int = 14) -> Path:
    """Make ``folder`` a V2-Small in hub layout: ``config.json`` and ``model.safetensors``."""
    generator = np.random.default_rng(seed)
    shapes = {
        hub_name(name): shape for name, shape in expected_shapes(MODELS["da2-small"].arch).items()
    }
    # The official file has these too, though depth does not depend on them.
    shapes["backbone.embeddings.mask_token"] = (1, 384)
    for unit in (1, 2):
        convolution = f"neck.fusion_stage.layers.0.residual_layer1.convolution{unit}"
        shapes |= {f"{convolution}.weight": (64, 64, 3, 3), f"{convolution}.bias": (64,)}
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {name: _random(name, shape, generator) for name, shape in sorted(shapes.items())}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(_CONFIG, indent=2) + "\n", encoding="utf-8")
    return folder


def hub_name(name: str) -> str:
    """The official file's name of the tensor that depthsmith calls ``name``."""
    # The hub counts adapters from 0 and fusions from the top.
    name = re.sub(
        r"^head\.scratch\.layer(\d)_rn\.", lambda m: f"neck.convs.{int(m[1]) - 1}.", name
    )
    name = re.sub(
        r"^head\.scratch\.refinenet(\d)\.",
        lambda m: f"neck.fusion_stage.layers.{4 - int(m[1])}.",
        name,
    )
    for pattern, replacement in _HUB_NAMES:
        name = pattern.sub(replacement, name)
    return name


def _random(name: str, shape: tuple[int, ...], generator: np.random.Generator) -> Array:
    """Numbers under which activations keep their size from layer to layer."""
    if name.endswith("lambda1"):
        return generator.uniform(0.3, 1.0, shape).astype(np.float32)
    if "position" in name or name.endswith("_token"):
        return _normal(generator, shape, 0.2)
    if len(shape) == 4 and shape[-1] == 3:
        # Mostly smooth, as trained kernels are: the map then changes from place to place and
        # not from pixel to pixel.
        smooth = np.outer([0.5, 1.0, 0.5], [0.25, 0.5, 0.25])
        plain = generator.normal(size=(*shape[:2], 1, 1))
        kernel = generator.normal(0.0, 0.2, shape) + plain * smooth
        scaled: Array = (kernel / math.sqrt(2.5 * shape[1])).astype(np.float32)
        return scaled
    if len(shape) >= 2:
        # A transposed convolution of stride 2 or 4 is (in, out, k, k).
        transposed = ".resize." in name and shape[-1] in (2, 4)
        values = _normal(
            generator, shape, (shape[0] if transposed else math.prod(shape[1:])) ** -0.5
        )
        # Below zero the last ReLU would leave nothing to see.
        return np.abs(values) if name == "head.conv3.weight" else values
    if name.endswith("bias"):
        return _normal(generator, shape, 0.1)
    return generator.uniform(0.7, 1.3, shape).astype(np.float32)  # scales of norms


def _normal(generator: np.random.Generator, shape: tuple[int, ...], scale: float) -> Array:
    return generator.normal(0.0, scale, shape).astype(np.float32)
