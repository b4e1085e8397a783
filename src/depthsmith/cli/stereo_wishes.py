"""What ``depthsmith stereo`` was asked for, and how photos and films are made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from depthsmith.cli import console
from depthsmith.cli.film_progress import Reporter
from depthsmith.cli.films import run_films
from depthsmith.cli.idle import of_batches, refuse_idle
from depthsmith.cli.photos import Done, run_photos

if TYPE_CHECKING:
    import typer

    from depthsmith.cli.stereo_idle import Context
    from depthsmith.depth.fit import Method
    from depthsmith.pipeline import Predictor
    from depthsmith.stereo import Align, Border, Eyes, StereoSettings
    from depthsmith.stereo_files import Depth, Look
    from depthsmith.types import Size
    from depthsmith.video.coding import Coding
    from depthsmith.video.make import Reading
    from depthsmith.video.network_depth import Working
    from depthsmith.video.preview import Part
    from depthsmith.video.stereo_films import Hdr

_PREVIEW_PX = 960
_SHEET_FRAMES = 6


@dataclass(frozen=True)
class Network:
    """Options of `depthsmith.load`, and the command that they were given to."""

    command: typer.Context
    model: str
    provider: str
    fit: Method | None
    resolution: int | None
    threads: int | None
    kind: str | None
    normalization: str | None
    family: str | None
    allow_license: str | None

    def load(self, reporter: Reporter, frame_size: Size | None = None) -> Predictor:
        from depthsmith.api import load

        predictor = load(
            self.model, provider=self.provider, fit=self.fit, resolution=self.resolution,
            threads=self.threads, kind=self.kind, normalization=self.normalization,
            family=self.family, allow_license=self.allow_license,
            progress=reporter.way != "json", announce=reporter.note, frame_size=frame_size,
        )  # fmt: skip
        if frame_size is not None:
            refuse_idle(self.command, of_batches(predictor.contract))
        return predictor


@dataclass(frozen=True)
class Wishes:
    """What photos and films have in common; the options' own names."""

    output: str | None
    format: str | None
    strength: float
    max_disparity: float | None
    eye_distance_mm: float
    convergence: str | None
    eyes: Eyes
    swap: bool
    border: Border
    fill: str
    align: Align
    flat_fov: float | None
    vr_side: int | None
    preview: Literal["anaglyph", "wiggle"] | None
    contact_sheet: Path | None
    depth: Path | None
    depth_polarity: Literal["near-bright", "far-bright"] | None
    focal_px: float | None
    fov: float | None
    network: Network
    recursive: bool
    skip_existing: bool
    workers: int

    def settings(self, format: str) -> StereoSettings:
        """How deep. In a headset no disparity is infinity, so nothing may be behind it."""
        from depthsmith.stereo import SPHERES, StereoSettings

        return StereoSettings(
            strength=self.strength,
            eye_distance_mm=self.eye_distance_mm,
            max_disparity=self.max_disparity,
            convergence=_convergence(self.convergence, 0.0 if format in SPHERES else 0.5),
            eyes=self.eyes,
            swap=self.swap,
        )

    def look(self, format: str) -> Look:
        """Of photos."""
        from depthsmith.stereo_files import Look

        return Look(
            format, self.settings(format), self.border, self.fill, self.align, self.flat_fov,
            self.vr_side, self.workers,
        )  # fmt: skip


def make_photos(
    photos: Sequence[Path],
    wishes: Wishes,
    context: Context,
    *,
    file_type: str | None,
    max_pixels: int | None,
    allow_truncated: bool,
    reporter: Reporter,
) -> int:
    """3D pictures of photos; returns the exit code."""
    from depthsmith.errors import UsageError
    from depthsmith.pipeline import Wanted
    from depthsmith.stereo_files import (
        FileDepth,
        Maker,
        NetworkDepth,
        StereoSheet,
        check_beside,
        plan_stereo,
    )

    preview, sheet_file = wishes.preview, wishes.contact_sheet
    plan = plan_stereo(
        photos,
        output=wishes.output,
        format=preview or wishes.format,
        file_type=file_type,
        preview=preview is not None,
        recursive=wishes.recursive,
        skip_existing=wishes.skip_existing,
    )
    check_beside(plan, sheet_file, wishes.depth)
    look = wishes.look(plan.format)
    wanted = Wanted(focal_px=wishes.focal_px, fov_deg=wishes.fov)
    for text in plan.notes:
        reporter.note(text)
    if not plan.jobs:
        return 0
    source: Depth
    if wishes.depth is not None:
        if not wishes.depth.is_dir() and len(plan.jobs) > 1:
            raise UsageError(f"--depth {wishes.depth} is for one photo; name a folder for several")
        source, name = FileDepth(wishes.depth, wishes.depth_polarity), str(wishes.depth)
    else:
        predictor = wishes.network.load(reporter)
        refuse_idle(wishes.network.command, context.idle_of_network(predictor.contract.kind))
        source, name = NetworkDepth(predictor), predictor.contract.model
    sheet = StereoSheet()
    maker = Maker(
        plan, source, look, wanted, _PREVIEW_PX if preview else None, max_pixels,
        allow_truncated, sheet.observe if sheet_file else lambda *shown: None,
    )  # fmt: skip
    jobs = plan.jobs

    def make(number: int) -> Done:
        notes = maker.make(jobs[number])
        return Done(jobs[number].targets, notes)

    status = run_photos([job.photo for job in jobs], make)
    if sheet_file is not None and sheet.write(sheet_file, name):
        console.say(str(sheet_file))
    return status


def make_films(
    films: Sequence[Path],
    wishes: Wishes,
    *,
    reading: Reading,
    working: Working,
    coding: Coding,
    hdr: Hdr,
    resume: bool,
    preview_of: Part,
    reporter: Reporter,
) -> int:
    """Films for two eyes; returns the exit code."""
    from depthsmith.errors import UsageError
    from depthsmith.stereo.names import ENDINGS, EYE_ENDINGS
    from depthsmith.video.coding import Loader
    from depthsmith.video.plan import plan_films
    from depthsmith.video.preview import FilmPreviews, default_suffix
    from depthsmith.video.stereo_films import FILM_FORMATS, FilmLook, StereoFilms

    format = wishes.format or "sbs"
    if wishes.preview is None and format not in FILM_FORMATS:
        raise UsageError(f"films cannot be made as {format}; use {', '.join(FILM_FORMATS)}")
    suffix = default_suffix(preview_of, wishes.preview) if wishes.preview else None
    plan = plan_films(
        films,
        output=wishes.output,
        format=None,
        default="mkv" if coding.codec == "ffv1" else "mp4",
        ending="_preview" if wishes.preview else ENDINGS[format],
        eyes=EYE_ENDINGS if format == "left-right" and not wishes.preview else ("",),
        suffix=suffix,
        recursive=wishes.recursive,
        skip_existing=wishes.skip_existing,
    )
    look = FilmLook(
        format, wishes.settings(format), wishes.border, wishes.fill, wishes.align,
        wishes.flat_fov, wishes.vr_side, hdr, wishes.workers,
    )  # fmt: skip
    loader = Loader(lambda size: wishes.network.load(reporter, size), wishes.network.resolution)
    maker = StereoFilms(
        plan, loader, look, wishes.depth, wishes.depth_polarity == "far-bright", reading, working,
        coding, resume,
    )  # fmt: skip
    for text in plan.notes:
        reporter.note(text)
    previews = FilmPreviews(
        maker, wishes.look(wishes.preview or format), preview_of, wishes.preview or "anaglyph"
    )
    if wishes.preview is not None:
        return run_films(plan.jobs, previews.make, reporter)
    if wishes.contact_sheet is not None:
        previews.check_sheet(wishes.contact_sheet)
    status = run_films(plan.jobs, maker.make, reporter)
    if wishes.contact_sheet is not None and previews.write_sheet(
        wishes.contact_sheet, _SHEET_FRAMES
    ):
        console.say(str(wishes.contact_sheet))
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
