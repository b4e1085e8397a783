"""Films with exact depth and flow, and the errors that networks make put on top.

What the errors are like follows from looking at the networks frame by frame: scale and shift
differ (nothing fixes them), large soft areas swim, contours wander by about a pixel and are
soft, and there is some fine noise. All come from a seed.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from fractions import Fraction

import cv2
import numpy as np
from numpy.typing import NDArray

from depthsmith.depth.align import align
from depthsmith.depth.metrics import abs_rel
from depthsmith.depth.temporal import (
    DepthSample,
    Stabilizer,
    State,
    SteadyDepth,
    SteadySettings,
)
from depthsmith.types import DepthKind
from scenes import CameraPath, Film, make_film

Array = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class TrueFilm:
    """A rendered film.

    Attributes:
        guides: ``(h, w, 3)`` uint8.
        truths: ``(h, w)`` float32, 1/z in 1/m; 0 in the sky.
        flows: ``(h, w, 2)`` float32, from each frame to the next, pixels; None before a cut
            and at the end.
        seen: ``(h, w)`` bool, where the next frame shows the same point; None likewise.
        objects: ``(h, w)`` int32, number of the object.
        moving: ``(h, w)`` bool, pixels of objects that move by themselves.
        cuts: whether each frame starts a shot.
        fps: frames a second.
    """

    guides: list[NDArray[np.uint8]]
    truths: list[Array]
    flows: list[Array | None]
    seen: list[NDArray[np.bool_] | None]
    objects: list[NDArray[np.int32]]
    moving: list[NDArray[np.bool_]]
    cuts: list[bool]
    fps: float = 24.0

    def __len__(self) -> int:
        return len(self.guides)


@dataclass(frozen=True)
class NetworkErrors:
    """Sizes of the errors; lengths in pixels, the rest as a share of the shot's range.

    Attributes:
        scale, shift: standard deviations, from frame to frame alike by ``keep``.
        swim, swim_cells, swim_keep: of a soft field of so many cells across, and how much
            of it stays from frame to frame.
        edge_px, edge_keep: by how much contours wander.
        soft_px: sigma of the blur.
        noise: fine noise, new in every frame.
    """

    scale: float = 0.03
    shift: float = 0.02
    keep: float = 0.4
    swim: float = 0.02
    swim_cells: int = 6
    swim_keep: float = 0.7
    edge_px: float = 0.8
    edge_keep: float = 0.5
    soft_px: float = 0.8
    noise: float = 0.004


TYPICAL = NetworkErrors()
NONE = NetworkErrors(scale=0, shift=0, swim=0, edge_px=0, soft_px=0, noise=0)
# Not used for choosing anything: other sizes, slower and faster.
HELD_OUT = (
    NetworkErrors(scale=0.05, shift=0.03, keep=0.0, swim=0.03, swim_cells=9, swim_keep=0.5),
    NetworkErrors(scale=0.02, shift=0.01, keep=0.8, swim=0.015, swim_cells=4, swim_keep=0.9,
                  edge_px=1.2, soft_px=1.2, noise=0.008),
)  # fmt: skip


@functools.cache
def true_film(
    kinds: tuple[str, ...],
    seed: int,
    frames: int = 40,
    size: tuple[int, int] = (162, 288),
    path: CameraPath | None = None,
    still: bool = False,
) -> TrueFilm:
    """Render a film, once in a session.

    Args:
        path: of the camera in all shots, instead of the film's own.
        still: objects do not move.
    """
    film = make_film(kinds, seed, *size, frames=frames)
    if path is not None or still:
        film = _with(film, path, still)
    return rendered(film)


def rendered(film: Film) -> TrueFilm:
    """All frames of a film and what is true of them."""
    guides, truths, flows, seen, objects, moving, cuts = [], [], [], [], [], [], []
    for frame in film:
        picture = frame.frame
        guides.append(picture.rgb)
        truths.append(np.where(picture.valid, 1.0 / picture.depth_m, 0.0).astype(np.float32))
        objects.append(picture.object_id)
        shot = film.shots[film.shot_of(frame.index)[0]]
        groups = [s.group for s in shot.scene.solids if s.motion != type(s.motion)()]
        moving.append(np.isin(picture.object_id, groups))
        flow = frame.to_next()
        flows.append(None if flow is None else np.nan_to_num(flow.px, nan=1e6))
        seen.append(None if flow is None else flow.seen)
        cuts.append(frame.is_cut or frame.index == 0)
    return TrueFilm(guides, truths, flows, seen, objects, moving, cuts, float(film.fps))


def _with(film: Film, path: CameraPath | None, still: bool) -> Film:
    shots = []
    for shot in film.shots:
        scene = shot.scene
        if still:
            solids = tuple(replace(s, motion=type(s.motion)()) for s in scene.solids)
            scene = replace(scene, solids=solids)
        shots.append(replace(shot, scene=scene, path=shot.path if path is None else path))
    return Film(tuple(shots), Fraction(film.fps))


def network_like(film: TrueFilm, errors: NetworkErrors, seed: int) -> list[Array]:
    """What a network might give for each frame, as inverse depth up to scale and shift."""
    rng = np.random.default_rng([seed, 77])
    height, width = film.truths[0].shape
    starts = [i for i, cut in enumerate(film.cuts) if cut]
    swim = _Kept(rng, (round(errors.swim_cells * height / width) + 2, errors.swim_cells + 2))
    warp = _Kept(rng, (2, height // 10 + 2, width // 10 + 2))
    affine = _Kept(rng, (2,))
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    out, wide = [], 1.0
    for index, truth in enumerate(film.truths):
        if index in starts:
            low, high = np.percentile(truth, (2, 98))
            wide = float(high - low)
        du, dv = (_stretched(part, height, width) for part in warp.next(errors.edge_keep))
        values = cv2.GaussianBlur(truth, (0, 0), errors.soft_px) if errors.soft_px else truth
        values = cv2.remap(
            values, x + errors.edge_px * du, y + errors.edge_px * dv,
            cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE,
        ) if errors.edge_px else values  # fmt: skip
        values = values + wide * errors.swim * _stretched(
            swim.next(errors.swim_keep), height, width
        )
        grain = cv2.GaussianBlur(
            rng.standard_normal((height, width)).astype(np.float32), (0, 0), 1
        )
        values = values + wide * errors.noise * grain / max(float(grain.std()), 1e-6)
        a, b = affine.next(errors.keep)
        values = np.exp(errors.scale * a) * values + wide * errors.shift * b
        out.append(values.astype(np.float32))
    return out


class _Kept:
    """Gaussian noise of standard deviation 1 that keeps a share from step to step."""

    def __init__(self, rng: np.random.Generator, shape: tuple[int, ...]) -> None:
        self._rng = rng
        self._value = rng.standard_normal(shape)

    def next(self, keep: float) -> NDArray[np.float64]:
        fresh = self._rng.standard_normal(self._value.shape)
        self._value = keep * self._value + np.sqrt(1.0 - keep**2) * fresh
        return self._value


def _stretched(cells: NDArray[np.float64], height: int, width: int) -> Array:
    """Bicubic over the whole picture."""
    return cv2.resize(cells.astype(np.float32), (width, height), interpolation=cv2.INTER_CUBIC)


# --- what is measured, with exact flow and depth


def samples(film: TrueFilm, inverses: list[Array], every: int = 1) -> list[DepthSample]:
    """Depth on every Nth frame of a shot."""
    start, found = 0, []
    for index, guide in enumerate(film.guides):
        start = index if film.cuts[index] else start
        inverse = inverses[index] if (index - start) % every == 0 else None
        found.append(DepthSample(index, inverse, guide, film.cuts[index], index / film.fps))
    return found


def steadied(
    frames: list[DepthSample], settings: SteadySettings, state: State | None = None
) -> list[SteadyDepth]:
    """All frames through one stabiliser."""
    stabilizer = Stabilizer(settings, state)
    done = [result for frame in frames for result in stabilizer.push(frame)]
    return done + stabilizer.finish()


def running_minmax(film: TrueFilm, inverses: list[Array], keep: float = 0.9) -> list[Array]:
    """The plain way: every frame over an exponential mean of minima and maxima."""
    found, low, high = [], 0.0, 1.0
    for inverse, cut in zip(inverses, film.cuts, strict=True):
        share = 0.0 if cut else keep
        low = share * low + (1.0 - share) * float(inverse.min())
        high = share * high + (1.0 - share) * float(inverse.max())
        found.append(np.clip((inverse - low) / (high - low), 0.0, 1.0).astype(np.float32))
    return found


def unsteadiness(film: TrueFilm, nears: list[Array]) -> float:
    """Mean difference of each frame and the next along exact flow, where both show a point."""
    height, width = nears[0].shape
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    found = []
    for index, flow in enumerate(film.flows):
        seen = film.seen[index]
        if flow is not None and seen is not None:
            later = cv2.remap(
                nears[index + 1], x + flow[..., 0], y + flow[..., 1],
                cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE,
            )  # fmt: skip
            found.append(float(np.abs(later - nears[index])[seen].mean()))
    return float(np.mean(found))


@dataclass(frozen=True)
class Accuracy:
    """Means over the frames of a film.

    Attributes:
        abs_rel: after a fit of scale and shift to each frame's truth.
        error: mean error of inverse depth after that, as a share of its range.
        at_moving: the same within 8 px of the contours of moving objects; 0 if there are none.
    """

    abs_rel: float
    error: float
    at_moving: float


def accuracy(film: TrueFilm, inverses: list[Array]) -> Accuracy:
    """How far from the truth each frame is, alone."""
    rels, errors, at_moving = [], [], []
    for index, (inverse, truth) in enumerate(zip(inverses, film.truths, strict=True)):
        valid = truth > 0.0
        truth_m = np.where(valid, 1.0 / np.maximum(truth, 1e-9), 0.0)
        aligned = align(inverse, truth_m, valid, kind=DepthKind.INVERSE_DEPTH)
        rels.append(abs_rel(aligned.depth_m, truth_m, valid))
        low, high = np.percentile(truth, (2, 98))
        error = np.abs(aligned.scale * inverse + aligned.shift - truth) / float(high - low)
        errors.append(float(error.mean()))
        band = _contours(film.moving[index])
        if band.any():
            at_moving.append(float(error[band].mean()))
    return Accuracy(
        float(np.mean(rels)), float(np.mean(errors)), float(np.mean(at_moving or [0.0]))
    )


def _contours(mask: NDArray[np.bool_], px: float = 8.0) -> NDArray[np.bool_]:
    """Within so many pixels of the contours of a mask."""
    area = mask.astype(np.uint8)
    contour = cv2.morphologyEx(area, cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8)) > 0
    return cv2.distanceTransform((~contour).astype(np.uint8), cv2.DIST_L2, 5) <= px
