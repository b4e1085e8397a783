"""Files: the same bytes every time, whole or not at all, and right in every variant."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest

import upstream
from depthsmith import build
from depthsmith.build import NATIVE, build_file, file_name
from depthsmith.checkpoint.load import load_checkpoint
from depthsmith.contract import METADATA_KEY, Contract
from depthsmith.errors import OutputError, VerificationError
from depthsmith.graph.network import GraphOptions
from depthsmith.types import Size
from depthsmith.verify import images
from processes import held


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    """A small V2 network in hub layout."""
    return upstream.save_transformers(
        upstream.transformers_model("tiny"), tmp_path_factory.mktemp("tiny")
    )


@pytest.fixture(scope="module")
def checkpoint(weights):
    return load_checkpoint(weights)


def _run(path: Path, batch: np.ndarray) -> list[np.ndarray]:
    session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: batch})


def test_same_inputs_same_bytes(weights, tmp_path):
    """In two processes, since hash seeds and object addresses differ there."""
    command = [sys.executable, "-m", "depthsmith", "export", "--weights", str(weights)]
    for name in ("a", "b"):
        subprocess.run(
            [*command, "-o", str(tmp_path / name / "x.onnx"), "--size", "140"], check=True
        )
    for file in ("x.onnx", "x.json"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


@pytest.mark.parametrize("opset", range(18, 25))
@pytest.mark.parametrize("size", [None, Size(84, 112)])
def test_every_opset(checkpoint, tmp_path, opset, size):
    target = tmp_path / "x.onnx"
    built = build_file(checkpoint, GraphOptions(size=size, opset=opset), target, check="quick")
    assert built.report.passed
    model = onnx.load(target)
    onnx.checker.check_model(model, full_check=True)
    assert [o.version for o in model.opset_import if not o.domain] == [opset]


def test_contract_inside_and_beside(checkpoint, tmp_path):
    target = tmp_path / "x.onnx"
    built = build_file(checkpoint, GraphOptions(size=Size(70, 98)), target)
    text = target.with_suffix(".json").read_text()
    metadata = ort.InferenceSession(target).get_modelmeta().custom_metadata_map
    assert metadata[METADATA_KEY] == text
    contract = Contract.from_json(text)
    assert contract == replace(built.contract, build=contract.build, source=contract.source)
    assert contract.size.fixed == Size(70, 98)
    assert contract.depth.polarity == "larger_is_nearer"
    assert json.loads(text)["verification"]["passed"] is True
    assert {c["image"] for c in contract.verification["comparisons"]} == {
        "noise",
        "smooth",
        "photo",
    }


def test_unverified_files_say_so(checkpoint, tmp_path):
    build_file(checkpoint, GraphOptions(), tmp_path / "x.onnx", check="none")
    document = json.loads((tmp_path / "x.json").read_text())
    assert document["verification"] == {"performed": False}


@pytest.mark.parametrize("size", [None, Size(140, 182)])
@pytest.mark.parametrize("attention", ["portable", "fused"])
def test_folded_equals_unfolded(checkpoint, tmp_path, size, attention):
    plain, folded = (
        GraphOptions(size=size, attention=attention, fold_preprocess=f) for f in (False, True)
    )
    for options, name in ((plain, "plain"), (folded, "folded")):
        build_file(checkpoint, options, tmp_path / f"{name}.onnx", check="none")
    rgb = images.picture("photo", Size(140, 182))
    (expected,) = _run(tmp_path / "plain.onnx", images.normalized(rgb)[None].astype(np.float32))
    (found,) = _run(tmp_path / "folded.onnx", rgb[None])
    assert found.shape == expected.shape == (1, 140, 182)
    assert np.abs(found - expected).max() <= 1e-5 * np.ptp(expected)


@pytest.mark.parametrize("shape", [(1, 3, 20, 28), (1, 3, 28, 21), (2, 3, 35, 56)])
def test_dynamic_files_refuse_what_is_no_multiple_of_14(checkpoint, tmp_path, shape):
    """A convolution would drop the rest and give a smaller map without a word."""
    build_file(checkpoint, GraphOptions(), tmp_path / "x.onnx", check="none")
    with pytest.raises(Exception, match="Reshape"):
        _run(tmp_path / "x.onnx", np.zeros(shape, np.float32))


def test_weights_beside_large_files(checkpoint, tmp_path, monkeypatch):
    """As over 2 GB, with the limit lowered: data in a second file, and the same output."""
    build_file(checkpoint, GraphOptions(), tmp_path / "inline.onnx", check="none")
    monkeypatch.setattr(build, "_INLINE_LIMIT_BYTES", 1000)
    folder = tmp_path / "large"
    folder.mkdir()
    built = build_file(checkpoint, GraphOptions(), folder / "x.onnx")
    assert built.report.passed
    graph, data, sidecar = built.files
    assert {f.name for f in folder.iterdir()} == {f.name for f in built.files}
    assert data.suffix == ".data"
    assert sidecar == graph.with_suffix(".json")
    assert graph.stat().st_size < 200_000 < data.stat().st_size
    batch = np.random.default_rng(0).normal(size=(1, 3, 98, 70)).astype(np.float32)
    for a, b in zip(_run(graph, batch), _run(tmp_path / "inline.onnx", batch), strict=True):
        np.testing.assert_array_equal(a, b)


def _spoiled(checkpoint, name, value):
    tensor = np.full_like(np.asarray(checkpoint.tensors[name]), value)
    return replace(checkpoint, tensors={**checkpoint.tensors, name: tensor})


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("head.scratch.output_conv2.2.weight", 0.0, "not flat"),
        ("head.scratch.output_conv1.weight", 3e38, "finite"),
    ],
)
def test_bad_outputs_leave_no_file(checkpoint, tmp_path, name, value, reason):
    target = tmp_path / "x.onnx"
    target.write_bytes(b"an older file")
    with pytest.raises(VerificationError, match=reason):
        build_file(_spoiled(checkpoint, name, value), GraphOptions(size=Size(70, 70)), target)
    assert target.read_bytes() == b"an older file"
    assert list(tmp_path.iterdir()) == [target]


def test_wrong_graphs_leave_no_file(checkpoint, tmp_path, monkeypatch):
    """A graph that differs from the network: here by the other position embedding."""
    real = build.build_network

    def other(arch, tensors, options):
        return real(arch, tensors, replace(options, position_embedding="transformers"))

    monkeypatch.setattr(build, "build_network", other)
    with pytest.raises(VerificationError, match="parity: relative error"):
        build_file(checkpoint, GraphOptions(size=Size(70, 70)), tmp_path / "x.onnx")
    assert not list(tmp_path.iterdir())


def test_unwritable_folder(checkpoint, tmp_path):
    with pytest.raises(OutputError, match=r"the folder .* does not exist"):
        build_file(checkpoint, GraphOptions(), tmp_path / "no" / "x.onnx")
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="is not a folder"):
        build_file(checkpoint, GraphOptions(), tmp_path / "file" / "x.onnx")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mounting needs root")
def test_full_disk(weights, tmp_path):
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", str(tmp_path)],
        check=False, capture_output=True,
    )  # fmt: skip
    if done.returncode:
        pytest.skip("this machine lets nobody mount a small disk")
    try:
        command = [sys.executable, "-m", "depthsmith", "export", "--weights", str(weights)]
        done = subprocess.run(
            [*command, "--out-dir", str(tmp_path)], check=False, capture_output=True, text=True
        )
        assert (done.returncode, done.stdout) == (7, "")
        assert done.stderr.endswith("da2.onnx: the disk is full\n")
        assert done.stderr.count("\n") == 1
        assert not list(tmp_path.iterdir())
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no kill -9 on Windows")
def test_kill_leaves_the_old_file(weights, tmp_path):
    target = tmp_path / "da2.onnx"
    target.write_bytes(b"an older file")
    command = ["export", "--weights", weights, "--size", "70", "-o", target]
    with held("depthsmith.build._write", 1, *command) as process:
        assert list(tmp_path.glob(".*.part.onnx"))
        process.kill()
    assert process.returncode == -signal.SIGKILL
    assert target.read_bytes() == b"an older file"
    assert not target.with_suffix(".json").exists()


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (GraphOptions(size=NATIVE), "da3_small.onnx"),
        (GraphOptions(size=Size(1036, 1036)), "da3_small_1036.onnx"),
        (GraphOptions(size=Size(294, 518)), "da3_small_294x518.onnx"),
        (GraphOptions(), "da3_small_dynamic.onnx"),
        (GraphOptions(size=NATIVE, fold_preprocess=True), "da3_small_uint8.onnx"),
    ],
)
def test_file_names(options, name):
    assert file_name("da3_small", options) == name


def test_no_variant_overwrites_another():
    variants = [
        GraphOptions(size, opset, attention, position, fold, confidence)
        for size in (None, NATIVE, Size(294, 518), Size(518, 294))
        for opset in (18, 21)
        for attention in ("portable", "fused")
        for position in ("official", "transformers")
        for fold in (False, True)
        for confidence in (False, True)
    ]
    assert len({file_name("x", v) for v in variants}) == len(variants)
