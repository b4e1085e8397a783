"""Write docs/cli.md from the ``--help`` of every verb: ``make docs``.

    python tools/cli_reference.py [--check]

``--check`` writes nothing and exits with 1 when the file is not what it should be.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import typer

from depthsmith.cli.group import VERBS, app, load
from depthsmith.errors import ExitCode

TARGET = Path(__file__).parents[1] / "docs" / "cli.md"
WIDTH = 88  # of the help texts, whatever the terminal

_HEAD = """\
# Command line

<!-- Written by tools/cli_reference.py from the help texts; change those and run `make docs`. -->

What `depthsmith --help` and `depthsmith VERB --help` print. Results go to standard output,
progress and notes to standard error. Sizes of photos and films are width x height (1920x1080),
those of networks' inputs, as of `--size`, height x width.
"""

_MEANINGS = {
    ExitCode.OK: "done",
    ExitCode.INTERNAL: "a fault of depthsmith; `--debug` shows where",
    ExitCode.USAGE: "options that are wrong or contradict each other",
    ExitCode.BAD_INPUT: "a picture, film, weight file or ONNX file that cannot be used",
    ExitCode.LICENSE: "the licence of the weights is not permissive and was not allowed",
    ExitCode.VERIFICATION: "verification failed; nothing was written",
    ExitCode.PROVIDER: "the execution provider that was asked for did not load",
    ExitCode.OUTPUT: "a file could not be written",
    ExitCode.FETCH: "the weights could not be had from the hub",
    ExitCode.INTERRUPTED: "interrupted with Ctrl-C",
}


def reference() -> str:
    """The whole page."""
    parts = [_HEAD, _block("depthsmith", typer.main.get_command(app))]
    parts += [f"## {verb}\n\n{_block(f'depthsmith {verb}', load(verb))}" for verb in VERBS]
    rows = "\n".join(f"| {int(code)} | {_MEANINGS[code]} |" for code in ExitCode)
    parts.append(f"## Exit codes\n\n| code | meaning |\n|---|---|\n{rows}\n")
    return "\n".join(parts)


def _block(path: str, command: Any) -> str:
    settings = dict(command.context_settings) | {"max_content_width": WIDTH}
    command.context_settings = settings | {"terminal_width": WIDTH}
    with command.make_context(path, [], resilient_parsing=True) as context:
        lines = [line.rstrip() for line in command.get_help(context).splitlines()]
    return "\n".join(["```", *lines, "```", ""])


def main() -> int:
    text = reference()
    if "--check" not in sys.argv[1:]:
        TARGET.parent.mkdir(exist_ok=True)
        TARGET.write_text(text, encoding="utf-8")
        return 0
    if TARGET.is_file() and TARGET.read_text(encoding="utf-8") == text:
        return 0
    print(f"{TARGET} is not what --help says; run `make docs`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
