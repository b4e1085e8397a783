"""From a file or folder of official weights to checked tensors under our names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthsmith.catalog import Architecture, ModelCard
from depthsmith.checkpoint.cache import weights_sha256
from depthsmith.checkpoint.detect import describe, identify
from depthsmith.checkpoint.layouts import (
    Tensors,
    detect_layout,
    expected_shapes,
    is_unused,
    to_our_names,
)
from depthsmith.checkpoint.pickled import read_pth
from depthsmith.checkpoint.safetensors_file import INDEX_SUFFIX, read_safetensors
from depthsmith.checkpoint.sniff import sniff
from depthsmith.errors import CheckpointError

_SUFFIXES = (".safetensors", ".pth", ".pt", ".bin")


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """Weights of one network, complete and finite.

    Attributes:
        arch: the network.
        card: the official model, or None for other weights of a known architecture.
        tensors: under our names (see `layouts`), as stored (float32, float16, bfloat16),
            memory-mapped where the file allows.
        unused: names in the file of known branches that depth does not need.
        path: the weight file (the index of a sharded checkpoint).
        sha256: of the file; of a sharded checkpoint, of its shards' digests in order.
    """

    arch: Architecture
    card: ModelCard | None
    tensors: Mapping[str, NDArray[np.generic]]
    unused: tuple[str, ...]
    path: Path
    sha256: str

    @property
    def name(self) -> str:
        return self.card.name if self.card else describe(self.arch)


def load_checkpoint(
    path: Path, *, model: ModelCard | None = None, sha256: str | None = None
) -> Checkpoint:
    """Read and check weights.

    Args:
        path: a ``.safetensors`` or ``.pth`` file, or a folder in hub layout.
        model: the official model that the weights are for; needed only where neither
            ``config.json`` nor tensor shapes tell.
        sha256: of the weight file, where known already; computed otherwise.

    Raises:
        CheckpointError: if there are no weights, they cannot be read, belong to another
            network, miss a tensor, have one too many or one misshapen, or hold NaN or Inf.
    """
    file = weight_file(path)
    if file.name.endswith(INDEX_SUFFIX) or sniff(file) == "safetensors":
        stored: Tensors = read_safetensors(file)
    else:
        stored = read_pth(file)
    layout = detect_layout(stored)
    if layout is None:
        example = next(iter(stored), "none")
        raise CheckpointError(
            f"{file} holds no Depth Anything weights (a tensor in it is called {example!r})"
        )
    unused = tuple(sorted(key for key in stored if is_unused(key, layout)))
    tensors = to_our_names({k: t for k, t in stored.items() if k not in set(unused)}, layout)
    arch, card = identify(tensors, layout, _config(file), model)
    _check_names_and_shapes(tensors, arch, file, card)
    _check_finite(tensors, file)
    return Checkpoint(arch, card, tensors, unused, file, sha256 or weights_sha256(file))


def weight_file(path: Path) -> Path:
    """The weight file that ``path`` names or, for a folder, holds.

    Raises:
        CheckpointError: if there is none, or more than one.
    """
    if path.is_file():
        if path.suffix not in _SUFFIXES and not path.name.endswith(INDEX_SUFFIX):
            raise CheckpointError(
                f"{path} is not a weight file; expected .safetensors, .pth or a folder with one"
            )
        return path
    if not path.exists():
        raise CheckpointError(f"no weights at {path}")
    for name in ("model.safetensors", "model.safetensors.index.json"):
        if (path / name).is_file():
            return path / name
    for suffix in _SUFFIXES[:2]:
        files = sorted(path.glob(f"*{suffix}"))
        if len(files) == 1:
            return files[0]
        if len(files) > 1:
            names = ", ".join(f.name for f in files)
            raise CheckpointError(f"{path} holds several weight files ({names}); name one")
    raise CheckpointError(f"{path} holds no model.safetensors and no .pth file")


def _config(file: Path) -> Mapping[str, Any] | None:
    """Parsed ``config.json`` beside the weights, or None."""
    path = file.parent / "config.json"
    if not path.is_file():
        return None
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise CheckpointError(f"{path} cannot be read as JSON ({error})") from error
    if not isinstance(config, dict):
        raise CheckpointError(f"{path} is not a model configuration")
    return config


def _check_names_and_shapes(
    tensors: Tensors, arch: Architecture, file: Path, card: ModelCard | None
) -> None:
    expected = expected_shapes(arch)
    missing = sorted(expected.keys() - tensors.keys())
    unexpected = sorted(tensors.keys() - expected.keys())
    misshapen = [
        f"{name} is {tensors[name].shape} instead of {shape}"
        for name, shape in expected.items()
        if name in tensors and tensors[name].shape != shape
    ]
    integers = [
        f"{name} is {tensors[name].dtype}"
        for name in expected
        if name in tensors and tensors[name].dtype.kind in "iub"
    ]
    problems = [
        f"{what} {_some(names)}"
        for what, names in (
            ("missing:", missing),
            ("unexpected:", unexpected),
            ("wrong shape:", misshapen),
            ("not floating point:", integers),
        )
        if names
    ]
    if problems:
        network = card.name if card else describe(arch)
        raise CheckpointError(f"{file} does not hold {network}; {'; '.join(problems)}")


def _some(names: list[str], limit: int = 4) -> str:
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more


def _check_finite(tensors: Tensors, file: Path) -> None:
    bad = []
    for name, tensor in tensors.items():
        values = tensor.astype(np.float32) if tensor.dtype.itemsize == 2 else tensor
        # NaN and Inf survive min and max, which need no temporary of the tensor's size.
        if not (np.isfinite(values.min()) and np.isfinite(values.max())):
            bad.append(name)
    if bad:
        raise CheckpointError(f"{file} holds NaN or Inf in {_some(sorted(bad))}")
