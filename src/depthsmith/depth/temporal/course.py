"""Depth along the course of a shot: one unit for all its frames, and averages along motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from depthsmith.depth.temporal.affine import IDENTITY, Affine, fit, match_quantiles
from depthsmith.depth.temporal.anchor import held
from depthsmith.depth.temporal.camera import STILL, CameraMotion
from depthsmith.depth.temporal.frame import Frame
from depthsmith.depth.temporal.recipe import RECIPES
from depthsmith.depth.temporal.smooth import Belief, blend, carried
from depthsmith.depth.temporal.values import BLOCK, State, SteadySettings
from depthsmith.depth.temporal.window import Window
from depthsmith.types import FloatArray


@dataclass(frozen=True, eq=False)
class Step:
    """A frame, filtered.

    Attributes:
        affine: from the frame's unit to the shot's.
        depth: ``(h, w)`` float32 in the shot's unit.
        past: what the next frame is told; None where nothing is filtered.
        anchor: see `State`.
    """

    affine: Affine
    depth: FloatArray
    past: Belief | None = None
    anchor: FloatArray | None = None


class Course:
    """Filters frame after frame.

    Depth of the past is carried along flow from one frame to the next, and so is that of the
    frames looked ahead to, in the other direction. What leaves is the mean of both and the
    frame itself; what goes on is the past's alone, so that nothing is counted twice.
    """

    def __init__(self, settings: SteadySettings) -> None:
        self._settings = settings
        self._recipe = RECIPES[settings.mode]
        self._two_sided = self._recipe.two_sided and not settings.live
        self._from_ahead: dict[int, Belief] = {}

    def filtered(self, ahead: Sequence[Frame], window: Window, state: State | None) -> Step:
        """The first of some frames, made steady.

        Args:
            ahead: the frame and those looked ahead to.
            window: of those.
            state: after the frame before; None at the start of a shot.
        """
        frame, limits = ahead[0], self._recipe.limits
        if self._settings.mode == "off":
            return Step(IDENTITY, frame.inverse)
        now = _alone(frame)
        both = self._seen_ahead(ahead) if self._two_sided else now
        own = window.own
        if state is None or frame.link is None or state.steady is None or state.trust is None:
            return Step(own, _fine(frame, own, own(both.depth)), _mapped(now, own))
        back = frame.link.back
        past = carried(Belief(state.steady, state.trust), back, self._recipe.interpolation)
        small = cv2.resize(past.depth, frame.gray.shape[::-1], interpolation=cv2.INTER_AREA)
        found = self._aligned(both, past, small, frame, state)
        freedom, camera = self._settings.affine, window.camera
        anchor, correction = held(state.anchor, small, frame.link, camera, freedom)
        affine = correction.after(found).towards(own, _leak(camera))
        past = _mapped(past, affine.after(found.inverse()))
        # Errors go with the range of the shot, not of what is left when the near has gone.
        wide = max(affine.scale * frame.span.wide, state.high - state.low)
        forward = blend(_mapped(now, affine), past, back.calm, wide, limits)
        if both is now:
            return Step(affine, _fine(frame, affine, forward.depth), forward, anchor)
        out = blend(_mapped(both, affine), past, back.calm, wide, limits)
        return Step(affine, _fine(frame, affine, out.depth), forward, anchor)

    def _aligned(
        self, both: Belief, past: Belief, target: FloatArray, frame: Frame, state: State
    ) -> Affine:
        """From the frame's unit to the one that the past is in; ``target`` is that, small."""
        assert frame.link is not None
        values = cv2.resize(both.depth, target.shape[::-1], interpolation=cv2.INTER_AREA)
        freedom = self._settings.affine
        found = fit(
            values[::3, ::3], target[::3, ::3], frame.link.back.trust[::3, ::3], freedom,
            noise=1.0 if self._two_sided else 1.0 / max(float(past.count.mean()), 1.0),
            expected_scale=state.scale,
        )  # fmt: skip
        return match_quantiles(values, target, freedom) if found is None else found

    def _seen_ahead(self, ahead: Sequence[Frame]) -> Belief:
        """What a frame and those after it say of it, in its own unit.

        Computed for all frames of a block at once, from the last on.
        """
        first = ahead[0].sample.index
        if first in self._from_ahead:
            return self._from_ahead.pop(first)
        self._from_ahead.clear()
        end = (first // BLOCK + 1) * BLOCK
        belief = _alone(ahead[-1])
        wide = 0.0
        for frame, after in zip(ahead[-2::-1], ahead[:0:-1], strict=True):
            if after.sample.index < end:
                self._from_ahead[after.sample.index] = belief
            assert after.link is not None and after.link.ahead is not None
            assert after.step is not None
            field = after.link.ahead
            later = carried(_mapped(belief, after.step), field, self._recipe.interpolation)
            wide, limits = max(wide, frame.span.wide), self._recipe.limits
            belief = blend(_alone(frame), later, field.calm, wide, limits)
        return belief


def _alone(frame: Frame) -> Belief:
    return Belief(frame.coarse, np.ones_like(frame.small))


def _fine(frame: Frame, affine: Affine, filtered: FloatArray) -> FloatArray:
    """The frame's own detail, changed by as much as filtering changed the coarse map."""
    if filtered.shape == frame.inverse.shape:
        return filtered
    height, width = frame.inverse.shape
    scale = np.float32(affine.scale)
    change = cv2.resize(filtered - scale * frame.coarse, (width, height))
    fine: FloatArray = cv2.scaleAdd(frame.inverse, affine.scale, change)
    return fine


def _mapped(belief: Belief, affine: Affine) -> Belief:
    return Belief(affine(belief.depth), belief.count)


def _leak(camera: CameraMotion) -> float:
    """How much of the network's own unit comes back, per frame.

    A still camera keeps its unit for good (see `anchor`). One that moves forward does not:
    things grow, the fit from frame to frame takes that for a change of scale, and would undo
    it. And a long chain of fits strays.
    """
    if camera == STILL:
        return 0.0
    return min(2.0 * abs(camera.zoom) + 0.1 * camera.novelty + 0.002, 0.05)
