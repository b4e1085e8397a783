"""What is in a film, by PyAV alone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import av
import numpy as np

from films.tracks import BEEP_SECONDS


def rgb_frames(path: Path) -> Iterator[np.ndarray]:
    """Pictures of the first video stream as they are stored, ``(H, W, 3)`` uint8."""
    with av.open(str(path)) as source:
        for frame in source.decode(video=0):
            yield frame.to_ndarray(format="rgb24")


def frame_times(path: Path) -> list[float]:
    """Presentation times of the first video stream, in seconds."""
    with av.open(str(path)) as source:
        return [float(frame.pts * frame.time_base) for frame in source.decode(video=0)]


def flash_times(path: Path) -> list[float]:
    """When white frames begin, in seconds."""
    times, lit = [], False
    with av.open(str(path)) as source:
        for frame in source.decode(video=0):
            gray = frame.to_ndarray(format="gray")
            white = bool(np.median(gray[gray.shape[0] // 2 :]) > 225)
            if white and not lit:
                times.append(float(frame.pts * frame.time_base))
            lit = white
    return times


def beep_times(path: Path, track: int = 0) -> list[float]:
    """When beeps begin on an audio track, in seconds, to about a millisecond."""
    times: list[float] = []
    last = -math.inf
    with av.open(str(path)) as source:
        stream = source.streams.audio[track]
        resampler = av.AudioResampler(format="flt", layout="mono", rate=48000)
        for frame in source.decode(stream):
            if frame.pts is None:
                continue
            start = float(frame.pts * frame.time_base)
            for piece in resampler.resample(frame):
                loud = np.flatnonzero(np.abs(piece.to_ndarray().ravel()) > 0.12)
                for at in start + loud / 48000:
                    if at > last + BEEP_SECONDS:
                        times.append(float(at))
                    last = float(at)
    return times
