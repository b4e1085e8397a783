"""Steady depth of frames that come from anywhere: a camera, a game, a list."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from depthsmith.depth.temporal import Stabilizer, SteadySettings
from depthsmith.errors import InputError, UsageError
from depthsmith.film import FilmFrame
from depthsmith.media.film.shots import with_cuts
from depthsmith.pipeline import Predictor
from depthsmith.types import ByteArray, DepthKind, DepthMap
from depthsmith.video.estimate import estimate, prepare
from depthsmith.video.network_depth import affinity, steadied

_MICROSECOND = 1e-6


def predict_frames(
    predictor: Predictor,
    frames: Iterable[ByteArray],
    *,
    settings: SteadySettings = SteadySettings(live=True),  # noqa: B008 - frozen
    fps: float = 30.0,
    batch: int = 1,
) -> Iterator[DepthMap]:
    """The near map of each frame, steady from one to the next::

        for near in depthsmith.predict_frames(predictor, camera):
            show(near.values)

    With ``settings.live`` a frame's map is given before the next frame is asked for; otherwise
    up to ``settings.look_ahead`` frames later, and steadier, and a few more for finding cuts.

    Args:
        predictor: from `depthsmith.load`.
        frames: ``(H, W, 3)`` uint8 RGB each, of one size.
        settings: see `SteadySettings`.
        fps: of the frames, which filters need.
        batch: frames that the network takes at once; 1 for live pictures.

    Yields:
        `DepthKind.NEAR` at the size of the frame: 0 to 1 over a shot.

    Raises:
        InputError: for a frame that is not such an array, or of another size than the first.
        UsageError: if ``fps`` or ``batch`` is not positive.
        ModelError, InputError: if the network fails.
    """
    if not (0 < fps < math.inf and batch >= 1):
        raise UsageError(f"{fps:g} frames a second, {batch} at once: both have to be positive")
    film = (
        # Frames wait here while their owner may draw the next one on the same memory.
        FilmFrame(index, round(index / fps / _MICROSECOND), None, rgb.copy())
        for index, rgb in enumerate(_checked(frames))
    )
    ready = prepare(with_cuts(film, live=settings.live), predictor, every=settings.every)
    samples = estimate(ready, predictor, time_base=_MICROSECOND, batch=batch, every=settings.every)
    affine = affinity(predictor.contract.kind, "near")
    stabilizer = Stabilizer(replace(settings, affine=affine))
    for seen in steadied(samples, stabilizer, every=settings.every):
        yield DepthMap(
            values=seen.full_size(seen.near),
            kind=DepthKind.NEAR,
            source_size=seen.placement.source,
            model=predictor.contract.model,
        )


def _checked(frames: Iterable[ByteArray]) -> Iterator[ByteArray]:
    first: tuple[int, ...] | None = None
    for index, rgb in enumerate(frames):
        is_rgb = isinstance(rgb, np.ndarray) and rgb.dtype == np.uint8 and rgb.ndim == 3
        if not is_rgb or rgb.shape[2] != 3:
            found = f"{rgb.shape} {rgb.dtype}" if isinstance(rgb, np.ndarray) else type(rgb)
            raise InputError(f"frame {index} must be (H, W, 3) uint8 RGB, not {found}")
        first = first or rgb.shape
        if rgb.shape != first:
            raise InputError(f"frame {index} is {rgb.shape}, the first {first}")
        yield rgb
