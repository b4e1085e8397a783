"""What an ONNX file is: told by its contract, inferred from its signature, or not known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar, get_args

from depthsmith.contract import (
    METADATA_KEY,
    Contract,
    Normalization,
    Preprocessing,
)
from depthsmith.errors import ModelError, UsageError
from depthsmith.runtime import Session, Signature, open_session, read_contract
from depthsmith.types import DepthKind

KINDS: dict[str, DepthKind] = {
    "inverse-depth": DepthKind.INVERSE_DEPTH,
    "depth": DepthKind.DEPTH,
    "depth-m": DepthKind.DEPTH_M,
    "canonical": DepthKind.CANONICAL,
}
"""What ``--kind`` takes."""

NORMALIZATIONS: dict[str, Normalization] = {
    name.replace("_", "-"): name for name in get_args(Normalization)
}
"""What ``--normalization`` takes."""

FAMILIES: tuple[Preprocessing, ...] = get_args(Preprocessing)
"""What ``--family`` takes."""

_QUESTIONS = {
    "kind": (
        "what its values mean (--kind inverse-depth, where larger is nearer, or depth, depth-m, "
        "canonical)"
    ),
    "normalization": "what it expects as input (--normalization imagenet, zero-one or none)",
    "family": "whose resizing it was trained with (--family da1, da2 or da3)",
}


@dataclass(frozen=True)
class Inspection:
    """What is known of one ONNX file.

    Attributes:
        path: of the file.
        size_bytes: of the file alone, without weights beside it.
        contract: as carried, or as far as it can be inferred.
        carried: whether the file carries its contract.
        signature: declared inputs and outputs.
    """

    path: Path
    size_bytes: int
    contract: Contract
    carried: bool
    signature: Signature

    @property
    def unknown(self) -> dict[str, str]:
        """What the file does not tell -> a question with the option that answers it."""
        return unknown(self.contract)


def inspect(path: str | Path) -> Inspection:
    """Look at the ONNX file ``path`` without running it.

    Raises:
        ModelError: if it cannot be loaded, or is not a depth file.
        ProviderError: if ONNX Runtime is not installed.
    """
    path = Path(path)
    session = open_session(path, provider="cpu", optimize=False)
    return Inspection(
        path=path,
        size_bytes=path.stat().st_size,
        contract=read_contract(session),
        carried=METADATA_KEY in session.metadata,
        signature=session.signature,
    )


def unknown(contract: Contract) -> dict[str, str]:
    """The parts of ``contract`` that are None and matter, with a question for each."""
    missing = {
        "kind": contract.kind is None,
        "normalization": contract.input.normalization is None,
        # A letterbox suits a fixed size, whoever trained the network.
        "family": contract.preprocessing is None and contract.size.fixed is None,
    }
    return {part: _QUESTIONS[part] for part, is_missing in missing.items() if is_missing}


def contract_of(
    session: Session,
    *,
    kind: str | None = None,
    normalization: str | None = None,
    family: str | None = None,
) -> Contract:
    """The contract of an open file, with what the user says of it.

    Args:
        kind: one of `KINDS`.
        normalization: one of `NORMALIZATIONS`.
        family: one of `FAMILIES`.

    Raises:
        UsageError: if an answer is none of those, or contradicts the file's own contract.
        ModelError: if kind or normalisation stay unknown.
    """
    told = told_contract(session, kind=kind, normalization=normalization, family=family)
    questions = [text for part, text in unknown(told).items() if part != "family"]
    if questions:
        raise ModelError(f"{session.name} does not say {', nor '.join(questions)}")
    return told


def told_contract(
    session: Session,
    *,
    kind: str | None = None,
    normalization: str | None = None,
    family: str | None = None,
) -> Contract:
    """As `contract_of`, but what nobody said stays None.

    Raises:
        UsageError: as `contract_of`.
    """
    contract = read_contract(session)
    told = contract
    if kind is not None:
        told = told.with_kind(_choice("--kind", kind, KINDS))
    if normalization is not None:
        chosen = _choice("--normalization", normalization, NORMALIZATIONS)
        told = replace(told, input=replace(told.input, normalization=chosen))
    if family is not None:
        chosen_family = _choice("--family", family, {name: name for name in FAMILIES})
        told = replace(told, preprocessing=chosen_family)
    if METADATA_KEY in session.metadata and told != contract:
        raise UsageError(
            f"{session.name} says itself what it takes and gives, and --kind, --normalization "
            f"or --family contradict it; see `depthsmith inspect {session.name}`"
        )
    return told


_T = TypeVar("_T")


def _choice(option: str, word: str, choices: Mapping[str, _T]) -> _T:
    if word not in choices:
        raise UsageError(f"{option} {word} is not one of {', '.join(choices)}")
    return choices[word]
