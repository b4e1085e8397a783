"""The Python way to films: made in one call."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from depthsmith.api import load
from depthsmith.depth.convert import Target
from depthsmith.depth.temporal import SteadySettings
from depthsmith.errors import UsageError
from depthsmith.film import Span
from depthsmith.model_store import AUTO
from depthsmith.stereo.names import ENDINGS, EYE_ENDINGS
from depthsmith.video.coding import Coding, Loader
from depthsmith.video.depth_films import DepthFilms
from depthsmith.video.make import Made, Progress, Reading
from depthsmith.video.network_depth import Working
from depthsmith.video.plan import Format, plan_films
from depthsmith.video.stereo_films import FILM_FORMATS, FilmLook, StereoFilms


def _tell_nobody(done: int, total: int | None) -> None:
    pass


def make_depth_film(
    film: str | Path,
    target: str | Path,
    *,
    model: str | Path = AUTO,
    format: Format | None = None,
    as_: Target = "near",
    steady: SteadySettings = SteadySettings(),  # noqa: B008 - frozen
    spans: Sequence[Span] = (),
    coding: Coding = Coding(),  # noqa: B008
    resume: bool = False,
    progress: Progress = _tell_nobody,
    **network: Any,
) -> Made:
    """Make the depth film of a film, as ``depthsmith video`` does::

        depthsmith.make_depth_film("film.mp4", "film_depth.mkv", model="da2-small")

    Args:
        film: any file that FFmpeg reads.
        target: .mp4, .mov or .mkv; or, with ``format``, a folder.
        model: see `load`.
        format: ``png16``, ``exr`` or ``npz`` for a folder of files.
        as_: what values mean; other than ``near`` for ``exr`` and ``npz`` only.
        steady: how it is made steady.
        spans: parts of the film; all of it if empty.
        coding: how video is encoded, and whether audio and subtitles come along.
        resume: continue what a stopped run has left.
        progress: told how many frames are written, of how many.
        network: other options of `load`.

    Raises:
        FilmError: if the film cannot be read, or ends early.
        UsageError: for options that do not go together.
        OutputError: if it cannot be written. Nothing is there under the final name then.
        as `load`: for the network.
    """
    plan = plan_films(
        [Path(film)], output=str(target), format=format, default="mp4", ending="_depth"
    )
    films = DepthFilms(
        plan, _loader(model, network), as_=as_, reading=Reading(tuple(spans)),
        working=Working(steady), coding=coding, resume=resume,
    )  # fmt: skip
    return films.make(plan.jobs[0], progress)


def make_stereo_film(
    film: str | Path,
    target: str | Path,
    *,
    model: str | Path = AUTO,
    depth: str | Path | None = None,
    look: FilmLook = FilmLook(),  # noqa: B008 - frozen
    steady: SteadySettings = SteadySettings(),  # noqa: B008
    spans: Sequence[Span] = (),
    coding: Coding = Coding(),  # noqa: B008
    resume: bool = False,
    progress: Progress = _tell_nobody,
    **network: Any,
) -> Made:
    """Make a film for two eyes, as ``depthsmith stereo`` does::

        depthsmith.make_stereo_film("film.mp4", "film_LRF_Full_SBS.mp4")

    Args:
        film, model, steady, spans, coding, resume, progress, network: as for
            `make_depth_film`.
        target: of ``left-right``, NAME.mp4 for NAME_left.mp4 and NAME_right.mp4.
        depth: a depth film, or a folder of depth maps, instead of a network.
        look: how the views are made and laid out.

    Raises:
        as `make_depth_film`.
    """
    if look.format not in FILM_FORMATS:
        raise UsageError(f"films cannot be made as {look.format}; use {', '.join(FILM_FORMATS)}")
    if depth is not None and (model != AUTO or network):
        raise UsageError("depth replaces the network: leave out model and its options")
    plan = plan_films(
        [Path(film)], output=str(target), format=None, default="mp4",
        ending=ENDINGS[look.format],
        eyes=EYE_ENDINGS if look.format == "left-right" else ("",),
    )  # fmt: skip
    films = StereoFilms(
        plan, _loader(model, network), look, None if depth is None else Path(depth),
        reading=Reading(tuple(spans)), working=Working(steady), coding=coding, resume=resume,
    )  # fmt: skip
    return films.make(plan.jobs[0], progress)


def _loader(model: str | Path, network: dict[str, Any]) -> Loader:
    return Loader(lambda size: load(model, frame_size=size, **network), network.get("resolution"))
