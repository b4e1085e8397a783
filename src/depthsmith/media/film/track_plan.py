"""What a container takes of a source's tracks: copied, converted, or dropped with a word.

=========  =======================================  ==================================  =========
container  copied                                   converted                           dropped
=========  =======================================  ==================================  =========
.mkv       all audio and subtitles that Matroska    subtitles as text (mov_text…) to    data
           has a name for, attachments, covers      subrip, other audio to AAC
.mp4       AAC, AC-3, E-AC-3, ALAC, MP3, MP2,       other audio to AAC of the same      bitmap
           Opus, FLAC, mov_text, covers             channels, subtitles as text to      subtitles,
                                                    mov_text                            fonts, data
.mov       AAC, AC-3, E-AC-3, ALAC, MP3, PCM,       the same                            the same
           mov_text
=========  =======================================  ==================================  =========

MP4 has codes for more (DTS, TrueHD, Vorbis, PCM), but few players take them from it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from depthsmith.film import Track
from depthsmith.media.film.probe import is_cover

Action = Literal["copy", "aac", "text", "attach", "cover", "drop", "ignore"]
Keep = Literal["all", "plain", "nothing"]
"""What is taken over: ``plain`` is sound as AAC and subtitles as text, for tracks that a
container takes by its rules but not as they are."""

_MP4_AUDIO = {"aac", "ac3", "eac3", "alac", "mp3", "mp2", "opus", "flac"}
_MOV_AUDIO = {
    "aac", "ac3", "eac3", "alac", "mp3",
    "pcm_s16le", "pcm_s16be", "pcm_s24le", "pcm_s24be", "pcm_s32le", "pcm_s32be",
    "pcm_f32le", "pcm_f32be", "pcm_u8", "pcm_alaw", "pcm_mulaw",
}  # fmt: skip
_MATROSKA_SUBTITLES = {
    "subrip", "ass", "ssa", "webvtt", "hdmv_pgs_subtitle", "dvd_subtitle", "dvb_subtitle",
    "hdmv_text_subtitle", "arib_caption",
}  # fmt: skip
_TEXT = {
    "subrip", "ass", "ssa", "webvtt", "mov_text", "text", "microdvd", "sami", "realtext", "stl",
    "subviewer", "subviewer1", "jacosub", "mpl2", "pjs", "vplayer",
}  # fmt: skip
_COVERS = {"mjpeg": ("cover.jpg", "image/jpeg"), "png": ("cover.png", "image/png")}


@dataclass(frozen=True)
class TrackPlan:
    """What becomes of a stream.

    Attributes:
        stream: of the source, PyAV's.
        track: how to call it.
        action: ``text`` is a conversion to the container's own kind of text, ``attach`` puts a
            file into the container, ``ignore`` is for what is carried in another way.
        reason: why it is dropped, if it is.
    """

    stream: Any
    track: Track
    action: Action
    reason: str


def plan_tracks(
    source: Any, pictures: int, container: str, known: set[str], keep: Keep
) -> list[TrackPlan]:
    """Decide for every stream of an open film but its pictures.

    Args:
        source: PyAV's input.
        pictures: index of the stream that is replaced.
        container: FFmpeg's name: ``matroska``, ``mp4`` or ``mov``.
        known: FFmpeg's names of codecs that the container has a code for.
        keep: see `Keep`.
    """
    plans = [
        _plan(source, stream, container, known)
        for stream in source.streams
        if stream.index != pictures
    ]
    return plans if keep == "all" else [_plain(plan, keep) for plan in plans]


def codec_name(stream: Any) -> str:
    """The codec's name, not that of a decoder for it; empty if FFmpeg knows none."""
    if stream.codec_context is None:
        return ""
    codec = stream.codec_context.codec
    return str(getattr(codec, "canonical_name", None) or codec.name)


def cover_file(stream: Any) -> tuple[str, str] | None:
    """Name and MIME type of a cover, None for unusual kinds."""
    usual = _COVERS.get(codec_name(stream))
    if usual is None:
        return None
    return stream.metadata.get("filename", usual[0]), stream.metadata.get("mimetype", usual[1])


def _plan(film: Any, stream: Any, container: str, known: set[str]) -> TrackPlan:
    name = codec_name(stream)
    metadata = stream.metadata
    language = metadata.get("language", "")
    track = Track(
        stream.index,
        _kind(stream),
        name or metadata.get("filename", ""),
        "" if language == "und" else language,
        metadata.get("title", ""),
    )
    matroska = container == "matroska"
    reason = f"no .{'mkv' if matroska else container} takes it"
    action: Action = "drop"
    if track.kind == "attachment":
        if not is_cover(stream):
            action = "attach" if matroska else "drop"
        elif cover_file(stream) is not None and container != "mov":
            action = "attach" if matroska else "cover"
    elif track.kind == "video":
        reason = "one film's pictures are made at a time"
    elif track.kind == "data":
        # A timecode is copied as a tag, see `timecode`; chapters, whose titles QuickTime keeps in
        # a track, as chapters.
        titles = not name and "mov" in film.format.name and bool(film.chapters())
        if metadata.get("timecode") or titles:
            action = "ignore"
    elif not name:
        reason = "its codec is not known"
    elif track.kind == "audio":
        action = _audio(name, container, known, stream)
    elif name in (_MATROSKA_SUBTITLES if matroska else {"mov_text"}):
        action = "copy"
    elif name in _TEXT:
        action = "text"
    return TrackPlan(stream, track, action, reason)


def _plain(plan: TrackPlan, keep: Keep) -> TrackPlan:
    action: Action = "drop"
    if plan.action == "ignore" or keep == "nothing":
        action = "ignore"
    elif plan.action in ("copy", "aac") and plan.track.kind == "audio":
        action = "aac"
    elif plan.track.kind == "subtitle" and plan.track.codec in _TEXT:
        action = "text"
    return replace(plan, action=action, reason="FFmpeg did not take it")


def _audio(name: str, container: str, known: set[str], stream: Any) -> Action:
    if container == "matroska":
        copies = name in known or stream.codec_context.codec.name in known
    else:
        copies = name in (_MP4_AUDIO if container == "mp4" else _MOV_AUDIO)
    return "copy" if copies else "aac"


def _kind(stream: Any) -> Literal["video", "audio", "subtitle", "attachment", "data"]:
    if is_cover(stream) or stream.type == "attachment":
        return "attachment"
    if stream.type in ("video", "audio", "subtitle"):
        return stream.type
    return "data"
