"""``depthsmith video``: films in, depth films out."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Optional

import typer

from depthsmith.cli import console
from depthsmith.cli.film_progress import ProgressChoice, Reporter, clock
from depthsmith.cli.options import (
    AllowLicense,
    Family,
    Kind,
    Model,
    Normalization,
    Provider,
    Threads,
)

if TYPE_CHECKING:
    from depthsmith.pipeline import Predictor
    from depthsmith.types import Size
    from depthsmith.video.depth_films import DepthFilms
    from depthsmith.video.make import Made
    from depthsmith.video.plan import FilmJob

FormatChoice = Literal["mp4", "mov", "mkv", "png16", "exr", "npz"]
CodecChoice = Literal["h264", "hevc", "ffv1", "av1"]
HardwareChoice = Literal["off", "auto", "nvenc", "qsv", "videotoolbox", "vaapi", "amf"]
SteadyChoice = Literal["off", "fast", "quality"]
AsChoice = Literal["near", "inverse-depth", "depth", "depth-m"]
FitChoice = Literal["official", "letterbox", "stretch"]
ColormapChoice = Literal[
    "gray", "inferno", "magma", "plasma", "viridis", "turbo", "jet", "bone", "spectral"
]


def video(
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
    codec: Annotated[
        Optional[CodecChoice],  # noqa: UP045
        typer.Option(
            "--codec",
            help="h264: 8 bits, plays everywhere (default); hevc: 10 bits; ffv1: 16 bits, "
            "lossless, in mkv; av1: 10 bits.",
        ),
    ] = None,
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
    stabilize: Annotated[
        SteadyChoice,
        typer.Option(
            "--stabilize",
            help="quality follows motion; fast follows the camera only; off leaves each frame "
            "as the network gave it, in one range for each shot.",
        ),
    ] = "quality",
    live: Annotated[
        bool, typer.Option("--live", help="Never look ahead: as it would be on a live picture.")
    ] = False,
    every: Annotated[
        int,
        typer.Option(
            "--every",
            min=1,
            max=12,
            metavar="N",
            help="Run the network on every Nth frame, and carry depth along the motion between.",
        ),
    ] = 1,
    batch: Annotated[
        int,
        typer.Option("--batch", min=1, metavar="N", help="Frames that the network takes at once."),
    ] = 1,
    fit: Annotated[
        Optional[FitChoice],  # noqa: UP045
        typer.Option(
            "--fit",
            help="official: the size that the model's authors choose, shrunk by area; "
            "letterbox: keep the aspect ratio and pad; stretch.",
        ),
    ] = None,
    resolution: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(
            "--resolution",
            min=14,
            metavar="N",
            help="Side of the network's input in pixels (V1, V2: the shorter; DA3: the longer "
            "one); smaller is faster. By default the model's own (518 or 504).",
        ),
    ] = None,
    start: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--start", metavar="TIME", help="Begin here: seconds, M:SS or H:MM:SS."),
    ] = None,
    duration: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--duration", metavar="TIME", help="Take so much."),
    ] = None,
    segment: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            "--segment", metavar="A-B", help="A part, as 1:00-2:00; may be given several times."
        ),
    ] = None,
    crf: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option("--crf", min=0, max=63, metavar="N", help="Quality; smaller is better."),
    ] = None,
    preset: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--preset", metavar="NAME", help="The encoder's own, as veryfast or slow."),
    ] = None,
    bitrate: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--bitrate", metavar="RATE", help="Instead of --crf: 8M, 500k."),
    ] = None,
    hardware: Annotated[
        HardwareChoice,
        typer.Option(
            "--hardware",
            help="Encode on hardware: auto takes what opens, a name that does not is an error.",
        ),
    ] = "off",
    no_tracks: Annotated[
        bool,
        typer.Option("--no-tracks", help="Leave out audio, subtitles, chapters, attachments."),
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue what a stopped run has left.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at a damaged frame; by default it is skipped.")
    ] = False,
    allow_truncated: Annotated[
        bool, typer.Option("--allow-truncated", help="Take what there is of a truncated film.")
    ] = False,
    report: Annotated[
        bool,
        typer.Option("--report", help="Measure how steady the result is (depthsmith flicker)."),
    ] = False,
    focal_px: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(
            "--focal-px", metavar="PX", help="Focal length in pixels of the film, for metres."
        ),
    ] = None,
    fov: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(
            "--fov", metavar="DEG", help="Horizontal field of view instead of --focal-px."
        ),
    ] = None,
    provider: Provider = "auto",
    threads: Threads = None,
    recursive: Annotated[
        bool, typer.Option("--recursive", "-r", help="Look into the folders of folders.")
    ] = False,
    skip_existing: Annotated[
        bool, typer.Option("--skip-existing", help="Leave out films that have their output.")
    ] = False,
    progress: Annotated[
        ProgressChoice,
        typer.Option("--progress", help="json: a line for each event on standard error."),
    ] = "auto",
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
    from depthsmith.depth.temporal import SteadySettings
    from depthsmith.pipeline import Wanted
    from depthsmith.video.coding import Coding, Loader
    from depthsmith.video.depth_films import DepthFilms
    from depthsmith.video.make import Reading
    from depthsmith.video.network_depth import Working
    from depthsmith.video.plan import plan_films
    from depthsmith.video.spans import parse_bit_rate, parse_spans

    reporter = Reporter(progress)
    Wanted(as_, "exact", focal_px, fov)  # raises if the two contradict each other
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
        return load(
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
    return _run(maker, reporter, report)


def _run(maker: DepthFilms, reporter: Reporter, report: bool) -> int:
    """Every job; returns the exit code of the first that failed."""
    from depthsmith.errors import DepthsmithError, InputError, ModelError, UsageError

    jobs = maker.plan.jobs
    failures: list[DepthsmithError] = []
    try:
        for job in jobs:
            try:
                make_one(maker, job, reporter, report)
            except ModelError:
                raise  # every film would fail in the same way
            except (InputError, UsageError) as error:
                if len(jobs) == 1:
                    raise
                failures.append(error)
    finally:  # also when the rest is given up
        for failure in failures:
            console.error(str(failure))
    if not failures:
        return 0
    console.error(f"{len(failures)} of {len(jobs)} films failed")
    return failures[0].exit_code


def make_one(maker: DepthFilms, job: FilmJob, reporter: Reporter, report: bool) -> None:
    """One film: made, told of, and measured if that is wanted."""
    begun = time.monotonic()
    with reporter.film(job.film) as told:
        try:
            made = maker.make(job, told)
        except KeyboardInterrupt:
            reporter.note("stopped; continue with --resume", job.film)
            raise
    for text in made.notes:
        reporter.note(text, job.film)
    seconds = time.monotonic() - begun
    reporter.note(summary(made, seconds), job.film)
    written = made.written
    reporter.event(
        "done", film=str(job.film), output=str(written.path), frames=written.frames,
        shots=made.shots, skipped=made.skipped, seconds=round(seconds, 2),
        resumed_at=made.resumed_at, copied=written.copied, converted=written.converted,
        dropped=written.dropped,
    )  # fmt: skip
    console.say(str(written.path))
    if report:
        from depthsmith.video.flicker import measure

        found = measure(written.path, job.film, spans=maker.reading.spans)
        reporter.flicker(found, job.film)


def summary(made: Made, seconds: float) -> str:
    """One line about what was made."""
    written = made.written
    count = written.frames - made.resumed_at
    text = f"{written.frames} frames, {float(written.duration):.2f} s of film"
    if made.resumed_at:
        text += f", continued at frame {made.resumed_at}"
    text += f", in {clock(seconds)} ({count / max(seconds, 1e-9):.2f} fps)"
    if made.skipped:
        text += f"; {made.skipped} damaged frames skipped"
    for what in ("copied", "converted", "dropped"):
        if getattr(written, what):
            text += f"; {what} {', '.join(getattr(written, what))}"
    return text
