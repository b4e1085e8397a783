"""What a film file says about itself, and whether it is one."""

from __future__ import annotations

import struct
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

from depthsmith.errors import FilmError
from depthsmith.film import ColorTags, FilmInfo, Track
from depthsmith.media.film.open_file import MAX_PIXELS, is_cover, opened, reason
from depthsmith.media.film.orient import Orientation, display_size, orientation_of
from depthsmith.types import Size

__all__ = [
    "DeclaredEnd",
    "declared_end_s",
    "duration_of",
    "is_cover",
    "opened",
    "probe",
    "side_data",
]

_FIRST_FRAME_PACKETS = 5000
_PLAUSIBLE_ASPECT = 10
_MOST_RATE = 1000
_DEFAULT = 1  # AV_DISPOSITION_DEFAULT


def probe(path: str | Path, *, stream: int | None = None) -> FilmInfo:
    """Read a film's header and decode its first frame.

    Args:
        path: a file.
        stream: index of the stream to take; by default the one that players show: of those with
            pictures that are no cover the first that is marked as default, or the first.

    Raises:
        FilmError: if it is missing, no file, no film, audio only, a still picture, cut off
            before its index, too large, of no known codec, or without a frame that decodes.
    """
    path = Path(path)
    with opened(path) as container:
        chosen = _choose(path, container, stream)
        frame = _first_frame(path, container, chosen)
        return _describe(path, container, chosen, frame)


def _choose(path: Path, container: Any, index: int | None) -> Any:
    films = [s for s in container.streams if s.type == "video" and not is_cover(s)]
    if index is not None:
        for stream in container.streams:
            if stream.index == index and stream.type == "video":
                return _decodable(path, stream)
        there = ", ".join(str(stream.index) for stream in films) or "none"
        raise FilmError(f"{path} has no pictures in stream {index} (there are in: {there})")
    if not films:
        if any(stream.type == "audio" for stream in container.streams):
            raise FilmError(f"{path} has sound but no pictures")
        raise FilmError(f"{path} has no pictures")
    return _decodable(path, next((s for s in films if s.disposition & _DEFAULT), films[0]))


def _decodable(path: Path, stream: Any) -> Any:
    context = stream.codec_context
    if context is None:
        raise FilmError(f"{path} uses a video codec that FFmpeg does not know here")
    if context.width * context.height > MAX_PIXELS:
        raise FilmError(
            f"{path} says that its pictures are {context.width}x{context.height}; "
            f"at most {MAX_PIXELS} pixels are decoded"
        )
    return stream


def _first_frame(path: Path, container: Any, stream: Any) -> Any:
    """The first frame that decodes."""
    import av

    packets, failure = 0, ""
    stream.thread_type = "SLICE"  # no need to fill a pipeline
    try:
        for packet in container.demux(stream):
            packets += 1
            try:
                for frame in packet.decode():
                    if not frame.is_corrupt:
                        return frame
                    failure = "their data is damaged"
            except av.error.FFmpegError as error:
                failure = reason(error)
            if packets >= _FIRST_FRAME_PACKETS:
                break
    except (av.error.FFmpegError, MemoryError) as error:
        failure = reason(error)
    name = stream.codec_context.name
    if packets <= 1 and not failure:
        raise FilmError(f"{path} holds no frames; it broke off after the header")
    raise FilmError(f"{path}: no frame of the {name} pictures decodes ({failure or 'no data'})")


def _describe(path: Path, container: Any, stream: Any, frame: Any) -> FilmInfo:
    context = stream.codec_context
    coded = Size(frame.height, frame.width)
    side = side_data(frame)
    turn, notes = _orientation(side)
    aspect = _aspect(stream, notes)
    interlaced = bool(frame.interlaced_frame) or getattr(context, "field_order", 0) in (2, 3, 4, 5)
    if interlaced:
        notes.append("interlaced; each frame is taken as it is")
    if any(component.is_alpha for component in frame.format.components):
        notes.append("transparency is ignored")
    rate = _rate(stream)
    duration = duration_of(container, stream)
    count = stream.frames or None
    if duration and rate and (count is None or duration * rate < 0.98 * count):
        count = round(duration * rate)  # not declared, or an edit list leaves many out
    color = _color(frame, context, side)
    if "DOVI_RPU_BUFFER" in side and color.transfer not in (16, 18) and color.matrix != 1:
        notes.append("Dolby Vision without an HDR10 base; colours will be wrong")
    return FilmInfo(
        path=path, stream=stream.index,
        size=display_size(coded, aspect, turn.turn_deg), coded=coded,
        turn_deg=turn.turn_deg, flipped=turn.flipped, sample_aspect=aspect,
        time_base=Fraction(stream.time_base), start=_start(stream, frame),
        frame_rate=rate, frame_count=count, duration_s=duration,
        codec=context.name, bit_rate=_bit_rate(path, container, stream, duration),
        color=color, interlaced=interlaced, tracks=_tracks(container, stream),
        chapters=len(container.chapters()), notes=tuple(notes),
    )  # fmt: skip


def side_data(frame: Any) -> dict[str, bytes]:
    """Side data of a frame by name; decoders pass on what the container says of the stream."""
    found: dict[str, bytes] = {}
    for item in frame.side_data:
        with suppress(ValueError):  # a kind that is newer than PyAV
            found[item.type.name] = bytes(item)
    return found


def _orientation(side: dict[str, bytes]) -> tuple[Orientation, list[str]]:
    matrix = side.get("DISPLAYMATRIX")
    if matrix is None:
        return Orientation(), []
    turn = orientation_of(matrix)
    note = f"tagged with a turn that is no multiple of 90 degrees; turned by {turn.turn_deg}"
    return turn, [] if turn.exact else [note]


def _aspect(stream: Any, notes: list[str]) -> Fraction:
    aspect = stream.sample_aspect_ratio or stream.codec_context.sample_aspect_ratio
    if not aspect or aspect <= 0:
        return Fraction(1)
    if not 1 / _PLAUSIBLE_ASPECT <= aspect <= _PLAUSIBLE_ASPECT:
        notes.append(f"a sample aspect ratio of {aspect} is not credible; pixels are square")
        return Fraction(1)
    return Fraction(aspect)


def _rate(stream: Any) -> Fraction | None:
    """Frames in a second; no camera's is higher than `_MOST_RATE`, but a clock's may be."""
    rates = (stream.average_rate, stream.guessed_rate, stream.base_rate)
    known = [Fraction(rate) for rate in rates if rate]
    return next((rate for rate in known if rate <= _MOST_RATE), known[0] if known else None)


def _start(stream: Any, frame: Any) -> int | None:
    if frame.pts is not None:
        return int(frame.pts)
    return None if stream.start_time is None else int(stream.start_time)


def duration_of(container: Any, stream: Any) -> float | None:
    """Seconds of the pictures as declared: of the stream, else of the container."""
    if stream.duration:
        return float(stream.duration * stream.time_base)
    end = tagged_end_s(stream)
    if end is not None:
        begin = float((stream.start_time or 0) * stream.time_base)
        if end > begin:
            return end - begin
    if not container.duration:
        return None
    whole = float(container.duration / 1_000_000)
    from_zero = set(container.format.name.split(",")) & {"matroska", "webm"}
    begin = float((stream.start_time or 0) * stream.time_base)
    return whole - begin if from_zero and 0 < begin < whole else whole


def tagged_end_s(stream: Any) -> float | None:
    """The end of a Matroska track, in seconds of the file's clock; None if it does not say."""
    tag = stream.metadata.get("DURATION") or stream.metadata.get("DURATION-eng")
    if tag:  # 00:00:03.491000000
        with suppress(ValueError):
            hours, minutes, seconds = tag.split(":")
            return 3600 * int(hours) + 60 * int(minutes) + float(seconds)
    return None


@dataclass(frozen=True)
class DeclaredEnd:
    """When a film ends, by its header.

    Attributes:
        seconds: of the file's clock; 0 where it does not say, or cannot know.
        by_any: whether this is the end of the last of all streams, not of the pictures.
    """

    seconds: float
    by_any: bool


def declared_end_s(container: Any, stream: Any) -> DeclaredEnd:
    """When the pictures should end. Formats that only guess say nothing.

    Ask before anything is read: FFmpeg corrects the beginning of a stream then, but not its
    duration.
    """
    if not set(container.format.name.split(",")) & {"mov", "matroska", "webm", "avi"}:
        return DeclaredEnd(0.0, True)
    begin = float((stream.start_time or 0) * stream.time_base)
    if stream.duration:
        return DeclaredEnd(begin + float(stream.duration * stream.time_base), False)
    # Of both formats this is the end, counted from 0, not from the first frame.
    return DeclaredEnd((container.duration or 0) / 1_000_000, True)


def _bit_rate(path: Path, container: Any, stream: Any, duration: float | None) -> int | None:
    for rate in (stream.bit_rate, stream.metadata.get("BPS"), stream.metadata.get("BPS-eng")):
        with suppress(TypeError, ValueError):
            if int(rate) > 0:
                return int(rate)
    if not duration:
        return None
    sound = sum(s.bit_rate or 0 for s in container.streams.audio)
    whole = (
        8 * path.stat().st_size / (container.duration / 1e6 if container.duration else duration)
    )
    return max(round(whole - sound), 1)


def _color(frame: Any, context: Any, side: dict[str, bytes]) -> ColorTags:
    span = {1: False, 2: True}.get(frame.color_range)
    if span is None and frame.format.name.startswith("yuvj"):
        span = True
    return ColorTags(
        int(frame.color_primaries), int(frame.color_trc), int(frame.colorspace), span,
        max(component.bits for component in frame.format.components),
        _mastering(side.get("MASTERING_DISPLAY_METADATA")),
        _content_light(side.get("CONTENT_LIGHT_LEVEL")),
    )  # fmt: skip


def _mastering(data: bytes | None) -> str | None:
    """AVMasteringDisplayMetadata: rationals of R, G, B, white, then luminance and two flags."""
    if data is None or len(data) < 88:
        return None
    numbers = struct.unpack("=22i", data[:88])
    if not (numbers[20] and numbers[21]) or not all(numbers[1:20:2]):
        return None
    values = [n / d for n, d in zip(numbers[0:20:2], numbers[1:20:2], strict=True)]
    red, green, blue, white = (
        ",".join(str(round(50000 * v)) for v in values[i : i + 2]) for i in (0, 2, 4, 6)
    )
    low, high = (round(10000 * v) for v in values[8:10])
    return f"G({green})B({blue})R({red})WP({white})L({high},{low})"


def _content_light(data: bytes | None) -> tuple[int, int] | None:
    if data is None or len(data) < 8:
        return None
    brightest, average = struct.unpack("=2I", data[:8])
    return (brightest, average) if brightest or average else None


def _tracks(container: Any, chosen: Any) -> tuple[Track, ...]:
    tracks: list[Track] = []
    for stream in container.streams:
        if stream.index == chosen.index:
            continue
        kind = (
            stream.type if stream.type in ("video", "audio", "subtitle", "attachment") else "data"
        )
        if is_cover(stream):
            kind = "attachment"
        codec = getattr(stream.codec_context, "name", None) or ""
        language = stream.metadata.get("language", "")
        title = stream.metadata.get("title") or stream.metadata.get("name") or ""
        if kind == "attachment":
            title = stream.metadata.get("filename", title)
        tracks.append(
            Track(
                stream.index, cast(Any, kind), codec, "" if language == "und" else language, title
            )
        )
    return tuple(tracks)
