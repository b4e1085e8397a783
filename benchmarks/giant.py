"""Peak memory to build DA3-Giant, the largest network, beside the size of its checkpoint."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

from benchmarks.files import build
from benchmarks.process import Usage
from benchmarks.report import Row, Section
from benchmarks.samples import Samples

_AIM = 1.3
_DISK_BYTES = 11e9  # the checkpoint and one file
_TEXT = """\
`depthsmith export` of DA3-Giant, random float32 weights under the official names, the whole
process, without verification. Its largest part is the mapped checkpoint itself; "anonymous"
is the rest, which the system cannot drop when memory is short."""


def run(work: Path, rounds: int | None) -> Section:
    if shutil.disk_usage(work).free < _DISK_BYTES:
        raise SystemExit(f"{work} needs {_DISK_BYTES / 1e9:.0f} GB; name another with --work")
    folder = work / "giant"
    try:
        weights = make_checkpoint(folder)
        size_bytes = weights.stat().st_size
        rows: list[Row] = []
        for size in ("518", "dynamic"):
            usages = [_build(weights, work, size) for _ in range(min(rounds or 2, 2))]
            rows += _rows("518x518" if size == "518" else "any size", usages, size_bytes)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Section("The largest network", _TEXT, "checkpoint", tuple(rows))


def _build(weights: Path, work: Path, size: str) -> Usage:
    folder = work / "giant-built"
    folder.mkdir(exist_ok=True)
    try:
        return build(weights, folder / "giant.onnx", "--size", size, "--no-validate")
    finally:
        shutil.rmtree(folder)


def _rows(what: str, usages: list[Usage], size_bytes: int) -> list[Row]:
    def gigabytes(values: list[int]) -> Samples:
        return Samples(tuple(value / 1e9 for value in values))

    checkpoint = gigabytes([size_bytes] * len(usages))
    peak = gigabytes([usage.peak_bytes for usage in usages])
    anonymous = gigabytes([usage.peak_anonymous_bytes for usage in usages])
    seconds = Samples(tuple(usage.seconds for usage in usages))
    return [
        Row.compare(f"peak memory, {what}", peak, checkpoint, "GB", aim=_AIM),
        Row.compare(f"of which anonymous, {what}", anonymous, checkpoint, "GB"),
        Row(f"time, {what}", "", "", seconds.text(0, "s"), ""),
    ]


def make_checkpoint(folder: Path) -> Path:
    """DA3-Giant with random weights in hub layout, written tensor by tensor.

    The library writes a safetensors file from tensors that are all in memory, which this one
    may not need; so the header (its length, JSON, then the data) is written here.
    """
    import numpy as np

    from depthsmith.catalog import MODELS
    from depthsmith.checkpoint.layouts import expected_shapes

    shapes = _official(expected_shapes(MODELS["da3-giant"].arch))
    header: dict[str, object] = {}
    end = 0
    for name, shape in shapes.items():
        start, end = end, end + 4 * int(np.prod(shape))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [start, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"model_name": "da3-giant"}))
    random = np.random.default_rng(0)
    path = folder / "model.safetensors"
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for shape in shapes.values():
            file.write((0.02 * random.standard_normal(shape, dtype=np.float32)).data)
    return path


def _official(shapes: dict[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """Our names to those of the hub's file, queries, keys and values in one tensor."""
    official = {}
    for name, shape in shapes.items():
        if ".attn.k." in name or ".attn.v." in name:
            continue
        fused = ".attn.q." in name
        theirs = name.replace(".attn.q.", ".attn.qkv.")
        theirs = re.sub(r"^backbone\.", "backbone.pretrained.", theirs)
        official[f"model.{theirs}"] = (3 * shape[0], *shape[1:]) if fused else shape
    return official
