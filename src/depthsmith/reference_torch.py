"""Runs upstream PyTorch code on given pictures: a program of its own, never imported.

    python -m depthsmith.reference_torch WEIGHTS IN.npz OUT.npz [--vendor PATH] [--model NAME]

This is the one file of depthsmith that imports torch. `verify` starts it in a process of its
own for ``--reference torch``, so that depthsmith itself stays free of PyTorch and a fault
there cannot take the export down. ``IN.npz`` holds normalised ``(3, H, W)`` pictures,
``OUT.npz`` receives ``{index}.{output}`` maps. A reason for failure is the last line of
standard error; the exit status is then 1.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np


def main() -> int:
    parser = argparse.ArgumentParser(prog="depthsmith.reference_torch")
    parser.add_argument("weights", type=Path)
    parser.add_argument("pictures", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--vendor", type=Path)
    parser.add_argument("--model", required=True)
    arguments = parser.parse_args()
    if importlib.util.find_spec("torch") is None:
        print("PyTorch is not installed here; `pip install torch`", file=sys.stderr)
        return 1
    if arguments.model.startswith("da3"):
        run = _da3(arguments.weights, arguments.model, arguments.vendor)
    else:
        run = _transformers(arguments.weights)
    pictures = np.load(arguments.pictures)
    maps: dict[str, Any] = {}
    for key in pictures.files:
        for name, values in run(pictures[key]).items():
            maps[f"{key}.{name}"] = values
    np.savez(arguments.out, **maps)
    return 0


def _transformers(weights: Path) -> Any:
    """V1 and V2 as Transformers runs them, from a folder in hub layout."""
    import torch

    if importlib.util.find_spec("transformers") is None:
        raise SystemExit("Transformers is not installed here; `pip install transformers`")
    from transformers import AutoModelForDepthEstimation

    folder = weights if weights.is_dir() else weights.parent
    if not (folder / "config.json").is_file():
        raise SystemExit("Transformers needs the weights in hub layout, with their config.json")
    model = AutoModelForDepthEstimation.from_pretrained(folder, dtype=torch.float32).eval()

    def run(picture: np.ndarray) -> dict[str, np.ndarray]:
        with torch.inference_mode():
            depth = model(pixel_values=torch.from_numpy(picture).float()[None]).predicted_depth
        return {"predicted_depth": depth[0].numpy()}

    return run


def _da3(weights: Path, name: str, vendor: Path | None) -> Any:
    """DA3 from its own source: backbone and head, as the depth-only export uses them."""
    import torch
    from safetensors.torch import load_file

    if vendor is not None:
        for root in (vendor, vendor / "src"):
            if (root / "depth_anything_3").is_dir():
                sys.path.insert(0, str(root))
                break
        else:
            raise SystemExit(f"{vendor} holds no depth_anything_3 folder")
    if importlib.util.find_spec("depth_anything_3") is None:
        raise SystemExit(
            "the DA3 source is not installed here; `pip install --no-deps depth-anything-3`, "
            "or pass --vendor PATH"
        )
    _stand_in_for_torchvision()
    from depth_anything_3.cfg import create_object, load_config
    from depth_anything_3.registry import MODEL_REGISTRY

    model = create_object(load_config(MODEL_REGISTRY[name]))
    file = weights / "model.safetensors" if weights.is_dir() else weights
    tensors = {key.removeprefix("model."): value.float() for key, value in load_file(file).items()}
    missing, _ = model.load_state_dict(tensors, strict=False)
    needed = [k for k in missing if k.startswith(("backbone.", "head.")) and "_aux" not in k]
    if needed:
        raise SystemExit(f"the DA3 source misses {needed[0]} in the weights")
    model.eval()

    def run(picture: np.ndarray) -> dict[str, np.ndarray]:
        batch = torch.from_numpy(picture).float()[None, None]
        with torch.inference_mode():
            features, _ = model.backbone(batch)
            outputs = model.head(features, *picture.shape[1:], patch_start_idx=0)
        names = {"depth": "depth", "depth_conf": "confidence", "sky": "sky"}
        return {
            ours: outputs[theirs].reshape(picture.shape[1:]).numpy()
            for theirs, ours in names.items()
            if theirs in outputs
        }

    return run


def _stand_in_for_torchvision() -> None:
    """DA3's network imports nothing of torchvision that it runs; let it be absent."""
    if importlib.util.find_spec("torchvision") is None:
        root = types.ModuleType("torchvision")
        root.transforms = types.ModuleType("torchvision.transforms")  # type: ignore[attr-defined]
        sys.modules["torchvision"] = root
        sys.modules["torchvision.transforms"] = root.transforms


if __name__ == "__main__":
    sys.exit(main())
