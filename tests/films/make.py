"""Write test films."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

from films.pictures import display_matrix, draw_frame, stored
from films.specs import UNTAGGED, AudioSpec, ColorSpec, SubtitleSpec
from films.tracks import (
    AudioTrack,
    cover_stream,
    encoder_frame,
    text_codec,
    text_packets,
    text_stream,
    video_stream,
)


def schedule(parts: Sequence[tuple[float, float | Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """Time and duration of every frame of ``(seconds, fps)`` parts, exactly."""
    times: list[tuple[Fraction, Fraction]] = []
    start = Fraction(0)
    for seconds, fps in parts:
        step = 1 / Fraction(fps).limit_denominator(1001)
        for _ in range(round(Fraction(seconds).limit_denominator(10**6) / step)):
            times.append((start, step))
            start += step
    return times


def _unit(times: Iterable[tuple[Fraction, Fraction]], first: Fraction) -> Fraction:
    values = [first, *{step for _, step in times}]
    denominator = math.lcm(*(value.denominator for value in values))
    numerator = math.gcd(*(int(value * denominator) for value in values))
    unit = Fraction(numerator, denominator)
    while unit > Fraction(1, 1000):  # MP4 edit lists and audio want a fine clock
        unit /= 2
    return unit


def make_film_file(
    path: Path,
    *,
    size: tuple[int, int] = (96, 128),
    parts: Sequence[tuple[float, float | Fraction]] = ((1.0, 30),),
    pictures: Iterable[np.ndarray] | None = None,
    codec: str = "libx264",
    pix_fmt: str = "yuv420p",
    options: dict[str, str] | None = None,
    gop: int = 12,
    first_pts_s: float | Fraction = 0,
    turn_deg: float = 0,
    flipped: bool = False,
    sample_aspect: Fraction | None = None,
    color: ColorSpec = UNTAGGED,
    interlaced: bool = False,
    flashes: Sequence[float] = (),
    audio: Sequence[AudioSpec] = (),
    subtitles: Sequence[SubtitleSpec] = (),
    chapters: Sequence[tuple[float, float, str]] = (),
    attachments: Sequence[tuple[str, str, bytes]] = (),
    cover: np.ndarray | None = None,
    metadata: dict[str, str] | None = None,
    container_options: dict[str, str] | None = None,
    format: str | None = None,
) -> Path:
    """Write a film. Its container follows the suffix, or ``format``.

    Args:
        parts: ``(seconds, fps)`` one after the other; different rates make a variable one.
        pictures: what to show instead of `draw_frame`: upright ``(H, W, 3)`` uint8 or uint16
            R'G'B' of any size; ``parts`` gives the times and the number.
        codec, pix_fmt, options, gop: of the encoder; x264 and x265 run fast and short by
            default.
        first_pts_s: time of the first frame; audio and subtitles are shifted with it.
        turn_deg, flipped: pictures are stored so that a horizontal flip (if ``flipped``) and
            a turn by ``turn_deg`` clockwise put them upright, and tagged so. A turn by no
            multiple of 90 is only tagged.
        sample_aspect: width by height of a stored pixel.
        flashes: times; the frame shown then is white and all tracks beep from its start on.
        audio, subtitles, chapters ``(start, end, title)``, attachments ``(name, MIME type,
            data)``, metadata: see `AudioSpec`, `SubtitleSpec`.
        cover: a picture for an MP4 or MOV; Matroska has attachments for that.
        container_options: of the muxer, such as ``movflags``.

    Returns:
        ``path``.
    """
    times = schedule(parts)
    first = Fraction(first_pts_s).limit_denominator(10**6)
    unit = _unit(times, first)
    if path.suffix == ".avi":  # counts frames, of one rate
        unit = times[0][1]
    flash_frames = {
        next(
            n
            for n, (t, d) in enumerate(times)
            if t <= Fraction(at).limit_denominator(10**6) < t + d
        )
        for at in flashes
    }
    beeps = [float(times[n][0]) for n in sorted(flash_frames)]
    length = float(sum(step for _, step in times))
    square = turn_deg % 90 == 0
    supply = iter(pictures) if pictures is not None else None
    ahead = next(supply) if supply is not None else None
    if ahead is not None:
        size = ahead.shape[:2]
    coded = size[::-1] if square and turn_deg % 180 else size
    with av.open(str(path), "w", format=format, options=container_options or {}) as output:
        output.metadata.update(metadata or {})
        video = video_stream(
            output, codec, pix_fmt, options, gop, times, unit, sample_aspect, color, interlaced
        )
        video.height, video.width = coded
        if turn_deg or flipped:
            video.set_display_matrix(display_matrix(turn_deg, flipped))
        tracks = [AudioTrack(output, spec) for spec in audio]
        texts = [text_stream(output, spec) for spec in subtitles]
        for name, mime, data in attachments:
            output.add_attachment(name, mime, data)
        picture_stream = cover_stream(output, cover)
        if chapters:
            output.set_chapters([
                {"id": n + 1, "start": round(a * 1000), "end": round(b * 1000),
                 "time_base": Fraction(1, 1000), "metadata": {"title": title}}
                for n, (a, b, title) in enumerate(chapters)
            ])  # fmt: skip
        packets: list[av.Packet] = []
        for number, (time, step) in enumerate(times):
            if supply is not None:
                upright, ahead = ahead, next(supply, None)
            else:
                upright = draw_frame(number, size, flash=number in flash_frames)
            picture = stored(upright, int(turn_deg) if square else 0, flipped and square)
            frame = encoder_frame(picture, pix_fmt, color)
            frame.time_base = unit
            frame.pts = round((first + time) / unit)
            frame.duration = round(step / unit)
            packets += video.encode(frame)
        packets += video.encode(None)
        if len(packets) == 1:  # x265 leaves the decoding time of a film of one frame to chance
            packets[0].dts = packets[0].pts
        for track in tracks:
            packets += track.encode(length, beeps, float(first))
        for stream, spec in zip(texts, subtitles, strict=True):
            packets += text_packets(text_codec(output, spec), stream, spec, float(first))
        if picture_stream is not None:
            packets += picture_stream.encode(av.VideoFrame.from_ndarray(cover, format="rgb24"))
            packets += picture_stream.encode(None)
        packets.sort(key=lambda p: -1 if p.dts is None else p.dts * p.time_base)
        for packet in packets:
            output.mux(packet)
    return path


def make_fragmented(path: Path, **options: Any) -> Path:
    """`make_film_file` as a fragmented MP4, as browsers and screen recorders write them."""
    flags = {"movflags": "frag_keyframe+empty_moov+default_base_moof"}
    return make_film_file(path, container_options=flags, **options)
