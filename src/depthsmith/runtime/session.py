"""Open an ONNX file on the provider that was asked for, or say why not."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from depthsmith.contract import TensorInfo
from depthsmith.errors import DepthsmithError, ModelError, ProviderError, UsageError
from depthsmith.runtime import assignment, failures, noise, providers
from depthsmith.runtime.providers import Candidate

Array = NDArray[Any]

_DTYPES = {
    "float": "float32",
    "float16": "float16",
    "double": "float64",
    "uint8": "uint8",
    "int8": "int8",
    "uint16": "uint16",
    "int16": "int16",
    "int32": "int32",
    "int64": "int64",
    "bool": "bool",
}


_FEW_CORES = 4
"""With more, some are left for others, and waking many threads takes longer than they wait."""


class Signature(NamedTuple):
    """Inputs and outputs as the file declares them."""

    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]


class Session(Protocol):
    """A loaded graph with one image input.

    Attributes:
        name: of the file, without its folder.
        signature: declared inputs and outputs.
        metadata: the file's key-value metadata.
        provider: the one that was taken (``cuda``).
        providers_used: those that run a part of the graph, ``provider`` first.
        notes: what a user may want to know about the choice, one clause each.
    """

    @property
    def name(self) -> str: ...
    @property
    def signature(self) -> Signature: ...
    @property
    def metadata(self) -> Mapping[str, str]: ...
    @property
    def provider(self) -> str: ...
    @property
    def providers_used(self) -> list[str]: ...
    @property
    def notes(self) -> tuple[str, ...]: ...

    def run(self, batch: Array) -> dict[str, Array]:
        """Every output by name, for one batch in the input's own layout and dtype.

        Raises:
            InputError: if memory runs out.
            ModelError: if the graph fails.
        """
        ...


def open_session(
    path: Path,
    *,
    provider: str = "auto",
    threads: int | None = None,
    optimize: bool = True,
    alone: bool = True,
) -> OrtSession:
    """Load the ONNX file at ``path``.

    Args:
        provider: one of `PROVIDER_CHOICES`; ``auto`` takes the first of cuda, directml,
            openvino and cpu that loads.
        threads: CPU threads of one operation, at most one a core; None for all cores.
        optimize: False loads faster, to look at a file without running it.
        alone: False where other threads of this program have work for the CPU at the same time.
            On few cores the network's threads then sleep while they wait for each other,
            instead of keeping the cores busy. The results are the same.

    Raises:
        ModelError: if the file is missing, damaged, lacks its weights file, or needs
            operations that this ONNX Runtime does not have.
        ProviderError: if ONNX Runtime is not installed, or what was asked for did not load
            or would not run any part of the graph.
        UsageError: if there is no such provider, or ``threads`` is below 1.
    """
    if threads is not None and threads < 1:
        raise UsageError(f"{threads} threads cannot work; use at least 1")
    ort = providers.load_onnxruntime()
    _check_path(path)
    built = ort.get_available_providers()
    notes: list[str] = []
    cores = os.cpu_count() or 1
    if threads is not None and threads > cores:
        # They would wait for each other in busy loops: 64 on 2 cores take 30 times as long.
        notes.append(f"this machine has {cores} cores; {cores} threads are used, not {threads}")
        threads = cores
    for candidate in providers.candidates(provider, built, path, ort.__version__):
        try:
            session = _open(ort, path, candidate, threads, optimize, alone or cores > _FEW_CORES)
        except ProviderError as error:
            if provider != "auto" or candidate.name == "cpu":
                raise
            notes.append(str(error))
            continue
        session.notes = (*notes, *session.notes)
        return session
    raise ProviderError("this build of onnxruntime contains no provider that depthsmith can use")


def _check_path(path: Path) -> None:
    """Raise if ``path`` is nothing that ONNX Runtime could open, or would wait for forever."""
    if path.is_dir():
        raise ModelError(f"{path} is a folder; name the .onnx file in it")
    if not path.exists():
        raise ModelError(f"there is no file {path}")
    if not path.is_file():
        raise ModelError(f"{path} is not a regular file")
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise ModelError(
            f"ONNX Runtime cannot open {path}, whose name or folder is not text; rename it"
        ) from None


class OrtSession:
    """A `Session` of ONNX Runtime; made by `open_session`."""

    def __init__(self, path: Path, inner: Any, provider: str, ort_name: str) -> None:
        self.path = path
        self.name = path.name
        self.provider = provider
        self.notes: tuple[str, ...] = ()
        self.providers_used = [providers.short_name(name) for name in inner.get_providers()]
        self.signature = Signature(
            tuple(_info(node) for node in inner.get_inputs()),
            tuple(_info(node) for node in inner.get_outputs()),
        )
        self.metadata: Mapping[str, str] = dict(inner.get_modelmeta().custom_metadata_map)
        self.profiled = False
        self._inner = inner
        self._ort_name = ort_name

    def run(self, batch: Array) -> dict[str, Array]:
        feed = {self.signature.inputs[0].name: np.ascontiguousarray(batch)}
        try:
            values = self._inner.run(None, feed)
        except Exception as error:
            raise failures.run_error(self.name, error, batch.shape, self.provider) from error
        if self.profiled:
            self._read_profile()
        return {info.name: v for info, v in zip(self.signature.outputs, values, strict=True)}

    def check_assignment(self, found: assignment.Assignment) -> None:
        """Take note of which provider runs what.

        Raises:
            ProviderError: if the provider that was taken runs nothing.
        """
        if found and not assignment.total(found, self._ort_name):
            raise ProviderError(
                f"{self.provider} loaded, but can run no operation of {self.name}; "
                "use another provider"
            )
        order = sorted(found, key=lambda name: name != self._ort_name)
        self.providers_used = [providers.short_name(name) for name in order] or [self.provider]
        elsewhere = sum(assignment.heavy(found, name) for name in found if name != self._ort_name)
        if elsewhere:
            everything = elsewhere + assignment.heavy(found, self._ort_name)
            others = " and ".join(self.providers_used[1:])
            self.notes = (
                *self.notes,
                f"{elsewhere} of {everything} matrix operations run on {others}, "
                f"because {self.provider} cannot",
            )

    def _read_profile(self) -> None:
        self.profiled = False
        path = Path(self._inner.end_profiling())
        try:
            self.check_assignment(assignment.profiled(path))
        finally:
            path.unlink(missing_ok=True)


def _open(
    ort: Any, path: Path, candidate: Candidate, threads: int | None, optimize: bool, spin: bool
) -> OrtSession:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.add_session_config_entry(assignment.RECORD_KEY, "1")
    if threads is not None:
        options.intra_op_num_threads = threads
    if not spin:
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if not optimize:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    if candidate.name == "cpu":
        try:
            inner = ort.InferenceSession(path, options, providers=list(candidate.chain))
        except Exception as error:
            raise failures.load_error(path, error, ort.__version__) from error
        return OrtSession(path, inner, "cpu", candidate.ort_name)

    if candidate.name == "directml":  # it supports neither
        options.enable_mem_pattern = False
        options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    can_tell = hasattr(ort.InferenceSession, "get_provider_graph_assignment_info")
    if not can_tell:
        import tempfile

        options.enable_profiling = True
        options.profile_file_prefix = str(Path(tempfile.mkdtemp(prefix="depthsmith-")) / "run")
    inner = _open_aloud(ort, path, candidate, options)
    session = OrtSession(path, inner, candidate.name, candidate.ort_name)
    found = assignment.recorded(inner)
    if found is None:
        session.profiled = True
    else:
        session.check_assignment(found)
    return session


def _open_aloud(ort: Any, path: Path, candidate: Candidate, options: Any) -> Any:
    """A session whose provider is not the CPU's, or the reason why there is none."""
    failure: Exception | None = None
    inner = None
    with noise.captured() as heard:
        ort.set_default_logger_severity(2)
        try:
            if candidate.name in ("cuda", "tensorrt") and hasattr(ort, "preload_dlls"):
                ort.preload_dlls()  # finds the libraries that pip installed
            inner = ort.InferenceSession(path, options, providers=list(candidate.chain))
            inner.disable_fallback()
        except Exception as error:
            failure = error
        finally:
            ort.set_default_logger_severity(4)
    if inner is not None and candidate.ort_name in inner.get_providers():
        return inner
    if failure is not None and _is_about_the_file(failure):
        raise failures.load_error(path, failure, ort.__version__) from failure
    if failure is not None and failures.out_of_memory(failure):
        raise failures.run_error(path.name, failure, (), candidate.name) from failure
    reason = heard.reason() or (failures.one_line(str(failure)) if failure else "no reason given")
    raise ProviderError(
        f"{candidate.name} did not load: {reason}{providers.hint(candidate.name)}"
    ) from failure


def _is_about_the_file(error: Exception) -> bool:
    text = str(error)
    return "Load model from" in text or "xternal" in text or isinstance(error, DepthsmithError)


def _info(node: Any) -> TensorInfo:
    inner = str(node.type).removeprefix("tensor(").removesuffix(")")
    return TensorInfo(node.name, _DTYPES.get(inner, inner), tuple(node.shape))
