"""Tracks that a container does not take, in a form that it does."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthsmith.media.film.montage import Montage

_BIT_RATE_PER_CHANNEL = 96_000
_AAC_RATES = (
    96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350,
)  # fmt: skip
_USUAL = {1: "mono", 2: "stereo", 3: "2.1", 4: "4.0", 5: "5.0", 6: "5.1", 7: "6.1", 8: "7.1"}
_FRAME = 1024
_JITTER_SECONDS = Fraction(1, 100)
_MILLISECOND = Fraction(1, 1000)
# ReadOrder, Layer, Style, Name, MarginL, MarginR, MarginV, Effect come before the text.
_ASS_FIELDS = 8


class ToAac:
    """Decodes audio and encodes it as AAC, cut to the sample.

    Samples are put where their times say. Gaps are filled with silence and overlaps cut; what
    differs by less than a hundredth of a second is rounding.

    Args:
        source: stream.
        output: file that gets a new stream.

    Attributes:
        layout: of the channels.
        same_channels: whether that is the source's; the encoder does not know all.
        stream: of the output.
    """

    def __init__(self, source: Any, output: Any, montage: Montage) -> None:
        import av

        self._source, self._montage = source, montage
        context = source.codec_context
        self.layout = _layout(context)
        self._rate = context.sample_rate if context.sample_rate in _AAC_RATES else 48000
        self.same_channels = _takes(self.layout, self._rate)
        if not self.same_channels:
            self.layout = "stereo"
        channels = len(av.AudioLayout(self.layout).channels)
        self.stream = output.add_stream(
            "aac",
            rate=self._rate,
            layout=self.layout,
            bit_rate=min(_BIT_RATE_PER_CHANNEL * channels, 6144 * self._rate // 1024 * channels),
        )
        self._resampler = av.AudioResampler("fltp", self.layout, self._rate)
        self._held = np.zeros((channels, 0), np.float32)
        self._begin: int | None = None  # time of the first sample that is held
        self._jitter = max(_JITTER_SECONDS, 2 * source.time_base)

    def take(self, packet: Any) -> Iterator[Any]:
        for frame in packet.decode():
            yield from self._hear(frame)

    def flush(self) -> Iterator[Any]:
        for frame in self._source.decode(None):
            yield from self._hear(frame)
        for resampled in self._resampler.resample(None):
            yield from self._place(resampled)
        yield from self._encoded(last=True)
        yield from self.stream.encode(None)

    def _hear(self, frame: Any) -> Iterator[Any]:
        for resampled in self._resampler.resample(frame):
            yield from self._place(resampled)

    def _place(self, frame: Any) -> Iterator[Any]:
        if frame.pts is None:
            return
        samples: NDArray[np.float32] = frame.to_ndarray()  # (channels, N)
        begin = frame.pts * Fraction(frame.time_base)
        end = begin + Fraction(samples.shape[1], self._rate)
        for first, last, to in self._montage.cut(begin, end):
            skip = round((first - begin) * self._rate)
            piece = samples[:, skip : skip + round((last - first) * self._rate)]
            self._append(piece, round(to * self._rate))
            yield from self._encoded()

    def _append(self, piece: NDArray[np.float32], to: int) -> None:
        if self._begin is None:
            if to < 0:  # nothing is heard before the film begins
                piece, to = piece[:, -to:], 0
            if not piece.shape[1]:
                return
            self._begin = to
        expected = self._begin + self._held.shape[1]
        gap = to - expected
        if abs(gap) > self._jitter * self._rate:
            if gap > 0:
                silence = np.zeros((piece.shape[0], gap), np.float32)
                piece = np.concatenate([silence, piece], axis=1)
            else:
                piece = piece[:, -gap:]
        self._held = np.concatenate([self._held, piece], axis=1)

    def _encoded(self, *, last: bool = False) -> Iterator[Any]:
        import av

        while self._begin is not None and (
            self._held.shape[1] >= _FRAME or (last and self._held.shape[1])
        ):
            samples, self._held = self._held[:, :_FRAME], self._held[:, _FRAME:]
            frame = av.AudioFrame.from_ndarray(
                np.ascontiguousarray(samples), format="fltp", layout=self.layout
            )
            frame.sample_rate = self._rate
            frame.time_base = Fraction(1, self._rate)
            frame.pts = self._begin
            self._begin += samples.shape[1]
            yield from self.stream.encode(frame)


class ToText:
    """Decodes subtitles as text and encodes them in another kind of text.

    Args:
        source: stream.
        output: file that gets a new stream.
        codec: ``mov_text`` or ``subrip``.
    """

    def __init__(self, source: Any, output: Any, montage: Montage, codec: str) -> None:
        import av

        self._source, self._montage = source, montage
        context = source.codec_context
        context.open(strict=False)
        encoder: Any = av.CodecContext.create(codec, "w")
        self._encoder = encoder
        self._encoder.subtitle_header = context.subtitle_header
        self._encoder.time_base = _MILLISECOND
        self._encoder.open()
        self.stream: Any = output.add_stream(codec)
        self.stream.codec_context.subtitle_header = context.subtitle_header
        self.stream.codec_context.time_base = _MILLISECOND
        self.stream.time_base = _MILLISECOND

    def take(self, packet: Any) -> Iterator[Any]:
        if packet.pts is None or not packet.size:
            return
        shown = self._source.codec_context.decode2(packet)
        texts = [] if shown is None else [rect.ass for rect in shown if hasattr(rect, "ass")]
        if not any(texts):
            return
        tick = self._source.time_base
        begin = packet.pts * tick + shown.start_display_time * _MILLISECOND
        if packet.duration:
            end = (packet.pts + packet.duration) * tick
        else:
            end = packet.pts * tick + shown.end_display_time * _MILLISECOND
        for first, last in self._montage.clip(begin, end):
            yield self._packet(_joined(texts), first, last)

    def flush(self) -> Iterator[Any]:
        yield from ()

    def _packet(self, ass: bytes, first: Fraction, last: Fraction) -> Any:
        from av.subtitles.subtitle import SubtitleSet

        length = max(1, round((last - first) / _MILLISECOND))
        packet = self._encoder.encode_subtitle(SubtitleSet.create(ass, 0, length))
        packet.stream = self.stream
        packet.time_base = _MILLISECOND
        packet.pts = packet.dts = max(0, round(first / _MILLISECOND))
        packet.duration = length
        packet.is_keyframe = True
        return packet


def _joined(texts: list[bytes]) -> bytes:
    """Events that are shown together as one of several lines."""
    first, *more = [text for text in texts if text]
    for text in more:
        first += b"\\N" + text.split(b",", _ASS_FIELDS)[-1]
    return first


def _layout(context: Any) -> str:
    """The channels' order; the usual one for their number where the source does not say."""
    name = str(context.layout.name)
    return _USUAL.get(context.layout.nb_channels, "stereo") if name.endswith("channels") else name


def _takes(layout: str, rate: int) -> bool:
    """Whether the encoder knows that order of channels."""
    import av

    context: Any = av.CodecContext.create("aac", "w")
    try:
        context.layout, context.sample_rate, context.format = layout, rate, "fltp"
        context.open()
    except (av.error.FFmpegError, ValueError):
        return False
    return True
