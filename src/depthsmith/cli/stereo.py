"""``depthsmith stereo``: photos in, 3D pictures for two eyes out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Optional

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

if TYPE_CHECKING:
    from depthsmith.stereo_files import Depth

LayoutChoice = Literal[
    "sbs", "half-sbs", "tb", "half-tb", "cross-eyed", "anaglyph", "anaglyph-color",
    "anaglyph-half-color", "anaglyph-gray", "anaglyph-dubois", "interlaced", "vr180",
    "fisheye180", "left-right", "mpo", "rgbd", "wiggle",
]  # fmt: skip
FileTypeChoice = Literal["jpg", "png", "webp", "mpo", "gif", "mp4"]
EyesChoice = Literal["both", "left", "right"]
BorderChoice = Literal["scale", "crop", "replicate", "floating-window"]
FillChoice = Literal["smooth", "repeat", "soft_shift", "inverse_warp"]
AlignChoice = Literal["auto", "always", "never"]
PolarityChoice = Literal["near-bright", "far-bright"]
PreviewChoice = Literal["anaglyph", "wiggle"]

_PREVIEW_PX = 960


def stereo(
    inputs: Annotated[
        list[Path], typer.Argument(metavar="PHOTO|DIR", help="Photos, and folders of photos.")
    ],
    *,
    output: Annotated[
        Optional[str],  # noqa: UP045 - typer evaluates it on Python 3.10 too
        typer.Option(
            "--output",
            "-o",
            metavar="FILE|DIR",
            help="A file, or a folder; by default beside each photo, under a name by which "
            "players know the format (NAME_LRF_Full_SBS.jpg).",
        ),
    ] = None,
    layout: Annotated[
        Optional[LayoutChoice],  # noqa: UP045
        typer.Option(
            "--format",
            "--layout",
            "-f",
            help="How the two views are laid out, sbs by default; see docs/stereo.md.",
        ),
    ] = None,
    file_type: Annotated[
        Optional[FileTypeChoice],  # noqa: UP045
        typer.Option(
            "--file-type",
            help="By default that of -o's suffix, else jpg; png for interlaced and rgbd, gif "
            "for wiggle.",
        ),
    ] = None,
    strength: Annotated[
        float, typer.Option("--strength", metavar="N", help="Multiplies the depth; 0 is flat.")
    ] = 1.0,
    max_disparity: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(
            "--max-disparity",
            metavar="PERCENT",
            help="Of the width, between the nearest and the farthest point, at strength 1; 3 by "
            "default, or what is true to scale where metres and focal length are known.",
        ),
    ] = None,
    eye_distance_mm: Annotated[
        float, typer.Option("--eye-distance-mm", metavar="MM", help="Of the viewer.")
    ] = 63.0,
    convergence: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--convergence",
            metavar="N|auto",
            help="What lies in the plane of the screen, from 0 (the farthest point) to 1 (the "
            "nearest); auto: what the picture is about. By default 0.5, for headsets' half "
            "spheres 0.",
        ),
    ] = None,
    eyes: Annotated[
        EyesChoice,
        typer.Option(
            "--eyes", help="Whose view is made: both; or one, the other gets the photo as it is."
        ),
    ] = "both",
    swap: Annotated[bool, typer.Option("--swap", help="Exchange the two views.")] = False,
    border: Annotated[
        BorderChoice,
        typer.Option(
            "--border",
            help="At the sides, where one eye looks past the photo. scale: cut off and enlarge; "
            "crop: cut off; replicate: fill; floating-window: black, so that the frame comes "
            "forward.",
        ),
    ] = "scale",
    fill: Annotated[
        FillChoice,
        typer.Option(
            "--fill",
            help="What comes to light behind things. smooth: the background, averaged; repeat: "
            "its edge, repeated. soft_shift and inverse_warp are other names of these.",
        ),
    ] = "smooth",
    align: Annotated[
        AlignChoice,
        typer.Option(
            "--align", help="Put the edges of soft depth on those of the photo; auto: if soft."
        ),
    ] = "auto",
    flat_fov: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(
            "--flat-fov",
            metavar="DEG",
            help="For vr180 and fisheye180: horizontal field of view that the photo fills. By "
            "default that of its camera, else 70.",
        ),
    ] = None,
    vr_side: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(
            "--vr-side",
            min=64,
            metavar="PX",
            help="For them: side of one eye's picture; by default the photo's own resolution, "
            "up to 8192.",
        ),
    ] = None,
    preview: Annotated[
        Optional[PreviewChoice],  # noqa: UP045
        typer.Option(
            "--preview",
            help="Only the first photo, small: for red-cyan glasses (NAME_preview.jpg), or to "
            "and fro (NAME_preview.gif).",
        ),
    ] = None,
    contact_sheet: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            "--contact-sheet",
            metavar="FILE",
            help="Also write one picture of all: photo, depth, and for red-cyan glasses.",
        ),
    ] = None,
    depth: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            "--depth",
            metavar="FILE|DIR",
            help="A depth map made before, instead of a model; of a folder NAME_depth.* or "
            "NAME.* for the photo NAME.",
        ),
    ] = None,
    depth_polarity: Annotated[
        Optional[PolarityChoice],  # noqa: UP045
        typer.Option(
            "--depth-polarity",
            help="What larger values of a depth map mean that does not say it itself; "
            "near-bright for pictures.",
        ),
    ] = None,
    model: Model = "auto",
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
    """Make 3D pictures of photos.

    Writes what two eyes would see, side by side or in another format, under a name by which
    players know it. Prints the path of each file. A photo that cannot be read does not stop
    the rest: it is reported at the end.
    """
    import os

    from depthsmith.api import load
    from depthsmith.errors import UsageError
    from depthsmith.media.folder import is_film
    from depthsmith.pipeline import Wanted
    from depthsmith.stereo import SPHERES, StereoSettings
    from depthsmith.stereo_files import (
        FileDepth,
        Look,
        Maker,
        NetworkDepth,
        StereoSheet,
        check_beside,
        plan_stereo,
    )

    films = [path for path in inputs if is_film(path)]
    if films:
        raise UsageError(f"{films[0]} is a film; photos are what can be made 3D here")
    if preview is not None and layout not in (None, preview):
        raise UsageError(f"--preview shows {preview}; leave out --format {layout}")
    plan = plan_stereo(
        inputs,
        output=output,
        format=preview or layout,
        file_type=file_type,
        preview=preview is not None,
        recursive=recursive,
        skip_existing=skip_existing,
    )
    check_beside(plan, contact_sheet, depth)
    settings = StereoSettings(
        strength=strength,
        eye_distance_mm=eye_distance_mm,
        max_disparity=max_disparity,
        convergence=_convergence(convergence, 0.0 if plan.format in SPHERES else 0.5),
        eyes=eyes,
        swap=swap,
    )
    look = Look(
        plan.format, settings, border, fill, align, flat_fov, vr_side,
        threads or os.cpu_count() or 1,
    )  # fmt: skip
    wanted = Wanted(focal_px=focal_px, fov_deg=fov)
    for text in plan.notes:
        console.note(text)
    if not plan.jobs:
        return 0
    source: Depth
    if depth is not None:
        if not depth.is_dir() and len(plan.jobs) > 1:
            raise UsageError(f"--depth {depth} is for one photo; name a folder for several")
        source, name = FileDepth(depth, depth_polarity), str(depth)
    else:
        predictor = load(
            model, provider=provider, fit=fit, resolution=resolution, threads=threads,
            kind=kind, normalization=normalization, family=family, allow_license=allow_license,
            progress=True, announce=console.note,
        )  # fmt: skip
        source, name = NetworkDepth(predictor), predictor.contract.model
    sheet = StereoSheet()
    maker = Maker(
        plan, source, look, wanted, _PREVIEW_PX if preview else None, max_pixels or None,
        allow_truncated, sheet.observe if contact_sheet else lambda *shown: None,
    )  # fmt: skip
    jobs = plan.jobs

    def make(number: int) -> Done:
        notes = maker.make(jobs[number])
        return Done(jobs[number].targets, notes)

    status = run_photos([job.photo for job in jobs], make)
    if contact_sheet is not None and sheet.write(contact_sheet, name):
        console.say(str(contact_sheet))
    return status


def _convergence(text: str | None, default: float) -> float | Literal["auto"]:
    """``auto`` or a number."""
    from depthsmith.errors import UsageError

    if text is None:
        return default
    if text == "auto":
        return "auto"
    try:
        return float(text)
    except ValueError as error:
        raise UsageError(
            f"--convergence is a number from 0 to 1, or auto, not {text!r}"
        ) from error
