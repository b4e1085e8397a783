"""What was measured, and RESULTS.md made of it."""

from __future__ import annotations

import json
import os
import platform
import resource
import textwrap
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.samples import Samples

_WIDTH = 95
FOLDER = Path(__file__).parent
_PACKAGES = {
    "numpy": "numpy",
    "onnxruntime": "ONNX Runtime",
    "onnxscript": "onnxscript",
    "torch": "PyTorch",
    "transformers": "Transformers",
}

_HOW_TO_READ = """\
# Benchmarks

Written by `make bench` (`python -m benchmarks`); do not edit.

A ratio is ours over the other, so below 1 is faster or smaller. It is the median over pairs
that were measured right after each other, in turns (A B C, C B A, ...) after a warm-up; in
brackets stand the least and the largest. Ratios carry over to other machines better than
the numbers beside them. Weights are random, in the official layout: time and memory do not
depend on their values. What makes or runs our files runs in processes where importing
PyTorch fails. "Others" tells how much of the processor other programs took meanwhile: the
more, the wider the brackets. Memory is the largest resident set of the whole process,
mapped files included. MB and GB are powers of ten.
"""


@dataclass(frozen=True)
class Row:
    """One comparison.

    Attributes:
        what: was compared.
        ratio: median, least, largest, ours over the other; empty where there is no other.
        aim: that the median should not exceed, of ratio or, without one, of ``ours``.
        ours, other: absolute numbers with their units.
    """

    what: str
    ratio: str
    aim: str
    ours: str
    other: str

    @classmethod
    def compare(
        cls,
        what: str,
        ours: Samples,
        other: Samples,
        unit: str,
        *,
        aim: float | None = None,
        digits: int = 2,
    ) -> Row:
        ratio = ours.over(other)
        return cls(
            what,
            ratio.text(),
            "" if aim is None else f"{aim:g}{'' if ratio.median <= aim else ' (missed)'}",
            ours.text(digits, unit),
            other.text(digits, unit),
        )


@dataclass(frozen=True)
class Section:
    """One benchmark.

    Attributes:
        title, text: what was measured and how.
        other: heading of the column beside ours.
        rows: the comparisons.
        machine: where, and how busy it was; added by `measured`.
    """

    title: str
    text: str
    other: str
    rows: tuple[Row, ...]
    machine: str = ""


class Watch:
    """How much of the processor others take, from its making to `others`."""

    def __init__(self) -> None:
        self.start = self._now()

    def others(self) -> float:
        """Share of all cores' time, 0 to 1; time stolen by a hypervisor included."""
        seconds, busy, ours = (
            now - then for now, then in zip(self._now(), self.start, strict=True)
        )
        return max(0.0, busy - ours) / (seconds * (os.cpu_count() or 1))

    @staticmethod
    def _now() -> tuple[float, float, float]:
        fields = [int(f) for f in Path("/proc/stat").read_text().splitlines()[0].split()[1:]]
        user, nice, system, _idle, _wait, irq, soft, steal = fields[:8]
        busy = (user + nice + system + irq + soft + steal) / os.sysconf("SC_CLK_TCK")
        ours = sum(
            usage.ru_utime + usage.ru_stime
            for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        )
        return time.monotonic(), busy, ours


def measured(section: Section, watch: Watch) -> Section:
    """``section`` with where it was measured and what else ran there."""
    return replace(section, machine=f"{machine()}. Others: {watch.others():.0%}.")


def machine() -> str:
    """Cores and versions, in words that name no machine."""
    packages = []
    for name, title in _PACKAGES.items():
        try:
            packages.append(f"{title} {version(name)}")
        except PackageNotFoundError:
            continue
    flags = Path("/proc/cpuinfo").read_text()
    vectors = next((n for f, n in (("avx512f", "AVX-512"), ("avx2", "AVX2")) if f in flags), "")
    cpu = platform.machine() + (f" with {vectors}" if vectors else "")
    return f"{os.cpu_count()} cores, {cpu}; Python {platform.python_version()}, " + ", ".join(
        packages
    )


def save(name: str, section: Section, order: Sequence[str]) -> None:
    """Keep ``section`` under ``name`` and write RESULTS.md with all that is kept."""
    store = FOLDER / "results.json"
    kept = json.loads(store.read_text()) if store.exists() else {}
    kept[name] = asdict(section)
    store.write_text(json.dumps({n: kept[n] for n in order if n in kept}, indent=1) + "\n")
    texts = [_HOW_TO_READ, *(_markdown(kept[n]) for n in order if n in kept)]
    (FOLDER / "RESULTS.md").write_text("\n".join(texts))


def _markdown(section: dict[str, Any]) -> str:
    head = ["", "ratio", "aim", "depthsmith", section["other"]]
    cells = [
        [r["what"], r["ratio"], r["aim"] and f"≤ {r['aim']}", r["ours"], r["other"]]
        for r in section["rows"]
    ]
    lines = [f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *cells]]
    table = "\n".join(lines)
    text, machine = (textwrap.fill(section[key], _WIDTH) for key in ("text", "machine"))
    return f"## {section['title']}\n\n{text}\n\n{table}\n\n{machine}\n"
