"""The contract of a depth file: what goes in, what comes out, where it is from, what was checked.

It travels as JSON in the ONNX metadata under `METADATA_KEY` and in a sidecar beside the file.
For files made elsewhere `depthsmith.signature` reads what their signature tells; what that
cannot tell is ``None`` and has to be given by the user.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

from depthsmith.errors import ModelError
from depthsmith.types import PATCH_SIZE, DepthKind, Size

METADATA_KEY = "depthsmith.contract"
FORMAT = 1
"""Version of the JSON; raised when a reader of an older one would misread it."""

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)

INPUT_DTYPES = ("float32", "float16", "uint8")

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

    def __post_init__(self) -> None:
        _check("input dtype", self.dtype, INPUT_DTYPES)
        _check("layout", self.layout, get_args(Layout))
        _check("normalization", self.normalization, (None, *get_args(Normalization)))
        _check("color", self.color, ("RGB",))


@dataclass(frozen=True)
class SizeRule:
    """Sizes the input accepts: fixed where a number stands, else any multiple.

    ``batch`` None means any number of pictures.
    """

    height: int | None
    width: int | None
    multiple_of: int = PATCH_SIZE
    batch: int | None = None

    def __post_init__(self) -> None:
        for side in (self.height, self.width, self.batch, self.multiple_of or 0):
            if side is not None and (type(side) is not int or side < 1):
                raise ValueError(f"{side!r} is no size")

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

    def __post_init__(self) -> None:
        if self.kind in (None, "sky", "confidence"):
            return
        kind = DepthKind(self.kind)
        _check(f"unit of {kind.value}", self.unit, (kind.unit,))
        _check(f"polarity of {kind.value}", self.polarity, (kind.polarity,))

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

    def __post_init__(self) -> None:
        for value in (self.file, self.sha256):
            _text(value)
        for optional in (self.repository, self.revision, self.license, self.license_consent):
            _text(optional or "")


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

    def __post_init__(self) -> None:
        _check("preprocessing", self.preprocessing, (None, *get_args(Preprocessing)))
        if len({o.name for o in self.outputs}) < len(self.outputs):
            raise ValueError("two outputs have one name")
        if all(o.kind in ("sky", "confidence") for o in self.outputs):
            raise ValueError("it names no depth output")
        for part in ("build", "verification", "accuracy"):
            if not isinstance(getattr(self, part), (Mapping, type(None))):
                raise TypeError(f"{part} is no object")

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
        shape = next(i.shape for i in inputs if i.name == self.input.name)
        expected = self._input_shape()
        # A rank of 0 is how ONNX Runtime shows a shape that is not declared at all.
        if shape and (
            len(shape) != len(expected)
            or any(isinstance(d, int) and d != e for d, e in zip(shape, expected, strict=True))
        ):
            said = ", ".join("any" if d is None else str(d) for d in expected)
            raise ModelError(
                "the contract in the file does not belong to its graph: by the contract, "
                f"{self.input.name!r} has the shape [{said}], in the graph {list(shape)}"
            )
        missing = {o.name for o in self.outputs} - {o.name for o in outputs}
        if missing:
            raise ModelError(
                "the contract in the file does not belong to its graph: "
                f"it names outputs that are not there ({', '.join(sorted(missing))})"
            )

    def _input_shape(self) -> tuple[int | None, ...]:
        batch, height, width = self.size.batch, self.size.height, self.size.width
        if self.input.layout == "NHWC":
            return batch, height, width, 3
        views = (1,) if self.input.layout == "NSCHW" else ()
        return batch, *views, 3, height, width

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
            if version != FORMAT or type(version) is not int:
                raise ModelError(
                    f"the contract has format {version!r}, this depthsmith reads {FORMAT}; "
                    "upgrade with `pip install -U depthsmith`"
                )
            source = document.get("source")
            contract = cls(
                model=_text(document["model"]),
                input=_record(InputSpec, document["input"]),
                size=_record(SizeRule, document["size"]),
                outputs=tuple(_record(OutputSpec, o) for o in document["outputs"]),
                preprocessing=document.get("preprocessing"),
                source=_record(Source, source) if source else None,
                build=document.get("build"),
                verification=document.get("verification"),
                accuracy=document.get("accuracy"),
            )
        except KeyError as error:
            raise ModelError(f"the contract in the file is damaged: it lacks {error}") from error
        except (TypeError, ValueError, AttributeError, RecursionError) as error:
            raise ModelError(f"the contract in the file is damaged: {error}") from error
        return contract


def _check(what: str, value: object, known: Sequence[object]) -> None:
    if value not in known:
        raise ValueError(f"{what} is {value!r}, not {' or '.join(map(str, known))}")


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _record(cls: type[Any], values: Mapping[str, Any]) -> Any:
    """Build a dataclass from a mapping, leaving out keys that it does not have."""
    known = {f.name for f in fields(cls)}
    return cls(**{key: value for key, value in values.items() if key in known})


def is_contract(file: Path) -> bool:
    """Whether a file is a contract beside an ONNX file, of any format, whole or not valid."""
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(document, dict) and document.keys() >= {"format", "model", "outputs"}


@dataclass(frozen=True)
class TensorInfo:
    """Name, numpy dtype name and declared shape of a graph input or output.

    A dynamic dimension is a string (its name) or None.
    """

    name: str
    dtype: str
    shape: tuple[int | str | None, ...]
