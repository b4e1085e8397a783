"""Execution providers: their names, their options, and where to get those that are missing."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from depthsmith.errors import ProviderError, UsageError

ProviderName = Literal["auto", "cpu", "cuda", "tensorrt", "directml", "coreml", "openvino"]
PROVIDER_CHOICES: tuple[str, ...] = get_args(ProviderName)
"""What ``--provider`` takes."""

_INSTALL = {
    "cpu": 'pip install "depthsmith[cpu]"',
    "cuda": 'pip install "depthsmith[gpu]"',
    "tensorrt": 'pip install "depthsmith[gpu]"',
    "directml": 'pip install "depthsmith[directml]"',
    "openvino": 'pip install "depthsmith[openvino]"',
    "coreml": 'pip install "depthsmith[cpu]"',
}
_ORT_NAMES = {
    "cpu": "CPUExecutionProvider",
    "cuda": "CUDAExecutionProvider",
    "tensorrt": "TensorrtExecutionProvider",
    "directml": "DmlExecutionProvider",
    "coreml": "CoreMLExecutionProvider",
    "openvino": "OpenVINOExecutionProvider",
}
# What `auto` tries, the fastest first. TensorRT and CoreML are left out: they compute in half
# precision, and the first compiles for minutes. Who wants that asks for it.
_AUTO = ("cuda", "directml", "openvino", "cpu")
_DISTRIBUTIONS = ("onnxruntime", "onnxruntime-gpu", "onnxruntime-directml", "onnxruntime-openvino")


@dataclass(frozen=True)
class Candidate:
    """One provider to try.

    Attributes:
        name: ours (``cuda``).
        chain: ONNX Runtime's names with options, in order of preference, CPU last.
    """

    name: str
    chain: tuple[tuple[str, dict[str, Any]], ...]

    @property
    def ort_name(self) -> str:
        return self.chain[0][0]


def load_onnxruntime() -> Any:
    """The ``onnxruntime`` module, quiet: from 1.32 on it would report each use to Microsoft, and
    keep a device's id in the user's cache folder, unless ``ORT_DISABLE_TELEMETRY`` is set.

    Raises:
        ProviderError: if it is not installed, or does not import; the line says what to do.
    """
    if importlib.util.find_spec("onnxruntime") is None:
        raise ProviderError(
            'ONNX Runtime is not installed; run `pip install "depthsmith[cpu]"` '
            "(or [gpu], [directml], [openvino]: one of them)"
        )
    # Read when the library is loaded, and again while it works. A user's own word stands.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    try:
        import onnxruntime
    except Exception as error:
        raise ProviderError(f"onnxruntime is installed but does not import: {error}") from error
    if not hasattr(onnxruntime, "InferenceSession"):
        # What stays behind when one of several clashing builds was uninstalled.
        raise ProviderError(
            "the installation of onnxruntime is damaged; uninstall every onnxruntime package, "
            f"then {_INSTALL['cpu']}"
        )
    onnxruntime.set_default_logger_severity(4)  # failures arrive as exceptions
    return onnxruntime


def available() -> tuple[str, ...]:
    """Names of the providers that this build of ONNX Runtime contains, ``cpu`` last."""
    built = load_onnxruntime().get_available_providers()
    return tuple(name for name in reversed(_ORT_NAMES) if _ORT_NAMES[name] in built)


def first_choice(requested: str) -> str:
    """The provider that will be tried first for ``requested`` (that is, for ``auto``)."""
    if requested != "auto":
        return requested
    built = load_onnxruntime().get_available_providers()
    return next((name for name in _AUTO if _ORT_NAMES[name] in built), "cpu")


def short_name(ort_name: str) -> str:
    """``cuda`` for ``CUDAExecutionProvider``."""
    for name, theirs in _ORT_NAMES.items():
        if theirs == ort_name:
            return name
    return ort_name.removesuffix("ExecutionProvider").lower()


def candidates(requested: str, built: Sequence[str], path: Path, version: str) -> list[Candidate]:
    """The providers to try for ``requested``, in order.

    Args:
        requested: one of `PROVIDER_CHOICES`.
        built: ``onnxruntime.get_available_providers()``.
        path: of the model, for caches that belong to it.
        version: of ONNX Runtime.

    Raises:
        UsageError: if there is no such provider.
        ProviderError: if this build of ONNX Runtime does not contain it.
    """
    if requested not in PROVIDER_CHOICES:
        raise UsageError(
            f"there is no provider {requested!r}; choose from {', '.join(PROVIDER_CHOICES)}"
        )
    if requested == "auto":
        names = [name for name in _AUTO if _ORT_NAMES[name] in built]
    elif _ORT_NAMES[requested] in built:
        names = [requested]
    else:
        has = ", ".join(short_name(name) for name in built if name in _ORT_NAMES.values())
        raise ProviderError(
            f"provider {requested} is not in this build of onnxruntime (it has: {has}); "
            f"{_how_to_get(requested)}"
        )
    return [_candidate(name, built, path, version) for name in names]


def hint(name: str) -> str:
    """A clause that says how to make a provider load which is in the build but did not."""
    if name == "cuda":
        return '; `pip install "onnxruntime-gpu[cuda,cudnn]"` brings the libraries it needs'
    if name == "tensorrt":
        return "; it needs TensorRT's libraries (`pip install tensorrt`) and an NVIDIA driver"
    return ""


def _how_to_get(name: str) -> str:
    installed = [d for d in _DISTRIBUTIONS if _is_installed(d)]
    if len(installed) > 1:
        return (
            f"{' and '.join(installed)} are both installed and overwrite each other: "
            f"uninstall all of them, then {_INSTALL[name]}"
        )
    if name == "coreml":
        return "it comes with onnxruntime on macOS"
    if name == "directml" and sys.platform != "win32":
        return "DirectML is a part of Windows"
    first = f"pip uninstall {installed[0]}, then " if installed else ""
    return first + _INSTALL[name]


def _is_installed(distribution: str) -> bool:
    try:
        importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _candidate(name: str, built: Sequence[str], path: Path, version: str) -> Candidate:
    chain: list[tuple[str, dict[str, Any]]] = [(_ORT_NAMES[name], _options(name, path, version))]
    if name == "tensorrt" and _ORT_NAMES["cuda"] in built:
        chain.append((_ORT_NAMES["cuda"], _options("cuda", path, version)))
    if name != "cpu":
        chain.append((_ORT_NAMES["cpu"], {}))
    return Candidate(name, tuple(chain))


def _options(name: str, path: Path, version: str) -> dict[str, Any]:
    if name == "cuda":
        # TF32 alone costs 1e-3 of relative accuracy; an exhaustive search of convolutions
        # would start anew at each new picture size.
        # Pictures differ in size: an arena that doubles would keep the largest sum of them.
        return {
            "use_tf32": 0,
            "cudnn_conv_algo_search": "HEURISTIC",
            "arena_extend_strategy": "kSameAsRequested",
        }
    if name == "tensorrt":
        cache = str(_tensorrt_cache(path, version))
        return {
            "trt_fp16_enable": True,
            "trt_engine_cache_enable": True,
            "trt_engine_cache_path": cache,
            "trt_timing_cache_enable": True,
            "trt_timing_cache_path": cache,
        }
    if name == "coreml":
        return {"ModelFormat": "MLProgram", "MLComputeUnits": "ALL"}
    if name == "openvino":
        # Without it OpenVINO takes bfloat16 where the processor has it.
        return {"precision": "ACCURACY"}
    return {}


def _tensorrt_cache(path: Path, version: str) -> Path:
    """Folder of TensorRT's engines for this file, this ONNX Runtime and this GPU.

    The runtime names engines by the graph alone: two files that differ in their weights only
    would share one. The folder's name keeps them apart.
    """
    import platformdirs

    digest = hashlib.sha256()
    weights = (f"{path.name}.data", f"{path.name}_data", f"{path.stem}.data")
    for part in (path, *(path.with_name(name) for name in weights)):
        if part.is_file():
            with part.open("rb") as file:
                while block := file.read(1 << 22):
                    digest.update(block)
    name = f"{digest.hexdigest()[:16]}-ort{version}-{_gpu_name()}"
    folder = platformdirs.user_cache_path("depthsmith", appauthor=False) / "tensorrt" / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _gpu_name() -> str:
    program = shutil.which("nvidia-smi")
    if program is None:
        return "gpu"
    command = [program, "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return "gpu"
    return re.sub(r"[^A-Za-z0-9.]+", "_", answer.stdout.strip()) or "gpu"
