"""Depth ONNX files of a few nodes and every common signature, with outputs in closed form.

Depth is the mean over colour of what the graph is fed, in whatever layout and dtype, so that
each test can work out by hand what has to come back.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import onnx
from onnx import TensorProto, helper

from depthsmith.contract import METADATA_KEY, Contract

_TYPES = {
    "float32": TensorProto.FLOAT,
    "float16": TensorProto.FLOAT16,
    "uint8": TensorProto.UINT8,
}
Dim = int | str | None


def mean_model(
    path: Path,
    *,
    layout: str = "NCHW",
    dtype: str = "float32",
    batch: Dim = "batch",
    height: Dim = "height",
    width: Dim = "width",
    names: tuple[str, str] = ("pixel_values", "predicted_depth"),
    output_rank: int = 3,
    sky: float | None = None,
    confidence: float | None = None,
    frozen: tuple[int, int] | None = None,
    contract: Contract | None = None,
) -> Path:
    """Write the file.

    Args:
        layout: ``NCHW``, ``NHWC`` or ``NSCHW``.
        names: of input and output.
        output_rank: 3 for ``(N, H, W)``, 4 for ``(N, 1, H, W)``.
        sky: adds an output ``sky``: 1 where the depth is above this, else 0.
        confidence: adds an output ``confidence``: this plus the depth.
        frozen: output of this size whatever the input is, as careless tracing gives it.
        contract: put into the metadata.
    """
    image, depth = names
    shape: list[Dim] = {
        "NCHW": [batch, 3, height, width],
        "NHWC": [batch, height, width, 3],
        "NSCHW": [batch, "views", 3, height, width],
    }[layout]
    axis = layout.index("C")
    nodes = [
        helper.make_node("Cast", [image], ["fed"], to=TensorProto.FLOAT),
        helper.make_node("Constant", [], ["axis"], value_ints=[axis]),
        helper.make_node("Constant", [], ["one"], value_ints=[1]),
        # What the views axis leaves is (N, S, H, W): rank 4, one view.
        helper.make_node("ReduceMean", ["fed", "axis"], ["mean"], keepdims=0),
    ]
    out_shape: list[Dim] = [batch, height, width]
    last = "mean"
    if frozen:
        nodes += [
            helper.make_node("Constant", [], ["wanted"], value_ints=[1, *frozen]),
            helper.make_node("Resize", [last, "", "", "wanted"], ["frozen"], mode="linear"),
        ]
        last = "frozen"
    if layout == "NSCHW":
        out_shape.insert(1, "views")
    elif output_rank == 4:
        nodes.append(helper.make_node("Unsqueeze", [last, "one"], ["four"]))
        last = "four"
        out_shape.insert(1, 1)
    nodes.append(helper.make_node("Identity", [last], [depth]))
    outputs = [helper.make_tensor_value_info(depth, TensorProto.FLOAT, out_shape)]
    for name, value, make in (("sky", sky, _above), ("confidence", confidence, _plus)):
        if value is not None:
            nodes += make(last, value, name)
            outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, out_shape))
    entry = helper.make_tensor_value_info(image, _TYPES[dtype], shape)
    graph = helper.make_graph(nodes, "mean", [entry], outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    if contract is not None:
        helper.set_model_props(model, {METADATA_KEY: contract.to_json()})
    onnx.save_model(model, path)
    return path


def _above(source: str, value: float, name: str) -> Sequence[onnx.NodeProto]:
    return (
        helper.make_node("Constant", [], ["limit"], value_float=value),
        helper.make_node("Greater", [source, "limit"], ["is_above"]),
        helper.make_node("Cast", ["is_above"], [name], to=TensorProto.FLOAT),
    )


def _plus(source: str, value: float, name: str) -> Sequence[onnx.NodeProto]:
    return (
        helper.make_node("Constant", [], ["offset"], value_float=value),
        helper.make_node("Add", [source, "offset"], [name]),
    )
