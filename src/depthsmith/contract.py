"""The contract of a depth file: what goes in, what comes out, where it is from, what was checked.

It travels as JSON in the ONNX metadata under `METADATA_KEY` and in a sidecar beside the file.
For files made elsewhere `infer` reads what the signature tells; what it cannot tell is left
``None`` and has to be given by the user.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal

from depthsmith.errors import ModelError
from depthsmith.types import PATCH_SIZE, DepthKind, Size

METADATA_KEY = "depthsmith.contract"
FORMAT = 1
"""Version of the JSON; raised when a reader of an older one would misread it."""

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)

Layout = Literal["NCHW", "NHWC", "NSCHW"]
Normalization = Literal["imagenet", "zero_one", "none"]
Preprocessing = Literal["da1", "da2", "da3"]


@dataclass(frozen=True)
class InputSpec:
    """The image input.

    Attributes:
        name: of the graph input.
        dtype: ``float32``, ``float16`` or ``uint8``.
        layout: ``NCHW``, ``NHWC``, or ``NSCHW`` with a views axis of 1.
        normalization: what is fed: ``imagenet`` (RGB/255, minus mean, over std),
            ``zero_one`` (RGB/255), ``none`` (RGB 0..255; normalisation is inside the graph);
            None where unknown.
        color: always ``RGB``.
    """

    name: str
    dtype: str
    layout: Layout
    normalization: Normalization | None
    color: str = "RGB"


@dataclass(frozen=True)
class SizeRule:
    """Sizes the input accepts: fixed where a number stands, else any multiple.

    ``batch`` None means any number of pictures.
    """

    height: int | None
    width: int | None
    multiple_of: int = PATCH_SIZE
    batch: int | None = None

    @property
    def fixed(self) -> Size | None:
        if self.height is None or self.width is None:
            return None
        return Size(self.height, self.width)

    def accepts(self, size: Size) -> bool:
        fits = self.height in (None, size.height) and self.width in (None, size.width)
        return fits and size.height % self.multiple_of == 0 and size.width % self.multiple_of == 0


@dataclass(frozen=True)
class OutputSpec:
    """One output.

    Attributes:
        name: of the graph output.
        kind: a `DepthKind` value, ``sky`` (>= 0.3 is sky) or ``confidence`` (>= 1);
            None where unknown.
        unit: as `DepthKind.unit`.
        polarity: ``larger_is_nearer`` or ``larger_is_farther``; None for sky, confidence
            and where unknown.
    """

    name: str
    kind: str | None
    unit: str | None = None
    polarity: str | None = None

    @classmethod
    def depth(cls, name: str, kind: DepthKind) -> OutputSpec:
        return cls(name, kind.value, kind.unit, kind.polarity)


@dataclass(frozen=True)
class Source:
    """Where the weights came from and under which licence.

    ``revision`` is the hub's commit. None means that the weights were taken from disk: then
    repository and licence are those of the model whose network they have, and only the
    SHA-256 can tell whether they are that model's.

    ``license_consent`` is the id that the user allowed with ``--allow-license`` when the
    licence is outside the allow-list, else None.
    """

    repository: str | None
    revision: str | None
    file: str
    sha256: str
    license: str | None
    license_consent: str | None = None


@dataclass(frozen=True)
class Contract:
    """Everything a program needs to know to run the file rightly."""

    model: str
    input: InputSpec
    size: SizeRule
    outputs: tuple[OutputSpec, ...]
    preprocessing: Preprocessing | None = None
    source: Source | None = None
    build: Mapping[str, Any] | None = None
    verification: Mapping[str, Any] | None = None
    accuracy: Mapping[str, Any] | None = None

    @property
    def depth(self) -> OutputSpec:
        """The depth output (the first that is neither sky nor confidence)."""
        return next(o for o in self.outputs if o.kind not in ("sky", "confidence"))

    @property
    def kind(self) -> DepthKind | None:
        return None if self.depth.kind is None else DepthKind(self.depth.kind)

    def output(self, kind: str) -> OutputSpec | None:
        return next((o for o in self.outputs if o.kind == kind), None)

    def with_kind(self, kind: DepthKind) -> Contract:
        """The same with its depth output declared to be ``kind``."""
        depth = self.depth
        outputs = tuple(OutputSpec.depth(o.name, kind) if o is depth else o for o in self.outputs)
        return replace(self, outputs=outputs)

    def check_signature(self, inputs: Sequence[TensorInfo], outputs: Sequence[TensorInfo]) -> None:
        """Make sure that the graph has the input and outputs that the contract names.

        Raises:
            ModelError: if it does not; the file was changed after it was written.
        """
        declared = {i.name: i.dtype for i in inputs}
        if declared.get(self.input.name) != self.input.dtype:
            raise ModelError(
                f"the contract in the file does not belong to its graph: it names the input "
                f"{self.input.name!r} ({self.input.dtype}), the graph has {declared}"
            )
        missing = {o.name for o in self.outputs} - {o.name for o in outputs}
        if missing:
            raise ModelError(
                "the contract in the file does not belong to its graph: "
                f"it names outputs that are not there ({', '.join(sorted(missing))})"
            )

    def to_json(self) -> str:
        """JSON text, keys in declaration order, the same for the same contract."""
        document = {"format": FORMAT, **asdict(self)}
        if self.input.normalization == "imagenet":
            document["input"] |= {"mean": IMAGENET_MEAN, "std": IMAGENET_STD}
        return json.dumps(document, indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Contract:
        """Read what `to_json` wrote.

        Raises:
            ModelError: if it is not JSON, of a newer format, or misses a part.
        """
        try:
            document = json.loads(text)
            version = document["format"]
            if version != FORMAT:
                raise ModelError(
                    f"the contract has format {version}, this depthsmith reads {FORMAT}; "
                    "upgrade with `pip install -U depthsmith`"
                )
            source = document.get("source")
            contract = cls(
                model=str(document["model"]),
                input=_record(InputSpec, document["input"]),
                size=_record(SizeRule, document["size"]),
                outputs=tuple(_record(OutputSpec, o) for o in document["outputs"]),
                preprocessing=document.get("preprocessing"),
                source=_record(Source, source) if source else None,
                build=document.get("build"),
                verification=document.get("verification"),
                accuracy=document.get("accuracy"),
            )
            contract.kind  # noqa: B018 - raises on an unknown kind or no depth output
        except (KeyError, TypeError, ValueError, StopIteration, AttributeError) as error:
            raise ModelError(f"the contract in the file is damaged ({error!r})") from error
        return contract


def _record(cls: type[Any], values: Mapping[str, Any]) -> Any:
    """Build a dataclass from a mapping, leaving out keys that it does not have."""
    known = {f.name for f in fields(cls)}
    return cls(**{key: value for key, value in values.items() if key in known})


@dataclass(frozen=True)
class TensorInfo:
    """Name, numpy dtype name and declared shape of a graph input or output.

    A dynamic dimension is a string (its name) or None.
    """

    name: str
    dtype: str
    shape: tuple[int | str | None, ...]


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
    if image.dtype not in ("float32", "float16", "uint8"):
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
    # Rank 0 is how ONNX Runtime shows a shape that is not declared at all.
    return output.dtype.startswith("float") and len(output.shape) in (0, 3, 4) and not small


def _extra_kind(name: str) -> str | None:
    for word, kind in (("sky", "sky"), ("conf", "confidence")):
        if word in name.lower():
            return kind
    return None
