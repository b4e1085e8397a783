"""Films in, films for two eyes out: what the command ``stereo`` does with films."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, get_args

from depthsmith.atomic import writing
from depthsmith.errors import InputError, UsageError
from depthsmith.film import FilmInfo
from depthsmith.media.film.marks import is_own_film
from depthsmith.media.film.probe import probe
from depthsmith.media.film.sequence import is_own_sequence
from depthsmith.media.folder import FILM_SUFFIXES
from depthsmith.stereo import Align, Border, StereoSettings
from depthsmith.video.coding import Coding, Loader, video_sink
from depthsmith.video.depth_frames import CHUNK_SUFFIX, MAP_SUFFIXES
from depthsmith.video.film_of_depth import FilmOfDepth
from depthsmith.video.frame_depth import DepthSource
from depthsmith.video.make import Made, Progress, Reading, make
from depthsmith.video.network_depth import NetworkDepth, Working
from depthsmith.video.plan import FilmJob, FilmPlan
from depthsmith.video.stereo_painter import DEEP_FORMATS, FilmFormat, StereoPainter

Hdr = Literal["keep", "tonemap"]

FILM_FORMATS: tuple[str, ...] = tuple(f for f in get_args(FilmFormat) if f != "wiggle")


@dataclass(frozen=True)
class FilmLook:
    """How films for two eyes look.

    Attributes:
        format: ``sbs``, ``half-sbs``, ``tb``, ``vr180``, ``anaglyph``, …: those of
            ``depthsmith stereo``, but ``mpo`` and ``wiggle``.
        settings: how deep, and who sees what.
        border, fill, align: see `render_pair`. With ``auto`` the edges of a network's depth are
            always put on the picture's.
        flat_fov_deg, vr_side: of ``vr180`` and ``fisheye180``: ``fov_deg`` and ``side`` of
            `Projector`.
        threads: that work on a frame.
        hdr: ``keep`` shows HDR films in HDR where the format can, ``tonemap`` never.
        longest: for previews, the longer side of a frame.
    """

    format: str = "sbs"
    settings: StereoSettings = field(default_factory=StereoSettings)
    border: Border = "scale"
    fill: str = "smooth"
    align: Align = "auto"
    flat_fov_deg: float | None = None
    vr_side: int | None = None
    hdr: Hdr = "keep"
    threads: int = 1
    longest: int | None = None

    def painter(self, film: FilmInfo, depth_is_soft: bool) -> StereoPainter:
        """For the frames of ``film``.

        Args:
            depth_is_soft: whether the depth comes from a network.
        """
        deep = film.color.hdr and self.hdr == "keep" and self.format in DEEP_FORMATS
        # Of a network all depth is soft; deciding it frame by frame could flicker.
        align = "always" if self.align == "auto" and depth_is_soft else self.align
        return StereoPainter(
            film.size, self.format, self.settings, border=self.border, fill=self.fill,
            align=align, fov_deg=self.flat_fov_deg, side=self.vr_side, deep=deep,
            threads=self.threads, longest=self.longest,
        )  # fmt: skip


@dataclass(frozen=True)
class StereoFilms:
    """Does the jobs of a plan.

    Attributes:
        plan: see `FilmPlan`.
        loader: of the network; not used with ``depth``.
        look: see `FilmLook`.
        depth: a depth film made before, or a folder with one for each film.
        far_is_bright: in that.
        reading, working, coding, resume: as for `DepthFilms`.
    """

    plan: FilmPlan
    loader: Loader
    look: FilmLook
    depth: Path | None = None
    far_is_bright: bool = False
    reading: Reading = Reading()  # noqa: RUF009 - frozen
    working: Working = Working()  # noqa: RUF009
    coding: Coding = Coding()  # noqa: RUF009
    resume: bool = False

    def __post_init__(self) -> None:
        if self.depth is not None and not self.depth.exists():
            raise InputError(f"the depth {self.depth} does not exist")
        if self.depth is not None and self.depth.is_file() and len(self.plan.jobs) > 1:
            raise UsageError(f"--depth {self.depth} is for one film; name a folder for several")
        for job in self.plan.jobs:
            self._check_depth(job)

    def make(self, job: FilmJob, progress: Progress) -> Made:
        """Do one ``job``; see `depthsmith.video.make.make`."""
        film = probe(job.film)
        source = self._source(job, film)
        painter = self._look(film).painter(film, depth_is_soft=isinstance(source, NetworkDepth))
        if self.plan.folder is not None:
            with writing(job.target):
                job.target.parent.mkdir(parents=True, exist_ok=True)
        sink = video_sink(
            job, film, source, painter,
            reading=self.reading, coding=self.coding, resume=self.resume,
            color=film.color if painter.deep else None, layout=painter.layout,
        )  # fmt: skip
        return make(film, sink, source, painter, reading=self.reading, progress=progress)

    def _look(self, film: FilmInfo) -> FilmLook:
        """In a half sphere as wide as the camera saw, where that is known."""
        focal_px = self.working.focal_of(film)
        if focal_px is None or self.look.flat_fov_deg is not None:
            return self.look
        fov_deg = math.degrees(2 * math.atan(film.size.width / 2 / focal_px))
        return replace(self.look, flat_fov_deg=fov_deg)

    def _check_depth(self, job: FilmJob) -> None:
        if self.depth is None:
            return
        try:
            depth = find_depth(self.depth, job.film)
        except InputError:  # it is said when it is that film's turn
            return
        for target in job.targets:
            if target.exists() and target.samefile(depth):
                raise UsageError(f"{target} is an input and would be overwritten; use another -o")
        if self.far_is_bright and (is_own_film(depth) or is_own_sequence(depth)):
            raise UsageError(
                f"{depth} was made by depthsmith, where near is bright; leave out "
                "--depth-polarity far-bright"
            )

    def _source(self, job: FilmJob, film: FilmInfo) -> DepthSource:
        if self.depth is None:
            return NetworkDepth(self.loader.of(film.size), self.working)
        path = find_depth(self.depth, job.film)
        source = FilmOfDepth(path, spans=self.reading.spans, inverted=self.far_is_bright)
        source.check(film)
        return source


def find_depth(depth: Path, film: Path) -> Path:
    """The depth of ``film``: ``depth`` itself, or what in that folder is called after the film.

    Raises:
        InputError: if a folder holds neither depth maps nor depth for that film.
    """
    if not depth.is_dir():
        return depth
    for name in (f"{film.name}_depth", f"{film.stem}_depth", film.stem):
        for path in sorted(depth.iterdir()):
            known = path.is_dir() or path.suffix.lower() in FILM_SUFFIXES
            if path.stem == name and known and not path.samefile(film):
                return path
    if any(path.suffix.lower() in (*MAP_SUFFIXES, CHUNK_SUFFIX) for path in depth.iterdir()):
        return depth  # the frames themselves
    raise InputError(f"{depth} holds no {film.stem}_depth.mp4 or other depth for {film.name}")
