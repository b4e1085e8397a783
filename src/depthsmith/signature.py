"""What the signature of an ONNX file made elsewhere tells, and what it does not."""

from __future__ import annotations

from collections.abc import Sequence

from depthsmith.contract import (
    INPUT_DTYPES,
    Contract,
    InputSpec,
    Layout,
    Normalization,
    OutputSpec,
    SizeRule,
    TensorInfo,
)
from depthsmith.errors import ModelError
from depthsmith.types import PATCH_SIZE


def infer(inputs: Sequence[TensorInfo], outputs: Sequence[TensorInfo], *, model: str) -> Contract:
    """What the signature of a file made elsewhere tells.

    Known: layout, dtype, sizes, and which output is the depth. The normalisation is known
    for uint8 (``none``: it must be inside) and for the input names of Depth Anything exports
    (``pixel_values``, ``image``: ImageNet). ``pixel_values`` with ``predicted_depth`` also
    tells the preprocessing, that of V1 and V2. The kind is never known: relative and metric
    models of one family have the same signature.

    Raises:
        ModelError: if this is not a graph from one image to a depth map.
    """
    if len(inputs) != 1:
        names = ", ".join(i.name for i in inputs) or "none"
        raise ModelError(f"a depth file has one image input; {model} has {len(inputs)} ({names})")
    image = inputs[0]
    if image.dtype not in INPUT_DTYPES:
        raise ModelError(
            f"input {image.name!r} of {model} is {image.dtype}; expected float32, float16 or uint8"
        )
    layout, batch, height, width = _layout(image, model)
    normalization: Normalization | None = None
    if image.dtype == "uint8":
        normalization = "none"
    elif image.name in ("pixel_values", "image"):
        normalization = "imagenet"

    maps = [o for o in outputs if _can_be_map(o)]
    extras = tuple(OutputSpec(o.name, kind) for o in maps if (kind := _extra_kind(o.name)))
    depth = [o for o in maps if _extra_kind(o.name) is None]
    if not depth:
        raise ModelError(f"{model} has no output that can be a depth map")
    chosen = [o for o in depth if "depth" in o.name.lower()] if len(depth) > 1 else depth
    if len(chosen) != 1:
        raise ModelError(
            f"{model} has {len(depth)} outputs that can be the depth map "
            f"({', '.join(o.name for o in depth)}); depthsmith cannot tell which"
        )
    transformers = image.name == "pixel_values" and chosen[0].name == "predicted_depth"
    # A file made for a size that is no multiple of 14 knows what it does.
    odd = any(d is not None and d % PATCH_SIZE for d in (height, width))
    return Contract(
        model=model,
        input=InputSpec(image.name, image.dtype, layout, normalization),
        size=SizeRule(height, width, 1 if odd else PATCH_SIZE, batch),
        outputs=(OutputSpec(chosen[0].name, None), *extras),
        preprocessing="da2" if transformers else None,
    )


def _layout(image: TensorInfo, model: str) -> tuple[Layout, int | None, int | None, int | None]:
    """Layout, then batch, height and width where they are fixed."""
    shape = image.shape
    dims = [d if isinstance(d, int) and d > 0 else None for d in shape]
    if len(shape) == 5 and dims[1] in (1, None) and dims[2] in (3, None):
        return "NSCHW", dims[0], dims[3], dims[4]
    if len(shape) == 4 and dims[1] == 3:
        return "NCHW", dims[0], dims[2], dims[3]
    if len(shape) == 4 and dims[3] == 3:
        return "NHWC", dims[0], dims[1], dims[2]
    # Exports that do not declare the 3: float is NCHW as in PyTorch, unless a name says else.
    if len(shape) == 4 and dims[1] is None and "channel" in str(shape[1]).lower():
        return "NCHW", dims[0], dims[2], dims[3]
    if len(shape) == 4 and dims[3] is None and "channel" in str(shape[3]).lower():
        return "NHWC", dims[0], dims[1], dims[2]
    if len(shape) == 4 and dims[1] is None and image.dtype != "uint8":
        return "NCHW", dims[0], dims[2], dims[3]
    raise ModelError(
        f"input {image.name!r} of {model} has shape {list(shape)}; "
        "expected [N,3,H,W], [N,H,W,3] or [N,1,3,H,W]"
    )


def _can_be_map(output: TensorInfo) -> bool:
    """Whether an output can be an image-sized map; cameras and poses have 3x3 and 3x4."""
    last = output.shape[-2:]
    small = len(last) == 2 and all(isinstance(d, int) and 0 < d <= 4 for d in last)
    if len(output.shape) == 4 and isinstance(output.shape[1], int) and output.shape[1] > 1:
        return False  # channels: classes, colours, features
    # Rank 0 is how ONNX Runtime shows a shape that is not declared at all.
    return output.dtype.startswith("float") and len(output.shape) in (0, 3, 4) and not small


def _extra_kind(name: str) -> str | None:
    for word, kind in (("sky", "sky"), ("conf", "confidence")):
        if word in name.lower():
            return kind
    return None
