"""Segments and the source's other tracks, put together into one file.

No packet of a picture is changed. MP4 and MOV get their index at the end (no ``faststart``), so
that nothing is written twice; fragmented sources come out whole. Everything is written in the
order of its time, so that a muxer holds next to nothing in memory.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from depthsmith.film import FilmInfo
from depthsmith.media.film.copying import TrackWriter
from depthsmith.media.film.encoding import CONTAINERS, Encoding
from depthsmith.media.film.failures import writing_film
from depthsmith.media.film.marks import MARK, NAMES
from depthsmith.media.film.montage import Montage
from depthsmith.media.film.picture_packets import picture_packets
from depthsmith.media.film.probe import opened
from depthsmith.media.film.stream_facts import with_hdr
from depthsmith.media.film.timecode import timecode_of
from depthsmith.media.film.track_plan import Keep
from depthsmith.media.film.tracks import Assembled, kept_tags, open_tracks
from depthsmith.media.film.work import Segment

# Of FFmpeg's muxers, in microseconds: what is late by more is not waited for. Our packets come
# in order, so that waiting for a track that is over would only fill the memory.
_MOST_WAITING = "500000"
_SEEK_SECONDS = 10
_FINEST = 10_000_000
_MICROSECONDS = 1_000_000


def assemble(
    segments: Sequence[Segment],
    file: Path,
    source: FilmInfo,
    montage: Montage,
    encoding: Encoding,
    *,
    target: Path,
    mark: str,
    wanted: Keep = "all",
) -> Assembled:
    """Write the file.

    Args:
        segments: each of one file, in order.
        file: new; with a suffix of `CONTAINERS`.
        source: where tracks, chapters and metadata come from.
        montage: where everything goes.
        encoding: that the segments have.
        target: the name under which the file will be known, for errors.
        mark: by which our own films are known.
        wanted: which tracks to take over.

    Raises:
        MuxerError: if FFmpeg does not take a track.
        OutputError: if it cannot be written.
        FilmError: if the source cannot be read any more.
    """
    import av

    done = Assembled()
    with contextlib.ExitStack() as keep:
        film = keep.enter_context(opened(source.path))
        first = keep.enter_context(av.open(os.fspath(segments[0].files[0])))
        with writing_film(target):
            output: Any = av.open(
                os.fspath(file),
                "w",
                format=CONTAINERS[file.suffix.lower()],
                container_options=_options(encoding, montage),
            )
        try:
            with writing_film(target):
                video = _video_stream(output, first, source, montage, encoding, mark, keep)
            writers = open_tracks(output, film, source, montage, done, wanted, keep)
            _metadata(output, film, mark)
            if wanted != "nothing":
                _timecode(output, film, source, montage, done)
                _chapters(output, film, montage, done)
            pictures = picture_packets(segments, montage, video)
            _mux(output, target, film, montage, writers, pictures, done)
        finally:
            with writing_film(target):
                output.close()
    return done


def _options(encoding: Encoding, montage: Montage) -> dict[str, str]:
    options = {"max_interleave_delta": _MOST_WAITING}
    unit = montage.unit.denominator
    if encoding.container != "matroska" and 1000 < unit <= _FINEST:
        # When a track begins is counted in the film's unit, 1/1000 s by default.
        options["movie_timescale"] = str(unit)
    return options


def _video_stream(
    output: Any,
    segment: Any,
    source: FilmInfo,
    montage: Montage,
    encoding: Encoding,
    mark: str,
    keep: contextlib.ExitStack,
) -> Any:
    template = with_hdr(segment.streams.video[0], encoding.color, keep)
    stream = output.add_stream_from_template(template, opaque=True)
    stream.time_base = montage.unit
    context = stream.codec_context
    # A clock may be too coarse to count the same for every frame.
    steady = int(np.ptp(montage.durations[:-1])) <= 1 if len(montage.durations) > 1 else True
    rate = source.frame_rate if source.frame_rate else Fraction(0)
    # Of film with a variable rate, a rate in the head would be a lie.
    context.framerate = rate if steady or encoding.container != "matroska" else Fraction(0)
    if encoding.codec == "hevc" and encoding.container in ("mp4", "mov"):
        context.codec_tag = "hvc1"  # with hev1, Apple's players show nothing
    original = keep.enter_context(opened(source.path)).streams[source.stream]
    stream.metadata.update(kept_tags(original.metadata, ("handler_name", "title", "timecode")))
    stream.disposition = original.disposition
    if encoding.container != "matroska":
        stream.metadata["handler_name"] = NAMES.format(mark)
    return stream


def _metadata(output: Any, film: Any, mark: str) -> None:
    output.metadata.update(kept_tags(film.metadata, ("timecode",)))
    output.metadata[MARK] = mark


def _timecode(output: Any, film: Any, source: FilmInfo, montage: Montage, done: Assembled) -> None:
    import av

    timecode, reason = timecode_of(film, source.frame_rate)
    if not reason and output.format.name != "matroska" and int(av.__version__.split(".")[0]) < 18:
        reason = "PyAV before 18 does not tell FFmpeg the frame rate that it needs for it"
    if montage.parts:
        reason = "it is that of the whole film"
    if timecode and not reason:
        output.metadata["timecode"] = timecode
        done.copied.append(f"timecode {timecode}")
    elif timecode:
        done.dropped.append(f"timecode {timecode} ({reason})")


def _chapters(output: Any, film: Any, montage: Montage, done: Assembled) -> None:
    kept: list[Any] = []
    for chapter in film.chapters():
        unit = chapter["time_base"]
        pieces = montage.clip(chapter["start"] * unit, chapter["end"] * unit)
        for begin, end in pieces:
            kept.append(
                {
                    "id": len(kept) + 1,
                    "start": max(0, round(begin * 1000)),
                    "end": round(end * 1000),
                    "time_base": Fraction(1, 1000),
                    "metadata": dict(chapter["metadata"]),
                }
            )
    if kept:
        output.set_chapters(kept)
        done.copied.append(f"{len(kept)} chapter{'s' if len(kept) > 1 else ''}")


def _mux(
    output: Any,
    target: Path,
    film: Any,
    montage: Montage,
    writers: dict[int, TrackWriter],
    pictures: Iterator[tuple[Fraction, Any]],
    done: Assembled,
) -> None:
    waiting = next(pictures, None)
    with writing_film(target):
        output.start_encoding()
    written: set[int] = set()
    for packet in _sound(film, montage, writers, done, written):
        time = packet.dts * packet.time_base if packet.time_base else Fraction(0)
        while waiting is not None and waiting[0] <= time:
            with writing_film(target):
                output.mux_one(waiting[1])
            waiting = next(pictures, None)
        with writing_film(target):
            output.mux_one(packet)
    while waiting is not None:
        with writing_film(target):
            output.mux_one(waiting[1])
        waiting = next(pictures, None)
    if output.format.name != "matroska":
        for index in set(done.sounds) - written:
            done.leave_out_sound(index, "nothing of it in what is taken")


def _sound(
    film: Any,
    montage: Montage,
    writers: dict[int, TrackWriter],
    done: Assembled,
    written: set[int],
) -> Iterator[Any]:
    """Packets of all tracks but the pictures', for the output.

    Puts the source's streams of which there are any into ``written``.
    """
    import av

    if not writers:
        return
    streams = [film.streams[index] for index in writers]
    _read_only(film, writers)
    stop = None
    if montage.parts:
        stop = montage.parts[-1].end + _SEEK_SECONDS
        begin = int((montage.parts[0].begin - _SEEK_SECONDS) * _MICROSECONDS)
        with contextlib.suppress(av.error.FFmpegError):
            film.seek(max(begin, 0) if begin > 0 else begin)
    packets = film.demux(*streams)
    while True:
        try:
            packet = next(packets, None)
        except (av.error.FFmpegError, OSError) as error:
            done.notes.append(f"the source's tracks break off ({str(error).splitlines()[0]})")
            break
        if packet is None:
            break
        if packet.dts is None and not packet.size:
            continue
        time = packet.dts if packet.dts is not None else packet.pts
        if stop is not None and time is not None and time * packet.stream.time_base > stop:
            break
        index = packet.stream.index
        yield from _made(writers[index].take(packet), index, written, done)
    for index, writer in writers.items():
        yield from _made(writer.flush(), index, written, done)
    if done.damaged:
        done.notes.append(f"{done.damaged} damaged packets of the source's tracks were left out")


def _made(packets: Iterator[Any], index: int, written: set[int], done: Assembled) -> Iterator[Any]:
    import av

    try:
        for packet in packets:
            written.add(index)
            yield packet
    except av.error.FFmpegError:
        done.damaged += 1


def _read_only(film: Any, wanted: dict[int, TrackWriter]) -> None:
    """Let the demuxer pass over what is not wanted."""
    import av

    discard = getattr(av.stream, "Discard", None)
    if discard is None:
        return
    for stream in film.streams:
        if stream.index not in wanted:
            stream.discard = discard.all
