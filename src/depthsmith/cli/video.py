"""``depthsmith video``: films in, depth films out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Optional

import typer

from depthsmith.cli.film_progress import Reporter
from depthsmith.cli.films import run_films
from depthsmith.cli.options import (
    AllowLicense,
    AllowTruncated,
    Batch,
    BitRate,
    Codec,
    Crf,
    Duration,
    Every,
    Family,
    Fit,
    FocalPx,
    Fov,
    Hardware,
    Kind,
    Live,
    Model,
    Normalization,
    NoTracks,
    Preset,
    ProgressWay,
    Provider,
    Recursive,
    Resolution,
    Resume,
    Segment,
    SkipExisting,
    Stabilize,
    Start,
    Strict,
    Threads,
)

if TYPE_CHECKING:
    from depthsmith.pipeline import Predictor
    from depthsmith.types import Size

FormatChoice = Literal["mp4", "mov", "mkv", "png16", "exr", "npz"]
AsChoice = Literal["near", "inverse-depth", "depth", "depth-m"]
ColormapChoice = Literal[
    "gray", "inferno", "magma", "plasma", "viridis", "turbo", "jet", "bone", "spectral"
]


def video(
    command: typer.Context,
    films: Annotated[
        list[Path], typer.Argument(metavar="FILM|DIR", help="Films, and folders of films.")
    ],
    *,
    output: Annotated[
        Optional[str],  # noqa: UP045 - typer evaluates it on Python 3.10 too
        typer.Option(
            "--output",
            "-o",
            metavar="FILE|DIR",
            help="A file (.mp4, .mov, .mkv), or a folder; by default NAME_depth.mp4 beside each "
            "film. One film's png16, exr or npz go into this folder itself.",
        ),
    ] = None,
    model: Model = "auto",
    format: Annotated[
        Optional[FormatChoice],  # noqa: UP045
        typer.Option(
            "--format",
            "-f",
            help="By default that of -o's suffix, else mp4 (mkv for ffv1). png16, exr and npz "
            "are folders with a file a frame, or a chunk of frames, and the times.",
        ),
    ] = None,
    codec: Codec = None,
    as_: Annotated[
        AsChoice,
        typer.Option(
            "--as",
            help="near (0 to 1 over a shot, near is bright). For exr and npz also inverse-depth, "
            "depth, depth-m (metres).",
        ),
    ] = "near",
    colormap: Annotated[
        Optional[ColormapChoice],  # noqa: UP045
        typer.Option("--colormap", help="A film in colours, for looking at."),
    ] = None,
    side_by_side: Annotated[
        bool, typer.Option("--side-by-side", help="The film and its depth in one picture.")
    ] = False,
    stabilize: Stabilize = "quality",
    live: Live = False,
    every: Every = 1,
    batch: Batch = 1,
    fit: Fit = None,
    resolution: Resolution = None,
    start: Start = None,
    duration: Duration = None,
    segment: Segment = None,
    crf: Crf = None,
    preset: Preset = None,
    bitrate: BitRate = None,
    hardware: Hardware = "off",
    no_tracks: NoTracks = False,
    resume: Resume = False,
    strict: Strict = False,
    allow_truncated: AllowTruncated = False,
    report: Annotated[
        bool,
        typer.Option("--report", help="Measure how steady the result is (depthsmith flicker)."),
    ] = False,
    focal_px: FocalPx = None,
    fov: Fov = None,
    provider: Provider = "auto",
    threads: Threads = None,
    recursive: Recursive = False,
    skip_existing: SkipExisting = False,
    progress: ProgressWay = "auto",
    allow_license: AllowLicense = None,
    kind: Kind = None,
    normalization: Normalization = None,
    family: Family = None,
) -> int:
    """Make depth films of films.

    Same times, same tracks, no flicker. Writes an 8-bit film in which near is bright, or a
    deeper format. Prints the path of each file. A film that cannot be read does not stop the
    rest: it is reported at the end.
    """
    from depthsmith.api import load
    from depthsmith.cli.idle import because, of_batches, of_metres, of_scale, refuse_idle
    from depthsmith.depth.temporal import SteadySettings
    from depthsmith.pipeline import Wanted
    from depthsmith.types import DepthKind
    from depthsmith.video.coding import Coding, Loader
    from depthsmith.video.depth_films import DepthFilms
    from depthsmith.video.make import Reading
    from depthsmith.video.network_depth import Working
    from depthsmith.video.plan import plan_films
    from depthsmith.video.spans import parse_bit_rate, parse_spans

    reporter = Reporter(progress)
    Wanted(as_, "exact", focal_px, fov)  # raises if the two contradict each other
    refuse_idle(command, of_scale(as_))
    if as_ != "near" or side_by_side or colormap not in (None, "gray"):
        refuse_idle(command, because("measures depth films in which near is bright", ["report"]))
    reading = Reading(parse_spans(start, duration, segment or ()), strict, allow_truncated)
    plan = plan_films(
        films,
        output=output,
        format=format,
        default="mkv" if codec == "ffv1" else "mp4",
        ending="_depth_color" if colormap or side_by_side else "_depth",
        recursive=recursive,
        skip_existing=skip_existing,
    )

    def load_for(size: Size) -> Predictor:
        predictor = load(
            model,
            provider=provider,
            fit=fit,
            resolution=resolution,
            threads=threads,
            kind=kind,
            normalization=normalization,
            family=family,
            allow_license=allow_license,
            progress=progress != "json",
            announce=reporter.note,
            frame_size=size,
        )
        refuse_idle(command, of_batches(predictor.contract))
        if as_ == "depth-m" and predictor.contract.kind is DepthKind.DEPTH_M:
            refuse_idle(command, of_metres(predictor.contract))
        return predictor

    maker = DepthFilms(
        plan,
        Loader(load_for, resolution),
        as_=as_,
        colormap=colormap,
        side_by_side=side_by_side,
        reading=reading,
        working=Working(SteadySettings(stabilize, live, every), batch, focal_px, fov),
        coding=Coding(codec, hardware, crf, preset, parse_bit_rate(bitrate), not no_tracks),
        resume=resume,
    )
    for text in plan.notes:
        reporter.note(text)
    return run_films(plan.jobs, maker.make, reporter, reading.spans if report else None)
