"""One ONNX file, whoever made it, with or without its weights."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

from depthsmith.catalog import find
from depthsmith.checkpoint.load import Checkpoint, load_checkpoint
from depthsmith.contract import METADATA_KEY, Contract
from depthsmith.errors import UsageError
from depthsmith.inspection import told_contract
from depthsmith.runtime import open_session
from depthsmith.verify.against_oracle import Progress, Reference, verify_against_weights
from depthsmith.verify.any_file import verify_file
from depthsmith.verify.report import Report
from depthsmith.verify.torch_reference import torch_reference


def verify_path(
    path: Path,
    *,
    weights: Path | None = None,
    model: str | None = None,
    position_embedding: str | None = None,
    reference: Literal["oracle", "torch"] = "oracle",
    vendor: Path | None = None,
    provider: str = "cpu",
    kind: str | None = None,
    normalization: str | None = None,
    progress: Progress = lambda what, fraction: None,
) -> Report:
    """Everything that can be checked of the file ``path``.

    Args:
        path: an ONNX file, ours or not.
        weights: file or folder that it should agree with, if known.
        model: the model that the weights are for, where they do not tell.
        position_embedding: how positions should be resampled; as the file's contract says,
            or whichever fits better, if None.
        reference: ``torch`` compares with upstream PyTorch code as well.
        vendor: folder with the DA3 source, for ``torch``.
        provider: where to run it.
        kind, normalization: as `inspection.contract_of`.
        progress: told what is going on.

    Raises:
        ModelError: if the file is no depth file.
        CheckpointError: if the weights cannot be used.
        ProviderError: if the provider cannot be had.
        UsageError: if options do not go together.
    """
    if weights is None and (model or reference == "torch" or position_embedding):
        raise UsageError("--model, --reference and --position-embedding need --weights")
    session = open_session(path, provider="cpu", optimize=False)
    contract = told_contract(session, kind=kind, normalization=normalization)
    carried = METADATA_KEY in session.metadata
    del session
    if weights is None:
        return verify_file(path, contract, provider=provider, progress=progress)

    progress("reading the weights", 0.0)
    checkpoint = load_checkpoint(weights, model=find(model) if model else None)
    general = verify_file(path, contract, provider=provider, progress=_part(progress, 0.0, 0.3))
    if not general.passed:
        return replace(general, notes=(*general.notes, "not compared with the weights"))
    references = {}
    if reference == "torch":
        references["torch"] = torch_reference(weights, checkpoint.name, vendor)
    compared = _compare(
        path, contract, checkpoint, position_embedding, carried, provider, references, progress
    )
    return replace(
        general,
        comparisons=compared.comparisons,
        checks=general.checks + tuple(c for c in compared.checks if c.name != "batch"),
        notes=general.notes + compared.notes + _origin(contract, checkpoint),
    )


def _compare(
    path: Path,
    contract: Contract,
    checkpoint: Checkpoint,
    position_embedding: str | None,
    carried: bool,
    provider: str,
    references: dict[str, Reference],
    progress: Progress,
) -> Report:
    """Against the oracle, with the position embedding that is asked for, told, or fits."""
    modes: list[str | None] = [position_embedding]
    if position_embedding is None and not carried:
        modes = ["official", "transformers"]
    best: Report | None = None
    for i, mode in enumerate(modes):
        begin, share = 0.3 + 0.7 * i / len(modes), 0.7 / len(modes)
        report = verify_against_weights(
            path, contract, checkpoint.arch, checkpoint.tensors,
            provider=provider, position_embedding=mode, extra_references=references,
            progress=_part(progress, begin, share),
        )  # fmt: skip
        if len(modes) > 1:
            note = f"compared with positions resampled as the {mode} code does"
            report = replace(report, notes=(note,))
        if best is None or _error(report) < _error(best):
            best = report
        if best.passed:
            break
    assert best is not None
    return best


def _part(progress: Progress, begin: float, share: float) -> Progress:
    return lambda what, fraction: progress(what, begin + share * fraction)


def _error(report: Report) -> float:
    return max((c.relative_max for c in report.comparisons), default=float("inf"))


def _origin(contract: Contract, checkpoint: Checkpoint) -> tuple[str, ...]:
    source = contract.source
    if source is not None and source.sha256 != checkpoint.sha256:
        return ("the file says that it was built from other weights (their SHA-256 differs)",)
    return ()
