"""What a provider that does not load, or does nothing, is answered with."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper, save_model

from depthsmith.errors import ProviderError
from depthsmith.runtime import assignment, noise, providers, session
from depthsmith.runtime.failures import one_line

# Printed by onnxruntime-gpu 1.31.1 on a Linux machine without CUDA, opening any file with
# providers=["CUDAExecutionProvider"].
NO_CUDA = (
    "\x1b[1;31m2026-11-30 11:05:03.078588517 [E:onnxruntime:Default, provider_bridge_ort.cc:2458 "
    "operator()] /onnxruntime_src/onnxruntime/core/session/provider_bridge_ort.cc:2043 "
    "onnxruntime::Provider& onnxruntime::ProviderLibrary::Get() [ONNXRuntimeError] : 1 : FAIL : "
    "Failed to load library /lib/onnxruntime/capi/libonnxruntime_providers_cuda.so with error: "
    "libcublasLt.so.13: cannot open shared object file: No such file or directory\n\x1b[m\n"
    "\x1b[0;93m2026-11-30 11:05:03.078692804 [W:onnxruntime:Default, "
    "onnxruntime_pybind_state.cc:1295 CreateExecutionProviderFactoryInstance] Failed to create "
    "CUDAExecutionProvider. Require cuDNN 9.* and CUDA 13.*. Please install all dependencies as "
    "mentioned in the GPU requirements page\x1b[m"
)
# Raised by the same for TensorRT.
NO_TENSORRT = (
    "/onnxruntime_src/onnxruntime/python/onnxruntime_pybind_state.cc:729 void onnxruntime::python"
    "::RegisterTensorRTPluginsAsCustomOps(PySessionOptions&, const onnxruntime::ProviderOptions&) "
    "Please install TensorRT libraries as mentioned in the GPU requirements page, make sure "
    "they're in the PATH or LD_LIBRARY_PATH, and that your GPU is supported.\n"
)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """``depth`` = sum over colour of a 1x1 convolution and its square."""
    nodes = [
        helper.make_node("Conv", ["image", "w"], ["c"]),
        helper.make_node("Mul", ["c", "c"], ["s"]),
        helper.make_node("Constant", [], ["axis"], value_ints=[1]),
        helper.make_node("ReduceSum", ["s", "axis"], ["depth"], keepdims=0),
    ]
    weight = helper.make_tensor("w", TensorProto.FLOAT, [3, 3, 1, 1], np.arange(9.0))
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "g",
        [value("image", TensorProto.FLOAT, [1, 3, 4, 4])],
        [value("depth", TensorProto.FLOAT, [1, 4, 4])],
        [weight],
    )
    path = tmp_path / "model.onnx"
    opset = [helper.make_opsetid("", 18)]
    save_model(helper.make_model(graph, opset_imports=opset, ir_version=9), path)
    return path


def test_the_missing_library_is_quoted() -> None:
    heard = noise.Noise()
    heard.text = NO_CUDA
    assert heard.reason() == (
        "libcublasLt.so.13: cannot open shared object file: No such file or directory"
    )
    heard.text = NO_CUDA.split("\n", 2)[2]  # what an older runtime prints
    assert str(heard.reason()).startswith("Failed to create CUDAExecutionProvider. Require cuDNN")
    assert noise.Noise().reason() is None


def test_cpp_is_taken_out_of_exceptions() -> None:
    assert one_line(NO_TENSORRT).startswith("Please install TensorRT libraries as mentioned")


def test_output_of_c_code_is_captured(capfd: pytest.CaptureFixture[str]) -> None:
    with noise.captured() as heard:
        os.write(2, b"from C\n")
    print("after")
    assert (
        sorted(heard.text.split("\n")) == ["", "from C", "from Python"] or "from C" in heard.text
    )
    assert capfd.readouterr().out.endswith("after\n")


@pytest.mark.filterwarnings("ignore:Specified provider")
def test_silent_fallback_to_cpu_is_an_error(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build that lists CUDA but falls back, as onnxruntime-gpu does without a driver.

    This build has no CUDA, and falls back in just the same way once told that it has.
    """
    built = ["CUDAExecutionProvider", "CPUExecutionProvider"]
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: built)
    with pytest.raises(ProviderError, match=r"^cuda did not load: .*onnxruntime-gpu\[cuda"):
        session.open_session(model, provider="cuda")
    chosen = session.open_session(model, provider="auto")
    assert chosen.provider == "cpu"
    assert chosen.providers_used == ["cpu"]
    assert [note[:18] for note in chosen.notes] == ["cuda did not load:"]


def test_a_profile_tells_what_the_runtime_records(model: Path, tmp_path: Path) -> None:
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry(assignment.RECORD_KEY, "1")
    options.enable_profiling = True
    options.profile_file_prefix = str(tmp_path / "profile")
    inner = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    inner.run(None, {"image": np.zeros((1, 3, 4, 4), np.float32)})
    recorded = assignment.recorded(inner)
    if recorded is None:
        pytest.skip("this onnxruntime is older than 1.24 and cannot be asked")
    assert recorded["CPUExecutionProvider"].total() >= 3
    profiled = assignment.profiled(Path(inner.end_profiling()))
    # The record is of the graph before the last optimisations, which reorder data for Conv.
    added = profiled["CPUExecutionProvider"] - recorded["CPUExecutionProvider"]
    assert set(added) <= {"ReorderInput", "ReorderOutput"}
    assert not recorded["CPUExecutionProvider"] - profiled["CPUExecutionProvider"]
    for found in (recorded, profiled):
        assert assignment.heavy(found, "CPUExecutionProvider") == 1


def test_a_provider_that_runs_nothing_is_an_error(model: Path) -> None:
    """The graph as a provider that supports none of its operations would leave it."""
    inner = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    idle = session.OrtSession(model, inner, "openvino", "OpenVINOExecutionProvider")
    counts = assignment.Counter({"Conv": 2, "Shape": 1})
    with pytest.raises(ProviderError, match=r"openvino loaded, but can run no operation of model"):
        idle.check_assignment({"CPUExecutionProvider": counts})
    idle.check_assignment(
        {"CPUExecutionProvider": counts, "OpenVINOExecutionProvider": assignment.Counter(Gemm=3)}
    )
    assert idle.providers_used == ["openvino", "cpu"]
    assert idle.notes == ("2 of 5 matrix operations run on cpu, because openvino cannot",)


def test_tensorrt_caches_belong_to_weights_version_and_gpu(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    built = ["TensorrtExecutionProvider", "CUDAExecutionProvider", "CPUExecutionProvider"]

    def folder(version: str = "1.30") -> str:
        (candidate,) = providers.candidates("tensorrt", built, model, version)
        assert [name for name, _ in candidate.chain] == built
        options = candidate.chain[0][1]
        assert options["trt_fp16_enable"] and options["trt_engine_cache_enable"]
        assert options["trt_timing_cache_path"] == options["trt_engine_cache_path"]
        assert Path(options["trt_engine_cache_path"]).is_dir()
        return str(options["trt_engine_cache_path"])

    first = folder()
    assert folder() == first
    assert folder("1.31") != first
    model.with_name("model.onnx.data").write_bytes(b"other weights")
    assert folder() != first


def test_auto_leaves_half_precision_to_those_who_ask() -> None:
    built = [*providers._ORT_NAMES.values()]
    names = [c.name for c in providers.candidates("auto", built, Path("m.onnx"), "1")]
    assert names == ["cuda", "directml", "openvino", "cpu"]
