"""How much depth flickers: along the motion of the picture, and as a whole.

The first number is the optical-flow-based warping error of video depth (OPW: Cao et al. 2021,
"Learning Structure Affinity for Video Depth Estimation"; Wang et al. 2022, FMNet; used by
NVDS, arXiv:2307.08695): the next frame's depth is brought back along flow, and the mean
difference is taken where the two pictures look alike. We divide by the sum of the weights,
not by the number of pixels, so that what is hidden does not count as steady.

The second is pumping: what of that difference is a change of scale and shift of the whole
map. Real motion of the camera is in both numbers, so they compare two depth films of one
film, not two films.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import repeat

import cv2
import numpy as np
from numpy.typing import NDArray

from depthsmith.depth.temporal.affine import fit
from depthsmith.depth.temporal.link import sample
from depthsmith.depth.temporal.motion import dense, grid, match_exposure
from depthsmith.errors import InputError
from depthsmith.types import BoolArray, ByteArray, FloatArray

_LONG_SIDE = 640
_ALIKE = 50.0
"""The papers' alpha: weight exp(-alpha * difference²), brightness from 0 to 1."""

ExactFlow = tuple[FloatArray, BoolArray]
"""Flow ``(h, w, 2)`` to the next frame, and where that frame shows the same point."""


@dataclass(frozen=True)
class ShotFlicker:
    """Flicker of one shot. Values are shares of the range of depth.

    Attributes:
        start, frames: first frame and number of frames.
        error: mean difference from frame to frame along motion.
        pumping: mean difference that a change of scale and shift explains.
        worst: largest difference between two frames, and the first of them.
    """

    start: int
    frames: int
    error: float
    pumping: float
    worst: tuple[float, int]


@dataclass(frozen=True)
class FlickerReport:
    """Flicker of a depth film.

    Attributes:
        frames: number of frames.
        error, pumping: means over all pairs of frames of one shot, see `ShotFlicker`.
        compensated: whether motion was followed. If not, all change counts, and only films
            of a still scene can be judged.
        shots: each shot.
    """

    frames: int
    error: float
    pumping: float
    compensated: bool
    shots: tuple[ShotFlicker, ...]


def flicker(
    nears: Iterable[FloatArray],
    guides: Iterable[ByteArray] | None = None,
    cuts: Iterable[bool] | None = None,
    *,
    flows: Iterable[ExactFlow | None] | None = None,
) -> FlickerReport:
    """Measure a depth film. Two frames are held at a time.

    Args:
        nears: ``(H, W)`` float, in [0, 1]. Larger maps are measured at 640 pixels.
        guides: ``(H, W, 3)`` uint8, the film; of any size. Without it motion is not followed.
        cuts: whether each frame is the first of a shot; differences across cuts do not count.
        flows: exact flow from each frame to the next, at the size of the maps, instead of
            what is found in ``guides``. None for a pair leaves it out.

    Raises:
        InputError: if there are not as many guides or cuts as maps, or sizes change.
    """
    shots: list[_Shot] = []
    before: _Measured | None = None
    to_next: ExactFlow | None = None
    exact = None if flows is None else iter(flows)
    count = 0
    for near, guide, cut in _together(nears, guides, cuts):
        now = _prepared(near, guide, exact is None)
        if before is None or cut:
            shots.append(_Shot(count))
        elif now.near.shape != before.near.shape:
            raise InputError(f"frame {count} has another size than the one before")
        elif exact is None:
            shots[-1].add(*_difference(before, now, *_found(before, now)), count - 1)
        elif to_next is not None:
            flow, seen = to_next
            difference = _difference(before, now, flow, seen.astype(np.float32))
            shots[-1].add(*difference, count - 1)
        shots[-1].frames += 1
        before, count = now, count + 1
        to_next = None if exact is None else next(exact, None)
    return _report(count, shots, guides is not None or flows is not None)


@dataclass(frozen=True, eq=False)
class _Measured:
    near: FloatArray
    gray: ByteArray | None


class _Shot:
    """A shot while it is measured: one error and one pumping for each pair of frames."""

    def __init__(self, start: int) -> None:
        self.start = start
        self.frames = 0
        self.pairs: list[tuple[float, float, int]] = []

    def add(self, error: float, pumping: float, index: int) -> None:
        if np.isfinite(error):  # two frames may have nothing in common
            self.pairs.append((error, pumping, index))

    def report(self) -> ShotFlicker:
        error, pumping = _means(self.pairs)
        worst = max(self.pairs, default=(0.0, 0.0, self.start))
        return ShotFlicker(self.start, self.frames, error, pumping, (worst[0], worst[2]))


def _means(pairs: list[tuple[float, float, int]]) -> tuple[float, float]:
    if not pairs:
        return 0.0, 0.0
    return float(np.mean([p[0] for p in pairs])), float(np.mean([p[1] for p in pairs]))


def _together(
    nears: Iterable[FloatArray],
    guides: Iterable[ByteArray] | None,
    cuts: Iterable[bool] | None,
) -> Iterator[tuple[FloatArray, ByteArray | None, bool]]:
    pictures = repeat(None) if guides is None else iter(guides)
    starts = repeat(False) if cuts is None else iter(cuts)
    index = 0
    for index, near in enumerate(nears, start=1):
        try:
            yield near, next(pictures), next(starts)
        except StopIteration:
            raise InputError(f"the depth film is longer than the film ({index - 1})") from None
    if guides is not None and next(pictures, None) is not None:
        raise InputError(f"the film is longer than the depth film ({index} frames)")


def _prepared(near: FloatArray, guide: ByteArray | None, resize: bool) -> _Measured:
    """A map of at most 640 pixels, and brightness at its size."""
    height, width = near.shape
    share = min(1.0, _LONG_SIDE / max(height, width)) if resize else 1.0
    size = (max(1, round(width * share)), max(1, round(height * share)))
    small = near.astype(np.float32)
    if share < 1.0:
        small = cv2.resize(small, size, interpolation=cv2.INTER_AREA)
    if guide is None or not resize:
        return _Measured(small, None)
    gray: ByteArray = cv2.cvtColor(guide, cv2.COLOR_RGB2GRAY)
    if gray.shape[::-1] != size:
        gray = cv2.resize(gray, size, interpolation=cv2.INTER_AREA)
    return _Measured(small, gray)


def _found(before: _Measured, now: _Measured) -> tuple[FloatArray, FloatArray]:
    """Flow from a frame to the next, and weights."""
    height, width = now.near.shape
    if before.gray is None or now.gray is None:
        return np.zeros((height, width, 2), np.float32), np.ones((height, width), np.float32)
    later = match_exposure(now.gray, before.gray)
    preset = cv2.DISOPTICAL_FLOW_PRESET_MEDIUM
    there, back = dense(before.gray, later, preset), dense(later, before.gray, preset)
    where = grid(height, width) + there
    away = np.square(there + sample(back, where)).sum(axis=2)
    differs = sample(later.astype(np.float32), where) - before.gray
    weights = np.exp(-_ALIKE * np.square(differs / 255.0))
    # Hidden where the way there and back does not end where it began.
    weights *= away <= 0.01 * np.square(there).sum(axis=2) + 0.5
    return there, (weights * _inside(where)).astype(np.float32)


def _difference(
    before: _Measured, now: _Measured, flow: FloatArray, weights: FloatArray
) -> tuple[float, float]:
    """Mean difference along flow, and the part that scale and shift explain."""
    height, width = before.near.shape
    where = grid(height, width) + flow
    weights = weights * _inside(where)
    total = float(weights.sum())
    if total < 0.01 * weights.size:
        return float("nan"), 0.0
    brought = sample(now.near, where)
    error = float((weights * np.abs(brought - before.near)).sum()) / total
    common = fit(brought, before.near, weights, "scale-shift")
    if common is None:
        return error, 0.0
    moved = float((weights * np.abs(common(brought) - brought)).sum()) / total
    return error, moved


def _inside(where: FloatArray) -> NDArray[np.bool_]:
    height, width = where.shape[:2]
    x, y = where[..., 0], where[..., 1]
    inside: NDArray[np.bool_] = (x >= 0) & (x <= width - 1) & (y >= 0) & (y <= height - 1)
    return inside


def _report(frames: int, shots: list[_Shot], compensated: bool) -> FlickerReport:
    error, pumping = _means([pair for shot in shots for pair in shot.pairs])
    return FlickerReport(
        frames, error, pumping, compensated, tuple(shot.report() for shot in shots)
    )
