"""Options that would change nothing are refused, before anything is read or written."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from depthsmith.cli import entry
from depthsmith.contract import Contract, InputSpec, OutputSpec, SizeRule
from depthsmith.errors import ExitCode
from depthsmith.types import DepthKind
from films import make_film_file, rgb_frames
from tiny_onnx import mean_model

Run = Callable[[str], tuple[int, str, str]]
MODEL = "-m mean.onnx --resolution 98 "


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """In a folder with a photo, a film, both in a folder, and networks of two kinds."""
    monkeypatch.chdir(tmp_path)
    Path("both").mkdir()
    for folder in (Path(), Path("both")):
        Image.fromarray(np.full((60, 80, 3), 90, np.uint8)).save(folder / "p.png")
        make_film_file(folder / "f.mp4", parts=((0.2, 25),))
    kinds = {"mean": DepthKind.INVERSE_DEPTH, "metric": DepthKind.DEPTH_M}
    for name, kind in kinds.items():
        contract = Contract(
            model=name,
            input=InputSpec("pixel_values", "float32", "NCHW", "none"),
            size=SizeRule(None, None),
            outputs=(OutputSpec.depth("predicted_depth", kind),),
            preprocessing="da2",
        )
        mean_model(tmp_path / f"{name}.onnx", contract=contract)

    def call(line: str) -> tuple[int, str, str]:
        status = entry.run(shlex.split(line))
        out, err = capsys.readouterr()
        return status, out, err

    return call


IDLE = [
    # films have other options than photos
    ("stereo f.mp4 --file-type mp4", "--file-type is for photos"),
    ("stereo f.mp4 --max-pixels 0", "--max-pixels is for photos"),
    *[
        (f"stereo p.png {option}", f"{option.split()[0]} is for films")
        for option in (
            "--hdr keep", "--stabilize off", "--live", "--every 1", "--batch 2", "--start 1",
            "--duration 1", "--segment 0-1", "--codec hevc", "--crf 20", "--preset slow",
            "--bitrate 8M", "--hardware off", "--no-tracks", "--resume", "--strict",
        )
    ],
    # formats
    ("stereo p.png --flat-fov 90", "--flat-fov is for --format vr180"),
    ("stereo f.mp4 --vr-side 128", "--vr-side is for --format vr180"),
    ("stereo f.mp4 -f anaglyph --hdr keep", "anaglyph cannot"),
    ("stereo p.png -f wiggle --swap", "--swap changes no wiggle"),
    ("stereo p.png -o w.gif --swap", "--swap changes no wiggle"),
    *[
        (f"stereo {source} -f rgbd {option}", f"{option.split()[0]} changes no rgbd picture")
        for source in ("p.png", "f.mp4")
        for option in (
            "--strength 1", "--max-disparity 3", "--eye-distance-mm 63", "--convergence auto",
            "--eyes left", "--swap", "--border crop", "--fill repeat", "--align never",
        )
    ],
    # depth from a file
    ("stereo p.png --depth-polarity far-bright", "--depth-polarity says what --depth means"),
    *[
        (f"stereo f.mp4 --depth p.png {option}", f"{option.split()[0]} is of the network")
        for option in (
            "--model auto", "--provider cpu", "--fit stretch", "--resolution 98", "--kind depth",
            "--normalization none", "--family da2", "--allow-license x", "--stabilize off",
            "--live", "--every 2", "--batch 2",
        )
    ],
    # previews
    ("stereo p.png --preview-of keys", "--preview-of is for previews of films"),
    ("stereo f.mp4 --preview-of keys", "--preview-of is for previews of films"),
    ("stereo f.mp4 --preview anaglyph --contact-sheet s.png", "--contact-sheet is for whole"),
    ("stereo f.mp4 --preview anaglyph --codec hevc", "--codec changes no preview of frames"),
    ("stereo f.mp4 --preview wiggle --every 2", "--every changes no preview of frames"),
    # the camera
    ("stereo f.mp4 --focal-px 100 --fov 60", "say the same thing"),
    ("stereo f.mp4 --fov 60", "--fov changes no film but vr180"),
    ("stereo f.mp4 -f vr180 --fov 60 --flat-fov 70", "--fov changes no film but vr180"),
    ("stereo p.png -f rgbd --fov 60", "--fov changes no rgbd picture"),
    (f"stereo p.png --fov 60 {MODEL}", "--fov is for models that give metres"),
    (f"depth p.png --fov 60 {MODEL}", "--fov is for --as depth-m"),
    ("depth p.png -m metric.onnx --resolution 98 --as depth-m --fov 60", "metric gives metres"),
    ("depth p.png --as depth --robust", "--robust is for --as near"),
    ("depth p.png -f exr --robust", "--robust is for --as near"),
    ("video f.mp4 --focal-px 60", "--focal-px is for --as depth-m"),
    ("video f.mp4 -m metric.onnx --resolution 98 --as depth-m -f exr --fov 60", "gives metres"),
    # depth films
    ("video f.mp4 -f png16 --no-tracks", "--no-tracks is for video"),
    ("video f.mp4 -f png16 --hardware auto", "--hardware is for video"),
    ("video f.mp4 --colormap inferno --report", "--report measures depth films"),
    ("video f.mp4 --side-by-side --report", "--report measures depth films"),
    ("video f.mp4 --as depth -f exr --report", "--report measures depth films"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "words"), IDLE)
def test_what_changes_nothing_is_refused(run: Run, line: str, words: str) -> None:
    before = sorted(Path().rglob("*"))
    status, out, err = run(line)
    assert (status, out) == (ExitCode.USAGE, ""), err
    assert words in err
    assert err.splitlines()[-1].startswith("depthsmith: error: ")  # notes: of the network
    assert sorted(Path().rglob("*")) == before


@pytest.mark.parametrize(
    "line",
    [
        # One of the two kinds is enough.
        f"stereo both -o out/ {MODEL} --crf 30 --file-type png --max-pixels 0",
        f"stereo p.png -f rgbd --strength 2 --contact-sheet s.png {MODEL}",
        "stereo p.png --fov 60 -m metric.onnx --resolution 98",
        f"stereo p.png --fov 60 -f vr180 {MODEL}",
        f"stereo f.mp4 --preview anaglyph --preview-of 10s --crf 30 {MODEL}",
        f"stereo p.png --recursive --skip-existing --allow-truncated --threads 1 {MODEL}",
        f"depth p.png --robust {MODEL}",
    ],
)
def test_what_has_an_effect_is_not(run: Run, line: str) -> None:
    status, _, err = run(line)
    assert status == 0, err


def test_films_fill_what_the_camera_saw(run: Run) -> None:
    """90 degrees are the middle half of 180, whichever way they are given."""
    options = f"stereo f.mp4 -f vr180 --vr-side 128 --strength 0 {MODEL}"
    ways = {"a": "--flat-fov 90", "b": "--fov 90", "c": "--focal-px 64"}  # of 128 columns
    for name, way in ways.items():
        assert run(f"{options} {way} -o {name}.mp4")[0] == 0
    assert run(f"{options} -o d.mp4")[0] == 0
    shown = {name: np.stack(list(rgb_frames(Path(f"{name}.mp4")))) for name in "abcd"}
    assert np.array_equal(shown["a"], shown["b"])
    assert np.array_equal(shown["a"], shown["c"])
    assert not np.array_equal(shown["a"], shown["d"])


def test_depth_that_says_what_it_means_is_not_contradicted(run: Run) -> None:
    assert run(f"depth p.png {MODEL}")[0] == 0
    assert run(f"video f.mp4 {MODEL}")[0] == 0
    assert run("stereo p.png --depth p_depth.png --depth-polarity near-bright")[0] == 0
    for source, depth in (("p.png", "p_depth.png"), ("f.mp4", "f_depth.mp4")):
        line = f"stereo {source} --depth {depth} -f tb --depth-polarity far-bright"
        status, out, err = run(line)
        assert (status != 0, out) == (True, "")
        assert "leave out --depth-polarity far-bright" in err


def test_a_focal_length_without_metres_is_noted(run: Run) -> None:
    Image.fromarray(np.zeros((60, 80), np.uint8)).save("d.png")
    status, _, err = run("stereo p.png --depth d.png --fov 60")
    assert status == 0
    assert "its depth is not in metres" in err
    assert "metres" not in run("stereo p.png --depth d.png --fov 60 -f vr180")[2]
