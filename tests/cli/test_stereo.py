"""``stereo`` from photo files to 3D pictures, with depth from files and from small networks."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import av
import numpy as np
import pytest
import skimage.data
from numpy.typing import NDArray
from PIL import Image

from depthsmith.cli import entry
from depthsmith.contract import Contract, InputSpec, OutputSpec, SizeRule
from depthsmith.errors import ExitCode
from depthsmith.jit import tell_of_compiling
from depthsmith.media.depth_file import write_depth
from depthsmith.types import DepthKind, DepthMap, Size
from tiny_onnx import mean_model

Run = Callable[..., tuple[int, list[str], str]]
BANDS = np.linspace(0, 1, 5, dtype=np.float32)


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Run ``stereo`` in an empty folder; gives status, output lines and errors."""
    monkeypatch.chdir(tmp_path)
    # Whether this is the machine's first run is not what is tested here.
    monkeypatch.setattr(entry, "_speak_of_compiling", lambda: tell_of_compiling(lambda kept: None))

    def call(*arguments: object) -> tuple[int, list[str], str]:
        status = entry.run(["stereo", *map(str, arguments)])
        out, err = capsys.readouterr()
        return status, out.splitlines(), err

    return call


def checkerboard(height: int = 200, width: int = 320, seed: int = 5) -> NDArray[np.uint8]:
    """Squares of 8 pixels in random tones, so that each is found again in one place only."""
    tones = np.random.default_rng(seed).integers(0, 256, (height // 8, width // 8, 3))
    return np.kron(tones, np.ones((8, 8, 1))).astype(np.uint8)


def five_bands(folder: Path | str = ".") -> NDArray[np.uint8]:
    """A checkerboard in which five bands, one above the other, come ever nearer."""
    rgb = checkerboard()
    Image.fromarray(rgb).save(Path(folder, "board.png"))
    near = np.repeat(np.repeat(BANDS, 40)[:, None], 320, axis=1)
    write_depth(Path(folder, "near.png"), DepthMap(near, DepthKind.NEAR, Size(200, 320)))
    return rgb


def shift_of(view: NDArray[np.uint8], rgb: NDArray[np.uint8], band: int) -> int:
    """By how many pixels a band lies further right in a view than in the photo: where it fits
    best, tried out."""
    rows = slice(40 * band + 8, 40 * band + 32)
    original = rgb[rows, 60:260].astype(int)
    costs = {
        d: np.abs(view[rows, 60 + d : 260 + d].astype(int) - original).mean()
        for d in range(-40, 41)
    }
    return min(costs, key=costs.__getitem__)


def read(path: str) -> NDArray[np.uint8]:
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"))


BOARD = ("board.png", "--depth", "near.png", "--border", "replicate", "--max-disparity", "10")


def test_five_bands_have_opposite_signs_around_the_convergence_plane(run: Run) -> None:
    """10 % of 320 pixels are 32; each eye takes half of it, about the band in the middle."""
    rgb = five_bands()
    assert run(*BOARD, "-o", "b.png") == (0, ["b.png"], "")
    left, right = np.hsplit(read("b.png"), 2)
    # Near content lies further right in the left eye, further left in the right eye.
    assert [shift_of(left, rgb, b) for b in range(5)] == [-8, -4, 0, 4, 8]
    assert [shift_of(right, rgb, b) for b in range(5)] == [8, 4, 0, -4, -8]


@pytest.mark.parametrize(
    ("options", "left_eye", "right_eye"),
    [
        (["--convergence", "0"], [0, 4, 8, 12, 16], [0, -4, -8, -12, -16]),
        (["--convergence", "1"], [-16, -12, -8, -4, 0], [16, 12, 8, 4, 0]),
        (["--convergence", "auto"], [-8, -4, 0, 4, 8], [8, 4, 0, -4, -8]),
        (["--swap"], [8, 4, 0, -4, -8], [-8, -4, 0, 4, 8]),
        (["--eyes", "left"], [-16, -8, 0, 8, 16], [0, 0, 0, 0, 0]),
        (["--eyes", "right"], [0, 0, 0, 0, 0], [16, 8, 0, -8, -16]),
        (["--strength", "0.5"], [-4, -2, 0, 2, 4], [4, 2, 0, -2, -4]),
        (["--eye-distance-mm", "126"], [-16, -8, 0, 8, 16], [16, 8, 0, -8, -16]),
        (["--strength", "0"], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]),
    ],
)
def test_options_move_the_bands(
    run: Run, options: list[str], left_eye: list[int], right_eye: list[int]
) -> None:
    rgb = five_bands()
    assert run(*BOARD, "-o", "b.png", *options)[0] == 0
    left, right = np.hsplit(read("b.png"), 2)
    assert [shift_of(left, rgb, b) for b in range(5)] == left_eye
    assert [shift_of(right, rgb, b) for b in range(5)] == right_eye


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize(
    ("layout", "red_is"),
    [
        ("sbs", "left"), ("half-sbs", "left"), ("tb", "top"), ("half-tb", "top"),
        ("cross-eyed", "right"), ("interlaced", "rows"), ("vr180", "left"),
        ("fisheye180", "left"),
    ],
)  # fmt: skip
def test_the_red_bar_goes_to_the_left_eye(run: Run, layout: str, red_is: str, swap: bool) -> None:
    """A photo with a red bar left and a blue bar right of its middle, and so much disparity
    that the left view shows in its middle the red bar only, the right view the blue one."""
    rgb = np.full((96, 320, 3), 128, np.uint8)
    rgb[:, 120:140], rgb[:, 180:200] = (255, 0, 0), (0, 0, 255)
    Image.fromarray(rgb).save("bars.png")
    # All of it comes forward by 60 pixels: 30 to the right in the left eye.
    near = np.ones((96, 320), np.float32)
    near[:, :8] = 0
    write_depth("near.npz", DepthMap(near, DepthKind.NEAR, Size(96, 320)))
    options = ["--depth", "near.npz", "--border", "replicate", "--convergence", "0"]
    options += ["--max-disparity", str(60 / 320 * 100), "-f", layout, "-o", "out.png"]
    assert run("bars.png", *options, *(["--swap"] if swap else []))[0] == 0
    picture = read("out.png").astype(int)
    height, width = picture.shape[:2]
    halves = {
        "left": (picture[:, : width // 2], picture[:, width // 2 :]),
        "right": (picture[:, width // 2 :], picture[:, : width // 2]),
        "top": (picture[: height // 2], picture[height // 2 :]),
        "rows": (picture[::2], picture[1::2]),
    }
    left_eye, right_eye = halves[red_is]
    if swap:
        left_eye, right_eye = right_eye, left_eye
    for view, colour in ((left_eye, 0), (right_eye, 2)):
        rows, columns = view.shape[:2]
        middle = view[rows // 2 - 2 : rows // 2 + 2, columns // 2 - 1 : columns // 2 + 1]
        assert middle[..., colour].min() > 240
        assert np.delete(middle, colour, axis=2).max() < 15


def test_anaglyph_shows_the_left_view_red(run: Run) -> None:
    five_bands()
    run(*BOARD, "-f", "left-right", "-o", "eye.png")
    run(*BOARD, "-f", "anaglyph-color", "-o", "glasses.png")
    left, right, glasses = read("eye_left.png"), read("eye_right.png"), read("glasses.png")
    assert np.array_equal(glasses[..., 0], left[..., 0])
    assert np.array_equal(glasses[..., 1:], right[..., 1:])


NAMES = {
    "sbs": ["board_LRF_Full_SBS.jpg"],
    "half-sbs": ["board_LR.jpg"],
    "tb": ["board_TBF_fulltb.jpg"],
    "half-tb": ["board_TB.jpg"],
    "cross-eyed": ["board_RLF_cross.jpg"],
    "anaglyph": ["board_redcyan.jpg"],
    "anaglyph-gray": ["board_redcyan_gray.jpg"],
    "interlaced": ["board_interlaced.png"],
    "vr180": ["board_180x180_LR.jpg"],
    "fisheye180": ["board_F180_LR.jpg"],
    "left-right": ["board_left.jpg", "board_right.jpg"],
    "mpo": ["board.mpo"],
    "rgbd": ["board_RGBD.png"],
    "wiggle": ["board_wiggle.gif"],
}


@pytest.mark.parametrize("layout", sorted(NAMES))
def test_names_and_sizes(run: Run, layout: str) -> None:
    five_bands()
    board = BOARD[:3] if layout == "rgbd" else BOARD  # the rest is about views
    assert run(*board, "-f", layout) == (0, NAMES[layout], "")
    sizes = {
        "sbs": (640, 200), "half-sbs": (320, 200), "tb": (320, 400), "half-tb": (320, 200),
        "cross-eyed": (640, 200), "rgbd": (640, 200),
    }  # fmt: skip
    for name in NAMES[layout]:
        with Image.open(name) as image:
            assert image.size == sizes.get(layout, image.size)
    # What is made once is not made of itself, and left out of the folder.
    status, files, err = run(".", "--depth", ".", *board[3:], "-f", layout, "--skip-existing")
    assert (status, files) == (0, [])
    assert "made by depthsmith itself" in err and "done already" in err


def test_rgbd_holds_photo_and_depth(run: Run) -> None:
    rgb = five_bands()
    run(*BOARD[:3], "-f", "rgbd", "-o", "d.png")
    photo, near = np.hsplit(read("d.png"), 2)
    assert np.array_equal(photo, rgb)
    assert np.array_equal(near[::40, 0, 0], np.round(BANDS * 255))


def test_mpo_and_wiggles_by_the_suffix(run: Run) -> None:
    five_bands()
    assert run(*BOARD, "-o", "a.mpo")[0] == 0
    with Image.open("a.mpo") as image:
        assert (image.format, image.n_frames) == ("MPO", 2)
    assert run(*BOARD, "-o", "a.gif")[0] == 0
    with Image.open("a.gif") as image:
        assert image.n_frames == 10
    assert run(*BOARD, "-o", "a.mp4")[0] == 0
    with av.open("a.mp4") as container:
        assert len(list(container.decode(video=0))) >= 60
    assert run(*BOARD, "-f", "wiggle", "--file-type", "webp")[1] == ["board_wiggle.webp"]


def test_borders(run: Run) -> None:
    five_bands()
    sizes = {}
    for border in ("scale", "crop", "replicate", "floating-window"):
        board = [*BOARD[:3], "--max-disparity", "10", "--border", border, "-o", f"{border}.png"]
        assert run(*board)[0] == 0
        sizes[border] = read(f"{border}.png").shape
    # The farthest and nearest bands move by 8 pixels, one to each side.
    assert sizes["scale"] == sizes["replicate"] == sizes["floating-window"] == (200, 640, 3)
    assert sizes["crop"] == (200, 2 * (320 - 16), 3)
    left, _ = np.hsplit(read("floating-window.png"), 2)
    assert not left[:, :8].any() and left[:, 8].any()


def test_vr180_puts_the_farthest_at_infinity_and_fills_the_field_of_view(run: Run) -> None:
    """In a headset zero disparity is infinitely far away: nothing may lie behind that."""
    five_bands()
    options = ["-f", "vr180", "--flat-fov", "90", "-o", "vr.png"]
    assert run(*BOARD, *options)[0] == 0
    left, right = np.hsplit(read("vr.png").astype(int), 2)
    side = left.shape[0]
    assert side == 2 * round(np.pi * 160 / 2)  # focal length: 160 pixels
    far = side // 2 - round(80 / 160 / np.pi * side)  # the middle row of the farthest band
    assert np.abs(left[far] - right[far]).max() <= 1
    rows, columns = np.nonzero(left.any(axis=2))
    assert columns.max() - columns.min() + 1 == pytest.approx(side / 2, abs=2)  # 90 of 180
    high = 2 * np.degrees(np.arctan(100 / 160)) / 180 * side
    assert rows.max() - rows.min() + 1 == pytest.approx(high, abs=2)
    assert run(*BOARD, *options, "--vr-side", "256")[0] == 0
    assert read("vr.png").shape == (256, 512, 3)


def save_photo(path: str, focal_35mm: int | None = None) -> NDArray[np.uint8]:
    rgb = np.ascontiguousarray(skimage.data.chelsea()[:140, :196])
    exif = Image.Exif()
    if focal_35mm:
        exif.get_ifd(0x8769)[0xA405] = focal_35mm
    Image.fromarray(rgb).save(path, exif=exif)
    return rgb


def network(name: str, kind: DepthKind) -> list[str]:
    """A model file whose depth is the mean colour of its input, by 255."""
    contract = Contract(
        model=name,
        input=InputSpec("pixel_values", "float32", "NCHW", "zero_one"),
        size=SizeRule(None, None),
        outputs=(OutputSpec.depth("predicted_depth", kind),),
        preprocessing="da2",
    )
    mean_model(Path(f"{name}.onnx"), contract=contract)
    return ["--model", f"{name}.onnx", "--provider", "cpu", "--resolution", "140"]


def test_metric_depth_is_true_to_scale(run: Run) -> None:
    """With a focal length, disparity is focal * eye distance / z; else 3 % of the width."""
    rgb = np.full((140, 196, 3), 204, np.uint8)  # 0.8 m: a wall
    rgb[40:100, 60:130] = 102  # 0.4 m: a board before it
    Image.fromarray(rgb).save("wall.png")
    options = [*network("metric", DepthKind.DEPTH_M), "--border", "replicate"]
    options += ["--convergence", "0", "--eyes", "right", "--align", "never"]
    for focal in (["--focal-px", "100"], ["--fov", str(np.degrees(2 * np.arctan(98 / 100)))]):
        status, _, err = run("wall.png", *options, *focal, "-o", "w.png")
        assert status == 0
        right = read("w.png")[70, 196:, 0]
        # 100 px * 63 mm * (1 / 0.4 m - 1 / 0.8 m) = 7.9 px to the left.
        assert abs(np.flatnonzero(right < 150)[0] - (60 - 7.9)) <= 1
    assert "true to scale" not in err  # 4 %
    assert run("wall.png", *options, "-o", "w.png")[0] == 0
    right = read("w.png")[70, 196:, 0]
    assert abs(np.flatnonzero(right < 150)[0] - (60 - 0.03 * 196)) <= 1
    _, _, err = run("wall.png", *options, "--focal-px", "400", "-o", "w.png")
    assert "true to scale" in err and "--max-disparity" in err


def test_a_photo_through_a_network(run: Run) -> None:
    save_photo("cat.jpg", focal_35mm=30)
    assert run("cat.jpg", *network("inverse", DepthKind.INVERSE_DEPTH)) == (
        0, ["cat_LRF_Full_SBS.jpg"], "",
    )  # fmt: skip
    assert read("cat_LRF_Full_SBS.jpg").shape == (140, 392, 3)
    # The camera's field of view: 30 mm have a diagonal of 71.6 degrees.
    assert run("cat.jpg", *network("inverse", DepthKind.INVERSE_DEPTH), "-f", "vr180")[0] == 0
    focal = 30 * np.hypot(140, 196) / np.hypot(36, 24)
    assert read("cat_180x180_LR.jpg").shape[0] == 2 * round(np.pi * focal / 2)


def test_preview_is_small_and_of_the_first_photo(run: Run) -> None:
    big = np.kron(skimage.data.chelsea()[:140, :196], np.ones((8, 8, 1), np.uint8))
    Path("in").mkdir()
    for name in ("a", "b"):
        Image.fromarray(big).save(f"in/{name}.png")
    options = network("inverse", DepthKind.INVERSE_DEPTH)
    assert run("in", *options, "--preview", "anaglyph", "-o", "p/") == (
        0, ["p/a_preview.jpg"], "",
    )  # fmt: skip
    with Image.open("p/a_preview.jpg") as image:
        assert image.size == (960, 686)
    assert run("in", *options, "--preview", "wiggle", "-o", "w.gif") == (0, ["w.gif"], "")
    status, _, err = run("in", *options, "--preview", "wiggle", "-f", "sbs")
    assert status == ExitCode.USAGE and "--preview" in err


def test_contact_sheet(run: Run) -> None:
    five_bands()
    Image.fromarray(checkerboard(320, 200)).save("tall.png")
    near = np.zeros((320, 200), np.float32)
    write_depth("tall_depth.npz", DepthMap(near, DepthKind.NEAR, Size(320, 200)))
    Path("board_depth.png").write_bytes(Path("near.png").read_bytes())
    Path("near.png").unlink()
    out = run("board.png", "tall.png", "--depth", ".", "--contact-sheet", "sheet.png", "-o", "d/")
    assert out == (0, ["d/board_LRF_Full_SBS.jpg", "d/tall_LRF_Full_SBS.jpg", "sheet.png"], "")
    assert read("sheet.png").shape[1] == 2 * 12 + 3 * 326 - 6
    assert run("board.png", "--depth", ".", "--contact-sheet", "s.tif")[0] == ExitCode.USAGE


def test_depth_of_photos_whose_names_differ_in_the_suffix(run: Run) -> None:
    five_bands()
    Path("board.png").rename("a.png")
    Image.fromarray(checkerboard(320, 200)).save("a.jpg")
    Path("d").mkdir()
    Path("near.png").rename("d/a.png_depth.png")
    tall = DepthMap(np.zeros((320, 200), np.float32), DepthKind.NEAR, Size(320, 200))
    write_depth(Path("d/a.jpg_depth.png"), tall)
    files = ["out/a.jpg_LRF_Full_SBS.jpg", "out/a.png_LRF_Full_SBS.jpg"]
    assert run(".", "--depth", "d", "-o", "out/") == (0, files, "")


def test_depth_of_other_programs(run: Run) -> None:
    """Without a word on what it means: a picture is near, numbers have to be explained."""
    rgb = five_bands()
    levels = np.round(np.repeat(np.repeat(BANDS, 40)[:, None], 320, axis=1) * 65535)
    Image.fromarray(levels.astype(np.uint16)).save("bright.png")
    Image.fromarray((65535 - levels).astype(np.uint16)).save("dark.png")
    np.save("numbers.npy", (levels + 1000).astype(np.float32))
    np.save("far.npy", (1 / (levels + 1000)).astype(np.float32))
    np.save("signed.npy", levels.astype(np.int32) - 9)
    Image.fromarray((levels / 257).astype(np.uint8)[::2, ::2]).save("small.png")
    expected = [-8, -4, 0, 4, 8]
    for file, polarity in (
        ("bright.png", None), ("bright.png", "near-bright"), ("dark.png", "far-bright"),
        ("numbers.npy", "near-bright"), ("far.npy", "far-bright"), ("small.png", None),
        ("signed.npy", "near-bright"),
    ):  # fmt: skip
        options = [] if polarity is None else ["--depth-polarity", polarity]
        board = ["board.png", "--depth", file, *BOARD[3:], *options, "-o", "b.png"]
        assert run(*board)[0] == 0
        left = read("b.png")[:, :320]
        assert [shift_of(left, rgb, b) for b in range(5)] == expected, file
    for file in ("numbers.npy", "signed.npy"):
        status, _, err = run("board.png", "--depth", file, *BOARD[3:])
        assert status == ExitCode.BAD_INPUT and "--depth-polarity" in err


def test_distances_in_sixteen_bits(run: Run) -> None:
    """Whatever the unit: near is linear in one over the distance. 0 was not measured."""
    rgb = five_bands()
    metres = np.repeat(np.repeat(1 / (0.2 + 0.8 * BANDS), 40)[:, None], 320, axis=1)
    for unit in (1000, 5000):
        levels = np.round(metres * unit).astype(np.uint16)
        levels[:, -1] = 0
        Image.fromarray(levels).save("depth.png")
        board = ["board.png", "--depth", "depth.png", *BOARD[3:], "-o", "b.png"]
        status, _, err = run(*board, "--depth-polarity", "far-bright")
        assert status == 0 and "taken as distances" in err and err.count("\n") == 1
        left = read("b.png")[:, :320]
        assert [shift_of(left, rgb, b) for b in range(5)] == [-8, -4, 0, 4, 8]
        status, _, err = run(*board)
        assert status == 0 and f"reaches {5 * unit} of 65535" in err and "far-bright" in err


def test_what_cannot_be_is_one_line(run: Run) -> None:
    five_bands()
    Image.fromarray(checkerboard(320, 200)).save("tall.png")
    Path("film.mp4").write_bytes(b"")
    np.save("nan.npy", np.full((200, 320), np.nan, np.float32))
    np.save("minus.npy", np.full((200, 320), -1, np.float32))
    wrong: list[tuple[list[str], ExitCode, str]] = [
        (["tall.png", "--depth", "near.png"], ExitCode.BAD_INPUT, "proportions"),
        (["board.png", "--depth", "no.png"], ExitCode.BAD_INPUT, "does not exist"),
        (["board.png", "--depth", "no.png", "-o", "tall.png"], ExitCode.BAD_INPUT, "not exist"),
        (["board.png", "--depth", "board.png"], ExitCode.BAD_INPUT, "colours"),
        (
            ["board.png", "--depth", "nan.npy", "--depth-polarity", "near-bright"],
            ExitCode.BAD_INPUT,
            "no depth",
        ),
        (
            ["board.png", "--depth", "minus.npy", "--depth-polarity", "far-bright"],
            ExitCode.BAD_INPUT,
            "no depth",
        ),
        (["no.png", "--depth", "near.png"], ExitCode.BAD_INPUT, "does not exist"),
        (["board.png", "tall.png", "--depth", "near.png"], ExitCode.USAGE, "one photo"),
        ([*BOARD, "--convergence", "2"], ExitCode.USAGE, "convergence"),
        ([*BOARD, "--convergence", "middle"], ExitCode.USAGE, "auto"),
        ([*BOARD, "--strength", "-1"], ExitCode.USAGE, "strength"),
        ([*BOARD, "--strength", "nan"], ExitCode.USAGE, "strength"),
        ([*BOARD, "--strength", "1e9"], ExitCode.USAGE, "--strength"),
        ([*BOARD, "-f", "mpo", "-o", "a.jpg"], ExitCode.USAGE, ".mpo"),
        ([*BOARD, "-f", "sbs", "-o", "a.gif"], ExitCode.USAGE, ".jpg"),
        ([*BOARD, "-o", "a.jpg", "--file-type", "png"], ExitCode.USAGE, "--file-type"),
        ([*BOARD, "-o", "no/a.jpg"], ExitCode.OUTPUT, "does not exist"),
        ([*BOARD, "-f", "vr180", "--flat-fov", "180"], ExitCode.USAGE, "field of view"),
        ([*BOARD[:3], "--border", "crop", "--strength", "40"], ExitCode.USAGE, "--strength"),
        ([*BOARD, "-f", "interlaced", "--file-type", "jpg"], ExitCode.USAGE, ".png"),
        ([*BOARD, "-o", "near.png"], ExitCode.USAGE, "overwritten"),
        ([*BOARD, "-o", "board.png"], ExitCode.USAGE, "overwritten"),
        ([*BOARD, "--contact-sheet", "board.png"], ExitCode.USAGE, "overwritten"),
        ([*BOARD, "--contact-sheet", "near.png"], ExitCode.USAGE, "overwritten"),
        ([*BOARD, "-o", "a.jpg", "--contact-sheet", "a.jpg"], ExitCode.USAGE, "both"),
        ([*BOARD, "--contact-sheet", "no/a.jpg"], ExitCode.OUTPUT, "does not exist"),
    ]
    before = sorted(Path().iterdir())
    for arguments, code, words in wrong:
        status, files, err = run(*arguments)
        assert (status, files) == (code, []), arguments
        assert words in err and err.count("\n") == 1, (arguments, err)
    assert sorted(Path().iterdir()) == before


def test_a_broken_photo_does_not_stop_the_rest(run: Run) -> None:
    five_bands()
    Path("broken.png").write_bytes(Path("board.png").read_bytes()[:200])
    Path("d").mkdir()
    Path("near.png").rename("d/board_depth.png")
    status, files, err = run("broken.png", "board.png", "--depth", "d", "-o", "out")
    assert status == ExitCode.BAD_INPUT
    assert files == ["out/board_LRF_Full_SBS.jpg"]
    assert "1 of 2 photos failed" in err


def test_each_of_many_errors_says_of_what(run: Run) -> None:
    five_bands()
    Image.fromarray(checkerboard(16, 16)[:2, :2]).save("tiny.png")
    Path("d").mkdir()
    for name in ("board", "tiny"):
        Image.new("L", (2, 2) if name == "tiny" else (320, 200)).save(f"d/{name}_depth.png")
    status, _, err = run("board.png", "tiny.png", "--depth", "d", "-o", "out")
    assert status == ExitCode.USAGE and "tiny.png: the border 'scale'" in err


def test_a_name_that_becomes_too_long_does_not_stop_the_rest(run: Run) -> None:
    five_bands()
    long = "a" * 240
    Path("d").mkdir()
    Path("board.png").rename("d/board.png")
    Path("d", f"{long}.png").write_bytes(Path("d/board.png").read_bytes())
    Path("d/maps").mkdir()
    for name in ("board", long):
        Path(f"d/maps/{name}.png").write_bytes(Path("near.png").read_bytes())
    status, files, err = run("d", "--depth", "d/maps", "-o", "out")
    assert (status, files) == (ExitCode.OUTPUT, ["out/board_LRF_Full_SBS.jpg"])
    assert "too long" in err and "1 of 2 photos failed" in err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_pipes_are_not_replaced(run: Run) -> None:
    five_bands()
    os.mkfifo("pipe.jpg")
    status, files, err = run(*BOARD, "-o", "pipe.jpg")
    assert (status, files) == (ExitCode.OUTPUT, []) and "no regular file" in err
    assert Path("pipe.jpg").is_fifo()


def test_a_pair_of_files_is_there_whole_or_not(run: Run) -> None:
    five_bands()
    Path("a_right.png").mkdir()
    status, files, err = run(*BOARD, "-f", "left-right", "-o", "a.png")
    assert (status, files) == (ExitCode.OUTPUT, [])
    assert "cannot write a_right.png" in err
    assert not list(Path().glob("*a_left*"))
