"""`depthsmith verify` on files made by others: it passes good ones and catches bad ones."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper

import upstream
from depthsmith.build import build_file
from depthsmith.checkpoint.load import load_checkpoint
from depthsmith.errors import UsageError, VerificationError
from depthsmith.graph.network import GraphOptions
from depthsmith.types import Size
from depthsmith.verify.path import verify_path


class _DepthOnly(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, pixel_values):
        return self.model(pixel_values=pixel_values).predicted_depth


def _trace(model, path, side, dynamic_axes):
    """An export as the usual scripts do it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            _DepthOnly(model), (torch.randn(1, 3, side, side),), path, dynamo=False,
            input_names=["pixel_values"], output_names=["predicted_depth"],
            dynamic_axes=dynamic_axes, opset_version=18,
        )  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small V2 network: weights, our file, and two traced ones."""
    folder = tmp_path_factory.mktemp("verify")
    model = upstream.transformers_model("tiny")
    upstream.save_transformers(model, folder)
    _trace(model, folder / "traced_140.onnx", 140, {"pixel_values": {0: "batch"}})
    axes = {"pixel_values": {0: "batch", 2: "height", 3: "width"},
            "predicted_depth": {0: "batch", 1: "height", 2: "width"}}  # fmt: skip
    _trace(model, folder / "traced_dynamic.onnx", 140, axes)
    build_file(load_checkpoint(folder), GraphOptions(), folder / "ours.onnx", check="none")
    return folder


def _failed(report):
    return {check.name for check in report.failures}


def test_our_file(folder):
    report = verify_path(folder / "ours.onnx", weights=folder)
    assert report.passed, report.failures
    assert {c.reference for c in report.comparisons} == {"oracle"}
    assert len({c.size for c in report.comparisons}) >= 3
    assert all(c.relative_max <= 2e-5 for c in report.comparisons)


@pytest.mark.parametrize("fixed", [{0: 3}, {0: 2, 2: 70, 3: 84}, {2: 98}])
def test_what_is_fixed_in_a_file_made_elsewhere(folder, tmp_path, fixed):
    """The batch, batch and size, one side."""
    model = onnx.load(folder / "ours.onnx")
    for axis, length in fixed.items():
        model.graph.input[0].type.tensor_type.shape.dim[axis].dim_value = length
    del model.metadata_props[:]
    onnx.save(model, tmp_path / "x.onnx")
    report = verify_path(tmp_path / "x.onnx", weights=folder, kind="inverse-depth")
    assert report.passed, report.failures
    assert all(c.relative_max <= 2e-5 for c in report.comparisons)


def test_traced_fixed_file_equals_the_network(folder):
    report = verify_path(folder / "traced_140.onnx", weights=folder)
    assert report.passed, report.failures
    # Transformers resamples positions its own way; verify finds out.
    assert any("transformers" in note for note in report.notes)


def test_traced_dynamic_file_is_frozen(folder):
    report = verify_path(folder / "traced_dynamic.onnx")
    assert not report.passed
    assert "dynamic size" in _failed(report)
    assert any("frozen" in c.detail or "failing" in c.detail for c in report.failures)
    with pytest.raises(VerificationError, match=r"traced_dynamic\.onnx failed"):
        report.raise_if_failed()


def test_other_weights_are_noticed(folder, tmp_path):
    other = upstream.save_transformers(upstream.transformers_model("tiny", seed=1), tmp_path)
    report = verify_path(folder / "ours.onnx", weights=other)
    assert _failed(report) == {"parity"}
    assert any("SHA-256" in note for note in report.notes)


def test_reference_torch(folder):
    report = verify_path(folder / "traced_140.onnx", weights=folder, reference="torch")
    assert report.passed, report.failures
    assert {c.reference for c in report.comparisons} == {"oracle", "torch"}
    assert all(c.relative_max <= 2e-5 for c in report.comparisons)


def test_reference_torch_of_da3(tmp_path):
    """The DA3 source in its own process, on the real network at a small size."""
    weights = upstream.save_da3(upstream.da3("da3-small"), tmp_path / "Small", "da3-small")
    options = GraphOptions(size=Size(98, 126))
    build_file(load_checkpoint(weights), options, tmp_path / "x.onnx", check="none")
    report = verify_path(tmp_path / "x.onnx", weights=weights, reference="torch")
    assert report.passed, report.failures
    assert {c.reference for c in report.comparisons} == {"oracle", "torch"}
    with pytest.raises(VerificationError, match="holds no depth_anything_3 folder"):
        verify_path(tmp_path / "x.onnx", weights=weights, reference="torch", vendor=tmp_path)


def test_options_that_need_weights(folder):
    with pytest.raises(UsageError, match="need --weights"):
        verify_path(folder / "ours.onnx", reference="torch")


def _constant_graph(path, nodes, initializers=(), output_shape=("b", "h", "w")):
    graph = helper.make_graph(
        nodes, "x",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["b", 3, "h", "w"])],
        [helper.make_tensor_value_info("depth", TensorProto.FLOAT, list(output_shape))],
        list(initializers),
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    onnx.save(model, path)


def _axis(axis=1):
    return numpy_helper.from_array(np.array([axis], np.int64), "axes")


def test_flat_output(tmp_path):
    zero = numpy_helper.from_array(np.zeros((), np.float32), "zero")
    one = numpy_helper.from_array(np.ones((), np.float32), "one")
    nodes = [
        helper.make_node("ReduceMean", ["image", "axes"], ["m"], keepdims=0),
        helper.make_node("Mul", ["m", "zero"], ["z"]),
        helper.make_node("Add", ["z", "one"], ["depth"]),
    ]
    _constant_graph(tmp_path / "x.onnx", nodes, [_axis(), zero, one])
    assert "not flat" in _failed(verify_path(tmp_path / "x.onnx", kind="depth"))


def test_output_that_is_not_finite(tmp_path):
    nodes = [
        helper.make_node("ReduceMean", ["image", "axes"], ["m"], keepdims=0),
        helper.make_node("Log", ["m"], ["depth"]),  # NaN wherever the mean is below zero
    ]
    _constant_graph(tmp_path / "x.onnx", nodes, [_axis()])
    assert "finite" in _failed(verify_path(tmp_path / "x.onnx", kind="depth"))


def test_output_that_does_not_repeat(tmp_path):
    nodes = [
        helper.make_node("ReduceMean", ["image", "axes"], ["m"], keepdims=0),
        helper.make_node("RandomNormalLike", ["m"], ["noise"]),
        helper.make_node("Add", ["m", "noise"], ["depth"]),
    ]
    _constant_graph(tmp_path / "x.onnx", nodes, [_axis()])
    failed = _failed(verify_path(tmp_path / "x.onnx", kind="depth"))
    assert {"repeatable", "batch"} <= failed


def test_output_that_mixes_the_batch(tmp_path):
    nodes = [
        helper.make_node("ReduceMean", ["image", "axes"], ["m"], keepdims=0),
        helper.make_node("ReduceMean", ["m", "first"], ["all"], keepdims=1),
        helper.make_node("Add", ["m", "all"], ["depth"]),
    ]
    first = numpy_helper.from_array(np.array([0], np.int64), "first")
    _constant_graph(tmp_path / "x.onnx", nodes, [_axis(), first])
    assert _failed(verify_path(tmp_path / "x.onnx", kind="depth")) == {"batch"}


def test_a_fixed_batch_of_two_is_no_fault(tmp_path):
    """And one that mixes its two pictures still is."""
    image = helper.make_tensor_value_info("pixel_values", TensorProto.FLOAT, [2, 3, "h", "w"])
    depth = helper.make_tensor_value_info("predicted_depth", TensorProto.FLOAT, [2, "h", "w"])
    mean = helper.make_node("ReduceMean", ["pixel_values", "one"], ["mean"], keepdims=0)
    one = helper.make_tensor("one", TensorProto.INT64, [1], [1])
    zero = helper.make_tensor("zero", TensorProto.INT64, [1], [0])
    separate = helper.make_node("Identity", ["mean"], ["predicted_depth"])
    largest = helper.make_node("ReduceMax", ["mean", "zero"], ["largest"], keepdims=1)
    mixed = helper.make_node("Sub", ["mean", "largest"], ["predicted_depth"])
    for name, nodes in (("separate", [mean, separate]), ("mixed", [mean, largest, mixed])):
        graph = helper.make_graph(nodes, "g", [image], [depth], [one, zero])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
        onnx.save_model(model, tmp_path / f"{name}.onnx")
    report = verify_path(tmp_path / "separate.onnx", kind="depth")
    assert report.passed, report.failures
    assert "batch" in _failed(verify_path(tmp_path / "mixed.onnx", kind="depth"))


def test_output_that_ignores_the_picture(tmp_path):
    nodes = [
        helper.make_node("ReduceMean", ["image", "axes"], ["m"], keepdims=0),
        helper.make_node("Mul", ["m", "zero"], ["z"]),
        helper.make_node("CumSum", ["o", "last"], ["ramp"]),
        helper.make_node("Add", ["z", "one"], ["o"]),
    ]
    nodes = [
        nodes[0],
        nodes[1],
        nodes[3],
        nodes[2],
        helper.make_node("Identity", ["ramp"], ["depth"]),
    ]
    constants = [
        _axis(),
        numpy_helper.from_array(np.zeros((), np.float32), "zero"),
        numpy_helper.from_array(np.ones((), np.float32), "one"),
        numpy_helper.from_array(np.array(2, np.int64), "last"),
    ]
    _constant_graph(tmp_path / "x.onnx", nodes, constants)
    assert _failed(verify_path(tmp_path / "x.onnx", kind="depth")) == {"depends on the picture"}


def test_command_exit_codes_and_json(folder):
    command = [sys.executable, "-m", "depthsmith", "verify"]
    good = subprocess.run(
        [*command, str(folder / "ours.onnx"), "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert good.returncode == 0
    assert json.loads(good.stdout)["passed"] is True
    bad = subprocess.run(
        [*command, str(folder / "traced_dynamic.onnx")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert bad.returncode == 5
    assert "FAIL" in bad.stdout
    assert bad.stderr == ""
