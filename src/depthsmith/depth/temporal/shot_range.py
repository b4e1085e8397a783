"""One range for a shot: where near and far end, and what lies beyond them.

A range that follows every frame pumps: whatever enters or leaves moves everything else. So it
is measured once, on the first frames of the shot, and then follows only as far as the camera
has moved on to something else. What lies beyond the ends is compressed, not cut off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from depthsmith.types import ByteArray, FloatArray

_KNEE_LOW, _KNEE_HIGH = np.float32(0.03), np.float32(0.9)
"""Between them near is linear; beyond, it nears 0 and 1 as a hyperbola."""

_PER_ROOM_LOW, _PER_ROOM_HIGH = np.float32(-1.0 / 0.03), np.float32(1.0 / 0.1)
"""One over the room beyond the knees."""

_BAND_ROWS = 64
"""Rows that stay in the processor's cache from one operation to the next."""

_SETTLED = 12.0
"""Frames after which a running range stays."""

_LEAST_CONTRAST = 3.0
"""Standard deviation of brightness, of 255: a darker or blanker frame shows no depth."""

_RATE_PER_S = 0.3
"""Most that the range follows a moving camera: a time constant of about three seconds."""

_REACH = 0.5

_SAMPLES = 4096


@dataclass(frozen=True)
class Span:
    """Ends of inverse depth: of a frame, or of a shot.

    Attributes:
        low, high: its percentiles.
        middle: its median.
        shows: whether the picture shows anything.
    """

    low: float
    middle: float
    high: float
    shows: bool = True

    @property
    def wide(self) -> float:
        """Range of depth, never quite nothing."""
        return self.high - self.low + 1e-6 * max(abs(self.low), abs(self.high)) + 1e-12

    def mapped(self, scale: float, shift: float) -> Span:
        """After ``scale * value + shift``."""
        low, middle, high = (scale * v + shift for v in (self.low, self.middle, self.high))
        return Span(low, middle, high, self.shows)


@dataclass(frozen=True)
class ShotRange:
    """Ends of the range of a shot.

    Attributes:
        low, high: what becomes 0 and 1 before compression.
        settled: frames that it was measured on.
    """

    low: float
    high: float
    settled: float


def measure(inverse: FloatArray, guide: ByteArray, low: float, high: float) -> Span:
    """Percentiles ``low``, 50 and ``high`` of a frame, on a grid of its pixels."""
    step = max(1, int(np.sqrt(inverse.size / _SAMPLES)))
    values = np.percentile(inverse[::step, ::step], (low, 50.0, high))
    shows = float(guide[::step, ::step, 1].std()) >= _LEAST_CONTRAST
    return Span(float(values[0]), float(values[1]), float(values[2]), shows)


def start(spans: Sequence[Span]) -> ShotRange:
    """The range of a shot from its first frames, all in one unit.

    Wide enough for four of five frames, so that what enters meanwhile counts.
    """
    showing = [span for span in spans if span.shows]
    used = showing or list(spans)
    low = float(np.percentile([span.low for span in used], 20.0))
    high = float(np.percentile([span.high for span in used], 80.0))
    settled = float(len(showing)) if len(spans) == 1 or not showing else _SETTLED
    return ShotRange(low, high, settled)


def follow(shot: ShotRange, spans: Sequence[Span], novelty: float, step_s: float) -> ShotRange:
    """The range one frame on.

    Args:
        shot: so far.
        spans: of this frame and those looked ahead to, in the shot's unit.
        novelty: share of the picture that the camera has replaced since the last frame.
        step_s: time since then, in seconds.
    """
    showing = [span for span in spans if span.shows]
    if not showing:
        return shot
    low = float(np.median([span.low for span in showing]))
    high = float(np.median([span.high for span in showing]))
    middle = float(np.median([span.middle for span in showing]))
    wide = max(shot.high - shot.low, 1e-12)
    limit = _RATE_PER_S * step_s
    rate = min(novelty, limit)
    if shot.settled < _SETTLED:
        rate = max(rate, 1.0 / (shot.settled + 1.0))
    elif not -0.25 < (middle - shot.low) / wide < 1.25:  # half of the picture lies outside
        rate = limit
    else:  # what is far outside pulls no harder than what is a little
        low = max(low, shot.low - _REACH * wide)
        high = min(high, shot.high + _REACH * wide)
    return ShotRange(
        shot.low + rate * (low - shot.low),
        shot.high + rate * (high - shot.high),
        min(shot.settled + 1.0, _SETTLED),
    )


def near_of(inverse: FloatArray, shot: ShotRange) -> FloatArray:
    """Inverse depth in the shot's unit as near, ``(h, w)`` float32 in [0, 1].

    Strictly increasing up to rounding. A flat range gives 0.
    """
    wide = shot.high - shot.low
    if not wide > 1e-12 * max(abs(shot.low), abs(shot.high)):
        return np.zeros_like(inverse)
    near = np.empty_like(inverse)
    for top in range(0, len(inverse), _BAND_ROWS):
        band = near[top : top + _BAND_ROWS]
        np.multiply(inverse[top : top + _BAND_ROWS], np.float32(1.0 / wide), out=band)
        band -= np.float32(shot.low / wide)
        inside = np.clip(band, _KNEE_LOW, _KNEE_HIGH)
        band -= inside
        # x / (1 + x / room), the room on the side where x is
        below_one = np.maximum(band * _PER_ROOM_HIGH, band * _PER_ROOM_LOW)
        below_one += np.float32(1.0)
        band /= below_one
        band += inside
        np.clip(band, 0.0, 1.0, out=band)
    return near
