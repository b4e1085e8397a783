"""Size on disk of a fresh environment, beside one that can trace."""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from importlib.metadata import version
from pathlib import Path

from benchmarks.process import ROOT
from benchmarks.report import Row, Section
from benchmarks.samples import Samples

_TRACED = ("transformers", "onnx", "onnxruntime")
_TEXT = f"""\
Fresh virtual environments, all that pip puts into them (pip itself not counted), beside what
`torch.onnx.export` of the Transformers model and running the file need: torch,
{", ".join(_TRACED)}. PyTorch brings CUDA's libraries or does not, so both stand here: the
build in the test environment, and the one that pip takes where nothing is said."""


def run(work: Path, rounds: int | None) -> Section:
    """``rounds`` does not matter: what pip installs has one size."""
    ours, _ = _install(work / "environment-ours", f"{ROOT}[cpu]")
    rows = []
    for wanted in (f"torch=={version('torch')}", "torch"):
        traced, torch = _install(work / "environment-traced", wanted, *_TRACED)
        rows.append(Row.compare(f"size on disk, torch {torch}", ours, traced, "MB", digits=0))
    return Section("An environment", _TEXT, "torch, transformers", tuple(rows))


def _install(folder: Path, *packages: str) -> tuple[Samples, str]:
    """Megabytes of a fresh environment, and the version of PyTorch in it."""
    venv.create(folder, with_pip=False, clear=True)
    pip = [sys.executable, "-m", "pip", "--python", str(folder), "install", "-qq"]
    subprocess.run([*pip, *packages], check=True)
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    megabytes = sum(path.stat().st_blocks * 512 for path in files) / 1e6
    torch = [info.name.split("-")[1] for info in folder.rglob("torch-*.dist-info")]
    shutil.rmtree(folder)
    return Samples((megabytes,)), torch[0].removesuffix(".dist") if torch else ""
