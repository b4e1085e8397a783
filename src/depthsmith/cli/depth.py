"""``depthsmith depth``: photos in, depth maps out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Optional

import typer

from depthsmith.cli import console
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
    from depthsmith.depth_files import Maker

FormatChoice = Literal["png16", "png8", "npy", "npz", "exr", "pfm", "tiff"]
AsChoice = Literal["near", "inverse-depth", "depth", "depth-m", "raw"]
FitChoice = Literal["official", "letterbox", "stretch"]
ColormapChoice = Literal[
    "gray", "inferno", "magma", "plasma", "viridis", "turbo", "jet", "bone", "spectral"
]


def depth(
    images: Annotated[
        list[Path], typer.Argument(metavar="IMAGE|DIR", help="Photos, and folders of photos.")
    ],
    *,
    output: Annotated[
        Optional[str],  # noqa: UP045 - typer evaluates it on Python 3.10 too
        typer.Option(
            "--output",
            "-o",
            metavar="FILE|DIR",
            help="A file, or a folder; by default NAME_depth.png (colour "
            "pictures NAME_depth_color.png) beside each photo.",
        ),
    ] = None,
    model: Model = "auto",
    format: Annotated[
        Optional[FormatChoice],  # noqa: UP045
        typer.Option("--format", "-f", help="By default that of -o's suffix, else png16."),
    ] = None,
    as_: Annotated[
        Optional[AsChoice],  # noqa: UP045
        typer.Option(
            "--as",
            help="near (0 to 1, near is bright; the default for PNG), inverse-depth, depth, "
            "depth-m (metres), or raw (the network's own; the default for the other formats).",
        ),
    ] = None,
    robust: Annotated[
        bool,
        typer.Option("--robust", help="Let near reach from the 2nd to the 98th percentile."),
    ] = False,
    colormap: Annotated[
        Optional[ColormapChoice],  # noqa: UP045
        typer.Option("--colormap", help="An 8-bit colour picture, for looking at."),
    ] = None,
    side_by_side: Annotated[
        bool, typer.Option("--side-by-side", help="The photo and its depth in one picture.")
    ] = False,
    fit: Annotated[
        Optional[FitChoice],  # noqa: UP045
        typer.Option(
            "--fit",
            help="official: resize as the model's authors do (default for files of free size); "
            "letterbox: keep the aspect ratio and pad (default for fixed sizes); stretch.",
        ),
    ] = None,
    resolution: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(
            "--resolution",
            min=14,
            metavar="N",
            help="Side of the network's input in pixels; larger is finer and slower. "
            "By default the model's own (518 or 504).",
        ),
    ] = None,
    focal_px: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(
            "--focal-px", metavar="PX", help="Focal length in pixels of the photo, for metres."
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
        bool, typer.Option("--skip-existing", help="Leave out photos that have their output.")
    ] = False,
    allow_license: AllowLicense = None,
    kind: Kind = None,
    normalization: Normalization = None,
    family: Family = None,
    max_pixels: Annotated[
        int,
        typer.Option(
            "--max-pixels", min=0, metavar="N", help="Refuse larger pictures; 0 for no limit."
        ),
    ] = 200_000_000,
    allow_truncated: Annotated[
        bool, typer.Option("--allow-truncated", help="Take what there is of a truncated photo.")
    ] = False,
) -> int:
    """Make depth maps of photos.

    Writes a 16-bit PNG in which near is bright, or another format. Prints the path of each
    file. A photo that cannot be read does not stop the rest: it is reported at the end.
    """
    from depthsmith.api import load
    from depthsmith.depth_files import Look, Maker, Reading, default_meaning
    from depthsmith.pipeline import Wanted
    from depthsmith.plan import plan as plan_photos

    look = Look(colormap, side_by_side)
    plan = plan_photos(
        images,
        output=output,
        format=format,
        picture=look.picture,
        recursive=recursive,
        skip_existing=skip_existing,
    )
    wanted = Wanted(as_ or "raw", "robust" if robust else "exact", focal_px, fov)
    wanted = default_meaning(wanted, as_ is not None, plan, look)
    for text in plan.notes:
        console.note(text)
    if not plan.jobs:
        return 0
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
        progress=True,
        announce=console.note,
    )
    reading = Reading(max_pixels or None, allow_truncated)
    return _run(Maker(plan, predictor, wanted, look, reading))


def _run(maker: Maker) -> int:
    """Every job; returns the exit code of the first that failed."""
    from depthsmith.errors import DepthsmithError, InputError, ModelError, UsageError

    jobs = maker.plan.jobs
    failures: list[DepthsmithError] = []
    try:
        with console.progress(jobs[0].photo.name, len(jobs)) as advance:
            for job, next_job in zip(jobs, [*jobs[1:], None], strict=True):
                try:
                    notes = maker.make(job)
                except ModelError:
                    raise  # every photo would fail in the same way
                except (InputError, UsageError) as error:
                    if len(jobs) == 1:
                        raise
                    failures.append(error)
                else:
                    for text in notes:
                        console.note(f"{job.photo}: {text}")
                    console.say(str(job.target))
                advance(next_job.photo.name if next_job else "")
    finally:  # also when the rest is given up
        for failure in failures:
            console.error(str(failure))
    if not failures:
        return 0
    console.error(f"{len(failures)} of {len(jobs)} photos failed")
    return failures[0].exit_code
