"""The networks and the models: dimensions, output kind, licence, where they live.

An `Architecture` is what a network computes; a `ModelCard` is one official set of weights
for it. Dimensions are those of the upstream configurations: ``depth_anything_v2/dpt.py`` and
``run.py`` (V1, V2), ``depth_anything_3/configs/*.yaml`` (DA3).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from depthsmith.errors import UsageError
from depthsmith.types import DepthKind

Family = Literal["da1", "da2", "da3", "da3mono"]
Head = Literal["dpt", "dpt_sky", "dual_dpt"]
Encoder = Literal["vits", "vitb", "vitl", "vitg"]

POSITION_GRID = 37
"""Side of the learned position grid in patches: 518 / 14."""

HEAD_HIDDEN = 32
"""Channels before the last 1x1 convolution, the same in every network."""


@dataclass(frozen=True)
class Architecture:
    """Dimensions of one network.

    Attributes:
        family: ``da1``, ``da2`` (also metric), ``da3`` (main series), ``da3mono``.
        embed_dim, depth, num_heads: of the vision transformer.
        mlp_dim: hidden channels of the feed-forward layer.
        swiglu: whether the feed-forward layer is SwiGLU (DINOv2 giant) or GELU.
        out_layers: the four blocks whose output feeds the head, from 0.
        head: ``dpt``, ``dpt_sky`` (with a sky branch) or ``dual_dpt``.
        features: channels of the fusion blocks.
        out_channels: channels of the four reassembled maps.
        alt_start: first block with camera token, 2D RoPE and q/k norm; None without.
        max_depth_m: for V2 metric, the largest depth in metres; None otherwise.
    """

    family: Family
    embed_dim: int
    depth: int
    num_heads: int
    mlp_dim: int
    swiglu: bool
    out_layers: tuple[int, int, int, int]
    head: Head
    features: int
    out_channels: tuple[int, int, int, int]
    alt_start: int | None = None
    max_depth_m: float | None = None

    @property
    def head_dim(self) -> int:
        """Channels of one attention head, 64 in every encoder."""
        return self.embed_dim // self.num_heads

    @property
    def position_tokens(self) -> int:
        """Tokens of the learned position embedding: the class token and the 37x37 grid."""
        return 1 + POSITION_GRID**2

    @property
    def feature_dim(self) -> int:
        """Channels of the tokens that enter the head; DA3 main concatenates two sets."""
        return self.embed_dim * (2 if self.family == "da3" else 1)

    @property
    def final_norm_eps(self) -> float:
        """Epsilon of the last LayerNorm: DINOv2's own is 1e-6, DA3 keeps torch's default."""
        return 1e-6 if self.family in ("da1", "da2") else 1e-5

    @property
    def kind(self) -> DepthKind:
        """What the depth output means, unless the model says otherwise (da3metric)."""
        if self.family in ("da1", "da2"):
            return DepthKind.INVERSE_DEPTH if self.max_depth_m is None else DepthKind.DEPTH_M
        return DepthKind.DEPTH

    @property
    def input_name(self) -> str:
        return "pixel_values" if self.family in ("da1", "da2") else "image"

    @property
    def output_name(self) -> str:
        return "predicted_depth" if self.family in ("da1", "da2") else "depth"


# embed_dim, depth, num_heads; features, out_channels
_ENCODERS: dict[Encoder, tuple[int, int, int]] = {
    "vits": (384, 12, 6),
    "vitb": (768, 12, 12),
    "vitl": (1024, 24, 16),
    "vitg": (1536, 40, 24),
}
_HEADS: dict[Encoder, tuple[int, tuple[int, int, int, int]]] = {
    "vits": (64, (48, 96, 192, 384)),
    "vitb": (128, (96, 192, 384, 768)),
    "vitl": (256, (256, 512, 1024, 1024)),
    "vitg": (384, (1536, 1536, 1536, 1536)),
}
_V2_LAYERS: dict[Encoder, tuple[int, int, int, int]] = {
    "vits": (2, 5, 8, 11),
    "vitb": (2, 5, 8, 11),
    "vitl": (4, 11, 17, 23),
    "vitg": (9, 19, 29, 39),
}
_DA3_LAYERS: dict[Encoder, tuple[tuple[int, int, int, int], int]] = {
    "vits": ((5, 7, 9, 11), 4),
    "vitb": ((5, 7, 9, 11), 4),
    "vitl": ((11, 15, 19, 23), 8),
    "vitg": ((19, 27, 33, 39), 13),
}


def mlp_dim(embed_dim: int, *, swiglu: bool) -> int:
    """Hidden channels of a DINOv2 feed-forward layer.

    SwiGLU takes two thirds of the width, rounded up to a multiple of 8
    (``dinov2/layers/swiglu_ffn.py``).
    """
    hidden = 4 * embed_dim
    return (hidden * 2 // 3 + 7) // 8 * 8 if swiglu else hidden


def architecture(
    family: Family, encoder: Encoder, *, max_depth_m: float | None = None
) -> Architecture:
    """Dimensions of a published network of ``family`` with the given DINOv2 ``encoder``.

    Raises:
        ValueError: for a combination nobody published (DA3 Mono other than ``vitl``).
    """
    embed_dim, depth, num_heads = _ENCODERS[encoder]
    features, out_channels = _HEADS[encoder]
    base = Architecture(
        family, embed_dim, depth, num_heads, mlp_dim(embed_dim, swiglu=encoder == "vitg"),
        encoder == "vitg", _V2_LAYERS[encoder], "dpt", features, out_channels,
        max_depth_m=max_depth_m,
    )  # fmt: skip
    if family == "da2":
        return base
    if max_depth_m is not None:
        raise ValueError("only V2 has metric variants with a largest depth")
    if family == "da1":
        last = (depth - 4, depth - 3, depth - 2, depth - 1)
        return replace(base, out_layers=last)
    if family == "da3mono":
        if encoder != "vitl":
            raise ValueError("DA3 Mono and Metric exist with vitl only")
        return replace(base, head="dpt_sky")
    out_layers, alt_start = _DA3_LAYERS[encoder]
    if encoder == "vitg":  # DA3-Giant keeps the Large head
        features, out_channels = _HEADS["vitl"]
    return replace(
        base, out_layers=out_layers, alt_start=alt_start, head="dual_dpt",
        features=features, out_channels=out_channels,
    )  # fmt: skip


@dataclass(frozen=True)
class ModelCard:
    """One official set of weights.

    Attributes:
        name: ours, as typed on the command line (``da2-small``).
        repository: hub id of the safetensors (``depth-anything/Depth-Anything-V2-Small-hf``).
        license: SPDX-like id as on the hub when the table was made; the hub's own answer
            at download time goes before it.
        kind: what its depth output means.
        title: the authors' name for it.
    """

    name: str
    repository: str
    license: str
    arch: Architecture
    kind: DepthKind
    title: str

    @property
    def file_stem(self) -> str:
        """Base name of exported files: ``da3_small``."""
        return self.name.replace("-", "_")


ALLOWED_LICENSES = frozenset(
    {"apache-2.0", "mit", "bsd", "bsd-2-clause", "bsd-3-clause", "bsd-3-clause-clear"}
)
"""Licences that permit redistribution and commercial use; anything else needs consent."""

_APACHE, _NC = "apache-2.0", "cc-by-nc-4.0"


def _cards() -> list[ModelCard]:
    org = "depth-anything"
    words: dict[str, Encoder] = {"small": "vits", "base": "vitb", "large": "vitl"}
    cards: list[ModelCard] = []

    def add(
        name: str, repository: str, license: str, arch: Architecture, title: str,
        kind: DepthKind | None = None,
    ) -> None:  # fmt: skip
        cards.append(ModelCard(name, repository, license, arch, kind or arch.kind, title))

    for word, encoder in words.items():
        add(f"da2-{word}", f"{org}/Depth-Anything-V2-{word.title()}-hf",
            _APACHE if word == "small" else _NC, architecture("da2", encoder),
            f"Depth Anything V2 {word.title()}")  # fmt: skip
    for word, license, repository in (
        ("small", _APACHE, "DA3-SMALL"),
        ("base", _APACHE, "DA3-BASE"),
        ("large", _NC, "DA3-LARGE-1.1"),
        ("giant", _NC, "DA3-GIANT-1.1"),
    ):
        add(f"da3-{word}", f"{org}/{repository}", license,
            architecture("da3", words.get(word, "vitg")),
            f"Depth Anything 3 {word.title()}")  # fmt: skip
    mono = architecture("da3mono", "vitl")
    add("da3mono-large", f"{org}/DA3MONO-LARGE", _APACHE, mono, "Depth Anything 3 Mono Large")
    add("da3metric-large", f"{org}/DA3METRIC-LARGE", _APACHE, mono,
        "Depth Anything 3 Metric Large", DepthKind.CANONICAL)  # fmt: skip
    for scene, max_depth_m in (("indoor", 20.0), ("outdoor", 80.0)):
        for word, encoder in words.items():
            add(f"da2-metric-{scene}-{word}",
                f"{org}/Depth-Anything-V2-Metric-{scene.title()}-{word.title()}-hf",
                _APACHE if word == "small" else _NC,
                architecture("da2", encoder, max_depth_m=max_depth_m),
                f"Depth Anything V2 Metric {scene.title()} {word.title()}")  # fmt: skip
    for word, encoder in words.items():
        add(f"da1-{word}", f"LiheYoung/depth-anything-{word}-hf", _APACHE,
            architecture("da1", encoder), f"Depth Anything V1 {word.title()}")  # fmt: skip
    return cards


MODELS: dict[str, ModelCard] = {card.name: card for card in _cards()}
"""All known models by name, in the order of preference for showing them."""


def find(name: str) -> ModelCard:
    """The model called ``name``; case and ``_``/``-`` do not matter, hub ids work too.

    Raises:
        UsageError: if there is no such model; the message lists close ones.
    """
    key = name.lower().replace("_", "-")
    if key in MODELS:
        return MODELS[key]
    for card in MODELS.values():
        if card.repository.lower() == name.lower():
            return card
    import difflib

    near = difflib.get_close_matches(key, MODELS, n=3, cutoff=0.4)
    hint = f"did you mean {', '.join(near)}?" if near else "see `depthsmith models`"
    raise UsageError(f"no model is called {name!r}; {hint}")
