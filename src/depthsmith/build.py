"""Composer: checked weights to a verified ONNX file with its contract."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

import onnx_ir as ir

from depthsmith._version import __version__
from depthsmith.atomic import atomic_path, writing
from depthsmith.catalog import ModelCard
from depthsmith.checkpoint.load import Checkpoint, load_checkpoint
from depthsmith.contract import (
    METADATA_KEY,
    Contract,
    InputSpec,
    OutputSpec,
    Preprocessing,
    SizeRule,
    Source,
    is_contract,
)
from depthsmith.depth.sizes import Frames
from depthsmith.errors import OutputError
from depthsmith.graph.network import GraphOptions, build_network
from depthsmith.types import Size
from depthsmith.verify import Report, verify_against_weights
from depthsmith.verify.against_oracle import Progress, Reference

NATIVE = Size(518, 518)
"""The size of the official position grid, the default of `export`."""

_INLINE_LIMIT_BYTES = 1_900_000_000  # protobuf ends at 2 GiB
_PREPROCESSING: dict[str, Preprocessing] = {
    "da1": "da1", "da2": "da2", "da3": "da3", "da3mono": "da3"
}  # fmt: skip

Check = Literal["full", "quick", "none"]


@dataclass(frozen=True)
class Built:
    """A file that was made.

    Attributes:
        path: the ONNX file.
        files: every file that was written for it: data, contract.
        contract: as it stands in the file.
        report: what verification found; None if it was skipped.
    """

    path: Path
    files: tuple[Path, ...]
    contract: Contract
    report: Report | None


def file_name(stem: str, options: GraphOptions) -> str:
    """The default name of an exported file.

    The native size has none (``da3_small.onnx``), other squares their side
    (``da3_base_1036.onnx``); whatever else differs from the defaults is named, so that no
    variant overwrites another.
    """
    parts = [stem]
    if options.size is None:
        parts.append("dynamic")
    elif options.size != NATIVE:
        square = options.size.height == options.size.width
        parts.append(str(options.size.height) if square else str(options.size))
    if options.fold_preprocess:
        parts.append("uint8")
    if options.attention == "fused":
        parts.append("fused")
    if options.position_embedding == "transformers":
        parts.append("hfpos")
    if options.confidence:
        parts.append("confidence")
    if options.opset != GraphOptions.opset:
        parts.append(f"opset{options.opset}")
    return "_".join(parts) + ".onnx"


def make_contract(checkpoint: Checkpoint, options: GraphOptions, source: Source) -> Contract:
    """The contract of a file built from ``checkpoint``, before verification."""
    arch, card = checkpoint.arch, checkpoint.card
    kind = card.kind if card else arch.kind
    outputs = [OutputSpec.depth(arch.output_name, kind)]
    if arch.head == "dpt_sky":
        outputs.append(OutputSpec("sky", "sky"))
    if options.confidence and arch.head == "dual_dpt":
        outputs.append(OutputSpec("confidence", "confidence"))
    folded = options.fold_preprocess
    size = options.size
    return Contract(
        model=checkpoint.name,
        input=InputSpec(
            arch.input_name,
            "uint8" if folded else "float32",
            "NHWC" if folded else "NCHW",
            "none" if folded else "imagenet",
        ),
        size=SizeRule(size.height if size else None, size.width if size else None),
        outputs=tuple(outputs),
        preprocessing=_PREPROCESSING[arch.family],
        source=source,
        build={
            "depthsmith": __version__,
            "opset": options.opset,
            "attention": options.attention,
            "position_embedding": options.position_embedding,
            "fold_preprocess": folded,
            "unused_tensors": len(checkpoint.unused),
        },
    )


def local_source(checkpoint: Checkpoint) -> Source:
    """Provenance of weights that did not come through the hub here.

    The licence is that of the official model they are for; whether the file really is the
    official one cannot be known, its SHA-256 stands beside.
    """
    card = checkpoint.card
    return Source(
        card.repository if card else None,
        None,
        checkpoint.path.name,
        checkpoint.sha256,
        card.license if card else None,
    )


def build_file(
    checkpoint: Checkpoint,
    options: GraphOptions,
    target: Path,
    *,
    source: Source | None = None,
    check: Check = "full",
    provider: str = "cpu",
    references: Mapping[str, Reference] | None = None,
    progress: Progress = lambda what, fraction: None,
) -> Built:
    """Build, verify and write one ONNX file, its contract inside and beside it.

    The file appears under its name only when verification passed; what was there before
    stays until then.

    Args:
        checkpoint: checked weights.
        options: how to write the network down.
        target: the file to make.
        source: where the weights are from; `local_source` if None.
        check: ``full`` as `verify_against_weights` says, ``quick`` one small picture,
            ``none``; the contract tells which.
        provider: where to run the file for verification.
        references: further references, see `verify_against_weights`.
        progress: told what is going on.

    Raises:
        VerificationError: if the file does not compute what the network does.
        OutputError: if it cannot be written.
        ProviderError: if the provider cannot be had.
    """
    sidecar = target.with_suffix(".json")
    _check_target(target, sidecar)
    contract = make_contract(checkpoint, options, source or local_source(checkpoint))
    progress("building the graph", 0.0)
    model = build_network(checkpoint.arch, checkpoint.tensors, options)
    data: Path | None = None
    report: Report | None = None
    with atomic_path(target) as part:
        if model_bytes(model) > _INLINE_LIMIT_BYTES:
            data = target.with_name(_data_name(target, checkpoint, options))
        existed = data is not None and data.exists()
        try:
            _write(model, part, data)
            del model  # a large network is not needed twice
            if check != "none":
                report = verify_against_weights(
                    part, contract, checkpoint.arch, checkpoint.tensors,
                    quick=check == "quick", provider=provider, extra_references=references,
                    progress=progress,
                )  # fmt: skip
                report = replace(report, file=target.name)
                report.raise_if_failed()
                contract = replace(contract, verification=report.for_contract())
            else:
                contract = replace(contract, verification={"performed": False})
            _append_metadata(part, contract)
        except BaseException:
            if data is not None and not existed:
                data.unlink(missing_ok=True)
            raise
    with atomic_path(sidecar) as part:
        part.write_text(contract.to_json(), encoding="utf-8")
    files = (target, *([data] if data else []), sidecar)
    return Built(target, files, contract, report)


def _check_target(target: Path, sidecar: Path) -> None:
    """Refuse, before any work, what could not be written or would destroy something else."""
    if sidecar.exists() and not is_contract(sidecar):
        raise OutputError(
            f"{sidecar} is not a contract of depthsmith and would be overwritten by that of "
            f"{target.name}; use another name"
        )
    try:
        str(target).encode()
    except UnicodeEncodeError:
        raise OutputError(
            f"cannot write {target}: its name or folder is not text, and ONNX Runtime could not "
            "open it"
        ) from None


def build_for_cache(
    weights: Path,
    target: Path,
    *,
    card: ModelCard | None,
    source: Source,
    attention: str,
    frames: Frames | None = None,
) -> None:
    """A file for running at once: see `build_file`; verified with one small picture.

    Of dynamic size, or of the one that ``frames`` have.
    """
    checkpoint = load_checkpoint(weights, model=card, sha256=source.sha256)
    if source.license is None:
        source = replace(local_source(checkpoint), sha256=source.sha256)
    options = GraphOptions(
        size=frames.network(_PREPROCESSING[checkpoint.arch.family]) if frames else None,
        attention="fused" if attention == "fused" else "portable",
        confidence=checkpoint.arch.head == "dual_dpt",
    )
    build_file(checkpoint, options, target, source=source, check="quick")
    target.with_suffix(".json").unlink(missing_ok=True)


def model_bytes(model: ir.Model) -> int:
    """Size of all initializers."""
    return sum(v.const_value.nbytes for v in model.graph.initializers.values() if v.const_value)


def _write(model: ir.Model, part: Path, data: Path | None) -> None:
    if data is None:
        ir.save(model, part)
        return
    ir.save(model, part, external_data=data.name, max_workers=1)


def _data_name(target: Path, checkpoint: Checkpoint, options: GraphOptions) -> str:
    """Name of the data file beside a large graph: begins as that one's, and is the same for
    the same content only.

    So a new graph never meets the data of an old one, whenever the work is interrupted.
    """
    key = json.dumps([checkpoint.sha256, __version__, asdict(options)], sort_keys=True)
    digest = hashlib.sha256(key.encode()).hexdigest()[:12]
    return f"{target.stem}-{digest}.onnx.data"


def _append_metadata(path: Path, contract: Contract) -> None:
    """Put the contract into the file.

    Protocol buffers that follow each other merge, and metadata is a repeated field: what is
    appended is added, and the weights need not be written a second time.
    """
    from onnx import ModelProto, StringStringEntryProto

    entries = {METADATA_KEY: contract.to_json()}
    source = contract.source
    if source is not None and source.license is not None:
        entries["license"] = source.license
    proto = ModelProto(
        metadata_props=[StringStringEntryProto(key=k, value=v) for k, v in entries.items()]
    )
    with writing(path), path.open("ab") as file:
        file.write(proto.SerializeToString())
