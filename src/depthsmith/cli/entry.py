"""From arguments to an exit status; every error becomes one line on standard error."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Literal, TextIO

from depthsmith.cli import console
from depthsmith.errors import DepthsmithError, ExitCode, UsageError

ISSUES = "https://github.com/depthsmith/depthsmith/issues"


def run(arguments: Sequence[str]) -> int:
    """Run the verb that ``arguments`` name; returns the exit status, raises nothing.

    ``--debug`` may stand anywhere before a ``--``; it shows tracebacks of errors.
    """
    _open_streams()
    console.speak_to_programs(False)
    rest, debug = _take_debug(arguments)
    _prepare_streams()
    if not debug and not sys.warnoptions:
        import warnings

        warnings.simplefilter("ignore")  # libraries warn developers; a user cannot act on it
    _speak_of_compiling()
    with _noticing_interrupts() as interrupts:
        status = _guarded(rest, debug, interrupts)
    return int(status)


def _speak_of_compiling() -> None:
    """Say once why nothing seems to happen: it takes 10 to 30 seconds."""
    from depthsmith.jit import tell_of_compiling

    said: list[bool] = []

    def told(kept: bool) -> None:
        if not said:
            said.append(kept)
            console.note(
                "compiling the inner loops, which only the first run does"
                if kept
                else "compiling the inner loops; set NUMBA_CACHE_DIR to a folder that can be "
                "written, and the next run need not"
            )

    tell_of_compiling(told)


@contextlib.contextmanager
def _noticing_interrupts() -> Iterator[list[int]]:
    """Make Ctrl-C, `kill` and a closed terminal end the work in order, and keep count of them:
    an extension module that is being loaded then may turn the ``KeyboardInterrupt`` into an
    ``ImportError``.
    """
    seen: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield seen
        return

    def handler(number: int, frame: FrameType | None) -> None:
        seen.append(number)
        signal.default_int_handler(number, frame)

    numbers = [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if os.name == "posix" else [])]
    before = {number: signal.getsignal(number) for number in numbers}
    # Who ignores one (`nohup`) wants it ignored.
    for number in numbers:
        if before[number] is not signal.SIG_IGN:
            signal.signal(number, handler)
    try:
        yield seen
    finally:
        for number in numbers:
            signal.signal(number, before[number])


def _guarded(rest: list[str], debug: bool, interrupts: list[int]) -> int:
    try:
        _refuse_empty(rest)
        status = _invoke(rest)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _interrupted(debug)
    except DepthsmithError as error:
        if interrupts:
            return _interrupted(debug)
        _complain(str(error), debug)
        status = error.exit_code
    except BrokenPipeError:
        _give_up(sys.stdout)  # the reader has gone (`| head`), there is nobody to tell
        status = ExitCode.OUTPUT
    except MemoryError:
        _complain("not enough memory; use a smaller --size, --resolution or picture", debug)
        status = ExitCode.BAD_INPUT
    except Exception as error:
        if interrupts:
            return _interrupted(debug)
        if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
            _complain(f"{error.filename} is too long for the name of a file", debug)
            return ExitCode.BAD_INPUT
        _complain(_describe(error), debug)
        status = ExitCode.INTERNAL
    return status


def _give_up(stream: TextIO) -> None:
    """Let ``stream`` lead nowhere: Python must not fail on it again when it ends."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _interrupted(debug: bool) -> int:
    _complain("interrupted", debug, "interrupted")
    return ExitCode.INTERRUPTED


def _invoke(arguments: Sequence[str]) -> int:
    """Parse and call; errors of usage become ``SystemExit``-free statuses here."""
    import typer

    from depthsmith.cli.group import app

    command = typer.main.get_command(app)
    try:
        with command.make_context("depthsmith", list(arguments)) as context:
            result = command.invoke(context)
    except typer.Exit as leave:
        return leave.exit_code
    except typer.Abort as error:
        raise KeyboardInterrupt from error
    except Exception as error:
        if not hasattr(error, "format_message"):  # not one of the parser's own
            raise
        _report_usage(error)
        return ExitCode.USAGE
    return int(result) if isinstance(result, int) else ExitCode.OK


def _report_usage(error: Exception) -> None:
    message = error.format_message()  # type: ignore[attr-defined]
    if type(error).__name__ == "NoArgsIsHelpError":  # its message is the whole help
        with contextlib.suppress(OSError):
            sys.stderr.write(f"{message}\n")
        return
    message = " ".join(message.split()).rstrip(".").replace("Value error, ", "")
    if message[1:2].islower():
        message = message[0].lower() + message[1:]
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "depthsmith"
    _complain(f"{message}; see `{path} --help`", debug=False)


def _take_debug(arguments: Sequence[str]) -> tuple[list[str], bool]:
    end = arguments.index("--") if "--" in arguments else len(arguments)
    head = [a for a in arguments[:end] if a != "--debug"]
    rest = [*head, *arguments[end:]]
    if os.name == "nt":  # no shell there expands *.jpg
        import glob

        rest = [p for a in rest for p in (glob.has_magic(a) and glob.glob(a)) or [a]]  # noqa: PTH207
    return rest, len(head) < end


def _refuse_empty(arguments: Sequence[str]) -> None:
    """As a path, an empty argument would mean the current folder."""
    if "" in arguments:
        raise UsageError(
            "an argument is empty; if it comes from a variable of the shell, that is not set"
        )


def _open_streams() -> None:
    """Open what the caller closed (``>&-``), so that it leads nowhere.

    Else the next file that is opened would get the number of a standard stream, and what
    libraries print would land in it.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free: this one
        if getattr(sys, name) is None:
            mode = "r" if number == 0 else "w"
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


def _prepare_streams() -> None:
    """File names that are not text can be printed; so can any letter on any console."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        unicode = str(sys.stdout.encoding).lower().startswith("utf")
        reconfigure(errors="surrogateescape" if unicode else "backslashreplace")


def _complain(message: str, debug: bool, kind: Literal["error", "interrupted"] = "error") -> None:
    if debug:
        traceback.print_exc()
    console.remark(message, kind)
    try:
        sys.stderr.flush()
    except OSError:
        _give_up(sys.stderr)


def _describe(error: Exception) -> str:
    """One line about an exception that nobody expected, with the place it came from."""
    from depthsmith._version import __version__

    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if f"{os.sep}depthsmith{os.sep}" in frame.filename]
    where = f" at {Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else ""
    what = " ".join(f"{type(error).__name__}: {error}".split())
    return (
        f"a fault of depthsmith {__version__}{where} ({what}); "
        f"run it again with --debug and report it at {ISSUES}"
    )
