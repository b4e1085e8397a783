"""``depth`` from photo files to depth files, through real ONNX files of a few nodes.

The network is the mean over colour of what it is fed, so that each file can be checked against
numbers worked out from the photo.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from depthsmith.cli import entry
from depthsmith.contract import Contract, InputSpec, OutputSpec, SizeRule
from depthsmith.errors import ExitCode
from depthsmith.media.depth_file import read_depth
from depthsmith.types import DepthKind
from processes import COMMAND, held, on_terminal
from tiny_onnx import mean_model

RAW_INPUT = Contract(
    model="mean",
    input=InputSpec("pixel_values", "float32", "NCHW", "none"),
    size=SizeRule(None, None),
    outputs=(OutputSpec.depth("predicted_depth", DepthKind.INVERSE_DEPTH),),
    preprocessing="da2",
)
KINDS = {
    "inverse": DepthKind.INVERSE_DEPTH,
    "depth": DepthKind.DEPTH,
    "metric": DepthKind.DEPTH_M,
    "canonical": DepthKind.CANONICAL,
}
# At 56 pixels the photos of these tests are not resampled.
AS_IS = ["--fit", "letterbox", "--resolution", "56"]

Run = Callable[..., tuple[int, list[str], str]]


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Run ``depth`` in an empty folder on the CPU; gives status, output lines and errors."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object, model: str | None = "inverse") -> tuple[int, list[str], str]:
        options = ["--provider", "cpu"]
        if model in KINDS:
            outputs = (OutputSpec.depth("predicted_depth", KINDS[model]),)
            path = tmp_path / f"{model}.onnx"
            mean_model(path, contract=replace(RAW_INPUT, outputs=outputs))
            options += ["--model", str(path)]
        status = entry.run(["depth", *map(str, arguments), *options])
        out, err = capsys.readouterr()
        return status, out.splitlines(), err

    return call


def photo(path: Path | str, height: int = 56, width: int = 56, seed: int = 0) -> NDArray[np.uint8]:
    """Write a picture of noise between 1 and 254 without loss; returns it."""
    rgb = np.random.default_rng(seed).integers(1, 255, (height, width, 3), dtype=np.uint8)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(rgb).save(path)
    return rgb


def near_of(inverse: NDArray[np.float64]) -> NDArray[np.float64]:
    return (inverse - inverse.min()) / np.ptp(inverse)  # type: ignore[no-any-return]


def test_by_default_a_16_bit_png_in_which_near_is_bright(run: Run) -> None:
    mean = photo("a.png").mean(axis=2)
    assert run("a.png", *AS_IS) == (0, ["a_depth.png"], "")
    with Image.open("a_depth.png") as image:
        assert image.mode == "I;16"
        levels = np.asarray(image)
    assert np.abs(levels - np.round(near_of(mean) * 65535)).max() <= 1


def test_near_is_bright_for_networks_of_depth_too(run: Run) -> None:
    mean = photo("a.png").mean(axis=2)
    assert run("a.png", *AS_IS, model="depth")[0] == 0
    levels = np.asarray(Image.open("a_depth.png"))
    assert np.abs(levels - np.round(near_of(1 / mean) * 65535)).max() <= 1


def test_png8_is_the_form_of_controlnets(run: Run) -> None:
    mean = photo("a.png").mean(axis=2)
    assert run("a.png", *AS_IS, "--format", "png8")[0] == 0
    with Image.open("a_depth.png") as image:
        assert image.mode == "L"
        assert np.abs(np.asarray(image) - np.round(near_of(mean) * 255)).max() <= 1


@pytest.mark.parametrize("format", ["npy", "npz", "exr", "pfm", "tiff"])
def test_formats_of_floats_keep_the_numbers_of_the_network(run: Run, format: str) -> None:
    mean = photo("a.png").mean(axis=2)
    assert run("a.png", *AS_IS, "-o", f"x.{format}", model="metric") == (0, [f"x.{format}"], "")
    says_kind = format not in ("npy", "pfm")
    depth = read_depth(Path(f"x.{format}"), None if says_kind else DepthKind.DEPTH_M)
    assert depth.kind is DepthKind.DEPTH_M
    np.testing.assert_allclose(depth.values, mean, rtol=1e-6)


@pytest.mark.parametrize(
    ("model", "as_", "expected"),
    [
        ("inverse", "raw", lambda mean: mean),
        ("inverse", "inverse-depth", lambda mean: mean),
        ("inverse", "near", near_of),
        ("depth", "depth", lambda mean: mean),
        ("depth", "inverse-depth", lambda mean: 1 / mean),
        ("metric", "depth-m", lambda mean: mean),
        ("canonical", "raw", lambda mean: mean),
    ],
)
def test_as(run: Run, model: str, as_: str, expected: Callable[..., object]) -> None:
    mean = photo("a.png").mean(axis=2)
    assert run("a.png", *AS_IS, "-o", "x.npy", "--as", as_, model=model)[0] == 0
    np.testing.assert_allclose(np.load("x.npy"), expected(mean), rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize(("model", "as_"), [("inverse", "depth"), ("depth", "depth-m")])
def test_what_a_network_does_not_give_is_refused_before_work(
    run: Run, model: str, as_: str
) -> None:
    Path("broken.png").write_bytes(b"not read at all")
    status, out, err = run("broken.png", "--as", as_, model=model)
    assert (status, out) == (ExitCode.USAGE, [])
    assert "unknown shift" in err or "no metres" in err


def test_metres_from_option_and_exif(run: Run) -> None:
    mean = photo("a.png").mean(axis=2)
    assert run("a.png", *AS_IS, "-o", "x.npy", "--as", "depth-m", "--focal-px", 600,
               model="canonical")[0] == 0  # fmt: skip
    np.testing.assert_allclose(np.load("x.npy"), mean * 2, rtol=1e-5)

    exif = Image.Exif()
    exif[0x8769] = {0xA405: 43}  # FocalLengthIn35mmFilm, about the diagonal of 43.27 mm
    with Image.open("a.png") as image:
        image.save("exif.png", exif=exif)
    assert run("exif.png", *AS_IS, "-o", "y.npy", "--as", "depth-m", model="canonical")[0] == 0
    focal_px = 43 / np.hypot(36, 24) * np.hypot(56, 56)
    np.testing.assert_allclose(np.load("y.npy"), mean * focal_px / 300, rtol=1e-5)

    status, _, err = run("a.png", "exif.png", *AS_IS, "-o", "out", "--as", "depth-m",
                         model="canonical")  # fmt: skip
    assert status == ExitCode.USAGE
    assert "--focal-px or --fov" in err and "1 of 2 photos failed" in err
    assert Path("out/exif_depth.png").exists()


def test_a_bad_file_does_not_stop_the_rest(run: Run) -> None:
    for name in ("a", "c"):
        photo(f"in/{name}.png")
    Path("in/b.png").write_bytes(Path("in/a.png").read_bytes()[:900])
    Path("in/d.jpg").write_bytes(b"")
    status, out, err = run("in", "-o", "out", *AS_IS)
    assert status == ExitCode.BAD_INPUT
    assert out == ["out/a_depth.png", "out/c_depth.png"]
    lines = err.splitlines()
    assert [line.startswith("depthsmith: error: ") for line in lines] == [True] * 3
    assert "b.png" in lines[0] and "d.jpg" in lines[1] and "2 of 4 photos failed" in lines[2]
    assert sorted(p.name for p in Path("out").iterdir()) == ["a_depth.png", "c_depth.png"]


def test_failures_are_reported_when_the_rest_is_given_up(run: Run) -> None:
    Path("in").mkdir()
    Path("in/a.png").write_bytes(b"")
    photo("in/b.png")
    Path("out").mkdir()
    Path("out/b_depth.png").mkdir()  # in the way
    status, out, err = run("in", "-o", "out", *AS_IS)
    assert (status, out) == (ExitCode.OUTPUT, [])
    lines = err.splitlines()
    assert "a.png is empty" in lines[0] and "cannot write out/b_depth.png" in lines[1]


def test_a_truncated_photo_can_be_asked_for(run: Run) -> None:
    photo("a.png")
    Path("a.png").write_bytes(Path("a.png").read_bytes()[:5000])
    assert run("a.png", *AS_IS)[0] == ExitCode.BAD_INPUT
    status, out, err = run("a.png", *AS_IS, "--allow-truncated")
    assert (status, out) == (0, ["a_depth.png"])
    assert "note: a.png: " in err


def test_large_pictures_are_refused_and_can_be_allowed(run: Run) -> None:
    photo("a.png")
    status, _, err = run("a.png", *AS_IS, "--max-pixels", 3000)
    assert status == ExitCode.BAD_INPUT and "a.png" in err
    assert run("a.png", *AS_IS, "--max-pixels", 0)[0] == 0


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
def test_a_very_large_photo_stays_within_the_stated_memory(tmp_path: Path) -> None:
    """8192x4096 through the default path: 60 bytes per pixel, 0.2 GB for Python itself."""
    row = np.linspace(0, 255, 8192, dtype=np.uint8)
    rgb = np.broadcast_to(row[None, :, None], (4096, 8192, 3))
    Image.fromarray(rgb).save(tmp_path / "a.jpg")
    model = mean_model(tmp_path / "m.onnx", contract=RAW_INPUT)
    program = (
        "import re, sys; from depthsmith.cli.entry import run; status = run(sys.argv[1:]);"
        "print(status, re.search(r'VmHWM:\\s+(\\d+) kB', open('/proc/self/status').read())[1])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "depth", "a.jpg", "-m", model, "--provider", "cpu"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    status, peak_kb = done.stdout.split()[-2:]
    assert status == "0"
    with Image.open(tmp_path / "a_depth.png") as depth:
        assert depth.size == (8192, 4096)
    assert int(peak_kb) * 1024 <= 60 * 8192 * 4096 + 200e6


def test_folders_again_do_only_what_is_new(run: Run) -> None:
    photo("in/a.png")
    photo("in/sub/b.png")
    assert run("in", "-r", *AS_IS)[1] == ["in/a_depth.png", "in/sub/b_depth.png"]
    before = Path("in/a_depth.png").stat().st_mtime_ns
    photo("in/c.png")
    status, out, err = run("in", "-r", "--skip-existing", *AS_IS)
    assert (status, out) == (0, ["in/c_depth.png"])
    assert "left out 2 pictures made by depthsmith itself" in err
    assert "skipped 2 pictures, done already" in err
    assert Path("in/a_depth.png").stat().st_mtime_ns == before


@pytest.mark.parametrize("name", ["ö ü 深度.png", "with space.png", "-dash.png", "a'b\"c.png"])
def test_any_name(run: Run, name: str, tmp_path: Path) -> None:
    photo(tmp_path / name)
    status = entry.run(
        ["depth", *AS_IS, "--provider", "cpu", "-m", str(mean_model(tmp_path / "m.onnx",
         contract=RAW_INPUT)), "--", name]
    )  # fmt: skip
    assert status == 0
    assert (tmp_path / name.replace(".png", "_depth.png")).exists()


def test_colour_maps_and_side_by_side(run: Run) -> None:
    rgb = photo("a.png", 56, 70)
    assert run("a.png", *AS_IS, "--colormap", "viridis", "--side-by-side", "-o", "x.png")[0] == 0
    both = np.asarray(Image.open("x.png"))
    assert both.shape == (56, 140, 3)
    np.testing.assert_array_equal(both[:, :70], rgb)
    mean = rgb.mean(axis=2)
    nearest = np.unravel_index(mean.argmax(), mean.shape)
    # The ends of matplotlib's viridis: (68, 1, 84) and (253, 231, 37).
    assert np.abs(both[:, 70:][nearest].astype(int) - (253, 231, 37)).max() <= 2
    farthest = np.unravel_index(mean.argmin(), mean.shape)
    assert np.abs(both[:, 70:][farthest].astype(int) - (68, 1, 84)).max() <= 2


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--colormap", "jet", "--as", "depth"], "a colour picture shows near"),
        (["--colormap", "jet", "--format", "exr"], "a colour picture is 8-bit"),
        (["-o", "x.npy", "--format", "exr"], "exr files end with .exr"),
        (["-o", "a.png"], "is an input and would be overwritten"),
        (["--focal-px", "500", "--fov", "60"], "give one"),
        (["--focal-px", "-5"], "must be positive"),
        (["--focal-px", "inf"], "must be positive and finite"),
        (["--focal-px", "nan"], "must be positive and finite"),
        (["--fov", "180"], "between 0 and 180"),
        (["--kind", "depth"], "says itself"),
        (["--fit", "stretch", "--resolution", "5"], "--resolution"),
    ],
)
def test_contradictions_are_usage(run: Run, options: list[str], expected: str) -> None:
    photo("a.png")
    before = Path("a.png").read_bytes()
    status, out, err = run("a.png", *options)
    assert (status, out) == (ExitCode.USAGE, [])
    assert expected in err and err.count("\n") == 1
    assert Path("a.png").read_bytes() == before
    assert sorted(p.suffix for p in Path().iterdir()) in ([".onnx", ".png"],)


def test_missing_input_and_folder(run: Run) -> None:
    photo("a.png")
    assert run("none.png")[0] == ExitCode.BAD_INPUT
    status, _, err = run("a.png", *AS_IS, "-o", "no/such/folder/x.png")
    assert status == ExitCode.OUTPUT and "does not exist" in err
    Path("file").write_text("x")
    status, _, err = run("a.png", *AS_IS, "-o", "file/x.png")
    assert status == ExitCode.OUTPUT and "not a folder" in err


def test_a_provider_that_is_not_there_stops_before_work(run: Run, tmp_path: Path) -> None:
    photo("a.png")
    model = mean_model(tmp_path / "m.onnx", contract=RAW_INPUT)
    status = entry.run(["depth", "a.png", "-m", str(model), "--provider", "directml"])
    assert status == ExitCode.PROVIDER
    assert not Path("a_depth.png").exists()


def test_a_foreign_file_asks_and_a_frozen_one_is_caught(run: Run, tmp_path: Path) -> None:
    photo("a.png", 56, 112)
    model = mean_model(tmp_path / "m.onnx", frozen=(56, 56))
    status, _, err = run("a.png", "--model", model, model=None)
    assert status == ExitCode.BAD_INPUT and "--kind inverse-depth" in err
    status, _, err = run("a.png", *AS_IS, "--model", model, "--kind", "depth", model=None)
    assert status == ExitCode.BAD_INPUT and "does not follow its input" in err
    assert not Path("a_depth.png").exists()


def test_results_on_stdout_notes_on_stderr(tmp_path: Path) -> None:
    model = mean_model(tmp_path / "m.onnx", contract=RAW_INPUT)
    photo(tmp_path / "a.png")
    done = subprocess.run(
        [COMMAND, "depth", "a.png", "-m", model, *AS_IS, "--threads", "100000"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "a_depth.png\n"
    assert done.stderr.startswith("depthsmith: note: this machine has ")
    assert "\x1b" not in done.stderr


def test_progress_is_drawn_on_a_terminal_and_results_stay_in_the_pipe(tmp_path: Path) -> None:
    model = mean_model(tmp_path / "m.onnx", contract=RAW_INPUT)
    for i in range(3):
        photo(tmp_path / f"{i}.png")
    status, out, drawn = on_terminal("depth", ".", "-m", model, *AS_IS, cwd=tmp_path)
    assert status == 0
    assert out == "0_depth.png\n1_depth.png\n2_depth.png\n"
    assert b"\x1b[" in drawn and b"3/3" in drawn


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_stopped_in_the_middle_nothing_is_half_written(tmp_path: Path, how: int) -> None:
    """Where the second picture is written, and has not got its name."""
    model = mean_model(tmp_path / "m.onnx", contract=RAW_INPUT)
    for i in range(3):
        photo(tmp_path / f"in/{i}.png")
    with held(
        "os.fsync", 2, "depth", "in", "-o", "out", "-m", model, *AS_IS, cwd=tmp_path
    ) as process:
        assert len(list((tmp_path / "out").iterdir())) == 2
        process.send_signal(how)
        _, err = process.communicate()
    written = sorted((tmp_path / "out").iterdir())
    if how == signal.SIGINT:
        assert process.returncode == ExitCode.INTERRUPTED
        assert err.endswith("depthsmith: interrupted\n") and "Traceback" not in err
        assert [p for p in written if p.name.startswith(".")] == []
    else:
        assert process.returncode == -signal.SIGKILL
    whole = [p for p in written if not p.name.startswith(".")]
    assert [p.name for p in whole] == ["0_depth.png"]
    assert read_depth(whole[0]).values.shape == (56, 56)
