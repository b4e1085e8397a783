"""What verification found, in numbers, and the one table of tolerances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthsmith.errors import VerificationError
from depthsmith.types import Size


@dataclass(frozen=True)
class Tolerances:
    """What a file must keep to.

    Attributes:
        relative: largest ``max |a - b| / range(b)`` against the float64 reference. float32
            arithmetic alone gives 3e-6 to 2e-5, a wrong operator 1e-3 and more.
        batch: the same between a batch of two and two batches of one; only the order of
            summation may differ.
        repeat: the same between two runs on the same input.
        provider: the same between a GPU provider and the CPU; TF32 and fp16 kernels are
            allowed, a broken one is not.
        flat: smallest ``range / max |value|`` of an output that counts as a depth map.
    """

    relative: float = 1e-4
    batch: float = 2e-5
    repeat: float = 1e-6
    provider: float = 2e-2
    flat: float = 1e-4


TOLERANCES = Tolerances()


@dataclass(frozen=True)
class Comparison:
    """One output on one picture against a reference."""

    image: str
    size: Size
    output: str
    reference: str
    max_abs: float
    mean_abs: float
    relative_max: float
    relative_mean: float
    finite: int
    count: int


@dataclass(frozen=True)
class Check:
    """One thing that must hold. ``detail`` says what was seen, in one line."""

    name: str
    passed: bool
    detail: str


@dataclass(frozen=True)
class Report:
    """The outcome of a verification."""

    file: str
    providers: tuple[str, ...]
    onnxruntime: str
    comparisons: tuple[Comparison, ...] = ()
    checks: tuple[Check, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks)

    @property
    def failures(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if not check.passed)

    def raise_if_failed(self) -> None:
        """Raise a `VerificationError` that names the first failure."""
        if not self.passed:
            first = self.failures[0]
            more = f" (and {len(self.failures) - 1} more)" if len(self.failures) > 1 else ""
            raise VerificationError(f"{self.file} failed: {first.name}: {first.detail}{more}")

    def for_contract(self) -> Mapping[str, Any]:
        """What goes into the contract.

        Two significant digits: further ones depend on the machine, and the same inputs
        should give the same file.
        """
        return {
            "performed": True,
            "passed": self.passed,
            "tolerance": TOLERANCES.relative,
            "providers": list(self.providers),
            "onnxruntime": self.onnxruntime,
            "comparisons": [
                {
                    **asdict(c),
                    "size": str(c.size),
                    **{
                        key: float(f"{getattr(c, key):.1e}")
                        for key in ("max_abs", "mean_abs", "relative_max", "relative_mean")
                    },
                }
                for c in self.comparisons
            ],
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything, for ``--json``."""
        return {"passed": self.passed, **asdict(self)} | {
            "comparisons": [{**asdict(c), "size": str(c.size)} for c in self.comparisons]
        }


def compare(
    *,
    image: str,
    size: Size,
    output: str,
    reference: str,
    values: NDArray[np.floating],
    expected: NDArray[np.floating],
) -> Comparison:
    """Measure ``values`` against ``expected``, both ``(H, W)``."""
    difference = np.abs(values.astype(np.float64) - expected)
    spread = float(np.ptp(expected)) or 1.0
    scale = float(np.mean(np.abs(expected))) or 1.0
    return Comparison(
        image, size, output, reference,
        max_abs=float(difference.max()),
        mean_abs=float(difference.mean()),
        relative_max=float(difference.max()) / spread,
        relative_mean=float(difference.mean()) / scale,
        finite=int(np.isfinite(values).sum()),
        count=values.size,
    )  # fmt: skip
