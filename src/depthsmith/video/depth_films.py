"""Films in, depth films out: what the command ``video`` does with each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

from depthsmith.atomic import writing
from depthsmith.depth.convert import Target
from depthsmith.depth.sizes import Frames
from depthsmith.errors import UsageError
from depthsmith.film import FilmInfo
from depthsmith.media.film.encoding import (
    Codec,
    Encoding,
    Hardware,
    check_size,
    choose_encoding,
)
from depthsmith.media.film.film_sink import open_film
from depthsmith.media.film.probe import probe
from depthsmith.media.film.sequence import SequenceFormat, open_sequence
from depthsmith.media.film.sink import Sink
from depthsmith.pipeline import Predictor
from depthsmith.types import DepthKind, Size
from depthsmith.video.key import job_key
from depthsmith.video.make import SEGMENT_FRAMES, Made, Progress, Reading, make
from depthsmith.video.network_depth import NetworkDepth, Working
from depthsmith.video.painters import DepthPainter, LookPainter, Painter
from depthsmith.video.plan import SEQUENCES, FilmJob, FilmPlan

_KINDS: dict[Target, DepthKind] = {
    "near": DepthKind.NEAR,
    "inverse-depth": DepthKind.INVERSE_DEPTH,
    "depth": DepthKind.DEPTH,
    "depth-m": DepthKind.DEPTH_M,
}


@dataclass(frozen=True)
class Coding:
    """How video is encoded; see `depthsmith.media.film.encoding.choose_encoding`."""

    codec: Codec | None = None
    hardware: Hardware = "off"
    crf: int | None = None
    preset: str | None = None
    bit_rate: int | None = None
    keep_tracks: bool = True

    def given(self) -> str | None:
        """Name of an option that was given, or None."""
        names = {"codec": "--codec", "crf": "--crf", "preset": "--preset", "bit_rate": "--bitrate"}
        return next(
            (text for name, text in names.items() if getattr(self, name) is not None), None
        )


@dataclass
class Loader:
    """Predictors for films, one for each size of the network's input.

    Attributes:
        load: makes one for films of a size.
        resolution: as the predictors have it.
    """

    load: Callable[[Size], Predictor]
    resolution: int | None = None
    _made: dict[str, Predictor] = field(default_factory=dict)

    def of(self, size: Size) -> Predictor:
        key = Frames(size, self.resolution).key
        if key not in self._made:
            self._made = {key: self.load(size)}  # the last one: they take memory
        return self._made[key]


@dataclass(frozen=True)
class DepthFilms:
    """Does the jobs of a plan.

    Attributes:
        plan: see `FilmPlan`.
        loader: of the network.
        painter: what is shown.
        as_: what values mean, for ``exr`` and ``npz``.
        reading, working, coding: see there.
        resume: continue what an earlier run has left.

    Raises:
        UsageError: for options that contradict each other.
    """

    plan: FilmPlan
    loader: Loader
    as_: Target = "near"
    colormap: str | None = None
    side_by_side: bool = False
    reading: Reading = Reading()  # noqa: RUF009
    working: Working = Working()  # noqa: RUF009 - frozen
    coding: Coding = Coding()
    resume: bool = False

    def __post_init__(self) -> None:
        looks = self.colormap is not None or self.side_by_side
        sequence = self.plan.format in SEQUENCES
        if looks and sequence:
            raise UsageError(
                f"--colormap and --side-by-side make films to look at, not {self.plan.format}; "
                "use --format mp4"
            )
        if self.as_ != "near" and self.plan.format not in ("exr", "npz"):
            raise UsageError(f"--as {self.as_} needs numbers of any size; use --format exr or npz")
        if sequence and self.coding.given():
            raise UsageError(f"{self.coding.given()} is for video, not {self.plan.format}")

    def make(self, job: FilmJob, progress: Progress) -> Made:
        """Do one ``job``; see `depthsmith.video.make.make`."""
        film = probe(job.film)
        predictor = self.loader.of(film.size)
        source = NetworkDepth(predictor, self.working, self.as_)
        painter = self._painter()
        if self.plan.folder is not None:
            with writing(job.target):
                job.target.parent.mkdir(parents=True, exist_ok=True)
        sink = self._sink(job, film, predictor, painter, source.working)
        return make(film, sink, source, painter, reading=self.reading, progress=progress)

    def _painter(self) -> Painter:
        if self.colormap is not None or self.side_by_side:
            return LookPainter(self.colormap, self.side_by_side)
        return DepthPainter(_KINDS[self.as_])

    def _sink(
        self,
        job: FilmJob,
        film: FilmInfo,
        predictor: Predictor,
        painter: Painter,
        working: Working,
    ) -> Sink:
        size = painter.size_of(film.size)
        spans = self.reading.spans
        settings = (spans, self.reading.strict, working, painter, SEGMENT_FRAMES)
        if self.plan.format in SEQUENCES:
            format = cast("SequenceFormat", self.plan.format)
            key = job_key(job.film, predictor, settings, format)
            return open_sequence(
                job.target, film, format, _KINDS[self.as_], size,
                key=key, resume=self.resume, spans=spans, model=predictor.contract.model,
            )  # fmt: skip
        encoding = self._encoding(job, film, painter)
        check_size(encoding, size)
        key = job_key(job.film, predictor, settings, encoding, self.coding.keep_tracks)
        return open_film(
            job.target, film, encoding, size,
            key=key, resume=self.resume, spans=spans, keep_tracks=self.coding.keep_tracks,
        )  # fmt: skip

    def _encoding(self, job: FilmJob, film: FilmInfo, painter: Painter) -> Encoding:
        coding = self.coding
        return choose_encoding(
            job.target, painter.content,
            codec=coding.codec, hardware=coding.hardware, crf=coding.crf, preset=coding.preset,
            bit_rate=coding.bit_rate, info=film,
        )  # fmt: skip
