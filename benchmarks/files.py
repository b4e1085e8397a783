"""The weights and ONNX files that several benchmarks share, made once in the work folder."""

from __future__ import annotations

from pathlib import Path

from benchmarks.process import Usage, run_with_torch, run_without_torch


class Files:
    """V2-Small with random weights, and graphs of it."""

    def __init__(self, work: Path) -> None:
        self.work = work

    @property
    def weights(self) -> Path:
        """Folder in hub layout."""
        folder = self.work / "v2-small"
        if not (folder / "model.safetensors").exists():
            run_with_torch("benchmarks.upstream_small", folder)
        return folder

    def traced(self) -> Path:
        """The file of `torch.onnx.export`, for 518x518."""
        file = self.work / "traced.onnx"
        if not file.exists():
            trace(self.weights, file)
        return file

    def built(self, size: str, attention: str) -> Path:
        """Our file for ``size`` (as for ``--size``)."""
        file = self.work / f"built_{size}_{attention}.onnx"
        if not file.exists():
            build(self.weights, file, "--size", size, "--attention", attention, "--no-validate")
        return file


def trace(weights: Path, file: Path) -> Usage:
    """Make ``file`` by tracing."""
    return run_with_torch("benchmarks.trace", weights, file)


def build(weights: Path, file: Path, *options: str) -> Usage:
    """Make ``file`` with ``depthsmith export``."""
    return run_without_torch("depthsmith", "export", "--weights", weights, "-o", file, *options)
