"""The upstream networks with random weights, and their checkpoints in the official layouts.

Weights are random because the official ones cannot be had here, and scaled so that outputs
have a healthy range: what is compared is arithmetic, which does not care. Every file is
written by upstream code (``save_pretrained``, ``torch.save``, ``safetensors.torch``), so its
tensor names are the official ones.
"""

from __future__ import annotations

import json
import logging
import math
import sys
import types
from pathlib import Path

import numpy as np
import torch

_V2_DIMS = {
    # embed_dim, depth, heads, features, out_channels, 1-based layers of V2
    "small": (384, 12, 6, 64, [48, 96, 192, 384], [3, 6, 9, 12]),
    "base": (768, 12, 12, 128, [96, 192, 384, 768], [3, 6, 9, 12]),
    "large": (1024, 24, 16, 256, [256, 512, 1024, 1024], [5, 12, 18, 24]),
    # Not an official size: small enough to run everywhere in a moment.
    "tiny": (64, 6, 2, 16, [8, 16, 16, 24], [2, 3, 4, 6]),
}


def install_torchvision_stand_in() -> None:
    """The four names that upstream imports from torchvision, for preprocessing only."""
    if "torchvision" in sys.modules:
        return
    # Transformers looks for torchvision once, when it is imported; it must not find this one.
    from transformers import DepthAnythingForDepthEstimation  # noqa: F401

    class Compose:
        def __init__(self, steps):
            self.steps = steps

        def __call__(self, x):
            for step in self.steps:
                x = step(x)
            return x

    class ToTensor:
        def __call__(self, image):
            array = np.asarray(image)
            return torch.from_numpy(array.copy()).permute(2, 0, 1).float().div(255)

    class Normalize:
        def __init__(self, mean, std):
            self.mean = torch.tensor(mean)[:, None, None]
            self.std = torch.tensor(std)[:, None, None]

        def __call__(self, x):
            return (x - self.mean) / self.std

    class CenterCrop:
        def __init__(self, size):
            self.size = size

    root, transforms = types.ModuleType("torchvision"), types.ModuleType("torchvision.transforms")
    for cls in (Compose, ToTensor, Normalize, CenterCrop):
        setattr(transforms, cls.__name__, cls)
    root.transforms = transforms
    sys.modules["torchvision"], sys.modules["torchvision.transforms"] = root, transforms


def randomize(model: torch.nn.Module, seed: int) -> torch.nn.Module:
    """Seeded random weights under which activations keep their size through the network.

    The 3x3 kernels are mostly smooth, as trained ones are. White noise in them would give maps
    that change fully from pixel to pixel, and then the float32 rounding of where a bilinear
    sample lies (1e-7 of the size) shows in torch's own result beyond the tolerance.
    """
    generator = torch.Generator().manual_seed(seed)
    binomial = torch.tensor([0.5, 1.0, 0.5])
    smooth = torch.outer(binomial, binomial) / 2.0
    with torch.no_grad():
        for name, p in model.named_parameters():
            if "lambda" in name or name.endswith("gamma"):
                p.uniform_(0.3, 1.0, generator=generator)
            elif "pos" in name or name.endswith(("cls_token", "camera_token")):
                p.normal_(0.0, 0.2, generator=generator)
            elif p.dim() == 4 and p.shape[-1] == 3:
                p.normal_(0.0, 0.2, generator=generator)
                plain = torch.empty(*p.shape[:2], 1, 1).normal_(generator=generator)
                p.add_(plain * smooth).mul_((2.5 * p.shape[1]) ** -0.5)
            elif p.dim() >= 2:
                fan_in = math.prod(p.shape[1:])
                if "resize" in name and p.shape[-1] in (2, 4):  # ConvTranspose2d: (in, out, k, k)
                    fan_in = p.shape[0]
                p.normal_(0.0, fan_in**-0.5, generator=generator)
            elif name.endswith("bias"):
                p.normal_(0.0, 0.1, generator=generator)
            else:  # scales of norms
                p.uniform_(0.7, 1.3, generator=generator)
    return model.eval()


def transformers_model(size: str, *, version: int = 2, max_depth: float | None = None, seed=0):
    """``DepthAnythingForDepthEstimation`` of V1, V2 or V2 metric."""
    from transformers import DepthAnythingConfig, DepthAnythingForDepthEstimation, Dinov2Config

    dim, depth, heads, features, channels, layers = _V2_DIMS[size]
    if version == 1:
        layers = list(range(depth - 3, depth + 1))
    backbone = Dinov2Config(
        hidden_size=dim,
        num_hidden_layers=depth,
        num_attention_heads=heads,
        image_size=518,
        patch_size=14,
        out_features=[f"stage{i}" for i in layers],
        reshape_hidden_states=False,
        apply_layernorm=True,
    )
    config = DepthAnythingConfig(
        backbone_config=backbone,
        reassemble_hidden_size=dim,
        neck_hidden_sizes=channels,
        fusion_hidden_size=features,
        head_hidden_size=32,
        depth_estimation_type="relative" if max_depth is None else "metric",
        max_depth=int(max_depth or 1),
    )
    model = randomize(DepthAnythingForDepthEstimation(config), seed)
    if max_depth is None:
        _keep_positive(model.head.conv3)
    return model


def _keep_positive(last: torch.nn.Conv2d) -> None:
    """Most of a random map would be below zero, where the last ReLU leaves nothing to compare."""
    with torch.no_grad():
        last.weight.abs_()


def save_transformers(model, folder: Path) -> Path:
    """A folder in hub layout, with the tensor names that hub files have."""
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()
    model.save_pretrained(folder)
    return folder


def original_v2(encoder: str = "vits", seed: int = 0):
    """``DepthAnythingV2`` of the official repository."""
    install_torchvision_stand_in()
    from depth_anything_v2.dpt import DepthAnythingV2

    _, _, _, features, channels, _ = _V2_DIMS[
        {"s": "small", "b": "base", "l": "large"}[encoder[3]]
    ]
    model = randomize(
        DepthAnythingV2(encoder=encoder, features=features, out_channels=channels), seed
    )
    _keep_positive(model.depth_head.scratch.output_conv2[2])
    return model


def da3(name: str = "da3-small", seed: int = 0):
    """``DepthAnything3Net`` of the official repository, without API and camera post-processing."""
    install_torchvision_stand_in()
    logging.disable(logging.WARNING)
    from depth_anything_3.cfg import create_object, load_config
    from depth_anything_3.registry import MODEL_REGISTRY

    model = create_object(load_config(MODEL_REGISTRY[name]))
    randomize(model, seed)
    with torch.no_grad():  # exp() of the logits: keep them within e^-2 to e^2 or so
        scratch = model.head.scratch
        for branch in ("output_conv2", "sky_output_conv2"):
            if hasattr(scratch, branch):
                getattr(scratch, branch)[-1].weight *= 0.25
    return model


def save_da3(model, folder: Path, name: str) -> Path:
    """A folder as ``PyTorchModelHubMixin`` of the official API writes it."""
    from safetensors.torch import save_model

    folder.mkdir(parents=True, exist_ok=True)
    api = torch.nn.Module()
    api.model = model
    save_model(api, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({"model_name": name}))
    return folder


@torch.inference_mode()
def run_da3(model, image: torch.Tensor) -> dict[str, np.ndarray]:
    """Depth, confidence and sky of ``(B, 3, H, W)``: backbone and head, nothing after them."""
    features, _ = model.backbone(image[:, None])
    outputs = model.head(features, *image.shape[-2:], patch_start_idx=0)
    names = {"depth": "depth", "depth_conf": "confidence", "sky": "sky"}
    return {
        ours: outputs[theirs].reshape(image.shape[0], *image.shape[-2:]).numpy()
        for theirs, ours in names.items()
        if theirs in outputs
    }
