"""A file against the float64 oracle, fed with the weights that it claims to hold."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from depthsmith import oracle
from depthsmith.catalog import Architecture
from depthsmith.contract import Contract
from depthsmith.errors import ModelError
from depthsmith.runtime import Session
from depthsmith.types import Size
from depthsmith.verify import images
from depthsmith.verify.any_batch import open_any_batch
from depthsmith.verify.report import TOLERANCES, Check, Comparison, Report, compare

Progress = Callable[[str, float], None]
"""Called with what is being done and the finished fraction, 0 to 1."""

Maps = Mapping[str, NDArray[np.floating]]
"""``(H, W)`` maps by output name."""

Reference = Callable[[Sequence[NDArray[np.float64]]], Iterable[Maps]]
"""From normalised ``(3, H, W)`` pictures to the maps of each."""

# For dynamic files: the native size, and sizes that differ from it and from each other in
# every respect. Small ones cost the reference little.
_DYNAMIC = (
    ("photo", Size(518, 518)),
    ("noise", Size(252, 336)),
    ("smooth", Size(196, 98)),
    ("photo", Size(154, 392)),
)


def verify_against_weights(
    path: Path,
    contract: Contract,
    arch: Architecture,
    tensors: Mapping[str, NDArray[np.generic]],
    *,
    quick: bool = False,
    provider: str = "cpu",
    position_embedding: str | None = None,
    extra_references: Mapping[str, Reference] | None = None,
    progress: Progress = lambda what, fraction: None,
) -> Report:
    """Run the file and the oracle on the same pictures and compare.

    A fixed file is checked at its size with noise, a smooth picture and a photo; a dynamic
    one at several sizes. Also checked: shapes, finite values, outputs that are not flat, and
    that a batch of two equals two batches of one.

    Args:
        path: the ONNX file.
        contract: its contract.
        arch, tensors: the network and its weights.
        quick: only one small picture (one of the file's size, where that is fixed).
        provider: where to run the file.
        position_embedding: ``official`` or ``transformers``; as the contract says, or
            official, if None.
        extra_references: further implementations to compare with, e.g. upstream PyTorch.
        progress: told what is going on.

    Raises:
        ModelError: if the file cannot be loaded.
        ProviderError: if the provider cannot be had.
    """
    progress("loading the graph", 0.0)
    session = open_any_batch(path, contract, provider)
    spec, fixed = contract.input, contract.size.fixed
    cases = [(name, with_fixed_sides(size, contract)) for name, size in _DYNAMIC]
    if fixed is not None:
        cases = [(name, fixed) for name in images.NAMES]
    if quick:
        cases = cases[-1:]
    position = position_embedding or (contract.build or {}).get("position_embedding", "official")
    pictures = [images.picture(name, size) for name, size in cases]
    comparisons: list[Comparison] = []
    checks: list[Check] = []
    inputs = [
        images.as_input(rgb, spec.dtype, spec.layout, spec.normalization or "imagenet")
        for rgb in pictures
    ]
    singles = [
        run_checked(session, batch, size, contract, checks, name)
        for batch, (name, size) in zip(inputs, cases, strict=True)
    ]

    def run_oracle(normal: Sequence[NDArray[np.float64]]) -> Iterator[Maps]:
        total, done = sum(_cost(size) for _, size in cases), 0.0
        predict = partial(oracle.predict, arch, tensors, position_embedding=position)
        for maps, (name, size) in zip(_in_parallel(predict, normal), cases, strict=True):
            done += _cost(size)
            progress(f"{name} at {size} compared", done / total)
            yield maps

    references: dict[str, Reference] = {"oracle": run_oracle, **(extra_references or {})}
    normal = [images.normalized(rgb) for rgb in pictures]
    for reference, run in references.items():
        expected_maps = run(normal) if all(singles) else ()
        for (name, size), outputs, expected in zip(cases, singles, expected_maps, strict=False):
            comparisons += _compare_outputs(contract, outputs, expected, name, size, reference)
    checks.append(_parity(comparisons))
    progress("batch of two", 0.98)
    checks.append(batch_check(session, contract, inputs, singles))
    progress("done", 1.0)
    return Report(
        path.name,
        tuple(session.providers_used),
        onnxruntime_version(),
        tuple(comparisons),
        tuple(checks),
    )


def with_fixed_sides(size: Size, contract: Contract) -> Size:
    """``size``, but where one side of the file is fixed."""
    rule = contract.size
    return Size(rule.height or size.height, rule.width or size.width)


def _in_parallel(
    predict: Callable[[NDArray[np.float64]], Maps], pictures: Sequence[NDArray[np.float64]]
) -> Iterator[Maps]:
    """Pictures side by side, each with its share of the cores.

    Much of the oracle is not matrix products, which alone would use several cores; and
    threads that wait for each other within small products cost more than they bring.
    """
    from threadpoolctl import threadpool_limits

    cores = os.cpu_count() or 1
    workers = max(1, min(cores, len(pictures)))
    with threadpool_limits(max(1, cores // workers)), ThreadPoolExecutor(workers) as pool:
        yield from pool.map(predict, pictures)


def _cost(size: Size) -> float:
    """Relative time of a network on ``size``: linear in tokens, with attention on top."""
    tokens = size.height * size.width / 14**2
    return tokens * (1 + tokens / 2000)


def run_checked(
    session: Session,
    batch: NDArray[np.generic],
    size: Size,
    contract: Contract,
    checks: list[Check],
    what: str,
) -> Maps:
    """Run one picture; record whether shape, finiteness and spread are right.

    Returns:
        Maps of ``(H, W)`` by output name; empty when they cannot be compared.
    """
    try:
        outputs = session.run(batch)
    except ModelError as error:
        checks.append(Check("runs", False, f"{what} at {size}: {error}"))
        return {}
    maps: dict[str, NDArray[np.floating]] = {}
    for spec in contract.outputs:
        values = outputs[spec.name]
        where = f"output {spec.name!r} for {what} at {size}"
        flat_shape = tuple(s for s in values.shape if s != 1)
        if flat_shape != tuple(s for s in size if s != 1):
            checks.append(
                Check(
                    "shape",
                    False,
                    f"{where} is {list(values.shape)}, not [1, {size[0]}, {size[1]}]",
                )
            )
            continue
        finite = int(np.isfinite(values).sum())
        if finite != values.size:
            checks.append(
                Check("finite", False, f"{where} has {values.size - finite} values that are not")
            )
            continue
        values = values.reshape(size)
        if spec.kind not in ("sky", "confidence") and is_flat(values):
            checks.append(
                Check("not flat", False, f"{where} is {values.min():.6g} (nearly) everywhere")
            )
        maps[spec.name] = values
    return maps if len(maps) == len(contract.outputs) else {}


def is_flat(values: NDArray[np.floating]) -> bool:
    """Whether a map is so near to constant that it says nothing about depth."""
    largest = float(np.abs(values).max())
    return largest == 0.0 or float(np.ptp(values)) < TOLERANCES.flat * largest


def _compare_outputs(
    contract: Contract,
    outputs: Maps,
    expected: Maps,
    name: str,
    size: Size,
    reference: str,
) -> list[Comparison]:
    """Compare by kind, since a file made elsewhere may name its outputs otherwise."""
    found = []
    for spec in contract.outputs:
        key = spec.kind if spec.kind in ("sky", "confidence") else None
        if key is None:
            key = next(k for k in expected if k not in ("sky", "confidence"))
        if key in expected:
            found.append(
                compare(
                    image=name, size=size, output=spec.name, reference=reference,
                    values=outputs[spec.name], expected=expected[key],
                )
            )  # fmt: skip
    return found


def _parity(comparisons: Sequence[Comparison]) -> Check:
    if not comparisons:
        return Check("parity", False, "nothing could be compared")
    worst = max(
        comparisons, key=lambda c: c.relative_max if np.isfinite(c.relative_max) else np.inf
    )
    passed = bool(worst.relative_max <= TOLERANCES.relative)
    detail = (
        f"relative error {worst.relative_max:.1e} against {worst.reference} "
        f"({worst.output}, {worst.image} at {worst.size}; limit {TOLERANCES.relative:.0e})"
    )
    return Check("parity", passed, detail)


def batch_check(
    session: Session,
    contract: Contract,
    inputs: Sequence[NDArray[np.generic]],
    singles: Sequence[Maps],
) -> Check:
    """A batch of two pictures against each alone, at the smallest size that was run."""
    if contract.size.batch == 1:
        return Check("batch", True, "the file takes one picture at a time")
    first = min(range(len(inputs)), key=lambda i: inputs[i].size)
    second = next(
        (i for i, b in enumerate(inputs) if i != first and b.shape == inputs[first].shape), first
    )
    pair = [first, second]
    if not all(singles[i] for i in pair):
        return Check("batch", False, "a single picture could not be run")
    pictures = [inputs[first], inputs[second] if second != first else _mirrored(inputs[first])]
    expected = [singles[first], singles[second] if second != first else None]
    try:
        both = session.run(np.concatenate(pictures))
        if expected[1] is None:
            alone = session.run(pictures[1])
            expected[1] = {s.name: alone[s.name] for s in contract.outputs}
    except ModelError as error:
        return Check("batch", False, f"a batch of two fails: {error}")
    worst = 0.0
    for spec in contract.outputs:
        for i in range(2):
            reference = np.asarray(expected[i][spec.name]).squeeze()  # type: ignore[index]
            got = both[spec.name][i].squeeze()
            if got.shape != reference.shape:
                return Check(
                    "batch", False, f"output {spec.name!r} of a batch of two is misshapen"
                )
            spread = float(np.ptp(reference)) or 1.0
            worst = max(worst, float(np.abs(got - reference).max()) / spread)
    passed = worst <= TOLERANCES.batch
    return Check("batch", passed, f"batch of two against two of one: relative {worst:.1e}")


def _mirrored(batch: NDArray[np.generic]) -> NDArray[np.generic]:
    """Another picture of the same size; upside down in every layout."""
    return np.ascontiguousarray(np.flip(batch, axis=-2 if batch.shape[-1] != 3 else 1))


def onnxruntime_version() -> str:
    import onnxruntime

    return str(onnxruntime.__version__)
