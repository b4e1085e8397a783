"""Run a program in a process of its own and say what it took. Linux."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

ROOT = Path(__file__).parents[1]

_STEP_SECONDS = 0.005

# An import of a module that is None in sys.modules fails: the program proves that it needs none.
_WITHOUT_TORCH = (
    "import runpy, sys; sys.modules['torch'] = sys.modules['transformers'] = None;"
    "sys.argv = sys.argv[1:]; runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)"
)


@dataclass(frozen=True)
class Usage:
    """What a process took, from its start to its end.

    Attributes:
        seconds: on the clock.
        peak_bytes: largest resident set, pages of mapped files included (``ru_maxrss``).
        peak_anonymous_bytes: the same without those pages, which the system may drop at any
            time; sampled.
        output: what it printed.
    """

    seconds: float
    peak_bytes: int
    peak_anonymous_bytes: int
    output: str


def run_without_torch(module: str, *arguments: object) -> Usage:
    """``python -m module arguments...`` in a process where importing torch would fail."""
    return run([sys.executable, "-c", _WITHOUT_TORCH, module, *map(str, arguments)])


def run_with_torch(module: str, *arguments: object) -> Usage:
    """``python -m module arguments...``, the networks of the tests at hand."""
    return run([sys.executable, "-m", module, *map(str, arguments)], {"PYTHONPATH": "tests"})


def run(command: Sequence[str], environment: dict[str, str] | None = None) -> Usage:
    """Run ``command`` in the root of the repository.

    Raises:
        SystemExit: with what it printed, if it fails.
    """
    with TemporaryFile("w+") as out, TemporaryFile("w+") as errors:
        start, anonymous = time.perf_counter(), 0
        process = subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, **(environment or {})}, stdout=out, stderr=errors
        )
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            anonymous = max(anonymous, _anonymous_bytes(process.pid))
            time.sleep(_STEP_SECONDS)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        errors.seek(0)
        if process.returncode:
            raise SystemExit(f"{' '.join(command)} failed:\n{out.read()}{errors.read()}")
        return Usage(seconds, usage.ru_maxrss * 1024, anonymous, out.read())


def _anonymous_bytes(pid: int) -> int:
    """Resident memory of a process that is no page of a file; 0 once it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    kilobytes = [line.split()[1] for line in lines if line.startswith("RssAnon:")]
    return int(kilobytes[0]) * 1024 if kilobytes else 0
