"""Which network a set of weights is for: from config.json where present, else from shapes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from depthsmith.catalog import MODELS, Architecture, ModelCard, mlp_dim
from depthsmith.checkpoint.layouts import Layout, Tensors
from depthsmith.errors import CheckpointError, UsageError

# What Transformers assumes where config.json is silent (Dinov2Config, DepthAnythingConfig).
_DINOV2_DEFAULTS = {
    "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "mlp_ratio": 4,
    "hidden_act": "gelu", "layer_norm_eps": 1e-6, "image_size": 224, "patch_size": 14,
    "qkv_bias": True, "use_swiglu_ffn": False, "apply_layernorm": True,
}  # fmt: skip
_DEPTH_DEFAULTS = {
    "patch_size": 14, "reassemble_factors": [4, 2, 1, 0.5],
    "neck_hidden_sizes": [48, 96, 192, 384], "fusion_hidden_size": 64, "head_in_index": -1,
    "head_hidden_size": 32, "depth_estimation_type": "relative", "max_depth": None,
    "reassemble_hidden_size": 384,
}  # fmt: skip
# The graph and the oracle are written for these values only.
_DINOV2_FIXED = {
    "hidden_act": "gelu", "layer_norm_eps": 1e-6, "image_size": 518, "patch_size": 14,
    "qkv_bias": True, "apply_layernorm": True, "mlp_ratio": 4,
}  # fmt: skip
_DEPTH_FIXED = {
    "patch_size": 14, "reassemble_factors": [4, 2, 1, 0.5], "head_in_index": -1,
    "head_hidden_size": 32,
}  # fmt: skip


def identify(
    tensors: Tensors,
    layout: Layout,
    config: Mapping[str, Any] | None,
    asked: ModelCard | None,
) -> tuple[Architecture, ModelCard | None]:
    """The network that the tensors (in our names) are for, and the official model if known.

    Args:
        tensors: in our names.
        layout: the layout they were found in.
        config: parsed ``config.json`` that lies beside the weights, if any.
        asked: the model the user named, if any.

    Raises:
        CheckpointError: if config and tensors, or the asked model and either, contradict
            each other, or the network cannot be told.
    """
    declared = _from_config(config, layout) if config else None
    if declared is not None:
        arch, name = declared
        if asked is not None and arch != asked.arch:
            raise CheckpointError(
                f"config.json describes {name or describe(arch)}, not {asked.name}; "
                "name the model that the weights are for, or leave --model out"
            )
        return arch, asked or _card(arch, name)
    fitting = [card for card in MODELS.values() if _fits(card.arch, tensors, layout)]
    if asked is not None:
        if asked not in fitting:
            found = _names(fitting) or "none that depthsmith knows"
            raise CheckpointError(
                f"the weights are not for {asked.name}: their tensor shapes belong to {found}"
            )
        return asked.arch, asked
    if not fitting:
        raise CheckpointError(
            "the tensor shapes belong to no Depth Anything network that depthsmith knows"
        )
    if len(fitting) > 1:
        raise CheckpointError(
            f"tensor shapes alone cannot tell {_names(fitting)} apart and no config.json lies "
            f"beside the weights; say which when you export them: --model {fitting[0].name}"
        )
    return fitting[0].arch, fitting[0]


def describe(arch: Architecture) -> str:
    """A short name for a network that is not in the catalogue."""
    return f"{arch.family} with {arch.depth} blocks of {arch.embed_dim} channels"


def _names(cards: Sequence[ModelCard]) -> str:
    return ", ".join(card.name for card in cards)


def _card(arch: Architecture, name: str | None) -> ModelCard | None:
    if name in MODELS:
        return MODELS[name]
    fitting = [card for card in MODELS.values() if card.arch == arch]
    return fitting[0] if len(fitting) == 1 else None


def _fits(arch: Architecture, tensors: Tensors, layout: Layout) -> bool:
    """Whether the shapes that differ between networks are those of ``arch``."""
    if (layout == "da3") != (arch.family in ("da3", "da3mono")):
        return False
    blocks = {
        int(key.split(".")[2]) for key in tensors if key.startswith("backbone.blocks.")
    }  # fmt: skip

    def shape(key: str) -> tuple[int, ...] | None:
        return tensors[key].shape if key in tensors else None

    # A tensor may be missing: then the strict check that follows names it.
    dims = [
        (shape("backbone.norm.weight"), (arch.embed_dim,)),
        (shape("backbone.cls_token"), (1, 1, arch.embed_dim)),
        (shape("head.scratch.layer1_rn.weight"), (arch.features, arch.out_channels[0], 3, 3)),
        (shape("head.scratch.layer4_rn.weight"), (arch.features, arch.out_channels[3], 3, 3)),
    ]
    known = [found == expected for found, expected in dims if found is not None]
    camera = "backbone.camera_token" in tensors or "head.norm.weight" in tensors
    return (
        len(known) >= 2
        and sum(known) >= len(known) - 1  # one misshapen tensor is reported by name later
        and len(blocks) in (arch.depth, arch.depth - 1)
        and (layout != "da3" or camera == (arch.family == "da3"))
    )


def _from_config(
    config: Mapping[str, Any], layout: Layout
) -> tuple[Architecture, str | None] | None:
    if layout == "da3":
        name = config.get("model_name")
        if not isinstance(name, str):
            return None
        from depthsmith.catalog import find

        try:
            card = find(name.removesuffix("-1.1"))
        except UsageError:
            raise CheckpointError(
                f"config.json names the model {name!r}, which depthsmith does not support"
            ) from None
        return card.arch, card.name
    if config.get("model_type") != "depth_anything":
        return None
    depth = {**_DEPTH_DEFAULTS, **config}
    backbone_config = config.get("backbone_config")
    if not isinstance(backbone_config, Mapping):
        return None
    backbone = {**_DINOV2_DEFAULTS, **backbone_config}
    for fixed, values in ((_DINOV2_FIXED, backbone), (_DEPTH_FIXED, depth)):
        for key, value in fixed.items():
            if values[key] != value:
                raise CheckpointError(
                    f"config.json has {key} = {values[key]!r}; depthsmith supports {value!r} only"
                )
    embed_dim = _count("hidden_size", backbone)
    blocks = _count("num_hidden_layers", backbone)
    num_heads = _count("num_attention_heads", backbone)
    if embed_dim % num_heads:
        raise CheckpointError(
            f"config.json divides {embed_dim} channels among {num_heads} attention heads, which "
            "leaves a rest"
        )
    layers = _out_layers(backbone, blocks)
    swiglu = bool(backbone["use_swiglu_ffn"])
    estimation = depth["depth_estimation_type"]
    if estimation not in ("relative", "metric"):
        raise CheckpointError(
            f"config.json has depth_estimation_type = {estimation!r}; depthsmith supports "
            "'relative' and 'metric' only"
        )
    metric = estimation == "metric"
    channels = depth["neck_hidden_sizes"]
    if not isinstance(channels, list) or len(channels) != 4:
        raise CheckpointError(f"config.json has neck_hidden_sizes = {channels!r}, not four")
    c0, c1, c2, c3 = (_whole("neck_hidden_sizes", c) for c in channels)
    arch = Architecture(
        family="da2",
        embed_dim=embed_dim,
        depth=blocks,
        num_heads=num_heads,
        mlp_dim=mlp_dim(embed_dim, swiglu=swiglu),
        swiglu=swiglu,
        out_layers=layers,
        head="dpt",
        features=_count("fusion_hidden_size", depth),
        out_channels=(c0, c1, c2, c3),
        max_depth_m=_max_depth(depth["max_depth"]) if metric else None,
    )
    if not metric and layers == tuple(range(blocks - 4, blocks)):
        arch = replace(arch, family="da1")
    return arch, None


def _out_layers(backbone: Mapping[str, Any], blocks: int) -> tuple[int, int, int, int]:
    """Blocks whose output is used, from 0; Transformers counts the embedding as stage 0.

    As there, the two ways to name them have to agree, and to be in the order of the network.
    """
    names = ["stem", *(f"stage{i + 1}" for i in range(blocks))]
    features, indices = backbone.get("out_features"), backbone.get("out_indices")
    if indices is None and isinstance(features, list):
        indices = [names.index(name) if name in names else None for name in features]
    if isinstance(indices, list) and all(type(i) is int for i in indices):
        stages = [i + len(names) if i < 0 else i for i in indices]
        agree = features in (None, [names[i] for i in stages if 0 <= i < len(names)])
        in_order = all(1 <= a < b < len(names) for a, b in pairwise(stages))
        if len(stages) == 4 and in_order and agree:
            a, b, c, d = (stage - 1 for stage in stages)
            return a, b, c, d
    raise CheckpointError(
        f"config.json names the backbone layers out_indices = {backbone.get('out_indices')!r}, "
        f"out_features = {features!r}; four of 1 to {blocks} are needed, in their order"
    )


def _count(key: str, config: Mapping[str, Any]) -> int:
    return _whole(key, config[key])


def _whole(key: str, value: object) -> int:
    if type(value) is not int or value < 1:
        raise CheckpointError(f"config.json has {key} = {value!r}, which is no number of them")
    return value


def _max_depth(value: object) -> float:
    """In metres; where it is silent, Transformers takes 1."""
    if value is None:
        return 1.0
    if type(value) not in (int, float) or not 0 < float(value) < math.inf:  # type: ignore[arg-type]
        raise CheckpointError(f"config.json has max_depth = {value!r}, which is no depth")
    return float(value)  # type: ignore[arg-type]
