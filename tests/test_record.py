"""What is recorded in an ONNX file, and that all else in it stays."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from depthsmith.contract import METADATA_KEY, Contract, InputSpec, OutputSpec, SizeRule
from depthsmith.errors import ModelError, OutputError
from depthsmith.inspection import inspect
from depthsmith.record import check_recordable, record_accuracy
from depthsmith.types import DepthKind
from tiny_onnx import mean_model

CONTRACT = Contract(
    model="mean",
    input=InputSpec("pixel_values", "float32", "NCHW", "none"),
    size=SizeRule(None, None),
    outputs=(OutputSpec.depth("predicted_depth", DepthKind.INVERSE_DEPTH),),
    preprocessing="da2",
    verification={"relative": 1e-6},
)
FIRST = {"dataset": "nyu", "abs_rel": 0.05, "row_baseline": {"abs_rel": 0.3}}
SECOND = {"dataset": "kitti", "abs_rel": 0.08}


def bytes_without_contract(path: Path) -> bytes:
    model = onnx.load(path, load_external_data=False)
    kept = [p for p in model.metadata_props if p.key != METADATA_KEY]
    del model.metadata_props[:]
    model.metadata_props.extend(kept)
    return model.SerializeToString(deterministic=True)


def contracts_in(path: Path) -> list[Contract]:
    model = onnx.load(path, load_external_data=False)
    return [Contract.from_json(p.value) for p in model.metadata_props if p.key == METADATA_KEY]


def test_recorded_once_and_replaced(tmp_path: Path) -> None:
    path = mean_model(tmp_path / "m.onnx", contract=CONTRACT)
    model = onnx.load(path)
    helper.set_model_props(model, {"author": "somebody", METADATA_KEY: CONTRACT.to_json()})
    onnx.save(model, path)
    before = bytes_without_contract(path)
    assert record_accuracy(path, CONTRACT, FIRST) == (path, tmp_path / "m.json")
    assert contracts_in(path) == [replace(CONTRACT, accuracy=FIRST)]
    once = path.read_bytes()
    record_accuracy(path, CONTRACT, FIRST)
    assert path.read_bytes() == once
    record_accuracy(path, CONTRACT, SECOND)
    assert contracts_in(path) == [replace(CONTRACT, accuracy=SECOND)]
    assert bytes_without_contract(path) == before
    sidecar = Contract.from_json((tmp_path / "m.json").read_text())
    assert sidecar == replace(CONTRACT, accuracy=SECOND)
    assert inspect(path).contract.accuracy == SECOND
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.json", "m.onnx"]


def test_a_file_that_carried_no_contract_gets_one(tmp_path: Path) -> None:
    path = mean_model(tmp_path / "m.onnx")
    start = path.read_bytes()
    record_accuracy(path, CONTRACT, FIRST)
    assert path.read_bytes().startswith(start)
    found = inspect(path)
    assert found.carried and found.contract.accuracy == FIRST


def test_metadata_that_was_appended_twice(tmp_path: Path) -> None:
    """As the builder appends it, and a file that somebody appended to again."""
    path = mean_model(tmp_path / "m.onnx")
    for text in (CONTRACT.to_json(), "an old one"):
        entry = onnx.StringStringEntryProto(key=METADATA_KEY, value=text)
        with path.open("ab") as file:
            file.write(onnx.ModelProto(metadata_props=[entry]).SerializeToString())
    record_accuracy(path, CONTRACT, FIRST)
    assert contracts_in(path) == [replace(CONTRACT, accuracy=FIRST)]


def test_weights_beside_the_file_stay(tmp_path: Path) -> None:
    weights = np.random.default_rng(0).normal(size=(3, 3, 1, 1)).astype(np.float32)
    shape = ["n", 3, "h", "w"]
    graph = helper.make_graph(
        [helper.make_node("Conv", ["pixel_values", "weights"], ["predicted_depth"])],
        "conv",
        [helper.make_tensor_value_info("pixel_values", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("predicted_depth", TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(weights, "weights")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    path = tmp_path / "m.onnx"
    onnx.save_model(
        model, path, save_as_external_data=True, location="m.onnx.data", size_threshold=0
    )
    data = (tmp_path / "m.onnx.data").read_bytes()
    assert len(data) >= weights.nbytes
    image = np.random.default_rng(1).normal(size=(1, 3, 5, 6)).astype(np.float32)

    def run() -> np.ndarray:
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        return session.run(None, {"pixel_values": image})[0]  # type: ignore[no-any-return]

    before = run()
    record_accuracy(path, CONTRACT, FIRST)
    record_accuracy(path, CONTRACT, SECOND)
    np.testing.assert_array_equal(run(), before)
    assert (tmp_path / "m.onnx.data").read_bytes() == data
    onnx.checker.check_model(path)
    assert contracts_in(path) == [replace(CONTRACT, accuracy=SECOND)]


def test_the_permissions_stay(tmp_path: Path) -> None:
    path = mean_model(tmp_path / "m.onnx")
    path.chmod(0o640)
    record_accuracy(path, CONTRACT, FIRST)
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_link_is_replaced_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    """So that a file in the hub's cache keeps the content that its name promises."""
    (tmp_path / "blobs").mkdir()
    blob = mean_model(tmp_path / "blobs/0123")
    link = tmp_path / "m.onnx"
    link.symlink_to(blob)
    content = blob.read_bytes()
    record_accuracy(link, CONTRACT, FIRST)
    assert blob.read_bytes() == content and not link.is_symlink()
    assert contracts_in(link)[0].accuracy == FIRST


def test_somebody_elses_json_is_left_alone(tmp_path: Path) -> None:
    path = mean_model(tmp_path / "m.onnx")
    (tmp_path / "m.json").write_text('{"labels": ["cat"]}')
    assert record_accuracy(path, CONTRACT, FIRST) == (path,)
    assert (tmp_path / "m.json").read_text() == '{"labels": ["cat"]}'


@pytest.mark.parametrize("content", [b"", b"this is a text", b"\x00" * 40, b"\x08"])
def test_what_is_no_onnx_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(content)
    with pytest.raises(ModelError, match="is damaged, or no ONNX file"):
        record_accuracy(path, CONTRACT, FIRST)
    assert path.read_bytes() == content
    assert [p.name for p in tmp_path.iterdir()] == ["m.onnx"]


def test_a_truncated_file_and_other_names_are_refused(tmp_path: Path) -> None:
    path = mean_model(tmp_path / "m.onnx", contract=CONTRACT)
    data = path.read_bytes()
    for end in (len(data) - 5, len(data) // 2, 10):
        path.write_bytes(data[:end])
        with pytest.raises(ModelError, match="is damaged, or no ONNX file"):
            check_recordable(path)
    for name in ("m.ort", "missing.onnx", "."):
        (tmp_path / "m.ort").touch()
        with pytest.raises(ModelError, match=r"is no \.onnx file"):
            check_recordable(tmp_path / name)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_an_unwritable_folder(tmp_path: Path) -> None:
    path = mean_model(tmp_path / "m.onnx")
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(OutputError, match="no permission"):
            record_accuracy(path, CONTRACT, FIRST)
    finally:
        tmp_path.chmod(0o700)


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = mean_model(tmp_path / "m.onnx", contract=CONTRACT)
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match="the disk is full"):
        record_accuracy(path, CONTRACT, FIRST)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["m.onnx"]
