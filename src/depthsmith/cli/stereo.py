"""``depthsmith stereo``: photos and films in, pictures and films for two eyes out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Optional

import typer

from depthsmith.cli.film_progress import Reporter
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
    MaxPixels,
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
PartChoice = Literal["frame", "keys", "10s"]
HdrChoice = Literal["keep", "tonemap"]


def stereo(
    command: typer.Context,
    inputs: Annotated[
        list[Path],
        typer.Argument(metavar="PHOTO|FILM|DIR", help="Photos, films, and folders of them."),
    ],
    *,
    output: Annotated[
        Optional[str],  # noqa: UP045 - typer evaluates it on Python 3.10 too
        typer.Option(
            "--output",
            "-o",
            metavar="FILE|DIR",
            help="A file, or a folder; by default beside each input, under a name by which "
            "players know the format (NAME_LRF_Full_SBS.jpg).",
        ),
    ] = None,
    layout: Annotated[
        Optional[LayoutChoice],  # noqa: UP045
        typer.Option(
            "--format",
            "--layout",
            "-f",
            help="How the two views are laid out, sbs by default; of photos -o's suffix tells "
            "(.mpo; .gif and .mp4 are wiggles). See docs/stereo.md.",
        ),
    ] = None,
    file_type: Annotated[
        Optional[FileTypeChoice],  # noqa: UP045
        typer.Option(
            "--file-type",
            help="By default that of -o's suffix, else jpg; png for interlaced and rgbd, gif "
            "for wiggle. Films are mp4, mov or mkv by -o's suffix, mp4 by default.",
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
    preview_of: Annotated[
        PartChoice,
        typer.Option(
            "--preview-of",
            help="Of films: one frame, key frames in one picture, or ten seconds (.mp4).",
        ),
    ] = "frame",
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
    hdr: Annotated[
        HdrChoice,
        typer.Option(
            "--hdr",
            help="Of films. keep: HDR stays HDR, in 10 bits (hevc), where the format shows the "
            "picture's own colours; tonemap: never.",
        ),
    ] = "keep",
    stabilize: Stabilize = "quality",
    live: Live = False,
    every: Every = 1,
    batch: Batch = 1,
    start: Start = None,
    duration: Duration = None,
    segment: Segment = None,
    codec: Codec = None,
    crf: Crf = None,
    preset: Preset = None,
    bitrate: BitRate = None,
    hardware: Hardware = "off",
    no_tracks: NoTracks = False,
    resume: Resume = False,
    strict: Strict = False,
    progress: ProgressWay = "auto",
) -> int:
    """Make 3D pictures and films of photos and films.

    Writes what two eyes would see, side by side or in another format, under a name by which
    players know it. Films say it in their tags too, and keep their times and tracks. Prints the
    path of each file. What cannot be read does not stop the rest: it is reported at the end.
    """
    import os

    from depthsmith.cli.idle import refuse_idle
    from depthsmith.cli.stereo_idle import Context
    from depthsmith.cli.stereo_wishes import Network, Wishes, make_films, make_photos
    from depthsmith.depth.temporal import SteadySettings
    from depthsmith.errors import UsageError
    from depthsmith.media.folder import split_by_kind
    from depthsmith.pipeline import Wanted
    from depthsmith.plan import PICTURE_SUFFIXES, file_or_folder
    from depthsmith.stereo_files import format_of
    from depthsmith.video.coding import Coding
    from depthsmith.video.make import Reading
    from depthsmith.video.network_depth import Working
    from depthsmith.video.spans import parse_bit_rate, parse_spans

    if preview is not None and layout not in (None, preview):
        raise UsageError(f"--preview shows {preview}; leave out --format {layout}")
    if contact_sheet is not None and contact_sheet.suffix.lower() not in PICTURE_SUFFIXES:
        raise UsageError(f"a contact sheet cannot be written as {contact_sheet.name!r}")
    Wanted(focal_px=focal_px, fov_deg=fov)  # raises if the two contradict each other
    photos, films = split_by_kind(inputs, recursive)
    file = file_or_folder(output)[0]
    context = Context(
        photos=bool(photos),
        films=bool(films),
        shown=preview or layout or (format_of(file, file_type) if photos else "sbs"),
        preview=preview is not None,
        stills=preview_of != "10s",
        depth=depth is not None,
        sheet=contact_sheet is not None,
        flat_fov=flat_fov is not None,
    )
    refuse_idle(command, context.idle())
    network = Network(
        command,
        model,
        provider,
        fit,
        resolution,
        threads,
        kind,
        normalization,
        family,
        allow_license,
    )
    wishes = Wishes(
        output, layout, strength, max_disparity, eye_distance_mm, convergence, eyes, swap, border,
        fill, align, flat_fov, vr_side, preview, contact_sheet, depth, depth_polarity, focal_px,
        fov, network, recursive, skip_existing, threads or os.cpu_count() or 1,
    )  # fmt: skip
    reading = Reading(parse_spans(start, duration, segment or ()), strict, allow_truncated)
    working = Working(SteadySettings(stabilize, live, every), batch, focal_px, fov)
    coding = Coding(codec, hardware, crf, preset, parse_bit_rate(bitrate), not no_tracks)
    reporter = Reporter(progress)
    if photos and films and contact_sheet is not None:
        raise UsageError("a contact sheet is of photos or of films; make one after the other")
    if photos and films and file:
        raise UsageError(f"-o {file} names one file for photos and films; name a folder")
    statuses = []
    if photos:
        statuses.append(
            make_photos(
                photos, wishes, context, file_type=file_type, max_pixels=max_pixels or None,
                allow_truncated=allow_truncated, reporter=reporter,
            )
        )  # fmt: skip
    if films:
        statuses.append(
            make_films(
                films, wishes, reading=reading, working=working, coding=coding, hdr=hdr,
                resume=resume, preview_of=preview_of, reporter=reporter,
            )
        )  # fmt: skip
    return next((status for status in statuses if status), 0)
