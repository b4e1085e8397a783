"""Times and tracks of written films: what the source had is there, and when it was."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from written_films import packets, streams, write

from depthsmith.film import Span
from depthsmith.media.film import track_plan
from films import (
    AudioSpec,
    SubtitleSpec,
    beep_times,
    flash_times,
    frame_number,
    frame_times,
    make_film_file,
    make_fragmented,
    rgb_frames,
)

CONTAINERS = (".mp4", ".mov", ".mkv")
# Of sound against pictures. The issue allows 20 ms; a packet's place is kept to the tick of the
# coarser container (1 ms), and the beep is found to about as much.
SYNC_S = 0.003
TEXTS = ((0.2, 0.8, "hello"), (1.0, 1.5, "two lines\nof text"))


def sync_errors(path: Path, track: int = 0) -> list[float]:
    flashes, beeps = flash_times(path), beep_times(path, track)
    assert len(flashes) == len(beeps) > 0
    return [abs(a - b) for a, b in zip(flashes, beeps, strict=True)]


def texts(path: Path, track: int = 0) -> list[tuple[float, float, bytes]]:
    """Begin, end and text of the events of a subtitle track, as FFmpeg's decoder reads them."""
    found = []
    with av.open(str(path)) as film:
        stream = film.streams.subtitles[track]
        for packet in film.demux(stream):
            for event in packet.decode() if packet.size else ():
                if event.dialogue:
                    begin = float(packet.pts * packet.time_base)
                    end = float((packet.pts + packet.duration) * packet.time_base)
                    found.append((begin, end, event.dialogue))
    return found


def chapters(path: Path) -> list[tuple[float, float, str]]:
    with av.open(str(path)) as film:
        return [
            (float(c["start"] * c["time_base"]), float(c["end"] * c["time_base"]),
             c["metadata"].get("title", ""))
            for c in film.chapters()
        ]  # fmt: skip


def video_end(path: Path) -> float:
    with av.open(str(path)) as film:
        stream = film.streams.video[0]
        ends = [p.pts + (p.duration or 0) for p in film.demux(stream) if p.size]
        return float(max(ends) * stream.time_base)


# What is in it, and how it is made. Beeps are 20 ms early in no source, so that films whose
# sound was shifted by an encoder's delay are found.
SOURCES: dict[str, dict[str, Any]] = {
    "rates.mp4": {"parts": ((1, 30), (1, 10), (1, 24)), "flashes": (0.2, 2.8)},
    "rates.mkv": {"parts": ((1, 30), (1, 10), (1, 24)), "flashes": (0.2, 2.8)},
    "late.mp4": {"parts": ((2, 30),), "first_pts_s": 0.5, "flashes": (0.2, 1.8)},
    "late.mkv": {"parts": ((2, 30),), "first_pts_s": 0.5, "flashes": (0.2, 1.8)},
    "ntsc.mp4": {
        "parts": ((600 * 1001 / 30000, Fraction(30000, 1001)),),
        "flashes": (0.2, 19.5),
    },
    "b_frames.mp4": {
        "parts": ((2, 24),), "flashes": (0.2, 1.8),
        "options": {"preset": "veryfast", "bf": "3", "crf": "12"},
    },
    "stream.ts": {"parts": ((2, 30),), "flashes": (0.2, 1.8)},
    "film.mov": {"parts": ((2, 60),), "flashes": (0.2, 1.8)},
}  # fmt: skip


@pytest.fixture(scope="module", params=SOURCES)
def source(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("source") / request.param
    return make_film_file(path, audio=(AudioSpec(),), **SOURCES[request.param])


@pytest.mark.parametrize("suffix", CONTAINERS)
def test_times_are_the_sources(source: Path, tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"out{suffix}"
    written = write(source, target)
    before, after = frame_times(source), frame_times(target)
    assert len(after) == len(before) == written.frames
    # Matroska counts milliseconds; everything else is exact.
    tick = 0.0005 + 1e-9 if suffix == ".mkv" else 1e-9
    assert np.abs(np.array(after) - before).max() <= tick
    step = before[-1] - before[-2]
    assert abs(video_end(target) - (before[-1] + step)) <= step
    numbers = [frame_number(rgb) for rgb in rgb_frames(target)]
    assert numbers == list(range(len(numbers)))
    original = sync_errors(source)
    assert max(sync_errors(target)) <= max(original) + SYNC_S
    assert written.copied == ("audio aac",)


def test_a_fragmented_source(tmp_path: Path) -> None:
    source = make_fragmented(
        tmp_path / "a.mp4", parts=((2, 30),), flashes=(0.2, 1.8), audio=(AudioSpec(),)
    )
    for suffix in CONTAINERS:
        target = tmp_path / f"out{suffix}"
        write(source, target)
        assert len(frame_times(target)) == 60
        assert max(sync_errors(target)) <= max(sync_errors(source)) + SYNC_S
        assert b"moof" not in target.read_bytes()


def test_an_avi_source(tmp_path: Path) -> None:
    source = make_film_file(
        tmp_path / "a.avi", codec="mpeg4", parts=((2, 30),), flashes=(0.2, 1.8),
        audio=(AudioSpec(codec="mp3"),),
    )  # fmt: skip
    for suffix in CONTAINERS:
        target = tmp_path / f"out{suffix}"
        assert write(source, target).copied == ("audio mp3",)
        assert len(frame_times(target)) == len(frame_times(source))
        # AVI has no times: where its sound was, it still is.
        assert max(sync_errors(target)) <= max(sync_errors(source)) + SYNC_S


@pytest.mark.parametrize("suffix", CONTAINERS)
def test_without_sound(tmp_path: Path, suffix: str) -> None:
    source = make_film_file(tmp_path / "a.mp4", first_pts_s=0.5)
    target = tmp_path / f"out{suffix}"
    written = write(source, target)
    assert (written.copied, written.converted, written.dropped) == ((), (), ())
    assert [kind for kind, _, _ in streams(target)] == ["video"]
    assert frame_times(target)[0] == 0.5
    assert written.duration == 1


@pytest.mark.parametrize("made_as", [".mp4", ".mkv"])
@pytest.mark.parametrize("suffix", CONTAINERS)
def test_languages_subtitles_chapters(tmp_path: Path, made_as: str, suffix: str) -> None:
    source = make_film_file(
        tmp_path / f"a{made_as}",
        parts=((2, 30),),
        flashes=(0.2, 1.8),
        audio=(AudioSpec(language="eng"), AudioSpec(language="deu", layout="mono")),
        subtitles=(SubtitleSpec(TEXTS, language="eng"), SubtitleSpec(TEXTS[:1], language="deu")),
        chapters=((0, 1, "one"), (1, 2, "two")),
        metadata={"title": "A film"},
    )
    target = tmp_path / f"out{suffix}"
    written = write(source, target)
    text = "subrip" if suffix == ".mkv" else "mov_text"
    german = "ger" if suffix == ".mov" else "deu"  # QuickTime's own list of languages
    assert streams(target)[1:] == [
        ("audio", "aac", "eng"),
        ("audio", "aac", german),
        ("subtitle", text, "eng"),
        ("subtitle", text, german),
    ]
    assert max(*sync_errors(target, 0), *sync_errors(target, 1)) <= SYNC_S
    for track, events in enumerate((TEXTS, TEXTS[:1])):
        found = texts(target, track)
        assert [word for _, _, word in found] == [event[2].encode() for event in events]
        assert np.allclose([f[:2] for f in found], [e[:2] for e in events], atol=0.001)
    assert chapters(target) == [(0, 1, "one"), (1, 2, "two")]
    with av.open(str(target)) as film:
        assert film.metadata["title"] == "A film"
    converts = (made_as == ".mkv") != (suffix == ".mkv")
    came_as = "subrip" if made_as == ".mkv" else "mov_text"
    if converts:
        assert written.converted[0] == f"subtitle {came_as} eng to {text}"
    assert ("2 chapters" in written.copied) and written.dropped == ()


def test_italics_become_styles(tmp_path: Path) -> None:
    """SubRip writes them as tags, MP4 beside the text."""
    text = "not <i>that</i> one"
    source = make_film_file(tmp_path / "a.mkv", subtitles=(SubtitleSpec(((0.1, 0.9, text),)),))
    write(source, tmp_path / "a.mp4")
    assert texts(tmp_path / "a.mp4")[0][2] == rb"not {\i1}that{\r} one"
    write(tmp_path / "a.mp4", tmp_path / "back.mkv")
    with av.open(str(tmp_path / "back.mkv")) as film:
        [packet] = [p for p in film.demux(film.streams.subtitles[0]) if p.size]
        assert bytes(packet) == text.encode()


# Codec of the source's track in MKV, and what it is in each container.
AUDIO = [
    ("ac3", "5.1", {".mkv": "ac3", ".mp4": "ac3", ".mov": "ac3"}),
    ("eac3", "5.1", {".mkv": "eac3", ".mp4": "eac3", ".mov": "eac3"}),
    ("mp3", "stereo", {".mkv": "mp3", ".mp4": "mp3", ".mov": "mp3"}),
    ("flac", "stereo", {".mkv": "flac", ".mp4": "flac", ".mov": "aac"}),
    ("libopus", "stereo", {".mkv": "opus", ".mp4": "opus", ".mov": "aac"}),
    ("pcm_s16le", "5.1", {".mkv": "pcm_s16le", ".mp4": "aac", ".mov": "pcm_s16le"}),
]


@pytest.mark.parametrize(("codec", "layout", "becomes"), AUDIO)
def test_sound_in_every_container(
    tmp_path: Path, codec: str, layout: str, becomes: dict[str, str]
) -> None:
    source = make_film_file(
        tmp_path / "a.mkv", parts=((2, 30),), flashes=(0.2, 1.8), first_pts_s=0.5,
        audio=(AudioSpec(codec=codec, layout=layout, language="eng"),),
    )  # fmt: skip
    for suffix, name in becomes.items():
        target = tmp_path / f"out{suffix}"
        written = write(source, target)
        assert streams(target)[1][1] == name
        with av.open(str(target)) as film:
            frame = next(film.decode(audio=0))
            assert len(frame.layout.channels) == {"5.1": 6, "stereo": 2}[layout]
        assert max(sync_errors(target)) <= max(sync_errors(source)) + SYNC_S
        same = streams(source)[1][1] == name
        assert len(written.copied if same else written.converted) == 1


def heard(path: Path) -> int:
    """Samples of the first audio track that FFmpeg's decoder gives."""
    with av.open(str(path)) as film:
        return sum(frame.samples for frame in film.decode(audio=0))


@pytest.mark.parametrize(("codec", "suffix"), [("libopus", ".mkv"), ("aac", ".mp4")])
def test_the_first_packet_is_there(tmp_path: Path, codec: str, suffix: str) -> None:
    """It begins before 0, by what a codec needs; Matroska's milliseconds round that."""
    source = make_film_file(tmp_path / f"a{suffix}", audio=(AudioSpec(codec=codec),))
    target = tmp_path / "out.mkv"
    write(source, target)
    found, had = ([p[-1] for p in packets(file) if p[0] == 1] for file in (target, source))
    assert found == had


def test_sound_that_an_edit_list_cuts_off(tmp_path: Path) -> None:
    """Trimmed on a phone: FFmpeg's MP4 muxer makes an edit list of times before 0."""
    whole = make_film_file(
        tmp_path / "whole.mp4", parts=((3, 30),), gop=30, flashes=(1.5, 2.5),
        audio=(AudioSpec(),), options={"preset": "ultrafast", "bf": "0"},
    )  # fmt: skip
    source = tmp_path / "a.mp4"
    options = {"avoid_negative_ts": "disabled"}
    with av.open(str(whole)) as film, av.open(str(source), "w", options=options) as output:
        new = [output.add_stream_from_template(stream) for stream in film.streams]
        for packet in film.demux():
            if packet.dts is not None:
                shift = round(1 / packet.time_base)
                packet.pts, packet.dts = packet.pts - shift, packet.dts - shift
                packet.stream = new[packet.stream.index]
                output.mux(packet)
    assert heard(source) < 2.05 * 48000
    target = tmp_path / "out.mkv"
    write(source, target)
    assert len(frame_times(target)) == len(frame_times(source)) == 60
    assert heard(target) < 2.15 * 48000
    assert max(sync_errors(target)) <= SYNC_S


def test_attachments_and_covers(tmp_path: Path) -> None:
    font = bytes(range(256)) * 5
    source = make_film_file(
        tmp_path / "a.mkv",
        subtitles=(SubtitleSpec(TEXTS[:1]),),
        attachments=(("Font.ttf", "application/x-truetype-font", font),),
    )
    write(source, tmp_path / "out.mkv")
    with av.open(str(tmp_path / "out.mkv")) as film:
        [attachment] = [s for s in film.streams if s.type == "attachment"]
        assert (attachment.name, attachment.data) == ("Font.ttf", font)
    written = write(source, tmp_path / "out.mp4")
    assert [text.split()[0] for text in written.dropped] == ["attachment"]
    assert "Font.ttf" in written.dropped[0]

    cover = np.full((32, 32, 3), 90, np.uint8)
    source = make_film_file(tmp_path / "b.mp4", audio=(AudioSpec(),), cover=cover)
    for suffix in (".mp4", ".mkv"):
        target = tmp_path / f"cover{suffix}"
        assert "attachment mjpeg" in write(source, target).copied
        with av.open(str(target)) as film:
            [picture] = [s for s in film.streams.video if s.disposition & (1 << 10)]
            assert picture.codec_context.width == 32
        assert [frame_number(rgb) for rgb in rgb_frames(target)] == list(range(30))


def test_marks_of_tracks_are_kept(tmp_path: Path) -> None:
    """Titles, and which track is the default or forced."""
    made = make_film_file(
        tmp_path / "made.mkv",
        audio=(AudioSpec(title="Main"), AudioSpec(title="Director", language="fra")),
    )
    source = tmp_path / "a.mkv"
    wanted = [av.stream.Disposition.default, av.stream.Disposition.comment]
    with av.open(str(made)) as film, av.open(str(source), "w") as output:
        copies = {s.index: output.add_stream_from_template(s, opaque=True) for s in film.streams}
        for stream, mark in zip(film.streams.audio, wanted, strict=True):
            copies[stream.index].disposition = mark
            copies[stream.index].metadata.update(stream.metadata)
        for packet in film.demux():
            if packet.size:
                packet.stream = copies[packet.stream.index]
                output.mux(packet)
    write(source, tmp_path / "out.mkv")
    with av.open(str(tmp_path / "out.mkv")) as film:
        audio = film.streams.audio
        assert [s.metadata["title"] for s in audio] == ["Main", "Director"]
        assert audio[1].metadata["language"] == "fra"
        assert [s.disposition for s in audio] == wanted


def stored_timecode(path: Path) -> str | None:
    with av.open(str(path)) as film:
        tags = {**film.streams[0].metadata, **film.metadata}
    return {name.lower(): text for name, text in tags.items()}.get("timecode")


NTSC = Fraction(30000, 1001)
OLD_PYAV = int(av.__version__.split(".")[0]) < 18


@pytest.mark.parametrize("suffix", CONTAINERS)
@pytest.mark.parametrize(
    ("timecode", "rate"),
    [("01:02:03:04", Fraction(25)), ("10:00:00;02", NTSC), ("00:59:59:00", NTSC)],
)
def test_timecodes(tmp_path: Path, suffix: str, timecode: str, rate: Fraction) -> None:
    source = make_film_file(
        tmp_path / "a.mov", parts=((10 / rate, rate),), metadata={"timecode": timecode}
    )
    target = tmp_path / f"out{suffix}"
    written = write(source, target)
    if OLD_PYAV and suffix != ".mkv":  # cannot, and says so
        assert written.dropped[0].startswith(f"timecode {timecode} (PyAV before 18")
        assert stored_timecode(target) is None
        return
    assert (written.copied, written.dropped) == ((f"timecode {timecode}",), ())
    assert stored_timecode(target) == timecode
    with av.open(str(target)) as film:
        assert film.streams.video[0].frames in (10, 0)
    part = tmp_path / f"part{suffix}"
    cut = write(source, part, spans=(Span(0.1, None),))
    assert cut.dropped == (f"timecode {timecode} (it is that of the whole film)",)
    assert stored_timecode(part) is None


@pytest.mark.parametrize("timecode", ["25 o'clock", "01:00:00;02"])
def test_a_timecode_that_ffmpeg_refuses(tmp_path: Path, timecode: str) -> None:
    source = make_film_file(
        tmp_path / "a.mkv", parts=((0.4, 25),), metadata={"timecode": timecode}
    )
    written = write(source, tmp_path / "out.mp4")
    assert written.dropped[0].startswith(f"timecode {timecode} (")


def test_a_digital_video_tape(tmp_path: Path) -> None:
    """Whose clock FFmpeg takes for its rate."""
    source = make_film_file(
        tmp_path / "a.dv", size=(576, 720), codec="dvvideo", format="dv", options={},
        parts=((0.4, 25),),
    )  # fmt: skip
    written = write(source, tmp_path / "out.mp4")
    assert written.copied == ("timecode 00:00:00:00",)
    with av.open(str(tmp_path / "out.mp4")) as film:
        assert film.streams.video[0].average_rate == 25
        assert film.streams.video[0].frames == 10


def test_without_tracks(tmp_path: Path) -> None:
    source = make_film_file(tmp_path / "a.mp4", audio=(AudioSpec(),))
    write(source, tmp_path / "out.mp4", sink_options={"keep_tracks": False})
    assert [kind for kind, _, _ in streams(tmp_path / "out.mp4")] == ["video"]


# ---- parts -----------------------------------------------------------------------------------

LONG: dict[str, Any] = {
    "parts": ((16, 30),),
    "flashes": (1.2, 5.5, 12.2),
    "audio": (AudioSpec(), AudioSpec(codec="flac")),
    "subtitles": (SubtitleSpec(((0.5, 2, "one"), (4, 7, "two"), (12, 13, "three"))),),
    "chapters": ((0.5, 6, "a"), (6, 16.5, "b")),
}


@pytest.fixture(scope="module")
def long_film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_film_file(tmp_path_factory.mktemp("long") / "a.mkv", first_pts_s=0.5, **LONG)


@pytest.mark.parametrize("suffix", CONTAINERS)
def test_one_part(long_film: Path, tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"out{suffix}"
    written = write(long_film, target, spans=(Span(5, 8),))
    assert [frame_number(rgb) for rgb in rgb_frames(target)] == list(range(150, 240))
    assert (written.frames, written.duration) == (90, 3)
    assert frame_times(target)[0] == 0
    assert flash_times(target) == [pytest.approx(0.5, abs=0.001)]
    for track in (0, 1):
        assert beep_times(target, track) == [pytest.approx(0.5, abs=SYNC_S)]
    [(begin, end, text)] = texts(target)
    assert (round(begin, 3), round(end, 3), text) == (0, 2, b"two")
    assert chapters(target) == [(0, 0.5, "a"), (0.5, 3, "b")]


@pytest.mark.parametrize("suffix", CONTAINERS)
def test_several_parts(long_film: Path, tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"out{suffix}"
    spans = (Span(1, 2), Span(5, 6), Span(12, 14))
    assert write(long_film, target, spans=spans).duration == 4
    assert [frame_number(rgb) for rgb in rgb_frames(target)] == [
        *range(30, 60), *range(150, 180), *range(360, 420),
    ]  # fmt: skip
    assert np.abs(np.array(frame_times(target)) - np.arange(120) / 30).max() <= 0.001
    for track in (0, 1):
        assert beep_times(target, track) == [
            pytest.approx(at, abs=SYNC_S) for at in (0.2, 1.5, 2.2)
        ]
    assert [(round(a, 3), round(b, 3), t) for a, b, t in texts(target)] == [
        (0, 1, b"one"), (1, 2, b"two"), (2, 3, b"three"),
    ]  # fmt: skip
    assert chapters(target) == [(0, 1.5, "a"), (1.5, 4, "b")]


@pytest.mark.parametrize("suffix", CONTAINERS)
@pytest.mark.parametrize("made_as", [".mp4", ".mkv"])
def test_a_part_without_sound(tmp_path: Path, made_as: str, suffix: str) -> None:
    """MP4 and MOV have no tracks of nothing."""
    codec = "aac" if made_as == ".mp4" else "libopus"
    source = make_film_file(
        tmp_path / f"a{made_as}", parts=((2, 30),),
        audio=(AudioSpec(codec=codec, seconds=1), AudioSpec()),
    )  # fmt: skip
    target = tmp_path / f"out{suffix}"
    written = write(source, target, spans=(Span(1.5, None),))
    assert written.frames == len(frame_times(target)) == 15
    if suffix == ".mkv":
        assert len(written.copied) == 2
    else:
        assert (written.copied, written.converted) == (("audio aac",), ())
        assert written.dropped[0].endswith(" (nothing of it in what is taken)")
        assert len(streams(target)) == 2


def test_a_track_that_the_muxer_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """FFmpeg lists Opus for MOV, but does not write it: found out when everything else is done."""
    monkeypatch.setattr(track_plan, "_MOV_AUDIO", {"opus"})
    source = make_film_file(
        tmp_path / "a.mkv", parts=((2, 30),), flashes=(0.2, 1.8),
        audio=(AudioSpec(codec="libopus", language="eng"),),
        subtitles=(SubtitleSpec(TEXTS),),
    )  # fmt: skip
    target = tmp_path / "out.mov"
    written = write(source, target)
    assert written.converted == ("audio opus eng to aac", "subtitle subrip to mov_text")
    assert max(sync_errors(target)) <= SYNC_S
    assert len(texts(target)) == 2
