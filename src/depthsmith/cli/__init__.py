"""The ``depthsmith`` command: one file per verb, loaded when it is used."""

from __future__ import annotations

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line and exit with its status."""
    try:
        from depthsmith.cli.entry import run

        status = run(sys.argv[1:])
    except KeyboardInterrupt:  # while Python was still loading
        status = 130
    raise SystemExit(status)
