"""``stereo`` with films: pairs frame by frame, tags that FFmpeg reads back, times and tracks.

The network is the mean over colour of what it is fed: white is near.
"""

from __future__ import annotations

from collections.abc import Callable
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
from depthsmith.types import DepthKind
from films import AudioSpec, SubtitleSpec, frame_number, frame_times, make_film_file
from processes import held, short_segments
from tiny_onnx import mean_model

OPTIONS = ["--model", "mean.onnx", "--provider", "cpu", "--resolution", "98"]
HEIGHT, WIDTH = 96, 160

Run = Callable[..., tuple[int, list[str], str]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    contract = Contract(
        model="mean",
        input=InputSpec("pixel_values", "float32", "NCHW", "none"),
        size=SizeRule(None, None),
        outputs=(OutputSpec.depth("predicted_depth", DepthKind.INVERSE_DEPTH),),
        preprocessing="da2",
    )
    mean_model(tmp_path / "mean.onnx", contract=contract)
    return tmp_path


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: object) -> tuple[int, list[str], str]:
        network = [] if "--depth" in arguments else OPTIONS
        status = entry.run(["stereo", *network, *map(str, arguments)])
        out, err = capsys.readouterr()
        return status, out.splitlines(), err

    return call


def pictures(path: Path | str) -> list[np.ndarray]:
    return list(films.rgb_frames(Path(path)))


def box_film(path: Path, count: int = 20, **options: Any) -> Path:
    """A white box in front of a dark ramp moves by two pixels a frame."""
    ramp = np.linspace(10, 60, WIDTH).astype(np.uint8)
    shown = []
    for n in range(count):
        picture = np.repeat(np.tile(ramp, (HEIGHT, 1))[..., None], 3, axis=2)
        picture[36:72, 40 + 2 * n : 70 + 2 * n] = 250
        shown.append(picture)
    return make_film_file(path, pictures=shown, parts=((count / 25, 25),), **options)


def luma_of(frame: av.VideoFrame) -> np.ndarray:
    """Of 10-bit pictures, which PyAV 17 does not give as an array."""
    plane = frame.planes[0]
    rows = np.frombuffer(plane, np.uint16).reshape(-1, plane.line_size // 2)
    return rows[:, : frame.width].astype(int)


def box_left(view: np.ndarray) -> int:
    """First column of the box."""
    return int(np.argmax(view[54].mean(axis=1) > 150))


# ---- what two eyes see -----------------------------------------------------------------------


def test_near_is_right_in_the_left_eye_and_left_in_the_right(run: Run, folder: Path) -> None:
    box_film(folder / "a.mp4")
    options = ["--max-disparity", "10", "--convergence", "0", "--border", "replicate"]
    status, out, _ = run("a.mp4", *options)
    assert (status, out) == (0, ["a_LRF_Full_SBS.mp4"])
    for n, picture in enumerate(pictures(out[0])):
        assert picture.shape == (HEIGHT, 2 * WIDTH, 3)
        left, right = box_left(picture[:, :WIDTH]), box_left(picture[:, WIDTH:])
        # 10 % of 160 columns between the farthest and the nearest, half to each side.
        assert left - (40 + 2 * n) == pytest.approx(8, abs=2)
        assert (40 + 2 * n) - right == pytest.approx(8, abs=2)


def test_swapped_and_for_one_eye(run: Run, folder: Path) -> None:
    box_film(folder / "a.mp4")
    options = ["--max-disparity", "10", "--convergence", "0", "--border", "replicate"]
    assert run("a.mp4", *options, "--swap", "-o", "b.mp4")[0] == 0
    swapped = pictures("b.mp4")[5]
    assert box_left(swapped[:, WIDTH:]) > 50 > box_left(swapped[:, :WIDTH])
    assert run("a.mp4", *options, "--eyes", "right", "-o", "c.mp4")[0] == 0
    one = pictures("c.mp4")[5]
    assert box_left(one[:, :WIDTH]) == pytest.approx(50, abs=1)  # as it was
    assert box_left(one[:, WIDTH:]) == pytest.approx(34, abs=2)


SHAPES = {
    "sbs": (HEIGHT, 2 * WIDTH),
    "half-sbs": (HEIGHT, WIDTH),
    "tb": (2 * HEIGHT, WIDTH),
    "half-tb": (HEIGHT, WIDTH),
    "cross-eyed": (HEIGHT, 2 * WIDTH),
    "anaglyph": (HEIGHT, WIDTH),
    "interlaced": (HEIGHT, WIDTH),
    "rgbd": (HEIGHT, 2 * WIDTH),
}


@pytest.mark.parametrize("form", SHAPES)
def test_forms(run: Run, folder: Path, form: str) -> None:
    box_film(folder / "a.mp4", 6)
    status, out, _ = run("a.mp4", "-f", form)
    assert status == 0
    found = pictures(out[0])
    assert len(found) == 6
    assert found[0].shape[:2] == SHAPES[form]


# ---- films say what they are ---------------------------------------------------------------

STEREO3D = {"sbs": 1, "tb": 2, "half-sbs": 1, "half-tb": 2}  # AVStereo3DType


@pytest.mark.parametrize("suffix", ["mp4", "mkv"])
@pytest.mark.parametrize("form", STEREO3D)
def test_ffmpeg_knows_the_layout(run: Run, folder: Path, form: str, suffix: str) -> None:
    box_film(folder / "a.mp4", 6)
    assert run("a.mp4", "-f", form, "-o", f"b.{suffix}")[0] == 0
    with av.open(f"b.{suffix}") as film:
        frame = next(film.decode(video=0))
        data = frame.side_data.get("STEREO3D")
        assert data is not None
        assert np.frombuffer(bytes(data), np.int32)[0] == STEREO3D[form]


def test_vr180_is_half_a_sphere(run: Run, folder: Path) -> None:
    box_film(folder / "a.mp4", 4)
    status, out, _ = run("a.mp4", "-f", "vr180", "--flat-fov", "90", "--strength", "0")
    assert (status, out) == (0, ["a_180x180_LR.mp4"])
    with av.open(out[0]) as film:
        frame = next(film.decode(video=0))
        assert {data.type.name for data in frame.side_data} >= {"STEREO3D", "SPHERICAL"}
    picture = pictures(out[0])[0]
    side = picture.shape[0]
    assert picture.shape[1] == 2 * side
    # The window of 90 degrees takes up the middle half of each eye's 180.
    lit = picture[side // 2, :side].max(axis=1) > 5
    assert (np.argmax(lit), side - np.argmax(lit[::-1])) == pytest.approx(
        (side / 4, side * 3 / 4), abs=3
    )


# ---- everything of the video command holds -------------------------------------------------


def test_times_and_tracks(run: Run, folder: Path) -> None:
    source = make_film_file(
        folder / "a.mkv",
        size=(96, 128),
        parts=((1, 60), (1, 24)),
        first_pts_s=0.5,
        flashes=(0.5,),
        audio=(AudioSpec("aac", "eng"), AudioSpec("ac3", "deu")),
        subtitles=(SubtitleSpec(((0.2, 0.8, "Hello"),), "eng"),),
    )
    status, out, err = run("a.mkv", "--strength", "0", "--max-disparity", "1")
    assert status == 0, err
    assert np.abs(np.subtract(frame_times(Path(out[0])), frame_times(source))).max() < 1e-3
    views = pictures(out[0])
    assert [frame_number(v[:, :128]) for v in views] == list(range(84))
    assert abs(films.beep_times(Path(out[0]))[0] - 1.0) < 0.02
    with av.open(out[0]) as film:
        assert [s.language for s in film.streams.audio] == ["eng", "deu"]
        assert len(film.streams.subtitles) == 1


def test_hdr_stays_hdr_or_is_tone_mapped(run: Run, folder: Path) -> None:
    make_film_file(
        folder / "a.mkv",
        codec="libx265",
        pix_fmt="yuv420p10le",
        color=films.PQ,
        parts=((0.4, 25),),
    )
    assert run("a.mkv", "-o", "b.mkv", "--strength", "0")[0] == 0
    with av.open("a.mkv") as before, av.open("b.mkv") as after:
        codec = after.streams.video[0].codec_context
        assert (codec.name, codec.pix_fmt) == ("hevc", "yuv420p10le")
        assert (codec.color_primaries, codec.color_trc, codec.colorspace) == (9, 16, 9)
        one, two = next(before.decode(video=0)), next(after.decode(video=0))
        names = {data.type.name for data in two.side_data}
        assert {"MASTERING_DISPLAY_METADATA", "CONTENT_LIGHT_LEVEL"} <= names
        # At strength 0 both views are the picture itself.
        luma = [luma_of(frame)[: one.height, : one.width] for frame in (one, two)]
        assert np.median(np.abs(luma[0] - luma[1])) <= 4
    assert run("a.mkv", "-o", "c.mp4", "--hdr", "tonemap")[0] == 0
    with av.open("c.mp4") as film:
        codec = film.streams.video[0].codec_context
        assert (codec.pix_fmt, codec.color_trc) == ("yuv420p", 1)


def test_a_fragmented_source(run: Run, folder: Path) -> None:
    films.make_fragmented(folder / "a.mp4", audio=(AudioSpec(),))
    status, out, _ = run("a.mp4", "--strength", "0")
    assert status == 0
    assert [frame_number(v[:, :128]) for v in pictures(out[0])] == list(range(30))


def test_a_killed_run_goes_on(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plane of ``auto`` is remembered too."""
    segment = 40
    short = short_segments(segment, monkeypatch)
    box_film(folder / "a.mp4", 2 * segment + 20)
    command = ["a.mp4", "--convergence", "auto", "--stabilize", "off", "-o", "b.mkv"]
    command += ["--codec", "ffv1"]
    assert run(*command)[0] == 0
    Path("b.mkv").rename("whole.mkv")
    place = "depthsmith.media.film.work.write_json"  # is called for the job first
    with held(place, 2, "stereo", *OPTIONS, *command, constants=short) as process:
        process.kill()
    status, _, err = run(*command, "--resume")
    assert status == 0
    assert f"continued at frame {segment}" in err
    one, two = pictures("whole.mkv"), pictures("b.mkv")
    assert len(one) == len(two) == 2 * segment + 20
    assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))


# ---- depth that is there already -----------------------------------------------------------


def test_a_depth_film_instead_of_a_network(run: Run, folder: Path) -> None:
    """Of another size, and in files: the same pairs."""
    box_film(folder / "a.mp4")
    near = [np.zeros((48, 80), np.float32) for _ in range(20)]
    for n, depth in enumerate(near):
        depth[18:36, 20 + n : 35 + n] = 1
    gray = [(np.repeat(d[..., None], 3, axis=2) * 255).astype(np.uint8) for d in near]
    make_film_file(folder / "d.mkv", pictures=gray, parts=((0.8, 25),), codec="ffv1")
    (folder / "maps").mkdir()
    for n, depth in enumerate(gray):
        Image.fromarray(depth[..., 0]).save(folder / "maps" / f"{n:04d}.png")
    (folder / "arrays").mkdir()
    for n, depth in enumerate(near):
        np.save(folder / "arrays" / f"{n:04d}.npy", depth)
    options = ["--max-disparity", "10", "--convergence", "0", "--border", "replicate"]
    for depth in ("d.mkv", "maps", "arrays"):
        status, out, err = run("a.mp4", "--depth", depth, "-o", "b.mp4", *options)
        assert status == 0, err
        picture = pictures("b.mp4")[5]
        assert box_left(picture[:, :WIDTH]) == pytest.approx(58, abs=2)
        assert box_left(picture[:, WIDTH:]) == pytest.approx(42, abs=2)
    make_film_file(folder / "short.mkv", pictures=gray[:9], parts=((0.36, 25),), codec="ffv1")
    status, out, err = run("a.mp4", "--depth", "short.mkv", "-o", "c.mp4")
    assert (status, out) == (ExitCode.BAD_INPUT, [])
    assert "short.mkv has 9 frames" in err
    tall = [np.full((80, 48, 3), 99, np.uint8)] * 20
    make_film_file(folder / "tall.mkv", pictures=tall, parts=((0.8, 25),), codec="ffv1")
    status, out, err = run("a.mp4", "--depth", "tall.mkv", "-o", "c.mp4")
    assert (status, out) == (ExitCode.BAD_INPUT, [])
    assert "proportions" in err
    assert not Path("c.mp4").exists()


# ---- previews ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("glasses", "part", "suffix"),
    [
        ("anaglyph", "frame", "jpg"),
        ("wiggle", "frame", "gif"),
        ("anaglyph", "keys", "jpg"),
        ("wiggle", "keys", "gif"),
        ("anaglyph", "10s", "mp4"),
        ("wiggle", "10s", "mp4"),
    ],
)
def test_previews(run: Run, folder: Path, glasses: str, part: str, suffix: str) -> None:
    box_film(folder / "a.mp4", 50)
    status, out, err = run("a.mp4", "--preview", glasses, "--preview-of", part)
    assert (status, out) == (0, [f"a_preview.{suffix}"]), err
    if suffix == "mp4":
        assert len(pictures(out[0])) == 50
        return
    with Image.open(out[0]) as image:
        columns, rows = (3, 4) if part == "keys" else (1, 1)
        assert image.size == (columns * WIDTH, rows * HEIGHT)
        assert getattr(image, "n_frames", 1) == (10 if glasses == "wiggle" else 1)


def test_a_contact_sheet_of_films(run: Run, folder: Path) -> None:
    box_film(folder / "a.mp4", 50)
    status, out, _ = run("a.mp4", "--contact-sheet", "sheet.png")
    assert (status, out[-1]) == (0, "sheet.png")
    with Image.open("sheet.png") as image:
        assert image.height > 6 * 150


def test_photos_and_films_together(run: Run, folder: Path) -> None:
    (folder / "in").mkdir()
    box_film(folder / "in" / "a.mp4", 6)
    Image.fromarray(np.full((60, 80, 3), 90, np.uint8)).save(folder / "in" / "b.png")
    status, out, _ = run("in", "-o", "out/")
    assert status == 0
    assert sorted(out) == ["out/a_LRF_Full_SBS.mp4", "out/b_LRF_Full_SBS.jpg"]
    status, out, err = run("in")
    assert status == 0
    status, out, err = run("in")  # what is ours is left out
    assert len(out) == 2 and "made by depthsmith itself" in err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-f", "mpo"], "films cannot be made as mpo"),
        (["-f", "wiggle"], "films cannot be made as wiggle"),
        (["--preview", "anaglyph", "-o", "b.mp4"], "this preview is written as"),
        (["--depth", "none.mp4"], "does not exist"),
        (["-f", "anaglyph", "--codec", "ffv1", "-o", "b.mp4"], "ffv1"),
    ],
)
def test_what_cannot_be(run: Run, folder: Path, options: list[str], words: str) -> None:
    box_film(folder / "a.mp4", 6)
    before = sorted(p.name for p in folder.iterdir())
    status, out, err = run("a.mp4", *options)
    assert status in (ExitCode.USAGE, ExitCode.BAD_INPUT)
    assert (out, words in err) == ([], True), err
    assert sorted(p.name for p in folder.iterdir()) == before
