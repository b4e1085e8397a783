"""``depthsmith depth``: photos in, depth maps out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Optional

import typer

from depthsmith.cli import console
from depthsmith.cli.options import (
    AllowLicense,
    AllowTruncated,
    Family,
    Fit,
    FocalPx,
    Fov,
    Kind,
    MaxPixels,
    Model,
    Normalization,
    Provider,
    Recursive,
    Resolution,
    SkipExisting,
    Threads,
)
from depthsmith.cli.photos import Done, run_photos

FormatChoice = Literal["png16", "png8", "npy", "npz", "exr", "pfm", "tiff"]
AsChoice = Literal["near", "inverse-depth", "depth", "depth-m", "raw"]
ColormapChoice = Literal[
    "gray", "inferno", "magma", "plasma", "viridis", "turbo", "jet", "bone", "spectral"
]


def depth(
    command: typer.Context,
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
    fit: Fit = None,
    resolution: Resolution = None,
    focal_px: FocalPx = None,
    fov: Fov = None,
    provider: Provider = "auto",
    threads: Threads = None,
    recursive: Recursive = False,
    skip_existing: SkipExisting = False,
    allow_license: AllowLicense = None,
    kind: Kind = None,
    normalization: Normalization = None,
    family: Family = None,
    max_pixels: MaxPixels = 200_000_000,
    allow_truncated: AllowTruncated = False,
) -> int:
    """Make depth maps of photos.

    Writes a 16-bit PNG in which near is bright, or another format. Prints the path of each
    file. A photo that cannot be read does not stop the rest: it is reported at the end.
    """
    from depthsmith.api import load
    from depthsmith.cli.idle import of_metres, of_scale, refuse_idle
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
    refuse_idle(command, of_scale(wanted.as_))
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
    maker = Maker(plan, predictor, wanted, look, reading)
    refuse_idle(command, of_metres(predictor.contract))
    jobs = plan.jobs

    def make(number: int) -> Done:
        return Done((jobs[number].target,), maker.make(jobs[number]))

    return run_photos([job.photo for job in jobs], make)
