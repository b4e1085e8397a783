"""``depthsmith inspect``: the contract of a file, or what can be told of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from depthsmith.cli import console
from depthsmith.cli.options import Json

if TYPE_CHECKING:
    from depthsmith.contract import Source, TensorInfo
    from depthsmith.inspection import Inspection

_NORMALIZATIONS = {
    "imagenet": "ImageNet mean and std",
    "zero_one": "0 to 1",
    "none": "0 to 255",
    None: "UNKNOWN",
}


def inspect(
    file: Annotated[Path, typer.Argument(metavar="FILE.onnx", help="The ONNX file.")],
    as_json: Json = False,
) -> None:
    """Show what goes into an ONNX file and what comes out.

    Files written by depthsmith carry a contract. Of others, what the signature tells is
    shown; the rest is marked UNKNOWN and has to be given when the file is used.
    """
    from depthsmith.inspection import inspect as inspect_file

    found = inspect_file(file)
    console.say(json.dumps(_document(found), indent=2) if as_json else _text(found))


def _document(found: Inspection) -> dict[str, Any]:
    def tensors(infos: tuple[TensorInfo, ...]) -> list[dict[str, Any]]:
        return [{"name": i.name, "dtype": i.dtype, "shape": list(i.shape)} for i in infos]

    return {
        "file": str(found.path),
        "size_bytes": found.size_bytes,
        "carried": found.carried,
        "contract": json.loads(found.contract.to_json()),
        "signature": {
            "inputs": tensors(found.signature.inputs),
            "outputs": tensors(found.signature.outputs),
        },
        "unknown": found.unknown,
    }


def _text(found: Inspection) -> str:
    contract = found.contract
    shapes = {i.name: _shape(i) for side in found.signature for i in side}
    image = contract.input
    rows = [
        ("file", f"{found.path} ({found.size_bytes / 1e6:.1f} MB)"),
        ("contract", "in the file" if found.carried else "none; inferred from the signature"),
        ("model", contract.model),
        (
            "input",
            f"{image.name} {image.dtype} {shapes[image.name]} {image.layout} {image.color}, "
            f"{_NORMALIZATIONS[image.normalization]}",
        ),
        ("size", _size(found)),
    ]
    for output in contract.outputs:
        meaning = [output.kind or "UNKNOWN"]
        if output.polarity:
            meaning.append(output.polarity.replace("_", " "))
        if output.unit and output.unit != "relative":
            meaning.append(f"in {output.unit}")
        rows.append(("output", f"{output.name} {shapes[output.name]} {', '.join(meaning)}"))
    unnamed = {i.name for i in found.signature.outputs} - {o.name for o in contract.outputs}
    rows += [("output", f"{name} {shapes[name]} not used") for name in sorted(unnamed)]
    rows.append(("resizing", f"of {contract.preprocessing}" if contract.preprocessing else "-"))
    if contract.source:
        rows += _origin(contract.source)
    if contract.build is not None:
        rows.append(("build", _flat(contract.build)))
    if contract.verification is not None or found.carried:
        rows.append(("verified", _verified(contract.verification or {})))
    if contract.accuracy is not None:
        rows.append(("accuracy", _flat(contract.accuracy)))
    rows += [("not told", question) for question in found.unknown.values()]
    # Names and texts of the file come from whoever made it.
    return "\n".join(f"{title:<10}{console.plain(value)}" for title, value in rows)


def _origin(source: Source) -> list[tuple[str, str]]:
    digest = f"SHA-256 {source.sha256[:16]}…"
    license = source.license or "UNKNOWN"
    if source.license_consent:
        license += ", allowed by --allow-license"
    if source.repository and source.revision:
        weights = f"{source.repository} at {source.revision[:12]}"
    else:
        # Nobody has compared such a file with the repository's.
        weights = f"{source.file}, taken from disk"
        if source.repository:
            license += f" (that of {source.repository}, whose network it is)"
    return [("weights", f"{weights}, {digest}"), ("licence", license)]


def _verified(verification: Mapping[str, Any]) -> str:
    if not verification.get("performed"):
        return "no"
    try:
        worst = max(c["relative_max"] for c in verification["comparisons"])
        sizes = dict.fromkeys(str(c["size"]) for c in verification["comparisons"])
        return (
            f"relative error at most {worst:.1e} (limit {verification['tolerance']:.0e}) at "
            f"{', '.join(sizes)}; ONNX Runtime {verification['onnxruntime']} on "
            f"{', '.join(verification['providers'])}"
        )
    except (KeyError, TypeError, ValueError):
        return "UNKNOWN; what the contract says of it cannot be read"


def _shape(info: TensorInfo) -> str:
    return f"[{', '.join('?' if d is None else str(d) for d in info.shape)}]"


def _size(found: Inspection) -> str:
    rule = found.contract.size
    if rule.fixed:
        square = rule.fixed.height == rule.fixed.width
        return str(rule.fixed) if square else f"{rule.fixed}, height x width"
    if rule.height is None and rule.width is None:
        return f"any, multiples of {rule.multiple_of}"
    height, width = (f"{side}" if side else "any" for side in (rule.height, rule.width))
    return f"{height}x{width}, height x width, multiples of {rule.multiple_of}"


def _flat(values: Mapping[str, Any]) -> str:
    """A mapping as ``key value, key value``; what is nested stays JSON."""
    return ", ".join(
        f"{key} {value if isinstance(value, str | int | float) else json.dumps(value)}"
        for key, value in values.items()
    )
