"""Steady depth, frame by frame, with a bounded look-ahead.

Frames are finished in blocks of `BLOCK`, counted by their index. A frame depends on the state
after the frame before it, and on samples up to the end of the block after its own, or of the
shot. So the work can be taken up again after any frame.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import islice

import cv2
import numpy as np

from depthsmith.depth.temporal import shot_range
from depthsmith.depth.temporal.affine import IDENTITY, Affine, fit, match_quantiles
from depthsmith.depth.temporal.link import Link, link, sample
from depthsmith.depth.temporal.motion import CameraMotion, brightness, coarse_motion, grid
from depthsmith.depth.temporal.shot_range import ShotRange, Span, follow, measure, near_of
from depthsmith.depth.temporal.smooth import Belief, Limits, blend, carried
from depthsmith.depth.temporal.values import (
    BLOCK,
    DepthSample,
    State,
    SteadyDepth,
    SteadySettings,
)
from depthsmith.types import ByteArray, FloatArray


@dataclass(frozen=True)
class Recipe:
    """What a mode does.

    Attributes:
        preset: of DIS.
        long_side: of the pictures that flow is computed on, about.
        two_sided: whether the frames after count too, where they may be looked at.
        interpolation: of depth carried along.
        limits: of belief.
    """

    preset: int
    long_side: int
    two_sided: bool
    interpolation: int
    limits: Limits


_ULTRAFAST, _FAST = cv2.DISOPTICAL_FLOW_PRESET_ULTRAFAST, cv2.DISOPTICAL_FLOW_PRESET_FAST
RECIPES = {
    "off": Recipe(_ULTRAFAST, 130, False, cv2.INTER_LINEAR, Limits(0.0, 0.0)),
    "fast": Recipe(_ULTRAFAST, 260, False, cv2.INTER_LINEAR, Limits(6.0, 0.3)),
    # Linear interpolation of what was interpolated before softens contours.
    "quality": Recipe(_FAST, 260, True, cv2.INTER_CUBIC, Limits(6.0, 0.7)),
}


@dataclass(frozen=True, eq=False)
class _Frame:
    """A frame that waits, with what is known of it alone and beside the one before it.

    Attributes:
        small: ``(g, k)`` float32, inverse depth at the resolution of flow.
        step: from this frame's inverse depth to that of the one before.
    """

    sample: DepthSample
    inverse: FloatArray
    gray: ByteArray
    small: FloatArray
    span: Span
    camera: CameraMotion
    step_s: float
    link: Link | None = None
    step: Affine | None = None


class Stabilizer:
    """Makes the depth of a film steady.

    Args:
        settings: how.
        state: where an earlier one left off (`SteadyDepth.state`), to go on with the sample
            after it. The results are the same, bit for bit, as if it had not stopped.
    """

    def __init__(self, settings: SteadySettings, state: State | None = None) -> None:
        self._settings = settings
        self._recipe = RECIPES[settings.mode]
        self._state = state
        self._waiting: deque[_Frame] = deque()
        self._newest: tuple[int, ByteArray, float, FloatArray | None] | None = None
        if state is not None:
            self._newest = (
                state.index,
                brightness(state.guide, self._recipe.long_side),
                state.time_s,
                None,
            )
        self._from_ahead: dict[int, Belief] = {}

    def push(self, sample: DepthSample) -> list[SteadyDepth]:
        """Take the next frame; give those that are finished, in order.

        Raises:
            ValueError: if frames are not in order, not of one size, or the first frame of a
                shot has no depth.
        """
        before = self._newest
        if before is not None and sample.index != before[0] + 1:
            raise ValueError(f"frame {sample.index} pushed after frame {before[0]}")
        if sample.inverse is None:
            raise ValueError("frames between key frames are not there yet")
        self._waiting.append(self._examined(sample, sample.inverse))
        newest = self._waiting[-1]
        self._newest = (sample.index, newest.gray, sample.time_s, newest.small)
        return self._finished(at_end=False)

    def _examined(self, sample: DepthSample, inverse: FloatArray) -> _Frame:
        settings, recipe, before = self._settings, self._recipe, self._newest
        gray = brightness(sample.guide, recipe.long_side)
        small = cv2.resize(inverse, gray.shape[::-1], interpolation=cv2.INTER_AREA)
        span = measure(inverse, sample.guide, settings.low_percentile, settings.high_percentile)
        if before is None or sample.cut:
            return _Frame(sample, inverse, gray, small, span, CameraMotion(), 0.0)
        step_s = min(max(sample.time_s - before[2], 0.0), 0.2)
        if settings.mode == "off":
            camera = coarse_motion(gray, before[1])
            return _Frame(sample, inverse, gray, small, span, camera, step_s)
        two_sided = recipe.two_sided and not settings.live
        joined = link(gray, before[1], recipe.preset, ahead=two_sided)
        step = None
        if before[3] is not None and not settings.live:
            step = _step(small, before[3], joined, settings)
        return _Frame(sample, inverse, gray, small, span, joined.camera, step_s, joined, step)

    def finish(self) -> list[SteadyDepth]:
        """Give the frames that are left, after the last was pushed."""
        return self._finished(at_end=True)

    def _finished(self, at_end: bool) -> list[SteadyDepth]:
        done = []
        while self._waiting:
            ahead = self._ahead(at_end)
            if ahead is None:
                break
            done.append(self._steady(ahead))
            self._waiting.popleft()
        return done

    def _ahead(self, at_end: bool) -> list[_Frame] | None:
        """The oldest frame and those it depends on; None if they are not all there."""
        oldest = self._waiting[0]
        if self._settings.live:
            return [oldest]
        last = (oldest.sample.index // BLOCK + 2) * BLOCK - 1
        ahead = [oldest]
        for frame in islice(self._waiting, 1, None):
            if frame.sample.cut:
                return ahead
            if frame.sample.index > last:
                break
            ahead.append(frame)
        complete = at_end or ahead[-1].sample.index == last
        return ahead if complete else None

    def _steady(self, ahead: list[_Frame]) -> SteadyDepth:
        frame, state = ahead[0], self._state
        if frame.sample.cut:
            state = None
        affine, forward, out = self._filtered(ahead, state)
        spans = _spans(ahead, affine)
        if state is None:
            shot = shot_range.start(spans)
        else:
            shot = ShotRange(state.low, state.high, state.settled)
            shot = follow(shot, spans, frame.camera.novelty, frame.step_s)
        self._state = State(
            index=frame.sample.index,
            time_s=frame.sample.time_s,
            age=1 if state is None else state.age + 1,
            guide=frame.sample.guide,
            key_index=frame.sample.index,
            key_inverse=None,
            key_guide=None,
            steady=None if forward is None else forward.depth,
            trust=None if forward is None else forward.count,
            scale=affine.scale,
            shift=affine.shift,
            low=shot.low,
            high=shot.high,
            settled=shot.settled,
        )
        return SteadyDepth(frame.sample.index, near_of(out, shot), out, self._state)

    def _filtered(
        self, ahead: list[_Frame], state: State | None
    ) -> tuple[Affine, Belief | None, FloatArray]:
        frame, recipe = ahead[0], self._recipe
        if self._settings.mode == "off":
            return IDENTITY, None, frame.inverse
        now = Belief(frame.inverse, np.ones_like(frame.small))
        both = now
        if recipe.two_sided and not self._settings.live:
            both = self._ahead_belief(ahead, recipe)
        mean = _mean_unit(ahead)
        if state is None or frame.link is None or state.steady is None or state.trust is None:
            return mean, _mapped(now, mean), mean(both.depth)
        past = carried(Belief(state.steady, state.trust), frame.link.back, recipe.interpolation)
        affine, drift = self._aligned(both, past, frame, state, mean)
        past = _mapped(past, drift)
        wide = affine.scale * (frame.span.high - frame.span.low)
        calm = frame.link.back.calm
        forward = blend(_mapped(now, affine), past, calm, wide, recipe.limits)
        if both is now:
            return affine, forward, forward.depth
        out = blend(_mapped(both, affine), past, calm, wide, recipe.limits)
        return affine, forward, out.depth

    def _aligned(
        self, both: Belief, past: Belief, frame: _Frame, state: State, mean: Affine
    ) -> tuple[Affine, Affine]:
        """The frame's own map to the shot's unit, and how that unit drifts on."""
        assert frame.link is not None
        freedom = self._settings.affine
        size = frame.small.shape[::-1]
        values = cv2.resize(both.depth, size, interpolation=cv2.INTER_AREA)
        target = cv2.resize(past.depth, size, interpolation=cv2.INTER_AREA)
        found = fit(
            values[::3, ::3], target[::3, ::3], frame.link.back.trust[::3, ::3], freedom,
            noise=1.0 if both.count.max() > 1.5 else 1.0 / max(float(past.count.mean()), 1.0),
            expected_scale=state.scale,
        )  # fmt: skip
        if found is None:
            found = match_quantiles(values, target, freedom)
        camera = frame.camera
        leak = min(2.0 * abs(camera.zoom) + 0.1 * camera.novelty, 0.05)
        affine = found.towards(mean, leak)
        return affine, affine.after(found.inverse())

    def _ahead_belief(self, ahead: list[_Frame], recipe: Recipe) -> Belief:
        """What the frame and those after it say of it, in its own unit."""
        first = ahead[0].sample.index
        if first in self._from_ahead:
            return self._from_ahead.pop(first)
        self._from_ahead.clear()
        end = (first // BLOCK + 1) * BLOCK
        belief = Belief(ahead[-1].inverse, np.ones_like(ahead[-1].small))
        for frame, after in zip(ahead[-2::-1], ahead[:0:-1], strict=True):
            if after.sample.index < end:
                self._from_ahead[after.sample.index] = belief
            assert after.link is not None and after.step is not None
            assert after.link.ahead is not None
            later = carried(_mapped(belief, after.step), after.link.ahead, recipe.interpolation)
            now = Belief(frame.inverse, np.ones_like(frame.small))
            wide = frame.span.high - frame.span.low
            belief = blend(now, later, after.link.ahead.calm, wide, recipe.limits)
        return belief


def _mapped(belief: Belief, affine: Affine) -> Belief:
    return Belief(affine(belief.depth), belief.count)


def _step(small: FloatArray, before: FloatArray, joined: Link, settings: SteadySettings) -> Affine:
    """From a frame's inverse depth to that of the frame before."""
    back = joined.back
    height, width = small.shape
    target = sample(before, grid(height, width) + back.flow)
    found = fit(small[::3, ::3], target[::3, ::3], back.trust[::3, ::3], settings.affine)
    return match_quantiles(small, before, settings.affine) if found is None else found


def _mean_unit(ahead: list[_Frame]) -> Affine:
    """The frame's map to the mean unit of the frames looked ahead to.

    Scale and shift differ from frame to frame by chance; their mean is what they are about.
    """
    to_first = IDENTITY
    scales, shifts = [1.0], [0.0]
    for frame in ahead[1:]:
        if frame.step is None:
            break
        to_first = to_first.after(frame.step)
        back = to_first.inverse()
        scales.append(back.scale)
        shifts.append(back.shift)
    return Affine(float(np.mean(scales)), float(np.mean(shifts)))


def _spans(ahead: list[_Frame], affine: Affine) -> list[Span]:
    """Spans of the frames in the shot's unit."""
    spans, unit = [], affine
    for frame in ahead:
        if frame is not ahead[0]:
            if frame.step is None:
                if affine != IDENTITY:
                    break
            else:
                unit = unit.after(frame.step)
        spans.append(frame.span.mapped(unit.scale, unit.shift))
    return spans
