"""Films in, depth films out: what the command ``video`` does with each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from depthsmith.atomic import writing
from depthsmith.depth.convert import Target
from depthsmith.errors import UsageError
from depthsmith.film import FilmInfo
from depthsmith.media.film.probe import probe
from depthsmith.media.film.sequence import SequenceFormat, open_sequence
from depthsmith.media.film.sink import Sink
from depthsmith.types import DepthKind
from depthsmith.video.coding import Coding, Loader, settings_key, video_sink
from depthsmith.video.make import Made, Progress, Reading, make
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
    coding: Coding = Coding()  # noqa: RUF009
    resume: bool = False

    def __post_init__(self) -> None:
        if self.as_ not in _KINDS:
            raise UsageError(f"films are made as {', '.join(_KINDS)}, not {self.as_!r}")
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
        sink = self._sink(job, film, source, painter)
        return make(film, sink, source, painter, reading=self.reading, progress=progress)

    def _painter(self) -> Painter:
        if self.colormap is not None or self.side_by_side:
            return LookPainter(self.colormap, self.side_by_side)
        return DepthPainter(_KINDS[self.as_])

    def _sink(self, job: FilmJob, film: FilmInfo, source: NetworkDepth, painter: Painter) -> Sink:
        if self.plan.format not in SEQUENCES:
            return video_sink(
                job, film, source, painter,
                reading=self.reading, coding=self.coding, resume=self.resume,
            )  # fmt: skip
        format = cast("SequenceFormat", self.plan.format)
        key = settings_key(job, source, painter, self.reading)
        return open_sequence(
            job.target, film, format, _KINDS[self.as_], painter.size_of(film.size),
            key=f"{key} {format}", resume=self.resume, spans=self.reading.spans,
            model=source.predictor.contract.model,
        )  # fmt: skip
