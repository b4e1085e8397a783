"""Frames through the network, batch by batch."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from depthsmith.depth.convert import CANONICAL_FOCAL_PX
from depthsmith.depth.fit import Fitted
from depthsmith.depth.temporal import DepthSample
from depthsmith.film import FilmFrame
from depthsmith.pipeline import Estimate, Predictor
from depthsmith.types import ByteArray, DepthKind, FloatArray, Placement

_NO_PICTURE: ByteArray = np.empty((0, 0, 3), np.uint8)
# Nearer than this is no depth of a scene, and its inverse no number to calculate with.
_NEAREST = np.float32(1e-4)


@dataclass(frozen=True, eq=False)
class Ready:
    """A frame that is ready for the network.

    Attributes:
        frame: without its pictures, if they are not needed any more.
        fitted: at the network's size.
        key: whether the network runs on it; else its depth comes from its neighbours.
    """

    frame: FilmFrame
    fitted: Fitted
    key: bool


def prepare(
    frames: Iterable[FilmFrame],
    predictor: Predictor,
    *,
    every: int = 1,
    since_key: int = 0,
    keep_pictures: bool = False,
) -> Iterator[Ready]:
    """Bring frames to the network's size.

    Args:
        every: the network runs on the first frame of each shot and every so many after it.
        since_key: how many frames ago that last was, before the first of ``frames``.
        keep_pictures: leave the pictures in the frames.
    """
    for frame in frames:
        key = frame.cut or since_key % every == 0
        since_key = 1 if key else since_key + 1
        fitted = predictor.fit_frame(frame.rgb)
        light = frame if keep_pictures else replace(frame, rgb=_NO_PICTURE, deep=None)
        yield Ready(light, fitted, key)


def estimate(
    ready: Iterable[Ready],
    predictor: Predictor,
    *,
    time_base: float,
    batch: int = 1,
    every: int = 1,
    focal_px: float | None = None,
) -> Iterator[tuple[FilmFrame, Placement, DepthSample]]:
    """Run the network.

    Args:
        time_base: unit of the frames' times in seconds.
        batch: frames that it takes at once.
        every: as given to `prepare`.
        focal_px: of canonical depth, at the network's input; relative without.
    """
    limit = 1 if predictor.contract.size.batch else max(1, batch)
    waiting: list[Ready] = []

    def run() -> Iterator[tuple[FilmFrame, Placement, DepthSample]]:
        keys = [r.fitted for r in waiting if r.key]
        groups = (keys[start : start + limit] for start in range(0, len(keys), limit))
        estimates = itertools.chain.from_iterable(map(predictor.estimate, groups))
        for r in waiting:
            placement = r.fitted.placement
            inverse = None
            if r.key:
                inverse = inverse_depth(next(estimates), predictor, placement, focal_px)
            yield (
                r.frame,
                placement,
                DepthSample(
                    index=r.frame.index,
                    inverse=inverse,
                    guide=_guide(r.fitted),
                    cut=r.frame.cut,
                    time_s=r.frame.pts * time_base,
                ),
            )

    for item in ready:
        waiting.append(item)
        # Counted from the film's start, so that a continued run has the same batches: other
        # ones can give other last digits.
        if limit == 1 or (item.frame.index + 1) % (limit * every) == 0:
            yield from run()
            waiting = []
    if waiting:
        yield from run()


def inverse_depth(
    found: Estimate, predictor: Predictor, placement: Placement, focal_px: float | None
) -> FloatArray:
    """Inverse depth inside the padding, ``(h, w)`` float32; per metre where the kind is metric."""
    values = found.values[placement.rows, placement.columns]
    kind = predictor.contract.kind
    if kind is DepthKind.INVERSE_DEPTH:
        return np.ascontiguousarray(values)
    if kind is DepthKind.CANONICAL and focal_px is not None:
        values = values * np.float32(focal_px / CANONICAL_FOCAL_PX)
    inverse: FloatArray = np.float32(1) / np.maximum(values, _NEAREST)
    return inverse


def _guide(fitted: Fitted) -> ByteArray:
    place = fitted.placement
    inside = fitted.pixels[place.rows, place.columns]
    if inside.dtype == np.uint8:
        return np.ascontiguousarray(inside)
    rounded: ByteArray = np.clip(np.rint(inside), 0, 255).astype(np.uint8)
    return rounded
