"""The command line as a process of its own: stopped at a known place, or on a terminal.

No test waits for some time or looks again and again: on a slow machine it would look too late.
"""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

COMMAND = Path(sys.executable).with_name("depthsmith")

_HELD = """
import importlib, json, sys
from depthsmith.cli.entry import run

wanted, call, constants, *arguments = sys.argv[1:]
calls = 0

def parts(place):
    module, _, name = place.rpartition(".")
    return importlib.import_module(module), name

def held(*args, **options):
    global calls
    result = function(*args, **options)
    calls += 1
    if calls == int(call):
        print("held", flush=True)
        sys.stdin.readline()
    return result

for place, value in json.loads(constants).items():
    setattr(*parts(place), value)
function = getattr(*parts(wanted))
setattr(*parts(wanted), held)
sys.exit(run(arguments))
"""


@contextlib.contextmanager
def held(
    function: str,
    call: int,
    *arguments: object,
    cwd: Path | None = None,
    constants: Mapping[str, int] | None = None,
    signals: signal.Handlers = signal.SIG_DFL,
) -> Iterator[subprocess.Popen[str]]:
    """``depthsmith`` with these arguments, waiting where ``function`` has returned.

    It goes on when it is sent a line. Standard output and error are pipes.

    Args:
        function: with its module, as ``os.fsync``.
        call: which one, from 1.
        constants: other values for these, each with its module.
        signals: what the process does on Ctrl-C, `kill` and a closed terminal. It does not
            inherit it: tests that run in the background, or under `nohup`, ignore some.
    """

    def dispose() -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signals)

    pipe = subprocess.PIPE
    command = [sys.executable, "-c", _HELD, function, str(call), json.dumps(constants or {})]
    with subprocess.Popen(
        [*command, *map(str, arguments)], cwd=cwd, stdin=pipe, stdout=pipe, stderr=pipe, text=True,
        preexec_fn=dispose,  # noqa: PLW1509 - takes no lock that a thread of a test may hold
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            if "held\n" not in iter(process.stdout.readline, ""):
                raise AssertionError(f"{function} was not called: {process.communicate()[1]}")
            yield process
        finally:
            process.kill()


def short_segments(frames: int, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Let segments of films have so many frames, here; in `held` processes by what this gives."""
    constants = {f"depthsmith.video.{m}.SEGMENT_FRAMES": frames for m in ("make", "coding")}
    for place, value in constants.items():
        monkeypatch.setattr(place, value)
    return constants


def on_terminal(*arguments: object, cwd: Path | None = None) -> tuple[int, str, bytes]:
    """``depthsmith`` with standard error on a terminal.

    Returns:
        The exit status, standard output, and what the terminal got.
    """
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [COMMAND, *map(str, arguments)], cwd=cwd, stdout=subprocess.PIPE, stderr=theirs,
        text=True, env={**os.environ, "TERM": "xterm"},
    ) as process:  # fmt: skip
        os.close(theirs)
        # First the terminal, to its end: it holds little, and who draws on it would wait.
        drawn = b"".join(iter(lambda: _read(ours), b""))
        assert process.stdout is not None
        out = process.stdout.read()
    os.close(ours)
    return process.returncode, out, drawn


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux's way to say that the other side is closed
        return b""
