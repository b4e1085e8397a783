"""``video`` and ``flicker`` from film files to film files, through a real ONNX file.

The network is the mean over colour of what it is fed, so that the bar code by which the films
of these tests number their frames can be read off the depth.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from contextlib import AbstractContextManager
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from PIL import Image

import films
from depthsmith.cli import entry
from depthsmith.contract import Contract, InputSpec, OutputSpec, SizeRule
from depthsmith.errors import ExitCode
from depthsmith.media.depth_file import read_depth
from depthsmith.media.film.shots import MEMORY
from depthsmith.types import DepthKind
from films import AudioSpec, SubtitleSpec, draw_frame, frame_number, frame_times, make_film_file
from processes import held, short_segments
from tiny_onnx import mean_model

SIZE = (96, 128)

Run = Callable[..., tuple[int, list[str], str]]


def model(kind: DepthKind = DepthKind.INVERSE_DEPTH) -> Contract:
    return Contract(
        model="mean",
        input=InputSpec("pixel_values", "float32", "NCHW", "none"),
        size=SizeRule(None, None),
        outputs=(OutputSpec.depth("predicted_depth", kind),),
        preprocessing="da2",
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    mean_model(tmp_path / "mean.onnx", contract=model())
    mean_model(tmp_path / "metres.onnx", contract=model(DepthKind.DEPTH_M))
    return tmp_path


OPTIONS = ["--model", "mean.onnx", "--provider", "cpu", "--resolution", "98"]


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: object, verb: str = "video") -> tuple[int, list[str], str]:
        options = OPTIONS if verb == "video" else []
        status = entry.run([verb, *options, *map(str, arguments)])
        out, err = capsys.readouterr()
        return status, out.splitlines(), err

    return call


def numbers(path: Path | str) -> list[int]:
    return [frame_number(rgb) for rgb in films.rgb_frames(Path(path))]


def deep_gray(path: Path | str) -> list[np.ndarray]:
    with av.open(str(path)) as film:
        return [f.to_ndarray(format="gray16le") for f in film.decode(video=0)]


# ---- times ---------------------------------------------------------------------------------


def test_a_variable_rate_with_flashes_and_beeps(run: Run, folder: Path) -> None:
    source = make_film_file(
        folder / "a.mp4",
        parts=((2, 30), (2, 10), (2, 24)),
        flashes=(0.5, 3.0, 5.5),
        audio=(AudioSpec(),),
    )
    status, out, err = run("a.mp4", "--stabilize", "off")
    assert (status, out) == (0, ["a_depth.mp4"])
    assert "128 frames, 6.00 s of film" in err and "copied audio aac" in err
    assert numbers("a_depth.mp4") == list(range(128))
    assert frame_times(Path("a_depth.mp4")) == frame_times(source)
    flashes, beeps = films.flash_times(source), films.beep_times(Path("a_depth.mp4"))
    assert flashes == [0.5, 3.0, 5.5]
    assert np.abs(np.subtract(flashes, beeps)).max() <= 0.02


@pytest.mark.parametrize("suffix", ["mp4", "mkv", "mov"])
def test_the_first_picture_comes_half_a_second_late(run: Run, folder: Path, suffix: str) -> None:
    source = make_film_file(
        folder / "a.mkv", parts=((2, 30),), first_pts_s=0.5, flashes=(1.0,), audio=(AudioSpec(),)
    )
    assert run("a.mkv", "-o", f"b.{suffix}", "--stabilize", "off")[0] == 0
    assert frame_times(source)[0] == 0.5
    assert np.abs(np.subtract(frame_times(Path(f"b.{suffix}")), frame_times(source))).max() < 1e-3
    assert abs(films.beep_times(Path(f"b.{suffix}"))[0] - 1.5) <= 0.02


def test_ntsc_rate(run: Run, folder: Path) -> None:
    rate = Fraction(30000, 1001)
    source = make_film_file(folder / "a.mp4", size=(48, 64), parts=((600 / rate, rate),))
    assert run("a.mp4", "--stabilize", "off")[0] == 0
    with av.open("a_depth.mp4") as film:
        stream = film.streams.video[0]
        assert (stream.frames, stream.average_rate) == (600, rate)
        assert stream.duration * stream.time_base == 600 / rate
    assert frame_times(Path("a_depth.mp4")) == frame_times(source)
    assert numbers("a_depth.mp4") == list(range(600))


# ---- sources -------------------------------------------------------------------------------

SOURCES: dict[str, tuple[str, dict[str, Any]]] = {
    "turned by 90": ("a.mp4", {"turn_deg": 90}),
    "turned by 180": ("a.mov", {"turn_deg": 180}),
    "turned by 270": ("a.mkv", {"turn_deg": 270}),
    "mirrored": ("a.mp4", {"flipped": True}),
    "mirrored and turned": ("a.mp4", {"flipped": True, "turn_deg": 90}),
    "odd size": ("a.mp4", {"size": (241, 321), "pix_fmt": "yuv444p"}),
    "fragmented": (
        "a.mp4", {"container_options": {"movflags": "frag_keyframe+empty_moov"}}
    ),
    "transport stream": ("a.ts", {"audio": (AudioSpec("ac3"),)}),
    "no audio": ("a.mkv", {}),
}  # fmt: skip


@pytest.mark.parametrize("name", SOURCES)
def test_sources_of_all_kinds(run: Run, folder: Path, name: str) -> None:
    file, options = SOURCES[name]
    size = options.pop("size", SIZE) if "size" in options else SIZE
    source = make_film_file(folder / file, size=size, **options)
    status, _, err = run(file, "-o", "b.mkv", "--codec", "ffv1", "--stabilize", "off")
    assert status == 0, err
    assert numbers("b.mkv") == list(range(30))
    assert len(frame_times(Path("b.mkv"))) == len(frame_times(source))
    # The corners tell which way is up: their mean colours differ.
    depth = deep_gray("b.mkv")[3][: size[0], : size[1]] / 65535
    wanted = draw_frame(3, size).mean(axis=2)
    low, high = np.percentile(wanted, (1, 99))
    middle = (wanted > low + 5) & (wanted < high - 5)
    fitted = np.polyval(np.polyfit(depth[middle], wanted[middle], 1), depth[middle])
    # Edges are soft: the network saw fewer pixels.
    assert np.median(np.abs(fitted - wanted[middle])) < 6


def test_pixels_that_are_not_square(run: Run, folder: Path) -> None:
    make_film_file(folder / "a.mp4", size=(96, 96), sample_aspect=Fraction(4, 3))
    assert run("a.mp4", "--stabilize", "off")[0] == 0
    with av.open("a_depth.mp4") as film:
        stream = film.streams.video[0]
        assert (stream.width, stream.height) == (128, 96)
        assert stream.sample_aspect_ratio in (None, 1)
    assert numbers("a_depth.mp4") == list(range(30))


def test_hdr_is_seen_as_a_picture(run: Run, folder: Path) -> None:
    """Depth of a PQ film is data: its tags say nothing of PQ."""
    make_film_file(
        folder / "a.mkv", codec="libx265", pix_fmt="yuv420p10le", color=films.PQ
    )  # fmt: skip
    assert run("a.mkv", "--codec", "hevc", "--stabilize", "off")[0] == 0
    with av.open("a_depth.mp4") as film:
        stream = film.streams.video[0]
        assert stream.codec_context.pix_fmt.endswith("10le")
        assert stream.codec_context.color_trc != 16
    assert numbers("a_depth.mp4") == list(range(30))


TRACKS = {
    "audio": (AudioSpec("aac", "eng"), AudioSpec("ac3", "deu", "5.1")),
    "subtitles": (SubtitleSpec(((0.2, 0.8, "Hello"),), "eng"),),
    "chapters": ((0, 0.5, "One"), (0.5, 1.0, "Two")),
}


@pytest.mark.parametrize("suffix", ["mkv", "mp4"])
def test_all_tracks_come_along(run: Run, folder: Path, suffix: str) -> None:
    make_film_file(folder / "a.mkv", **TRACKS)
    status, _, err = run("a.mkv", "-o", f"b.{suffix}", "--stabilize", "off")
    assert status == 0
    with av.open(f"b.{suffix}") as film:
        languages = [s.language for s in film.streams.audio]
        codecs = [s.codec_context.name for s in film.streams.audio]
        assert (languages, codecs) == (["eng", "deu"], ["aac", "ac3"])
        assert film.streams.audio[1].layout.name.startswith("5.1")
        assert [s.codec_context.name for s in film.streams.subtitles] == [
            "srt" if suffix == "mkv" else "mov_text"
        ]
        assert [c["metadata"]["title"] for c in film.chapters()] == ["One", "Two"]
    for text in ("audio aac", "audio ac3", "subtitle subrip"):
        assert text in err


def test_without_tracks(run: Run, folder: Path) -> None:
    make_film_file(folder / "a.mkv", **TRACKS)
    assert run("a.mkv", "--no-tracks", "--stabilize", "off")[0] == 0
    with av.open("a_depth.mp4") as film:
        assert len(film.streams) == 1


# ---- parts ---------------------------------------------------------------------------------


def test_parts_of_a_film(run: Run, folder: Path) -> None:
    make_film_file(folder / "a.mp4", parts=((4, 10),), audio=(AudioSpec(),), flashes=(3.2,))
    assert run("a.mp4", "--start", "1", "--duration", "0.5", "-o", "b.mp4")[0] == 0
    assert numbers("b.mp4") == list(range(10, 15))
    assert frame_times(Path("b.mp4"))[0] == 0
    parts = ["--segment", "0.5-1", "--segment", "3-"]
    assert run("a.mp4", *parts, "-o", "c.mp4", "--stabilize", "off")[0] == 0
    assert numbers("c.mp4") == [*range(5, 10), *range(30, 40)]
    assert frame_times(Path("c.mp4")) == pytest.approx([n / 10 for n in range(15)])
    assert films.beep_times(Path("c.mp4")) == pytest.approx([0.7], abs=0.03)


# ---- what is written -------------------------------------------------------------------------


def test_metres_as_arrays_and_pictures(run: Run, folder: Path) -> None:
    make_film_file(folder / "a.mp4", parts=((1, 10),))
    metres = ["--as", "depth-m", "--stabilize", "off", "--model", "metres.onnx"]
    for form in ("exr", "npz"):
        status, out, err = run("a.mp4", "--format", form, "-o", form, *metres)
        assert (status, out) == (0, [form]), err
    frame = next(films.rgb_frames(folder / "a.mp4")).astype(float).mean(axis=2)
    files = sorted(Path("exr").glob("*.exr"))
    assert len(files) == 10
    depth = read_depth(files[0])
    assert depth.kind is DepthKind.DEPTH_M
    lower = np.s_[40:, :]  # below the bar code, whose edges are soft
    assert np.median(np.abs(depth.values - frame)[lower]) < 2
    chunks = [np.load(p) for p in sorted(Path("npz").glob("*.npz"))]
    maps = np.concatenate([c["depth_m"] for c in chunks])
    assert maps.shape == (10, *SIZE)
    assert np.abs(maps[0] - depth.values).max() < 0.1


def test_pictures_of_16_bits_are_the_film(run: Run, folder: Path) -> None:
    make_film_file(folder / "a.mp4", parts=((1, 10),))
    assert run("a.mp4", "--codec", "ffv1", "--stabilize", "off")[1] == ["a_depth.mkv"]
    assert run("a.mp4", "--format", "png16", "--stabilize", "off")[1] == ["a_depth"]
    maps = [read_depth(p).values for p in sorted(Path("a_depth").glob("*.png"))]
    for left, right in zip(maps, deep_gray("a_depth.mkv"), strict=True):
        assert np.abs(left - right / 65535).max() < 2 / 65535


def test_side_by_side_in_colours(run: Run, folder: Path) -> None:
    make_film_file(folder / "a.mp4", parts=((1, 10),))
    assert run("a.mp4", "--side-by-side", "--colormap", "turbo")[1] == ["a_depth_color.mp4"]
    pictures = list(films.rgb_frames(Path("a_depth_color.mp4")))
    assert pictures[0].shape == (96, 256, 3)
    assert [frame_number(p[:, :128]) for p in pictures] == list(range(10))
    assert np.abs(np.ptp(pictures[0][:, 128:].astype(int), axis=2)).mean() > 50


# ---- stopping and going on -------------------------------------------------------------------

SEGMENT = 2 * MEMORY
LONG = 2 * SEGMENT + MEMORY // 2
Start = Callable[..., AbstractContextManager[subprocess.Popen[str]]]


@pytest.fixture(scope="module")
def long_film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("long") / "long.mp4"
    return make_film_file(path, size=(48, 64), parts=((LONG / 25, 25),), audio=(AudioSpec(),))


LOSSLESS = ["-o", "b.mkv", "--codec", "ffv1"]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Start:
    """A process that waits where the first segment is safe, and not yet counted."""
    short = short_segments(SEGMENT, monkeypatch)

    def start(film: Path, *options: str) -> AbstractContextManager[subprocess.Popen[str]]:
        write = "depthsmith.media.film.work.write_json"  # of the job at first
        command = ["video", film, *LOSSLESS, *OPTIONS, *options]
        return held(write, 2, *command, constants=short)

    return start


@pytest.mark.parametrize("mode", ["quality", "every"])
def test_a_killed_run_goes_on_where_it_was(
    run: Run, folder: Path, long_film: Path, started: Start, mode: str
) -> None:
    options = ["--stabilize", "fast", "--every", "3"] if mode == "every" else []
    assert run(long_film, *LOSSLESS, *options)[0] == 0
    Path("b.mkv").rename("whole.mkv")
    with started(long_film, *options) as process:
        process.kill()
    assert not Path("b.mkv").exists()
    status, _, err = run(long_film, *LOSSLESS, *options, "--resume")
    assert status == 0
    assert f"continued at frame {SEGMENT}" in err
    one, two = deep_gray("whole.mkv"), deep_gray("b.mkv")
    assert len(one) == len(two) == LONG
    assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))
    assert frame_times(Path("b.mkv")) == frame_times(Path("whole.mkv"))
    before = Path("b.mkv").stat()
    status, out, err = run(long_film, *LOSSLESS, *options, "--resume")
    assert (status, out) == (0, ["b.mkv"]) and "finished before" in err
    assert Path("b.mkv").stat() == before
    assert sorted(p.name for p in folder.iterdir()) == [
        "b.mkv", "mean.onnx", "metres.onnx", "whole.mkv",
    ]  # fmt: skip


def test_ctrl_c_ends_everything(folder: Path, long_film: Path, started: Start) -> None:
    with started(long_film) as process:
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert process.returncode == ExitCode.INTERRUPTED
    assert f"{SEGMENT} frames kept, continue with --resume" in err
    assert "Traceback" not in err
    assert not Path("b.mkv").exists()


def test_other_settings_are_not_continued(run: Run, long_film: Path, started: Start) -> None:
    with started(long_film) as process:
        process.kill()
    status, _, err = run(long_film, *LOSSLESS, "--resume", "--stabilize", "off")
    assert status == ExitCode.USAGE
    assert len(err.strip().splitlines()) <= 2 and "--resume" in err


# ---- what cannot be --------------------------------------------------------------------------


def test_a_truncated_film_is_no_success(run: Run, folder: Path) -> None:
    make_film_file(folder / "a.mkv", parts=((8, 25),))
    films.truncate(folder / "a.mkv", 0.5)
    status, out, err = run("a.mkv")
    assert (status, out) == (ExitCode.BAD_INPUT, [])
    assert "--allow-truncated" in err
    assert not Path("a_depth.mp4").exists()
    status, out, err = run("a.mkv", "--allow-truncated")
    assert (status, out) == (0, ["a_depth.mp4"])
    assert numbers("a_depth.mp4") == list(range(len(numbers("a.mkv"))))


def test_a_film_that_is_replaced_meanwhile(folder: Path, long_film: Path, started: Start) -> None:
    """Its pictures are read at first, its sound at the end."""
    film = folder / "film.mp4"
    shutil.copy(long_film, film)
    other = make_film_file(folder / "other.mp4", audio=(AudioSpec(),))
    with started(film) as process:
        other.replace(film)
        _, err = process.communicate("\n")
    assert process.returncode == ExitCode.BAD_INPUT and "has changed" in err
    assert not Path("b.mkv").exists()


def test_damaged_frames_are_counted(run: Run, folder: Path) -> None:
    make_film_file(folder / "a.mkv", codec="mjpeg", pix_fmt="yuvj420p", parts=((2, 25),))
    films.damage_packets(folder / "a.mkv", [20])
    status, _, err = run("a.mkv", "--strict")
    assert status == ExitCode.BAD_INPUT and not Path("a_depth.mp4").exists()
    status, _, err = run("a.mkv")
    assert status == 0
    assert "damaged" in err


@pytest.mark.parametrize(
    ("options", "status", "words"),
    [
        (["--start", "99"], ExitCode.BAD_INPUT, ""),
        (["--codec", "ffv1", "-o", "b.mp4"], ExitCode.USAGE, "ffv1"),
        (["--crf", "20", "--bitrate", "1M"], ExitCode.USAGE, "--bitrate"),
        (["--bitrate", "99999999999999M"], ExitCode.USAGE, "too high"),
        (["--segment", "2-1"], ExitCode.USAGE, "no part of a film is from 2 to 1 seconds"),
        (["--as", "depth-m"], ExitCode.USAGE, "exr or npz"),
        (["--as", "depth-m", "--format", "exr"], ExitCode.USAGE, "metres"),
        (["--format", "exr", "--crf", "5"], ExitCode.USAGE, "--crf"),
        (["--colormap", "turbo", "--format", "npz"], ExitCode.USAGE, "--colormap"),
        (["--hardware", "vaapi"], ExitCode.PROVIDER, "vaapi"),
        (["--preset", "warp"], ExitCode.USAGE, "warp"),
        (["-o", "none/b.mp4"], ExitCode.OUTPUT, "does not exist"),
        (["-o", "a.mp4"], ExitCode.USAGE, "overwritten"),
    ],
)
def test_options_that_cannot_be(
    run: Run, folder: Path, options: list[str], status: ExitCode, words: str
) -> None:
    make_film_file(folder / "a.mp4")
    before = sorted(p.name for p in folder.iterdir())
    found, out, err = run("a.mp4", *options)
    assert (found, out) == (status, []), err
    assert words in err and "Traceback" not in err
    assert sorted(p.name for p in folder.iterdir()) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(run: Run, folder: Path) -> None:
    make_film_file(folder / "a.mp4")
    (folder / "closed").mkdir(mode=0o500)
    status, _, err = run("a.mp4", "-o", "closed/b.mp4")
    assert status == ExitCode.OUTPUT and "no permission" in err


# ---- many films, programs that read along ----------------------------------------------------


def test_a_folder_of_films(run: Run, folder: Path) -> None:
    make_film_file(folder / "films" / "a.mp4") if (folder / "films").mkdir() is None else None
    (folder / "films" / "b.mp4").write_bytes(b"not a film" * 100)
    make_film_file(folder / "films" / "c.mkv")
    status, out, err = run("films")
    assert status == ExitCode.BAD_INPUT
    assert out == ["films/a_depth.mp4", "films/c_depth.mp4"]
    assert "b.mp4" in err and "1 of 3 films failed" in err
    (folder / "films" / "b.mp4").unlink()
    status, out, err = run("films", "--skip-existing")
    assert (status, out) == (0, [])
    assert "left out 2 films made by depthsmith" in err


def test_photos_and_films_are_not_one_file(run: Run, folder: Path) -> None:
    make_film_file(folder / "a.mp4")
    Image.fromarray(draw_frame(1, SIZE)).save(folder / "b.png")
    status, out, err = run("a.mp4", "b.png", *OPTIONS, "-o", "c.mp4", verb="stereo")
    assert (status, out) == (ExitCode.USAGE, []) and "name a folder" in err
    assert not Path("c.mp4").exists()


def test_progress_for_programs(run: Run, folder: Path) -> None:
    make_film_file(folder / "a.mp4", audio=(AudioSpec(),))
    status, _, err = run("a.mp4", "--progress", "json", "--report")
    assert status == 0
    events = [json.loads(line) for line in err.splitlines()]
    kinds = [event["event"] for event in events]
    assert "error" not in kinds
    assert kinds[0] in ("start", "note") and "progress" in kinds
    done = events[kinds.index("done")]
    assert (done["frames"], done["output"]) == (30, "a_depth.mp4")
    assert done["copied"] == ["audio aac"]
    assert events[kinds.index("flicker")]["frames"] == 30


def test_of_one_frame_there_is_nothing_to_measure(run: Run, folder: Path) -> None:
    make_film_file(folder / "a.mp4", parts=((0.1, 10),))
    status, _, err = run("a.mp4", "--report", "-o", "b.mp4")
    assert status == 0 and "1 frame: there is no next frame to compare it with" in err
    assert " 0.000 %" not in err
    status, out, _ = run("b.mp4", "--json", verb="flicker")
    found = json.loads("\n".join(out))
    assert (status, found["error"], found["pumping"]) == (0, None, None)
    assert found["shots"][0]["worst"] is None


def test_hardware_that_auto_does_not_find_is_said(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("depthsmith.media.film.encoding.find_encoder", lambda *_: None)
    make_film_file(folder / "a.mp4", parts=((0.3, 10),))
    status, _, err = run("a.mp4", "--hardware", "auto")
    assert status == 0 and "no hardware here encodes h264; it was encoded on the CPU" in err
    status, _, err = run("a.mp4", "-o", "b.mp4")
    assert status == 0 and "hardware" not in err


def test_flicker_counts_what_flickers(run: Run, folder: Path) -> None:
    """A still film whose brightness jumps by a tenth is off by a tenth, all of it pumping."""
    still = draw_frame(5, SIZE)
    make_film_file(folder / "a.mkv", pictures=[still] * 20, parts=((2, 10),))
    jumping = [(still * (0.9 if n % 2 else 1.0)).astype(np.uint8) for n in range(20)]
    make_film_file(
        folder / "b.mkv", pictures=jumping, parts=((2, 10),), options={"crf": "1"}
    )  # fmt: skip
    status, out, _ = run("b.mkv", "--source", "a.mkv", "--json", verb="flicker")
    found = json.loads("\n".join(out))
    wanted = 0.1 * still.mean() / 255
    assert status == 0 and found["compensated"]
    assert found["error"] == pytest.approx(wanted, rel=0.1)
    assert found["pumping"] == pytest.approx(wanted, rel=0.1)
    status, out, _ = run("a.mkv", "--source", "a.mkv", verb="flicker")
    assert status == 0 and "0.00" in out[0]
    status, _, err = run("b.mkv", "--start", "1", verb="flicker")
    assert status == ExitCode.USAGE and "give --source" in err
    status, _, err = run("a.mkv", "--source", "mean.onnx", verb="flicker")
    assert status == ExitCode.BAD_INPUT and "mean.onnx" in err


def test_programs_get_nothing_but_json(run: Run, folder: Path) -> None:
    (folder / "b.mp4").write_bytes(b"not a film" * 100)
    make_film_file(folder / "a.mp4")
    for arguments, status in (
        (["b.mp4"], ExitCode.BAD_INPUT),
        (["a.mp4", "b.mp4", "-o", "out/"], ExitCode.BAD_INPUT),
        (["a.mp4", "--codec", "ffv1", "-o", "c.mp4"], ExitCode.USAGE),
    ):
        found, _, err = run(*arguments, "--progress", "json")
        events = [json.loads(line) for line in err.splitlines()]
        assert found == status
        assert [e["event"] for e in events].count("error") >= 1
    found, _, err = run("b.mp4")  # and people what they had
    assert err.startswith("depthsmith: error: ")
