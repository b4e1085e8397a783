"""What a person sees: results on standard output, notes and progress on standard error."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence

Advance = Callable[[str], None]
"""Call when one step is done, with a word about the next one (or an empty string)."""


def say(text: str) -> None:
    """Print a result."""
    print(text)


def note(text: str) -> None:
    """Print something worth knowing that is not the result."""
    print(f"depthsmith: note: {text}", file=sys.stderr)


def error(text: str) -> None:
    """Print an error that does not end the command."""
    print(f"depthsmith: error: {text}", file=sys.stderr)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """``rows`` in columns of even width, without lines, so that other tools can read it."""
    lines = [tuple(head), *(tuple(row) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


@contextlib.contextmanager
def progress(description: str, total: int) -> Iterator[Advance]:
    """A progress bar on standard error while the block runs, if that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    # Results in a pipe must stay there; on a terminal they are drawn above the bar.
    to_terminal = sys.stdout.isatty()
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, redirect_stdout=to_terminal) as bar:
        task = bar.add_task(description, total=total)

        def advance(next_step: str) -> None:
            bar.update(task, advance=1, description=next_step or description)

        yield advance
