"""Encoders and tracks of a test film."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import av
import numpy as np

from films.specs import AudioSpec, ColorSpec, SubtitleSpec

BEEP_SECONDS = 0.05


def encoder_frame(rgb: np.ndarray, pix_fmt: str, color: ColorSpec) -> av.VideoFrame:
    """R'G'B' of 8 or 16 bits in an encoder's format, with the matrix and range of ``color``."""
    kind = "rgb24" if rgb.dtype == np.uint8 else "rgb48le"
    frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(rgb), format=kind)
    matrix = {1: 1, 5: 5, 6: 5, 9: 9, 10: 9}.get(color.matrix, 1 if rgb.shape[0] >= 720 else 5)
    if pix_fmt != kind:
        frame = frame.reformat(
            format=pix_fmt, dst_colorspace=matrix, interpolation="BICUBIC",
            dst_color_range=2 if color.full_range or "yuvj" in pix_fmt else 1,
        )  # fmt: skip
    frame.colorspace = color.matrix
    frame.color_primaries = color.primaries
    frame.color_trc = color.transfer
    frame.color_range = {None: 0, False: 1, True: 2}[color.full_range]
    return frame


def video_stream(
    output: Any, codec: str, pix_fmt: str, options: dict[str, str] | None, gop: int,
    times: list[tuple[Fraction, Fraction]], unit: Fraction, sample_aspect: Fraction | None,
    color: ColorSpec, interlaced: bool,
) -> Any:  # fmt: skip
    settings: dict[str, str] = {}
    if codec == "libx264":
        settings = {"preset": "ultrafast", "crf": "12"}
    if codec == "libx265":
        extra = ["log-level=none", "pools=2"]
        if color.mastering:
            extra.append(f"master-display={color.mastering}")
        if color.content_light:
            extra.append(f"max-cll={color.content_light}")
        settings = {"preset": "ultrafast", "crf": "10", "x265-params": ":".join(extra)}
    if interlaced:
        settings["flags"] = "+ildct+ilme"
    rate = 1 / times[0][1] if times else Fraction(30)
    video = output.add_stream(codec, rate=rate, options={**settings, **(options or {})})
    video.pix_fmt = pix_fmt
    context = video.codec_context
    # MPEG codecs count in whole frames.
    context.time_base = 1 / rate if codec.startswith("mpeg") else unit
    video.time_base = unit
    context.gop_size = gop
    context.flags |= av.codec.context.Flags.frame_duration
    if sample_aspect is not None:
        context.sample_aspect_ratio = sample_aspect
    context.color_primaries, context.color_trc = color.primaries, color.transfer
    context.colorspace = color.matrix
    context.color_range = {None: 0, False: 1, True: 2}[color.full_range]
    return video


class AudioTrack:
    def __init__(self, output: Any, spec: AudioSpec) -> None:
        self.spec = spec
        self.stream = output.add_stream(spec.codec, rate=spec.rate, layout=spec.layout)
        if spec.language:
            self.stream.metadata["language"] = spec.language
        if spec.title:
            self.stream.metadata["title"] = spec.title

    def encode(self, length: float, beeps: list[float], first: float) -> list[av.Packet]:
        rate = self.spec.rate
        count = round((self.spec.seconds or length) * rate)
        seconds = np.arange(count) / rate
        sound = np.zeros(count, np.float32)
        for at in beeps:
            on = (seconds >= at) & (seconds < at + BEEP_SECONDS)
            sound[on] = 0.5 * np.sin(2 * np.pi * 1000 * (seconds[on] - at))
        channels = len(av.AudioLayout(self.spec.layout).channels)
        frame = av.AudioFrame.from_ndarray(
            np.repeat(sound[None], channels, axis=0), format="fltp", layout=self.spec.layout
        )
        frame.sample_rate, frame.time_base = rate, Fraction(1, rate)
        frame.pts = round(first * rate)
        context = self.stream.codec_context
        resampler = av.AudioResampler(
            format=context.format, layout=self.spec.layout, rate=rate,
            frame_size=context.frame_size or 1024,
        )  # fmt: skip
        packets = []
        for piece in [*resampler.resample(frame), *resampler.resample(None)]:
            packets += self.stream.encode(piece)
        return [*packets, *self.stream.encode(None)]


def text_codec(output: Any, spec: SubtitleSpec) -> str:
    return spec.codec or ("subrip" if "matroska" in output.format.name else "mov_text")


def text_stream(output: Any, spec: SubtitleSpec) -> Any:
    stream = output.add_mux_stream(text_codec(output, spec))
    stream.time_base = Fraction(1, 1000)
    if spec.language:
        stream.metadata["language"] = spec.language
    return stream


def text_packets(codec: str, stream: Any, spec: SubtitleSpec, first: float) -> list[av.Packet]:
    packets = []
    for start, end, text in spec.events:
        data = text.encode()
        if codec == "mov_text":
            data = len(data).to_bytes(2, "big") + data
        packet = av.Packet(data)
        packet.stream, packet.time_base = stream, Fraction(1, 1000)
        packet.pts = packet.dts = round(1000 * (first + start))
        packet.duration = round(1000 * (end - start))
        packets.append(packet)
    return packets


def cover_stream(output: Any, cover: np.ndarray | None) -> Any:
    if cover is None:
        return None
    stream = output.add_stream("mjpeg", rate=1)
    stream.height, stream.width = cover.shape[:2]
    stream.pix_fmt = "yuvj420p"
    stream.disposition = av.stream.Disposition.attached_pic
    return stream
