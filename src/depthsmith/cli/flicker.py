"""``depthsmith flicker``: how steady a depth film is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from depthsmith.cli import console
from depthsmith.cli.film_progress import flicker_text, flicker_values
from depthsmith.cli.options import Json


def flicker(
    depth: Annotated[
        Path,
        typer.Argument(
            metavar="DEPTHVIDEO", help="A film in which near is bright, or a folder of depth maps."
        ),
    ],
    *,
    source: Annotated[
        Optional[Path],  # noqa: UP045 - typer evaluates it on Python 3.10 too
        typer.Option(
            "--source",
            metavar="FILM",
            help="The film that it was made of, whose motion is followed. Without it all change "
            "counts.",
        ),
    ] = None,
    start: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--start", metavar="TIME", help="Of the source, as given to `video`."),
    ] = None,
    duration: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--duration", metavar="TIME", help="Of the source, as given to `video`."),
    ] = None,
    segment: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option("--segment", metavar="A-B", help="Of the source, as given to `video`."),
    ] = None,
    json: Json = False,
) -> int:
    """Measure how steady a depth film is.

    Prints the mean change of depth from frame to frame along the motion of the picture, in per
    cent of the range of depth, and how much of it is a pumping of the whole map.
    """
    from depthsmith.errors import UsageError
    from depthsmith.video.flicker import measure
    from depthsmith.video.spans import parse_spans

    spans = parse_spans(start, duration, segment or ())
    if spans and source is None:
        raise UsageError("--start, --duration and --segment are of the source; give --source")
    found = measure(depth, source, spans=spans)
    if json:
        console.say_json(flicker_values(found))
    else:
        console.say(flicker_text(found))
    return 0
