"""Time and memory to make a file, beside `torch.onnx.export(dynamo=False)`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.files import Files, build, trace
from benchmarks.process import Usage
from benchmarks.report import Row, Section
from benchmarks.samples import Samples

_TIME_LIMIT_SECONDS = 45
_TEXT = """\
V2-Small at 518x518 from the same safetensors file; whole processes, from the start of Python
to its end. Tracing includes the import of PyTorch and verifies nothing, so ours is compared
without verification; the last row has it, as it is by default."""


def run(work: Path, rounds: int | None) -> Section:
    files = Files(work)
    weights, file = files.weights, work / "made.onnx"
    ways: dict[str, Callable[[], Usage]] = {
        "traced": partial(trace, weights, file),
        "built": partial(build, weights, file, "--size", "518", "--no-validate"),
        "dynamic": partial(build, weights, file, "--size", "dynamic", "--no-validate"),
    }
    usages = in_turn(ways, rounds or 7)
    checked = [build(weights, file, "--size", "518") for _ in range(min(rounds or 3, 3))]
    file.unlink()

    def seconds(name: str) -> Samples:
        return Samples(tuple(usage.seconds for usage in usages[name]))

    def megabytes(name: str) -> Samples:
        return Samples(tuple(usage.peak_bytes / 1e6 for usage in usages[name]))

    traced_seconds, traced_megabytes = seconds("traced"), megabytes("traced")
    verified = Samples(tuple(usage.seconds for usage in checked))
    missed = "" if verified.median <= _TIME_LIMIT_SECONDS else " (missed)"
    aim = f"{_TIME_LIMIT_SECONDS} s{missed}"
    return Section(
        "Making a file",
        _TEXT,
        "traced",
        (
            Row.compare("time, 518x518", seconds("built"), traced_seconds, "s"),
            Row.compare("time, any size", seconds("dynamic"), traced_seconds, "s"),
            Row.compare(
                "peak memory, 518x518", megabytes("built"), traced_megabytes, "MB", digits=0
            ),
            Row.compare(
                "peak memory, any size", megabytes("dynamic"), traced_megabytes, "MB", digits=0
            ),
            Row("time with verification, 518x518", "", aim, verified.text(1, "s"), ""),
        ),
    )


def in_turn(ways: dict[str, Callable[[], Usage]], rounds: int) -> dict[str, list[Usage]]:
    """What each way took, in turns; the first round, which fills caches, does not count."""
    usages: dict[str, list[Usage]] = {name: [] for name in ways}
    for i in range(rounds + 1):
        for name in ways if i % 2 == 0 else reversed(ways):
            usages[name].append(ways[name]())
    return {name: taken[1:] for name, taken in usages.items()}
