"""What can be told of a file: from its own contract, or from a signature seen in the wild."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, save_model

from depthsmith.contract import (
    METADATA_KEY,
    Contract,
    InputSpec,
    OutputSpec,
    SizeRule,
    TensorInfo,
)
from depthsmith.errors import ModelError
from depthsmith.runtime import FakeSession, read_contract
from depthsmith.signature import infer
from depthsmith.types import DepthKind, Size

OURS = Contract(
    model="da2-small",
    input=InputSpec("pixel_values", "float32", "NCHW", "imagenet"),
    size=SizeRule(None, None),
    outputs=(OutputSpec.depth("predicted_depth", DepthKind.INVERSE_DEPTH),),
    preprocessing="da2",
)


def contract_of(*tensors: tuple[str, str, tuple[int | str | None, ...]]) -> Contract:
    """Infer from one input and any number of outputs."""
    image, *outputs = (TensorInfo(*t) for t in tensors)
    return infer([image], outputs, model="m.onnx")


# Signatures as their exporters write them.
def test_transformers_traced_dynamic() -> None:
    found = contract_of(
        ("pixel_values", "float32", ("batch_size", 3, "height", "width")),
        ("predicted_depth", "float32", ("batch_size", "height", "width")),
    )
    assert found.input == InputSpec("pixel_values", "float32", "NCHW", "imagenet")
    assert found.size == SizeRule(None, None)
    assert found.outputs == (OutputSpec("predicted_depth", None),)
    assert found.preprocessing == "da2"
    assert found.kind is None  # V2 and V2-metric look the same


def test_optimum_does_not_declare_the_three() -> None:
    found = contract_of(
        ("pixel_values", "float32", ("batch_size", "num_channels", "height", "width")),
        ("predicted_depth", "float32", ("batch_size", None, None)),
    )
    assert found.input.layout == "NCHW"
    assert found.size.fixed is None


def test_image_to_depth_is_not_taken_for_a_family() -> None:
    """Both V2 (larger is nearer) and DA3 (larger is farther) exports are named so."""
    found = contract_of(
        ("image", "float32", (1, 3, 518, 518)), ("depth", "float32", (1, 1, 518, 518))
    )
    assert found.kind is None
    assert found.preprocessing is None
    assert found.size == SizeRule(518, 518, 14, 1)
    assert found.input.normalization == "imagenet"


def test_folded_uint8() -> None:
    found = contract_of(
        ("image", "uint8", ("batch", 518, 686, 3)), ("depth", "float32", ("batch", 518, 686))
    )
    assert found.input == InputSpec("image", "uint8", "NHWC", "none")
    assert found.size.fixed == Size(518, 686)


def test_da3_with_views_and_cameras() -> None:
    found = contract_of(
        ("images", "float32", ("batch", "views", 3, "height", "width")),
        ("depth", "float32", ("batch", "views", "height", "width")),
        ("depth_conf", "float32", ("batch", "views", "height", "width")),
        ("extrinsics", "float32", ("batch", "views", 3, 4)),
        ("intrinsics", "float32", ("batch", "views", 3, 3)),
    )
    assert found.input.layout == "NSCHW"
    assert found.input.normalization is None
    assert [(o.name, o.kind) for o in found.outputs] == [
        ("depth", None),
        ("depth_conf", "confidence"),
    ]


def test_sky_beside_undeclared_shapes() -> None:
    found = contract_of(
        ("image", "float16", ("b", 3, "h", "w")), ("depth", "float16", ()), ("sky", "float16", ())
    )
    assert [(o.name, o.kind) for o in found.outputs] == [("depth", None), ("sky", "sky")]


def test_sizes_that_are_no_multiple_of_14_are_taken_as_they_are() -> None:
    found = contract_of(
        ("input", "float32", (1, 3, 384, 384)), ("output", "float32", (1, 384, 384))
    )
    assert found.size == SizeRule(384, 384, 1, 1)
    assert found.size.accepts(Size(384, 384))
    assert found.input.normalization is None


NO_DEPTH_FILE = {
    "has 2 (a, b)": ([("a", "float32", (1, 3, 8, 8)), ("b", "float32", (1,))], []),
    "is int64": ([("ids", "int64", (1, 77))], [("out", "float32", (1, 77, 768))]),
    "expected [N,3,H,W]": ([("x", "float32", (1, 5, 3, 8, 8))], [("y", "float32", (1, 8, 8))]),
    "expected [N,H,W,3]": ([("x", "uint8", ("a", "b", "c", "d"))], [("y", "float32", ())]),
    "no output": ([("image", "float32", (1, 3, 8, 8))], [("logits", "float32", (1, 1000))]),
    "no output that can": (
        [("image", "float32", ("b", 3, "h", "w"))],
        [("classes", "float32", ("b", 21, "h", "w"))],
    ),
    "cannot tell which": (
        [("image", "float32", (1, 3, 8, 8))],
        [("left", "float32", (1, 8, 8)), ("right", "float32", (1, 8, 8))],
    ),
}


@pytest.mark.parametrize("reason", NO_DEPTH_FILE)
def test_other_graphs_are_refused(reason: str) -> None:
    inputs, outputs = ([TensorInfo(*t) for t in side] for side in NO_DEPTH_FILE[reason])
    with pytest.raises(ModelError) as caught:
        infer(inputs, outputs, model="m.onnx")
    expected = "expected [N,3,H,W]" if reason.startswith("expected") else reason
    assert expected in str(caught.value)
    assert "m.onnx" in str(caught.value)


def depth_file(path: Path, metadata: dict[str, str]) -> Path:
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [
            helper.make_node("Constant", [], ["axis"], value_ints=[1]),
            helper.make_node(
                "ReduceMean", ["pixel_values", "axis"], ["predicted_depth"], keepdims=0
            ),
        ],
        "g",
        [value("pixel_values", TensorProto.FLOAT, ["n", 3, "h", "w"])],
        [value("predicted_depth", TensorProto.FLOAT, ["n", "h", "w"])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    helper.set_model_props(model, metadata)
    save_model(model, path)
    return path


def test_our_contract_is_read_back_from_the_file(tmp_path: Path) -> None:
    path = depth_file(tmp_path / "m.onnx", {METADATA_KEY: OURS.to_json()})
    assert read_contract(path) == OURS


def test_a_file_without_contract_is_inferred(tmp_path: Path) -> None:
    found = read_contract(depth_file(tmp_path / "m.onnx", {}))
    assert found.model == "m.onnx"
    assert found.preprocessing == "da2"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{", "damaged"),
        (OURS.to_json().replace('"format": 1', '"format": 2'), "upgrade"),
        (OURS.to_json().replace("pixel_values", "image"), "names the input 'image'"),
        (
            replace(OURS, outputs=(*OURS.outputs, OutputSpec("sky", "sky"))).to_json(),
            "outputs that are not there (sky)",
        ),
    ],
)
def test_contracts_that_do_not_fit_are_refused(text: str, expected: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        read_contract(depth_file(tmp_path / "m.onnx", {METADATA_KEY: text}))
    assert expected in str(caught.value)


def _changed(path: str, value: object) -> str:
    """Our contract with one entry replaced; its path is in dots, numbers are positions."""
    document = json.loads(OURS.to_json())
    *parents, last = (int(key) if key.isdigit() else key for key in path.split("."))
    entry = document
    for key in parents:
        entry = entry[key]
    entry[last] = value
    return json.dumps(document)


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("format", "1", "has format '1'"),
        ("format", True, "has format True"),
        ("model", {"a": 1}, "is no text"),
        ("input.normalization", "imagnet", "normalization is 'imagnet'"),
        ("input.layout", "CHWN", "layout is 'CHWN'"),
        ("input.color", "BGR", "color is 'BGR'"),
        ("input.layout", "NHWC", "does not belong to its graph"),
        ("preprocessing", "da9", "preprocessing is 'da9'"),
        ("outputs.0.kind", "distance", "distance"),
        ("outputs.0.kind", "depth", "polarity of depth"),
        ("outputs.0.polarity", "larger_is_farther", "polarity of inverse_depth"),
        ("outputs.0.unit", "m", "unit of inverse_depth"),
        ("outputs", [], "no depth output"),
        ("outputs", json.loads(OURS.to_json())["outputs"] * 2, "two outputs have one name"),
        ("size.multiple_of", 0, "is no size"),
        ("size.multiple_of", "14", "is no size"),
        ("size.height", -14, "is no size"),
        ("size.width", 100.5, "is no size"),
        ("size.batch", True, "is no size"),
        ("source", "the hub", "damaged"),
        ("source", {"file": "a", "sha256": 5}, "damaged"),
        ("build", "today", "build is no object"),
        ("verification", [1], "verification is no object"),
        ("accuracy", "good", "accuracy is no object"),
    ],
)
def test_contracts_that_cannot_be_are_refused(
    path: str, value: object, expected: str, tmp_path: Path
) -> None:
    file = depth_file(tmp_path / "m.onnx", {METADATA_KEY: _changed(path, value)})
    with pytest.raises(ModelError) as caught:
        read_contract(file)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_json_nested_beyond_reason_is_refused(tmp_path: Path) -> None:
    file = depth_file(tmp_path / "m.onnx", {METADATA_KEY: "[" * 100_000})
    with pytest.raises(ModelError, match="damaged"):
        read_contract(file)


def test_a_fixed_graph_whose_contract_promises_any_size_is_refused() -> None:
    graph = (TensorInfo("pixel_values", "float32", ("batch", 3, 252, 252)),)
    outputs = (TensorInfo("predicted_depth", "float32", ("batch", 252, 252)),)
    fixed = replace(OURS, size=SizeRule(252, 252))
    fixed.check_signature(graph, outputs)
    with pytest.raises(ModelError, match="does not belong to its graph"):
        OURS.check_signature(graph, outputs)
    with pytest.raises(ModelError, match="does not belong to its graph"):
        replace(OURS, size=SizeRule(252, 266)).check_signature(graph, outputs)


@pytest.mark.parametrize("layout", ["NCHW", "NHWC", "NSCHW"])
def test_the_fake_session_has_the_same_contract_and_the_same_sum(layout: str) -> None:
    contract = replace(OURS, input=replace(OURS.input, layout=layout))
    session = FakeSession(contract)
    assert read_contract(session) == contract
    images = np.random.default_rng(0).random((2, 3, 14, 28), dtype=np.float32)
    fed = {
        "NCHW": images,
        "NHWC": images.transpose(0, 2, 3, 1),
        "NSCHW": images[:, None],
    }[layout]
    found = session.run(fed)["predicted_depth"]
    np.testing.assert_allclose(found, images.mean(axis=1), rtol=1e-6)
