"""The verbs, their summaries, and the group that loads a verb when it is called.

Importing every verb would import numpy and more; ``depthsmith --help`` shows the summaries
from the table here instead. A test holds them against the verbs' own docstrings.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

VERBS: dict[str, str] = {
    "depth": "Make depth maps of photos.",
    "stereo": "Make 3D pictures and films of photos and films.",
    "video": "Make depth films of films.",
    "flicker": "Measure how steady a depth film is.",
    "export": "Build a verified ONNX file from official weights.",
    "verify": "Check what a depth ONNX file really does.",
    "eval": "Score a model against photos with measured depth.",
    "inspect": "Show what goes into an ONNX file and what comes out.",
    "models": "List the known models, their licences, and which are here.",
    "pull": "Download the weights of a model, its licence first.",
}
"""Verb -> summary. The verb's function is called as the verb, in the module of that name."""

EPILOG = (
    "Exit codes: 0 done; 1 a fault of depthsmith; 2 wrong usage; 3 unusable input; "
    "4 licence not allowed; 5 verification failed; 6 provider not available; "
    "7 output not written; 8 weights not fetched; 130 interrupted."
)

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 99}


class LazyGroup(TyperGroup):
    """A group whose commands are modules beside this one."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [verb for verb in VERBS if importlib.util.find_spec(_module(verb))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.list_commands(ctx):
            return None
        return load(cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        import difflib

        verbs = self.list_commands(ctx)
        if args and args[0] not in verbs and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], verbs)
            hint = f" (Did you mean {' or '.join(near)}?)" if near else ""
            ctx.fail(f"No such command {args[0]!r}{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        rows = [(verb, VERBS[verb]) for verb in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def load(verb: str) -> Any:
    """The command of ``verb``, its module imported."""
    function = getattr(importlib.import_module(_module(verb)), verb)
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command(verb, context_settings=CONTEXT)(function)
    return typer.main.get_command(alone)


def _module(verb: str) -> str:
    return f"depthsmith.cli.{verb}"


app = typer.Typer(
    name="depthsmith",
    cls=LazyGroup,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings=CONTEXT,
    epilog=EPILOG,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from depthsmith._version import __version__

        typer.echo(f"depthsmith {__version__}")
        raise typer.Exit


@app.callback()
def depthsmith(
    version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_show_version, help="Show the version."),
    ] = False,
    debug: Annotated[
        bool,
        # Taken out of the arguments by `entry.run`, so that it may stand anywhere.
        typer.Option("--debug", help="Show a traceback when something fails."),
    ] = False,
) -> None:
    """Official Depth Anything weights in, a verified ONNX graph out, and depth maps from it.

    Results go to standard output, progress and notes to standard error.
    """
