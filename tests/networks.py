"""Upstream networks beside our graph and oracle of the same weights file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir as ir
import onnxruntime as ort
import torch

import upstream
from depthsmith.catalog import MODELS
from depthsmith.checkpoint.load import Checkpoint, load_checkpoint
from depthsmith.graph.network import GraphOptions, build_network


@dataclass(frozen=True)
class Network:
    """An upstream model and the checkpoint that it was saved as."""

    model: torch.nn.Module
    checkpoint: Checkpoint

    @torch.inference_mode()
    def run_upstream(self, image: torch.Tensor) -> dict[str, np.ndarray]:
        """Maps of (B, H, W) by our output names."""
        if self.checkpoint.arch.family.startswith("da3"):
            return upstream.run_da3(self.model, image)
        if hasattr(self.model, "pretrained"):  # the official V2 code
            return {"predicted_depth": self.model(image).numpy()}
        return {"predicted_depth": self.model(pixel_values=image).predicted_depth.numpy()}

    def double(self) -> Network:
        import copy

        return Network(copy.deepcopy(self.model).double(), self.checkpoint)

    def session(self, folder: Path, **options: Any) -> ort.InferenceSession:
        path = folder / "graph.onnx"
        graph = build_network(
            self.checkpoint.arch, self.checkpoint.tensors, GraphOptions(**options)
        )
        ir.save(graph, path)
        return ort.InferenceSession(path, providers=["CPUExecutionProvider"])


def make(name: str, folder: Path) -> Network:
    """``da3-*`` and catalogue names in hub layout; ``*.pth`` in the official V2 layout."""
    if name == "da2-small.pth":
        model = upstream.original_v2()
        torch.save(model.state_dict(), folder / "depth_anything_v2_vits.pth")
        return Network(model, load_checkpoint(folder, model=MODELS["da2-small"]))
    if name.startswith("da3"):
        model = upstream.da3(name)
        return Network(model, load_checkpoint(upstream.save_da3(model, folder, name)))
    size = name.rsplit("-", 1)[1]
    version = 1 if name.startswith("da1") else 2
    max_depth = 20.0 if "indoor" in name else 80.0 if "outdoor" in name else None
    model = upstream.transformers_model(size, version=version, max_depth=max_depth)
    return Network(model, load_checkpoint(upstream.save_transformers(model, folder)))


def relative_error(values: np.ndarray, expected: np.ndarray) -> float:
    """Largest error over the range of what is expected; a healthy range is asserted."""
    assert values.shape == expected.shape
    spread = float(np.ptp(expected))
    assert spread > 0.1, f"the reference is nearly flat ({spread}); nothing would be compared"
    return float(np.abs(values.astype(np.float64) - expected).max()) / spread
