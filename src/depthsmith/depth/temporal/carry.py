"""Depth for frames between key frames, carried along flow.

A frame takes the depth of the key frames on both sides, each where flow from the frame to it
can be believed, the nearer in time more. What neither shows keeps what flow brings: filling
it from its surroundings after the picture (a guided filter, or the farther of them) was
measured to be worse, at the contours of what moves and everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from depthsmith.depth.temporal.affine import IDENTITY, Affine
from depthsmith.depth.temporal.link import Field, link, step_between
from depthsmith.depth.temporal.motion import brightness
from depthsmith.depth.temporal.smooth import Belief, carried
from depthsmith.depth.temporal.values import DepthSample, SteadySettings
from depthsmith.errors import InputError
from depthsmith.types import ByteArray, FloatArray

_LONG_SIDE = 260
_PRESET = cv2.DISOPTICAL_FLOW_PRESET_MEDIUM


@dataclass(frozen=True, eq=False)
class Key:
    """A frame with depth of its own."""

    index: int
    inverse: FloatArray
    guide: ByteArray


@dataclass(frozen=True, eq=False)
class Whole:
    """A frame that has depth, its own or carried.

    Attributes:
        key: the last frame with depth of its own, up to this one.
    """

    sample: DepthSample
    inverse: FloatArray
    key: Key


class Carrier:
    """Fills in the frames between key frames, in order."""

    def __init__(self, settings: SteadySettings, key: Key | None) -> None:
        self._settings = settings
        self._key = key
        self._waiting: list[DepthSample] = []

    def push(self, sample: DepthSample) -> list[Whole]:
        """Take the next frame; give those that have depth now.

        Raises:
            InputError: if the first frame of a shot has no depth, or there is none for longer
                than the settings say.
        """
        done = []
        if sample.inverse is not None:
            key = Key(sample.index, sample.inverse, sample.guide)
            done = self._released(None if sample.cut else key)
            self._key = key
            return [*done, Whole(sample, sample.inverse, key)]
        if sample.cut or self._key is None:
            raise InputError(f"frame {sample.index} starts a shot and has no depth")
        if sample.index - self._key.index >= self._settings.every:
            raise InputError(
                f"frame {sample.index} has no depth, nor have the {self._settings.every - 1} "
                "before it; that is more than the settings say"
            )
        self._waiting.append(sample)
        return self._released(None) if self._settings.live else []

    def finish(self) -> list[Whole]:
        """Give what waits for a key frame that does not come."""
        return self._released(None)

    def _released(self, after: Key | None) -> list[Whole]:
        waiting, self._waiting = self._waiting, []
        before = self._key
        if before is None or not waiting:
            return []
        unit = IDENTITY if after is None else _unit(after, before, self._settings)
        return [Whole(s, between(s, before, after, unit), before) for s in waiting]


def between(frame: DepthSample, before: Key, after: Key | None, unit: Affine) -> FloatArray:
    """Depth of a frame between two key frames, or after one.

    Args:
        unit: from the inverse depth of ``after`` to that of ``before``.

    Returns:
        ``(h, w)`` float32, in the unit of ``before`` at first, of ``after`` at last.
    """
    gray = brightness(frame.guide, _LONG_SIDE)
    depth, trust = _seen_from(gray, before)
    if after is None:
        return depth
    share = (frame.index - before.index) / (after.index - before.index)
    other, other_trust = _seen_from(gray, after)
    other = unit(other)
    mine, theirs = trust * np.float32(1.0 - share), other_trust * np.float32(share)
    total = mine + theirs
    height, width = depth.shape
    weight = cv2.resize(theirs / (total + np.float32(1e-4)), (width, height))
    other -= depth
    other *= weight
    other += depth
    own = IDENTITY.towards(unit.inverse(), share)
    return own(other)


def _seen_from(gray: ByteArray, key: Key) -> tuple[FloatArray, FloatArray]:
    """The key's depth at the frame's pixels, and how far it is believed there."""
    earlier = brightness(key.guide, _LONG_SIDE)
    field: Field = link(gray, earlier, _PRESET, ahead=False, to_the_pixel=True).back
    brought = carried(Belief(key.inverse, np.ones_like(field.trust)), field, cv2.INTER_CUBIC)
    return brought.depth, brought.count


def _unit(after: Key, before: Key, settings: SteadySettings) -> Affine:
    """From the inverse depth of one key frame to that of the one before."""
    gray, earlier = (brightness(key.guide, _LONG_SIDE) for key in (after, before))
    back = link(gray, earlier, _PRESET, ahead=False).back
    small, target = (
        cv2.resize(key.inverse, gray.shape[::-1], interpolation=cv2.INTER_AREA)
        for key in (after, before)
    )
    return step_between(small, target, back, settings.affine)
