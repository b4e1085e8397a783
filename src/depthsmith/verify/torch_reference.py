"""Upstream PyTorch code as a further reference, run in a process of its own."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from depthsmith.errors import UsageError, VerificationError
from depthsmith.verify.against_oracle import Maps, Reference


def torch_reference(weights: Path, model: str, vendor: Path | None = None) -> Reference:
    """Transformers (V1, V2) or the DA3 source (``depth_anything_3``) on the same weights.

    Args:
        weights: a file or folder as upstream reads it (hub layout for Transformers).
        model: name in the catalogue.
        vendor: folder that holds ``depth_anything_3``; the installed one if None.

    Raises:
        UsageError: if PyTorch is not installed.
    """
    if importlib.util.find_spec("torch") is None:
        raise UsageError("--reference torch needs PyTorch, which is not installed here")

    def run(pictures: Sequence[NDArray[np.float64]]) -> list[Maps]:
        with tempfile.TemporaryDirectory(prefix="depthsmith-") as folder:
            given, made = Path(folder, "pictures.npz"), Path(folder, "maps.npz")
            named = {str(i): p.astype(np.float32) for i, p in enumerate(pictures)}
            np.savez(given, allow_pickle=False, **named)
            command = [sys.executable, "-m", "depthsmith.reference_torch"]
            command += [str(weights), str(given), str(made), "--model", model]
            if vendor is not None:
                command += ["--vendor", str(vendor)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                lines = [line for line in done.stderr.splitlines() if line.strip()]
                reason = lines[-1] if lines else f"exit status {done.returncode}"
                raise VerificationError(f"--reference torch could not run: {reason}")
            with np.load(made) as maps:
                result: list[Maps] = []
                for i in range(len(pictures)):
                    prefix = f"{i}."
                    keys = [k for k in maps.files if k.startswith(prefix)]
                    result.append({k.removeprefix(prefix): maps[k] for k in keys})
                return result

    return run
