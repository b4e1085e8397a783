"""Depth films and stereo films made as the commands make them, with any network."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from depthsmith import Predictor
    from depthsmith.video.make import Progress
    from depthsmith.video.network_depth import Working


def depth_film(
    clip: Path, target: Path, predictor: Predictor, working: Working, progress: Progress
) -> None:
    """What ``depthsmith video CLIP -o TARGET`` does once the network is loaded."""
    from depthsmith.video.coding import Loader
    from depthsmith.video.depth_films import DepthFilms
    from depthsmith.video.plan import plan_films

    plan = plan_films([clip], output=str(target), format=None, default="mp4", ending="_depth")
    loader = Loader(lambda _: predictor, predictor.resolution)
    DepthFilms(plan, loader, working=working).make(plan.jobs[0], progress)


def stereo_film(
    clip: Path, target: Path, predictor: Predictor, working: Working, depth: Path | None = None
) -> None:
    """The same for ``depthsmith stereo``, full side by side.

    Args:
        depth: a depth film that is there already; the network does not run.
    """
    from depthsmith.video.coding import Loader
    from depthsmith.video.plan import plan_films
    from depthsmith.video.stereo_films import FilmLook, StereoFilms

    plan = plan_films([clip], output=str(target), format=None, default="mp4", ending="_sbs")
    loader = Loader(lambda _: predictor, predictor.resolution)
    look = FilmLook(threads=os.cpu_count() or 1)
    maker = StereoFilms(plan, loader, look, depth, working=working)
    maker.make(plan.jobs[0], lambda done, total: None)


def free_network(maps: Sequence[NDArray[Any]], resolution: int) -> Predictor:
    """A network that gives these maps, one after the other and again, at once."""
    from depthsmith import Predictor
    from depthsmith.contract import Contract, InputSpec, OutputSpec, SizeRule
    from depthsmith.runtime.fake import FakeSession
    from depthsmith.types import DepthKind

    contract = Contract(
        model="free",
        input=InputSpec("pixel_values", "float32", "NCHW", "imagenet"),
        size=SizeRule(None, None),
        outputs=(OutputSpec.depth("predicted_depth", DepthKind.INVERSE_DEPTH),),
        preprocessing="da2",
    )
    return Predictor(FakeSession(contract, answers(maps)), resolution=resolution)


def answers(maps: Sequence[NDArray[Any]]) -> Callable[[NDArray[Any]], dict[str, NDArray[Any]]]:
    """What the network says, whatever it is fed."""
    endless = itertools.cycle(maps)
    return lambda _: {"depth": next(endless)[None]}
