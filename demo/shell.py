"""Says what goes on, and runs depthsmith as a user does."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path


def heading(text: str) -> None:
    print(f"\n== {text}\n", flush=True)


def say(text: str) -> None:
    print(textwrap.fill(text, 88), flush=True)


def warn(text: str) -> None:
    print(f"\n*** {text}", flush=True)


def depthsmith(*arguments: str | Path) -> int:
    """Run ``depthsmith`` with these arguments, shown as typed; returns its exit status."""
    words = [str(argument) for argument in arguments]
    print(f"$ depthsmith {' '.join(words)}", flush=True)
    return subprocess.run([sys.executable, "-m", "depthsmith", *words], check=False).returncode


def must(*arguments: str | Path) -> None:
    """As `depthsmith`; whatever goes wrong ends the demo with that status."""
    status = depthsmith(*arguments)
    if status != 0:
        raise SystemExit(status)
