"""What a person sees: results on standard output, notes and progress on standard error."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from depthsmith.errors import OutputError

if TYPE_CHECKING:
    from depthsmith.verify import Report

_to_programs = False

Advance = Callable[[str], None]
"""Call when one step is done, with a word about the next one (or an empty string)."""


def say(text: str) -> None:
    """Print a result, at once: a program that reads along need not wait for the last one.

    Raises:
        OutputError: if standard output cannot be written, as on a full disk.
        BrokenPipeError: if nobody reads it any more.
    """
    try:
        print(text, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"cannot write to standard output: {error.strerror}") from error


def note(text: str) -> None:
    """Print something worth knowing that is not the result."""
    remark(text, "note")


def error(text: str) -> None:
    """Print an error that does not end the command."""
    remark(text, "error")


def speak_to_programs(wanted: bool) -> None:
    """Make every remark a line of JSON, until told otherwise."""
    global _to_programs  # noqa: PLW0603 - standard error is global too
    _to_programs = wanted


def remark(text: str, kind: Literal["note", "error", "interrupted", ""] = "") -> None:
    """Print one line on standard error; where that cannot be written, nobody can be told."""
    if _to_programs:
        event(kind or "remark", text=text)
        return
    prefix = f"{kind}: " if kind in ("note", "error") else ""
    with contextlib.suppress(OSError):
        print(f"depthsmith: {prefix}{plain(text)}", file=sys.stderr)


def event(name: str, **values: object) -> None:
    """Print a line of JSON on standard error."""
    import json

    with contextlib.suppress(OSError):
        print(json.dumps({"event": name, **values}), file=sys.stderr, flush=True)


def plain(text: str) -> str:
    """``text`` in one line, its control characters escaped: names of files, and what files say
    of themselves, could otherwise steer the terminal or look like lines of ours.
    """
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


# C0 and C1, which hold the escape sequences; separators of lines; marks of direction; bytes of
# names that are not text.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


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


@contextlib.contextmanager
def steps(description: str) -> Iterator[Callable[[str, float], None]]:
    """A progress bar for work that reports what it does and the finished fraction."""
    if not sys.stderr.isatty():
        yield lambda what, fraction: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
    from rich.progress import TimeElapsedColumn as Elapsed

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        Elapsed(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(description, total=1.0)

        def report(what: str, fraction: float) -> None:
            bar.update(task, completed=fraction, description=f"{description}: {what}")

        yield report


def say_json(document: object) -> None:
    """Print a result as JSON."""
    import json

    say(json.dumps(document, indent=2))


def megabytes(path: Path) -> str:
    """Size of a file for people: ``99.2 MB``."""
    size = path.stat().st_size
    return f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.1f} kB"


def report_text(report: Report) -> str:
    """A verification's findings: a table of comparisons, then each check in a line."""
    lines = []
    if report.comparisons:
        rows = [
            (
                c.image,
                str(c.size),
                c.output,
                c.reference,
                f"{c.max_abs:.2e}",
                f"{c.mean_abs:.2e}",
                f"{c.relative_max:.2e}",
                f"{c.relative_mean:.2e}",
                f"{c.finite}/{c.count}",
            )
            for c in report.comparisons
        ]
        head = ("picture", "size", "output", "against", "max abs", "mean abs")
        lines.append(table((*head, "max/range", "mean rel", "finite"), rows))
    lines += [f"{'ok  ' if c.passed else 'FAIL'}  {c.name}: {c.detail}" for c in report.checks]
    lines += [f"note  {note}" for note in report.notes]
    where = ", ".join(report.providers)
    verdict = "passed" if report.passed else "FAILED"
    lines.append(f"{report.file} {verdict} (ONNX Runtime {report.onnxruntime}, {where})")
    return "\n".join(lines)
