"""What films share that are made of films: how they are encoded, and whose network they use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from depthsmith.depth.sizes import Frames
from depthsmith.film import ColorTags, FilmInfo, StereoLayout
from depthsmith.media.film.encoding import Codec, Hardware, check_size, choose_encoding
from depthsmith.media.film.film_sink import open_film
from depthsmith.media.film.sink import Sink
from depthsmith.pipeline import Predictor
from depthsmith.types import Size
from depthsmith.video.frame_depth import DepthSource
from depthsmith.video.key import job_key
from depthsmith.video.make import SEGMENT_FRAMES, Reading
from depthsmith.video.painters import Painter
from depthsmith.video.plan import FilmJob


@dataclass(frozen=True)
class Coding:
    """How video is encoded.

    Attributes:
        codec: ``h264``, ``hevc``, ``ffv1`` or ``av1``; None for ``h264``, or ``hevc`` where HDR
            is kept.
        hardware: ``off``, ``auto`` (what opens, else software), ``nvenc``, ``qsv``,
            ``videotoolbox``, ``vaapi`` or ``amf``.
        crf: quality, smaller is better; None for what suits the film.
        preset: the encoder's own, as ``veryfast``.
        bit_rate: in bit/s, instead of ``crf``.
        keep_tracks: whether audio, subtitles, chapters and attachments come along.
    """

    codec: Codec | None = None
    hardware: Hardware = "off"
    crf: int | None = None
    preset: str | None = None
    bit_rate: int | None = None
    keep_tracks: bool = True

    def given(self) -> str | None:
        """Name of an option that was given, or None."""
        given = {
            "--codec": self.codec is not None,
            "--hardware": self.hardware != "off",
            "--crf": self.crf is not None,
            "--preset": self.preset is not None,
            "--bitrate": self.bit_rate is not None,
            "--no-tracks": not self.keep_tracks,
        }
        return next((name for name, is_given in given.items() if is_given), None)


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


def settings_key(job: FilmJob, source: DepthSource, painter: Painter, reading: Reading) -> str:
    """A digest of all that the pictures depend on."""
    # What is allowed only ends or does not end a job.
    settings = (source.key, painter, reading.spans, reading.strict, SEGMENT_FRAMES)
    return job_key(job.film, *settings)


def video_sink(
    job: FilmJob,
    film: FilmInfo,
    source: DepthSource,
    painter: Painter,
    *,
    reading: Reading,
    coding: Coding,
    resume: bool,
    color: ColorTags | None = None,
    layout: StereoLayout = StereoLayout(),  # noqa: B008
) -> Sink:
    """A video file for what ``painter`` makes.

    Args:
        color: of deep pictures.
        layout: of two views.

    Raises:
        UsageError, ProviderError, OutputError: as `choose_encoding`, `check_size`, `open_film`.
    """
    encoding = choose_encoding(
        job.target, painter.content,
        codec=coding.codec, hardware=coding.hardware, crf=coding.crf, preset=coding.preset,
        bit_rate=coding.bit_rate, color=color, info=film,
    )  # fmt: skip
    notes: tuple[str, ...] = ()
    if coding.hardware == "auto" and not encoding.hardware:
        notes = (f"no hardware here encodes {encoding.codec}; it was encoded on the CPU",)
    size = painter.size_of(film.size)
    right = job.targets[1] if len(job.targets) > 1 else None
    check_size(encoding, size)
    key = settings_key(job, source, painter, reading)
    return open_film(
        job.target, film, encoding, size,
        key=f"{key} {encoding} {coding.keep_tracks} {layout}", resume=resume,
        spans=reading.spans, layout=layout, keep_tracks=coding.keep_tracks, right=right,
        notes=notes,
    )  # fmt: skip
