"""A whole network as one ONNX model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray
from onnxscript import GraphBuilder

from depthsmith._version import __version__
from depthsmith.catalog import Architecture
from depthsmith.graph.backbone import AttentionForm, DinoV2
from depthsmith.graph.grid import Grid
from depthsmith.graph.heads import Dpt, DualDpt
from depthsmith.graph.patches import PatchEmbed, grid_of_input
from depthsmith.graph.position import PositionEmbedding
from depthsmith.graph.weights import Weights
from depthsmith.types import PATCH_SIZE, Size

# The oldest file format version that may carry an opset (onnx.helper.VERSION_TABLE): old
# readers refuse a newer one than they know.
_IR_VERSIONS = {18: 8, 19: 9, 20: 9, 21: 10, 22: 10, 23: 11, 24: 12}
MIN_OPSET, MAX_OPSET = min(_IR_VERSIONS), max(_IR_VERSIONS)


@dataclass(frozen=True)
class GraphOptions:
    """How a network is written down.

    Attributes:
        size: height and width of the input, multiples of 14; None for dynamic.
        opset: of the default ONNX domain, 18 to 24.
        attention: ``portable`` (standard operators) or ``fused`` (ONNX Runtime's kernel).
        position_embedding: resampled as the official code does, or as Transformers does.
        fold_preprocess: take uint8 NHWC RGB and normalise inside.
        confidence: give DA3's confidence as a second output.
    """

    size: Size | None = None
    opset: int = 18
    attention: AttentionForm = "portable"
    position_embedding: PositionEmbedding = "official"
    fold_preprocess: bool = False
    confidence: bool = False

    def __post_init__(self) -> None:
        if not MIN_OPSET <= self.opset <= MAX_OPSET:
            raise ValueError(f"opset {self.opset} is not in {MIN_OPSET} to {MAX_OPSET}")
        if self.size is not None and any(s < PATCH_SIZE or s % PATCH_SIZE for s in self.size):
            raise ValueError(f"size {self.size} is not a multiple of {PATCH_SIZE}")


def build_network(
    arch: Architecture, tensors: Mapping[str, NDArray[np.generic]], options: GraphOptions
) -> ir.Model:
    """The network ``arch`` with the given weights.

    Inputs and outputs: ``(B, 3, H, W)`` float32, or ``(B, H, W, 3)`` uint8 when folded, to
    ``(B, H, W)`` float32 for each output. B is dynamic, H and W as ``options.size`` says.

    Args:
        arch: dimensions.
        tensors: complete and of the right shapes (`checkpoint.load_checkpoint` sees to it).
        options: see `GraphOptions`.
    """
    domains = {"": options.opset}
    if options.attention == "fused":
        domains["com.microsoft"] = 1
    graph = ir.Graph([], [], nodes=[], name=f"depthsmith_{arch.family}", opset_imports=domains)
    builder = GraphBuilder(graph)
    op = builder.op
    weights = Weights(tensors)
    backbone_weights, head_weights = weights.below("backbone"), weights.below("head")

    h, w = options.size or ("height", "width")
    if options.fold_preprocess:
        dtype, shape = ir.DataType.UINT8, ["batch", h, w, 3]
    else:
        dtype, shape = ir.DataType.FLOAT, ["batch", 3, h, w]
    image = builder.input(arch.input_name, dtype, shape)
    if options.size is not None:
        grid = Grid.of_pixels(options.size)
    else:
        grid = grid_of_input(op, image, channels_last=options.fold_preprocess)

    embed = PatchEmbed(
        backbone_weights.below("patch_embed.proj"), fold_preprocess=options.fold_preprocess
    )
    backbone = DinoV2(
        backbone_weights,
        arch,
        grid,
        position_embedding=options.position_embedding,
        attention=options.attention,
    )
    head = (
        DualDpt(head_weights, arch, confidence=options.confidence)
        if arch.head == "dual_dpt"
        else Dpt(head_weights, arch)
    )
    features = backbone(op, embed(op, image, grid), grid)
    for name, value in head(op, features, grid).items():
        value.shape = ir.Shape(["batch", h, w])
        value.type = ir.TensorType(ir.DataType.FLOAT)
        builder.add_output(value, name)

    _strip_builder_notes(graph)
    return ir.Model(
        graph,
        ir_version=_IR_VERSIONS[options.opset],
        producer_name="depthsmith",
        producer_version=__version__,
    )


def _strip_builder_notes(graph: ir.Graph) -> None:
    """Drop the builder's per-node notes; node names already say where a node belongs."""
    for node in graph:
        node.metadata_props.clear()
