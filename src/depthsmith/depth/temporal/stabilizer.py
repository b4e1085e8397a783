"""Steady depth, frame by frame, with a bounded look-ahead.

Frames are finished in blocks of `BLOCK`, counted by their index. A frame depends on the state
after the frame before it, and on samples up to the end of the block after its own, or of the
shot. So the work can be taken up again after any frame.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from depthsmith.depth.temporal import shot_range
from depthsmith.depth.temporal.motion import CameraMotion, brightness, coarse_motion
from depthsmith.depth.temporal.shot_range import ShotRange, Span, follow, measure, near_of
from depthsmith.depth.temporal.values import (
    BLOCK,
    DepthSample,
    State,
    SteadyDepth,
    SteadySettings,
)
from depthsmith.types import ByteArray, FloatArray


@dataclass(frozen=True, eq=False)
class _Frame:
    """A frame that waits, with what is known of it alone and beside the one before it."""

    sample: DepthSample
    inverse: FloatArray
    gray: ByteArray
    span: Span
    camera: CameraMotion
    step_s: float


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
        self._waiting: deque[_Frame] = deque()
        self._newest: tuple[int, ByteArray, float] | None = None
        if state is not None:
            self._newest = (state.index, brightness(state.guide), state.time_s)
        self._key: DepthSample | None = None

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
        gray = brightness(sample.guide)
        fresh = before is None or sample.cut
        self._waiting.append(
            _Frame(
                sample,
                sample.inverse,
                gray,
                measure(
                    sample.inverse,
                    sample.guide,
                    self._settings.low_percentile,
                    self._settings.high_percentile,
                ),
                CameraMotion() if fresh or before is None else coarse_motion(gray, before[1]),
                0.0 if before is None else min(max(sample.time_s - before[2], 0.0), 0.2),
            )
        )
        self._newest = (sample.index, gray, sample.time_s)
        return self._finished(at_end=False)

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
        for frame in list(self._waiting)[1:]:
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
        spans = [other.span for other in ahead]
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
            steady=None,
            trust=None,
            scale=1.0,
            shift=0.0,
            low=shot.low,
            high=shot.high,
            settled=shot.settled,
        )
        return SteadyDepth(
            frame.sample.index, near_of(frame.inverse, shot), frame.inverse, self._state
        )
