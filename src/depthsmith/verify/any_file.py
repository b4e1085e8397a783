"""What can be checked of any depth file, also one made elsewhere and without its weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from depthsmith.contract import Contract
from depthsmith.errors import ModelError
from depthsmith.runtime import Session
from depthsmith.types import Size
from depthsmith.verify import images
from depthsmith.verify.against_oracle import (
    Progress,
    batch_check,
    onnxruntime_version,
    run_checked,
    with_fixed_sides,
)
from depthsmith.verify.any_batch import open_any_batch
from depthsmith.verify.report import TOLERANCES, Check, Report

_SWEEP = (Size(252, 336), Size(336, 252), Size(140, 280))
Maps = Mapping[str, NDArray[np.floating]]


def verify_file(
    path: Path,
    contract: Contract,
    *,
    provider: str = "cpu",
    progress: Progress = lambda what, fraction: None,
) -> Report:
    """Check that a file does what its signature declares.

    Runs it at its size, or at several where dimensions are dynamic, and checks that the
    output follows the input, is finite, not flat, depends on the picture, repeats, does not
    depend on what else is in the batch, and (for a provider other than the CPU) agrees with
    the CPU.

    Args:
        path: the ONNX file.
        contract: its own or an inferred one.
        provider: where to run it.
        progress: told what is going on.

    Raises:
        ModelError: if the file cannot be loaded.
        ProviderError: if the provider cannot be had.
    """
    session = open_any_batch(path, contract, provider)
    spec, rule = contract.input, contract.size
    notes = list(session.notes)
    if spec.normalization is None:
        notes.append("normalisation is unknown; ImageNet was fed")
    checks: list[Check] = [Check("signature", True, describe_signature(contract))]
    sizes = [rule.fixed] if rule.fixed else [with_fixed_sides(size, contract) for size in _SWEEP]
    names = ("photo", "smooth", "noise")
    inputs: list[NDArray[np.generic]] = []
    found: list[Maps] = []
    for i, size in enumerate(sizes):
        progress(f"size {size}", i / (len(sizes) + 3))
        batch = _batch(contract, names[i % 3], size)
        inputs.append(batch)
        found.append(run_checked(session, batch, size, contract, checks, names[i % 3]))
    if rule.fixed is None:
        checks.append(_follows(sizes, found, checks))

    progress("repeat", 0.6)
    first, size = inputs[0], sizes[0]
    other = _batch(contract, "noise", size)
    if found[0]:
        checks.append(_repeats(session, first, found[0]))
        checks.append(_depends_on_input(session, other, found[0]))
    progress("batch of two", 0.8)
    checks.append(batch_check(session, contract, inputs, found))
    if provider != "cpu" and session.provider != "cpu" and found[0]:
        progress("against the CPU", 0.9)
        checks.append(_against_cpu(path, contract, first, found[0], session.provider))
    progress("done", 1.0)
    if all(c.passed for c in checks):
        checks += [
            Check("finite", True, "every value of every output"),
            Check("not flat", True, "every depth map has structure"),
        ]
    return Report(
        path.name, tuple(session.providers_used), onnxruntime_version(), (), tuple(checks),
        tuple(notes),
    )  # fmt: skip


def describe_signature(contract: Contract) -> str:
    """One line: input and outputs with dtypes and sizes."""
    spec, rule = contract.input, contract.size
    outputs = ", ".join(f"{o.name} ({o.kind or 'kind unknown'})" for o in contract.outputs)
    free = rule.height is None and rule.width is None
    size = "any size" if free else f"{rule.height or 'any'}x{rule.width or 'any'}"
    batch = "any batch" if rule.batch is None else f"batch {rule.batch}"
    return f"{spec.name} {spec.dtype} {spec.layout} {size}, {batch} -> {outputs}"


def _batch(contract: Contract, name: str, size: Size) -> NDArray[np.generic]:
    spec = contract.input
    return images.as_input(
        images.picture(name, size), spec.dtype, spec.layout, spec.normalization or "imagenet"
    )


def _follows(sizes: Sequence[Size], found: Sequence[Maps], checks: Sequence[Check]) -> Check:
    listed = ", ".join(str(size) for size in sizes)
    if all(found):
        return Check("dynamic size", True, f"the output follows the input at {listed}")
    failed = [c for c in checks if not c.passed and c.name in ("shape", "runs")]
    what = "frozen" if any(c.name == "shape" for c in failed) else "failing"
    return Check(
        "dynamic size", False,
        f"height and width are declared dynamic, but the output is {what} at other sizes",
    )  # fmt: skip


def _difference(a: Maps, b: Maps) -> float:
    worst = 0.0
    for name, values in a.items():
        other = b[name].reshape(values.shape)
        worst = max(worst, float(np.abs(values - other).max()) / (float(np.ptp(values)) or 1.0))
    return worst


def _run(session: Session, batch: NDArray[np.generic], like: Maps) -> Maps:
    outputs = session.run(batch)
    return {name: outputs[name].reshape(-1, *values.shape)[0] for name, values in like.items()}


def _repeats(session: Session, batch: NDArray[np.generic], before: Maps) -> Check:
    worst = _difference(before, _run(session, batch, before))
    return Check(
        "repeatable", worst <= TOLERANCES.repeat, f"two runs differ by relative {worst:.1e}"
    )


def _depends_on_input(session: Session, other: NDArray[np.generic], before: Maps) -> Check:
    worst = _difference(before, _run(session, other, before))
    return Check(
        "depends on the picture", worst > TOLERANCES.relative,
        f"another picture changes the output by relative {worst:.1e}",
    )  # fmt: skip


def _against_cpu(
    path: Path, contract: Contract, batch: NDArray[np.generic], found: Maps, provider: str
) -> Check:
    try:
        worst = _difference(_run(open_any_batch(path, contract, "cpu"), batch, found), found)
    except ModelError as error:
        return Check("agrees with the CPU", False, f"the CPU cannot run it: {error}")
    return Check(
        "agrees with the CPU", worst <= TOLERANCES.provider,
        f"{provider} differs by relative {worst:.1e}",
    )  # fmt: skip
