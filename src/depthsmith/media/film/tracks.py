"""Streams of the output for the source's tracks, and who writes them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from depthsmith.film import FilmInfo
from depthsmith.media.film.converting import ToAac, ToText
from depthsmith.media.film.copying import AudioCopy, SubtitleCopy, TrackWriter
from depthsmith.media.film.montage import Montage
from depthsmith.media.film.open_file import opened, reason
from depthsmith.media.film.stream_facts import with_priming
from depthsmith.media.film.track_plan import Keep, TrackPlan, cover_file, plan_tracks

# Tags that were true of the source's file only.
_STALE = {
    "encoder", "major_brand", "minor_version", "compatible_brands", "duration", "rotate", "bps",
    "number_of_frames", "number_of_bytes", "vendor_id", "creation_date", "source_id",
}  # fmt: skip


# FFmpeg looks languages up in QuickTime's own list, by the bibliographic codes of ISO 639-2.
_QUICKTIME = {
    "deu": "ger", "fre": "fra", "nld": "dut", "ell": "gre", "isl": "ice", "zho": "chi",
    "sqi": "alb", "fas": "per", "ron": "rum", "slk": "slo", "msa": "may", "hye": "arm",
    "kat": "geo", "mya": "bur", "cym": "wel", "eus": "baq", "bod": "tib", "cze": "ces",
}  # fmt: skip

# No codec needs more samples before what is heard: Opus 3840, AAC 2048.
_LONG_PRIMING = 4096


@dataclass
class Assembled:
    """What happened to the tracks, one short text each.

    Attributes:
        notes: what a user may want to know, one clause each.
        streams: how many streams of each type the file should have, by PyAV's names.
        sounds: name of each audio track, and what stands for it in ``copied`` or ``converted``;
            by the index of the source's stream.
        damaged: how many packets were left out because they do not decode.
    """

    copied: list[str] = field(default_factory=list)
    converted: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    streams: dict[str, int] = field(default_factory=lambda: {"video": 1})
    sounds: dict[int, tuple[str, str]] = field(default_factory=dict)
    damaged: int = 0

    def leave_out_sound(self, index: int, reason: str) -> None:
        """MP4 and MOV have no tracks of no packets."""
        name, text = self.sounds.pop(index)
        (self.copied if text in self.copied else self.converted).remove(text)
        self.dropped.append(f"{name} ({reason})")
        self.streams["audio"] -= 1


def open_tracks(
    output: Any,
    film: Any,
    source: FilmInfo,
    montage: Montage,
    done: Assembled,
    wanted: Keep,
    keep: contextlib.ExitStack,
) -> dict[int, TrackWriter]:
    """Make the streams of the output.

    Args:
        output: PyAV's, before its head is written.
        film: the source, open.
        source, montage: see there.
        done: takes note of what becomes of each track.
        wanted: what is taken over.
        keep: closes what is opened here.

    Returns:
        Who writes the packets of the source's streams, by their index.
    """
    import av

    writers: dict[int, TrackWriter] = {}
    container = output.format.name
    known = output.supported_codecs
    for plan in plan_tracks(film, source.stream, container, known, wanted):
        name = str(plan.track)
        if plan.action == "ignore":
            continue
        if plan.action == "drop":
            done.dropped.append(f"{name} ({plan.reason})")
            continue
        try:
            writer, stream, became = _track(output, plan, source, montage, keep)
        except (av.error.FFmpegError, ValueError, OSError, NotImplementedError) as error:
            done.dropped.append(f"{name} ({reason(error)})")
            continue
        if writer is not None:
            writers[plan.stream.index] = writer
        if stream is not None:
            if plan.action != "attach":
                stream.metadata.update(_tags(plan.stream, container))
            with contextlib.suppress(AttributeError):
                stream.disposition = plan.stream.disposition
            if plan.action in ("copy", "aac", "text"):
                kind = plan.track.kind
                done.streams[kind] = done.streams.get(kind, 0) + 1
        text = f"{name} to {became}" if became else name
        (done.converted if became else done.copied).append(text)
        if plan.track.kind == "audio":
            done.sounds[plan.stream.index] = (name, text)
    return writers


def _tags(stream: Any, container: str) -> dict[str, str]:
    tags = kept_tags(stream.metadata, ("handler_name",) if container == "matroska" else ())
    if container == "mov" and "language" in tags:
        tags["language"] = _QUICKTIME.get(tags["language"], tags["language"])
    return tags


def _track(
    output: Any, plan: TrackPlan, source: FilmInfo, montage: Montage, keep: contextlib.ExitStack
) -> tuple[TrackWriter | None, Any, str]:
    """Writer, stream, and the name of what it is converted to."""
    stream = plan.stream
    matroska = output.format.name == "matroska"
    if plan.action == "attach":
        return None, _attach(output, stream, source), ""
    if plan.action == "cover":
        new = output.add_stream_from_template(stream, opaque=True)
        return _Cover(new), new, ""
    if plan.action == "aac":
        aac = ToAac(stream, output, montage)
        other = "" if aac.same_channels else f" {aac.layout}"
        return aac, aac.stream, f"aac{other}"
    if plan.action == "text":
        codec = "subrip" if matroska else "mov_text"
        text = ToText(stream, output, montage, codec)
        return text, text.stream, codec
    if stream.type == "subtitle":
        new = output.add_stream_from_template(stream, opaque=True)
        return SubtitleCopy(stream, new, montage), new, ""
    return (*_copied_audio(output, stream, source, montage, keep), "")


def _copied_audio(
    output: Any, stream: Any, source: FilmInfo, montage: Montage, keep: contextlib.ExitStack
) -> tuple[TrackWriter, Any]:
    template, earliest = stream, None
    if output.format.name == "matroska":
        priming = 0 if montage.parts else _priming(source, stream.index)
        if priming:
            template = with_priming(stream, priming, keep)
        earliest = Fraction(-priming, stream.codec_context.sample_rate or 1)
    new = output.add_stream_from_template(template, opaque=True)
    return AudioCopy(stream, new, montage, earliest), new


def _attach(output: Any, stream: Any, source: FilmInfo) -> Any:
    if stream.type == "attachment":
        return output.add_stream_from_template(stream)
    file = cover_file(stream)
    assert file is not None
    return output.add_attachment(*file, _cover_data(source, stream.index))


class _Cover:
    """Hands on the one packet of a cover."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def take(self, packet: Any) -> Iterator[Any]:
        packet.pts = packet.dts = 0
        packet.stream = self._stream
        yield packet

    def flush(self) -> Iterator[Any]:
        yield from ()


def _cover_data(source: FilmInfo, index: int) -> bytes:
    with opened(source.path) as film:
        return next((bytes(p) for p in film.demux(film.streams[index]) if p.size), b"")


def _priming(source: FilmInfo, index: int) -> int:
    """How many samples of a track are there for the decoder only, not for hearing.

    What an edit list cuts off the begin of a track is not for hearing either, and may be long: of
    that, only the last packets count.
    """
    with opened(source.path) as film:
        stream = film.streams[index]
        rate = stream.codec_context.sample_rate or 1
        first, skip = None, 0
        for packet in film.demux(stream):
            if not packet.size or packet.pts is None:
                continue
            begin = packet.pts * stream.time_base
            if first is None:
                data = packet.get_sidedata("skip_samples")
                known = bytes(data)[:4] if data else b""
                first, skip = begin, int.from_bytes(known, "little") if len(known) == 4 else 0
            left = skip - round((begin - first) * rate)
            if left - round((packet.duration or 0) * stream.time_base * rate) <= _LONG_PRIMING:
                return max(left, 0)
    return 0


def kept_tags(metadata: dict[str, str], without: Sequence[str] = ()) -> dict[str, str]:
    """Tags without those that are not true any more."""
    return {
        name: value
        for name, value in metadata.items()
        if (plain := name.lower().split("-")[0]) not in _STALE
        and plain not in without
        and not plain.startswith("_statistics")
    }
