"""Steady depth, frame by frame, with a bounded look-ahead.

Frames are finished in blocks of `BLOCK`, counted by their index. A frame depends on the state
after the frame before it, and on samples up to the end of the block after its own, or of the
shot. So the work can be taken up again after any frame.
"""

from __future__ import annotations

from collections import deque
from itertools import islice

from depthsmith.depth.temporal import shot_range
from depthsmith.depth.temporal.carry import Carrier, Key, Whole
from depthsmith.depth.temporal.course import Course
from depthsmith.depth.temporal.frame import Earlier, Frame, examine
from depthsmith.depth.temporal.motion import brightness
from depthsmith.depth.temporal.recipe import RECIPES
from depthsmith.depth.temporal.shot_range import ShotRange, near_of
from depthsmith.depth.temporal.values import (
    BLOCK,
    DepthSample,
    State,
    SteadyDepth,
    SteadySettings,
)
from depthsmith.depth.temporal.window import Window
from depthsmith.errors import InputError


class Stabilizer:
    """Makes the depth of a film steady.

    Args:
        settings: how.
        state: where an earlier one left off (`SteadyDepth.state`), to go on with the sample
            after it. The results are the same, bit for bit, as if it had not stopped.
    """

    def __init__(self, settings: SteadySettings, state: State | None = None) -> None:
        self._settings = settings
        self._state = state
        self._course = Course(settings)
        self._waiting: deque[Frame] = deque()
        self._newest: Earlier | None = None
        self._pushed: tuple[int, tuple[int, ...]] | None = None
        key = None
        if state is not None:
            gray = brightness(state.guide, RECIPES[settings.mode].long_side)
            self._newest = Earlier(gray, state.time_s)
            self._pushed = (state.index, state.guide.shape)
            if state.key_inverse is not None and state.key_guide is not None:
                key = Key(state.key_index, state.key_inverse, state.key_guide)
        self._carrier = Carrier(settings, key)

    def push(self, sample: DepthSample) -> list[SteadyDepth]:
        """Take the next frame; give those that are finished, in order.

        Raises:
            InputError: if frames are not in order, not of one size, or have no depth where a
                shot begins or for longer than the settings say.
        """
        if self._pushed is not None:
            index, shape = self._pushed
            if sample.index != index + 1:
                raise InputError(f"frame {sample.index} pushed after frame {index}")
            if sample.guide.shape != shape:
                raise InputError(f"frame {sample.index} is {sample.guide.shape}, not {shape}")
        self._pushed = (sample.index, sample.guide.shape)
        self._take(self._carrier.push(sample))
        return self._finished(at_end=False)

    def finish(self) -> list[SteadyDepth]:
        """Give the frames that are left, after the last was pushed."""
        self._take(self._carrier.finish())
        return self._finished(at_end=True)

    def _take(self, frames: list[Whole]) -> None:
        for whole in frames:
            frame = examine(whole, self._newest, self._settings)
            self._waiting.append(frame)
            self._newest = frame.earlier

    def _finished(self, at_end: bool) -> list[SteadyDepth]:
        done = []
        while self._waiting:
            ahead = self._ahead(at_end)
            if ahead is None:
                break
            done.append(self._steady(ahead))
            self._waiting.popleft()
        return done

    def _ahead(self, at_end: bool) -> list[Frame] | None:
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

    def _steady(self, ahead: list[Frame]) -> SteadyDepth:
        frame = ahead[0]
        state = None if frame.sample.cut else self._state
        window = Window.of(ahead)
        step = self._course.filtered(ahead, window, state)
        seen = window.in_unit(step.affine)
        if state is None:
            shot = shot_range.start(seen)
        else:
            shot = ShotRange(state.low, state.high, state.settled)
            shot = shot_range.follow(shot, seen, window.camera.novelty, frame.step_s)
        key, carrying = frame.whole.key, self._settings.every > 1
        self._state = State(
            index=frame.sample.index,
            time_s=frame.sample.time_s,
            age=1 if state is None else state.age + 1,
            guide=frame.sample.guide,
            key_index=key.index,
            key_inverse=key.inverse if carrying else None,
            key_guide=key.guide if carrying else None,
            steady=None if step.past is None else step.past.depth,
            trust=None if step.past is None else step.past.count,
            anchor=step.anchor,
            scale=step.affine.scale,
            shift=step.affine.shift,
            low=shot.low,
            high=shot.high,
            settled=shot.settled,
        )
        return SteadyDepth(frame.sample.index, near_of(step.depth, shot), step.depth, self._state)
