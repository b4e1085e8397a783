"""Film files for tests, made with PyAV: every frame can be recognised by its content.

>>> path = make_film_file(tmp_path / "a.mp4", size=(96, 128), parts=((1, 30), (1, 10)))
>>> [frame_number(rgb) for rgb in rgb_frames(path)]         # 0 to 39, read off the pictures

Frames carry their number as a bar code and a pattern without symmetry, so that lost, doubled,
turned and mirrored frames are all seen. ``flashes`` turns the frames at those times white and
beeps at the same instant on every audio track: `flash_times` and `beep_times` find both again
in a file, whoever wrote it.

Sizes are ``(height, width)``, upright. Times are seconds.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

BITS = 12
BEEP_SECONDS = 0.05
SMALLEST = (16, 2 * (BITS + 2))  # below this a picture has no bar code
COLORS = ((200, 40, 40), (40, 180, 60), (50, 60, 210), (210, 200, 50))


@dataclass(frozen=True)
class AudioSpec:
    """An audio track: silence but for the beeps."""

    codec: str = "aac"
    language: str = ""
    layout: str = "stereo"
    rate: int = 48000
    title: str = ""
    seconds: float | None = None  # as long as the pictures by default


@dataclass(frozen=True)
class SubtitleSpec:
    """A track of text: ``(start, end, text)`` in seconds."""

    events: tuple[tuple[float, float, str], ...]
    language: str = ""
    codec: str = ""  # what the container takes: mov_text or subrip


@dataclass(frozen=True)
class ColorSpec:
    """Code points of ITU-T H.273, range (1 limited, 2 full), and HDR10 data for x265."""

    primaries: int = 2
    transfer: int = 2
    matrix: int = 2
    full_range: bool | None = None
    mastering: str = ""  # x265's master-display
    content_light: str = ""  # x265's max-cll


BT709 = ColorSpec(1, 1, 1, False)
PQ = ColorSpec(
    9, 16, 9, False,
    "G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1)", "1000,400",
)  # fmt: skip
HLG = ColorSpec(9, 18, 9, False)


# ---- pictures --------------------------------------------------------------------------------


def draw_frame(number: int, size: tuple[int, int], *, flash: bool = False) -> np.ndarray:
    """A picture ``(H, W, 3)`` uint8 that tells its number and which way is up.

    The upper quarter is the bar code: white, black, then 12 bits, most significant first.
    Below are a red, a green, a blue and a yellow corner on a gray ramp, and a bar that moves.
    A flash turns everything but the code white.
    """
    height, width = size
    ramp = np.linspace(60, 190, width)[None, :] + np.linspace(-30, 30, height)[:, None]
    rgb = np.repeat(ramp[..., None], 3, axis=2).astype(np.uint8)
    top = height // 4 if height >= SMALLEST[0] and width >= SMALLEST[1] else 0
    middle, half = top + (height - top) // 2, width // 2
    patch = max((height - top) // 4, 1), max(width // 4, 1)
    left = (number * max(width // 24, 1)) % max(width - width // 8, 1)
    rgb[middle - patch[0] // 4 : middle + patch[0] // 4 + 1, left : left + max(width // 8, 1)] = (
        230
    )
    if width >= 4 and height >= 4:
        rgb[top : top + patch[0], : patch[1]] = COLORS[0]
        rgb[top : top + patch[0], -patch[1] :] = COLORS[1]
        rgb[-patch[0] :, : patch[1]] = COLORS[2]
        rgb[-patch[0] :, half : half + patch[1]] = COLORS[3]
    if flash:
        rgb[top:] = 255
    if top:
        bits = [1, 0, *((number >> bit) & 1 for bit in reversed(range(BITS)))]
        rgb[:top] = np.asarray(bits, np.uint8)[np.arange(width) * len(bits) // width][
            None, :, None
        ]
        rgb[:top] *= 255
    return rgb


def frame_number(rgb: np.ndarray) -> int:
    """Read the bar code of an upright picture, of whatever size and depth.

    Raises:
        ValueError: if there is none: the picture is turned, mirrored, damaged or foreign.
    """
    height, width = rgb.shape[:2]
    if height < SMALLEST[0] or width < SMALLEST[1]:
        raise ValueError(f"{height}x{width} is too small for a bar code")
    strip = rgb[height // 16 : max(height * 3 // 16, height // 16 + 1)].astype(np.float64)
    line = strip.mean(axis=0).reshape(width, -1).mean(axis=1)
    edges = np.linspace(0, width, BITS + 3)
    values = np.array(
        [
            line[
                round(low + 0.25 * (high - low)) : max(round(high - 0.25 * (high - low)), 1)
            ].mean()
            for low, high in itertools.pairwise(edges)
        ]
    )
    white, black = values[0], values[1]
    if white - black < 0.4 * (np.iinfo(rgb.dtype).max if rgb.dtype.kind == "u" else 1.0):
        raise ValueError(f"no bar code: {np.round(values)}")
    share = (values[2:] - black) / (white - black)
    if np.any((share > 0.3) & (share < 0.7)):
        raise ValueError(f"bar code is not clear: {np.round(share, 2)}")
    return int("".join("1" if value > 0.5 else "0" for value in share), 2)


def stored(upright: np.ndarray, turn_deg: int, flipped: bool) -> np.ndarray:
    """The picture to store, so that after a horizontal flip and a clockwise turn it is upright."""
    back = np.rot90(upright, k=turn_deg // 90)  # counterclockwise
    return np.ascontiguousarray(back[:, ::-1] if flipped else back)


def display_matrix(turn_deg: float, flipped: bool) -> list[int]:
    """ISO/IEC 14496-12 matrix ``a b u c d v x y w``: x' = a x + c y, y' = b x + d y, y down."""
    cos, sin = math.cos(math.radians(turn_deg)), math.sin(math.radians(turn_deg))
    mirror = -1.0 if flipped else 1.0
    a, b, c, d = mirror * cos, mirror * sin, -sin, cos
    return [
        round(a * 65536), round(b * 65536), 0,
        round(c * 65536), round(d * 65536), 0,
        0, 0, 1 << 30,
    ]  # fmt: skip


# ---- times -----------------------------------------------------------------------------------


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


# ---- files -----------------------------------------------------------------------------------


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
    color: ColorSpec = ColorSpec(),
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
        video = _video_stream(
            output, codec, pix_fmt, options, gop, times, unit, sample_aspect, color, interlaced
        )
        video.height, video.width = coded
        if turn_deg or flipped:
            video.set_display_matrix(display_matrix(turn_deg, flipped))
        tracks = [_AudioTrack(output, spec) for spec in audio]
        texts = [_text_stream(output, spec) for spec in subtitles]
        for name, mime, data in attachments:
            output.add_attachment(name, mime, data)
        picture_stream = _cover_stream(output, cover)
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
            packets += _text_packets(_text_codec(output, spec), stream, spec, float(first))
        if picture_stream is not None:
            packets += picture_stream.encode(av.VideoFrame.from_ndarray(cover, format="rgb24"))
            packets += picture_stream.encode(None)
        packets.sort(key=lambda p: -1 if p.dts is None else p.dts * p.time_base)
        for packet in packets:
            output.mux(packet)
    return path


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


def _video_stream(
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


class _AudioTrack:
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


def _text_codec(output: Any, spec: SubtitleSpec) -> str:
    return spec.codec or ("subrip" if "matroska" in output.format.name else "mov_text")


def _text_stream(output: Any, spec: SubtitleSpec) -> Any:
    stream = output.add_mux_stream(_text_codec(output, spec))
    stream.time_base = Fraction(1, 1000)
    if spec.language:
        stream.metadata["language"] = spec.language
    return stream


def _text_packets(codec: str, stream: Any, spec: SubtitleSpec, first: float) -> list[av.Packet]:
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


def _cover_stream(output: Any, cover: np.ndarray | None) -> Any:
    if cover is None:
        return None
    stream = output.add_stream("mjpeg", rate=1)
    stream.height, stream.width = cover.shape[:2]
    stream.pix_fmt = "yuvj420p"
    stream.disposition = av.stream.Disposition.attached_pic
    return stream


# ---- damage ----------------------------------------------------------------------------------


def truncate(path: Path, share: float) -> Path:
    """Cut a file off after ``share`` of its bytes."""
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    return path


def damage_packets(path: Path, numbers: Iterable[int], *, seed: int = 0) -> Path:
    """Overwrite the middle of some packets of the first video stream with noise.

    Args:
        numbers: which packets, in the order of the file.
    """
    wanted = set(numbers)
    with av.open(str(path)) as source:
        found = [
            (packet.pos, packet.size)
            for number, packet in enumerate(source.demux(source.streams.video[0]))
            if number in wanted and packet.size
        ]
    assert len(found) == len(wanted), f"only {len(found)} of the packets {wanted}"
    data = bytearray(path.read_bytes())
    rng = np.random.default_rng(seed)
    for position, size in found:
        # Containers put a few bytes before the payload.
        start, end = position + size // 8 + 8, position + size
        data[start:end] = rng.integers(0, 256, max(end - start, 0), np.uint8).tobytes()
    path.write_bytes(bytes(data))
    return path


def make_fragmented(path: Path, **options: Any) -> Path:
    """`make_film_file` as a fragmented MP4, as browsers and screen recorders write them."""
    flags = {"movflags": "frag_keyframe+empty_moov+default_base_moof"}
    return make_film_file(path, container_options=flags, **options)


# ---- reading back ----------------------------------------------------------------------------


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
