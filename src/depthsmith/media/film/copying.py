"""Packets of a source's track at their place in what is written."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Protocol

from depthsmith.media.film.montage import Montage


class TrackWriter(Protocol):
    """Turns packets of the source into packets of the output."""

    def take(self, packet: Any) -> Iterator[Any]:
        """Packets to write for one that was read. Their stream and times are set."""

    def flush(self) -> Iterator[Any]:
        """What is left at the end."""


class AudioCopy:
    """Copies audio, packet by packet.

    Containers that count in milliseconds round the times of packets; where a packet is where
    the one before ends but for that, it is put there exactly, so that no rounding gets into a
    container that counts samples.

    Args:
        source, output: streams.
        earliest: before this, in seconds, the container can hold nothing.
    """

    def __init__(
        self, source: Any, output: Any, montage: Montage, earliest: Fraction | None
    ) -> None:
        self._output, self._montage, self._earliest = output, montage, earliest
        self._tick: Fraction = source.time_base
        rate = source.codec_context.sample_rate
        self._unit = Fraction(1, rate) if rate else self._tick
        self._samples = source.codec_context.frame_size or 0
        self._next: Fraction | None = None
        self._last: int | None = None

    def take(self, packet: Any) -> Iterator[Any]:
        time = packet.pts if packet.pts is not None else packet.dts
        if time is None:
            if self._next is None:
                return
            begin = self._next
        else:
            begin = time * self._tick
        length = (packet.duration or 0) * self._tick
        exact = self._samples * self._unit
        # Formats with a half rate in their head count two of its samples.
        if exact and abs(exact - length) <= self._tick:
            length = exact
        if self._next is not None and abs(begin - self._next) <= self._tick:
            begin = self._next
        self._next = begin + length
        place = self._montage.place(begin)
        if place is None:
            return
        if self._earliest is not None and place < self._earliest:
            if place + self._tick <= self._earliest:
                return
            place = self._earliest  # but for a rounded time, it is there
        packet.time_base = self._unit
        packet.pts = packet.dts = self._increasing(round(place / self._unit))
        packet.duration = round(length / self._unit)
        packet.stream = self._output
        yield packet

    def flush(self) -> Iterator[Any]:
        yield from ()

    def _increasing(self, time: int) -> int:
        if self._last is not None and time <= self._last:
            time = self._last + 1
        self._last = time
        return time


class SubtitleCopy:
    """Copies subtitles; what is cut by the border of a part is shown up to it."""

    def __init__(self, source: Any, output: Any, montage: Montage) -> None:
        self._output, self._montage = output, montage
        self._tick: Fraction = source.time_base

    def take(self, packet: Any) -> Iterator[Any]:
        import av

        time = packet.pts if packet.pts is not None else packet.dts
        if time is None or not packet.size:
            return
        begin, length = time * self._tick, (packet.duration or 0) * self._tick
        if length:
            places = self._montage.clip(begin, begin + length)
        else:  # bitmaps are shown until the next one comes
            place = self._montage.place(begin)
            places = [] if place is None else [(place, place)]
        for first, last in places:
            copy = av.Packet(bytes(packet)) if len(places) > 1 else packet
            copy.time_base = self._tick
            copy.pts = copy.dts = max(0, round(first / self._tick))
            copy.duration = round((last - first) / self._tick)
            copy.is_keyframe = True
            copy.stream = self._output
            yield copy

    def flush(self) -> Iterator[Any]:
        yield from ()
