"""Depth files: there and back, and as other programs read them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import cv2
import imageio.v3 as imageio
import numpy as np
import OpenEXR
import pytest
import skimage.io
import tifffile
from PIL import Image
from skimage import data

from depthsmith.errors import ImageError, InputError, OutputError, UsageError
from depthsmith.media.depth_file import (
    SUFFIXES,
    format_of,
    is_own_output,
    read_depth,
    write_depth,
)
from depthsmith.media.depth_levels import quantize
from depthsmith.media.folder import find_photos
from depthsmith.media.photo import read_photo
from depthsmith.media.rgb_file import write_rgb
from depthsmith.types import DepthKind, DepthMap, Size

FLOAT_FORMATS = ("npy", "npz", "exr", "pfm", "tiff")
SAYING = ("png16", "png8", "npz", "exr", "tiff")  # what the values mean is in the file


def depth_map(values: object, kind: DepthKind, **more: object) -> DepthMap:
    array = np.asarray(values, np.float32)
    return DepthMap(array, kind, Size(*array.shape), **more)  # type: ignore[arg-type]


def scene(kind: DepthKind) -> DepthMap:
    """A real disparity map as each kind; holes are NaN, except in near."""
    folder = Path(data.__file__).parent
    disparity = np.load(folder / "motorcycle_disp.npz")["arr_0"][60:260:2, 100:470:3]
    disparity = np.where(np.isfinite(disparity), disparity, np.nan)
    if kind is DepthKind.INVERSE_DEPTH:
        values = disparity
    elif kind is DepthKind.NEAR:
        low, high = np.nanmin(disparity), np.nanmax(disparity)
        values = np.nan_to_num((disparity - low) / (high - low))
    else:
        values = 994.978 * 0.193001 / (disparity + 31.086)
    return depth_map(values, kind, model="tëst", notes=("a note", "höher"))


@pytest.mark.parametrize("kind", DepthKind)
@pytest.mark.parametrize("format", SUFFIXES)
def test_there_and_back(format: str, kind: DepthKind, tmp_path: Path) -> None:
    depth = scene(kind)
    path = tmp_path / f"d{SUFFIXES[format]}"
    write_depth(path, depth, format)
    back = read_depth(path, None if format in SAYING else kind)
    assert back.kind is kind
    assert back.size == depth.size
    assert np.array_equal(np.isnan(back.values), np.isnan(depth.values))
    if format in FLOAT_FORMATS:
        assert np.array_equal(back.values, depth.values, equal_nan=True)
    else:
        span = np.nanmax(depth.values) - (np.nanmin(depth.values) if kind.larger_is_nearer else 0)
        step = span / (65534 if format == "png16" else 254)
        if kind is DepthKind.DEPTH_M:
            step = 0.001 if format == "png16" else 0.05  # up to 4.7 m
        rounding = np.spacing(np.nanmax(depth.values))  # of the values to float32
        assert np.nanmax(np.abs(back.values - depth.values)) <= step / 2 + rounding
    if format in SAYING:
        assert (back.model, back.notes) == (depth.model, depth.notes)
        assert back.source_size == depth.source_size
        with pytest.raises(ImageError, match="holds"):
            read_depth(path, DepthKind.DEPTH if kind is not DepthKind.DEPTH else DepthKind.NEAR)
    else:
        with pytest.raises(ImageError, match="does not say"):
            read_depth(path)


def test_no_eight_bit_stage(tmp_path: Path) -> None:
    """All 65536 levels of a 16-bit PNG are used, and OpenCV reads those very numbers."""
    ramp = (np.arange(65536) / 65535).reshape(256, 256)
    write_depth(tmp_path / "r.png", depth_map(ramp, DepthKind.NEAR))
    for read in (lambda p: cv2.imread(p, cv2.IMREAD_UNCHANGED), skimage.io.imread, imageio.imread):
        levels = read(str(tmp_path / "r.png"))
        assert levels.dtype == np.uint16
        assert np.array_equal(levels.ravel(), np.arange(65536))
    assert np.abs(read_depth(tmp_path / "r.png").values - ramp).max() <= 2**-24


def test_png8_is_the_controlnet_form(tmp_path: Path) -> None:
    near = scene(DepthKind.NEAR)
    write_depth(tmp_path / "c.png", near, "png8")
    levels = cv2.imread(str(tmp_path / "c.png"), cv2.IMREAD_UNCHANGED)
    assert (levels.dtype, levels.ndim) == (np.uint8, 2)
    assert np.array_equal(levels, np.rint(near.values * np.float64(255)))  # near is bright


@pytest.mark.parametrize(
    ("farthest", "step"), [(3.0, 1), (65.535, 1), (65.6, 2), (80.0, 2), (131.08, 5), (5000.0, 100)]
)
def test_metres_are_millimetres_until_they_do_not_fit(
    farthest: float, step: int, tmp_path: Path
) -> None:
    values = np.linspace(0.4, farthest, 600).reshape(20, 30)
    notes = write_depth(tmp_path / "m.png", depth_map(values, DepthKind.DEPTH_M))
    levels = cv2.imread(str(tmp_path / "m.png"), cv2.IMREAD_UNCHANGED)
    assert levels.dtype == np.uint16
    assert np.abs(levels.astype(float) * step / 1000 - values).max() <= step / 2000 * 1.001
    assert bool(notes) == (step != 1)
    if step != 1:
        assert f"one level is {step} mm" in notes[0]
    else:  # as a ROS node or a reader of NYU would
        plain = Image.fromarray(levels)
        plain.save(tmp_path / "ros.png")
        ros = read_depth(tmp_path / "ros.png", DepthKind.DEPTH_M)
        assert np.abs(ros.values - values).max() <= 0.0005 + np.spacing(np.float32(farthest))


def test_invalid_values(tmp_path: Path) -> None:
    for kind in DepthKind:
        values = np.array([[0.25, 0.5, 1.0], [np.nan, np.inf, -np.inf]])
        for format in ("png16", "png8"):
            path = tmp_path / "i.png"
            notes = write_depth(path, depth_map(values, kind), format)
            levels = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
            assert (levels[1] == 0).all()
            assert (levels[0] > 0).all()
            assert notes == ("3 invalid values are written as 0",)
            assert np.isnan(read_depth(path).values[1]).all()
        for format in FLOAT_FORMATS:
            path = tmp_path / f"i{SUFFIXES[format]}"
            write_depth(path, depth_map(values, kind), format)
            back = read_depth(path, kind).values
            assert np.isnan(back[1]).all()
            assert np.array_equal(back[0], np.float32(values[0]))
    zero = depth_map([[0.0, 1.0, 2.0, -0.0]], DepthKind.DEPTH_M)
    write_depth(tmp_path / "z.png", zero)
    assert np.isnan(read_depth(tmp_path / "z.png").values).tolist() == [[True, False, False, True]]
    nothing = depth_map(np.full((2, 2), np.nan), DepthKind.INVERSE_DEPTH)
    assert write_depth(tmp_path / "n.png", nothing) == (
        "there is no valid value; all is written as 0",
    )
    assert np.isnan(read_depth(tmp_path / "n.png").values).all()


def test_levels_keep_what_the_kind_means() -> None:
    depth = depth_map([[1.0, 2.0, 4.0]], DepthKind.DEPTH)
    levels, _, _ = quantize(depth, 16)
    assert levels.tolist() == [[16384, 32768, 65535]]  # ratios of depth stay
    inverse = depth_map([[1.0, 2.0, 5.0]], DepthKind.INVERSE_DEPTH)
    levels, _, _ = quantize(inverse, 16)
    assert levels.tolist() == [[0, 16384, 65535]]
    for value in (0.0, 7.0, -2.0):
        flat = depth_map(np.full((2, 2), value), DepthKind.INVERSE_DEPTH)
        levels, quantization, _ = quantize(flat, 16)
        assert np.array_equal(quantization.to_values(levels), flat.values)
    tiny = depth_map([[1e-7, 1.0]], DepthKind.DEPTH_M)
    levels, _, _ = quantize(tiny, 16)
    assert levels.tolist() == [[1, 1000]]  # so near is not invalid
    negative = depth_map([[-1.0, 1.0]], DepthKind.DEPTH)
    levels, quantization, _ = quantize(negative, 16)
    assert np.allclose(quantization.to_values(levels), negative.values, atol=2e-5)
    with pytest.raises(ValueError, match="lies in"):
        quantize(depth_map([[0, 1.5]], DepthKind.NEAR), 16)


def test_header_in_each_format(tmp_path: Path) -> None:
    depth = scene(DepthKind.DEPTH_M)
    expected = {"kind": "depth_m", "unit": "m", "polarity": "larger_is_farther", "model": "tëst"}
    for format in SAYING:
        write_depth(tmp_path / f"h{SUFFIXES[format]}", depth, format)
        path = tmp_path / f"h{SUFFIXES[format]}"
        if format in ("png16", "png8"):
            header = json.loads(Image.open(path).text["depthsmith"])
            assert header["scale"] == (0.001 if format == "png16" else 0.02)
            assert (header["offset"], header["invalid"]) == (0, 0)
        elif format == "tiff":
            with tifffile.TiffFile(path) as file:
                header = json.loads(file.pages[0].description)
        elif format == "exr":
            header = json.loads(OpenEXR.InputFile(str(path)).header()["depthsmith"])
        else:
            header = np.load(path)
        assert {key: str(header[key]) for key in expected} == expected, format


def test_other_programs_read_the_floats(tmp_path: Path) -> None:
    depth = scene(DepthKind.DEPTH_M)
    for format in FLOAT_FORMATS:
        write_depth(tmp_path / f"f{SUFFIXES[format]}", depth, format)
    name = str(tmp_path / "f")
    exr = OpenEXR.InputFile(name + ".exr")
    readings = {
        "tifffile": tifffile.imread(name + ".tiff"),
        "opencv tiff": cv2.imread(name + ".tiff", cv2.IMREAD_UNCHANGED),
        "imageio tiff": imageio.imread(name + ".tiff"),
        "opencv pfm": cv2.imread(name + ".pfm", cv2.IMREAD_UNCHANGED),
        "npy": np.load(name + ".npy"),
        "npz": np.load(name + ".npz")["depth"],
        "exr": np.frombuffer(exr.channel("Z"), np.float32).reshape(depth.size),
    }
    for reader, values in readings.items():
        assert values.dtype == np.float32, reader
        assert np.array_equal(values, depth.values, equal_nan=True), reader
    assert list(exr.header()["channels"]) == ["Z"]
    write_depth(tmp_path / "n.exr", scene(DepthKind.NEAR))
    assert list(OpenEXR.InputFile(str(tmp_path / "n.exr")).header()["channels"]) == ["Y"]


@pytest.mark.parametrize("format", ["npz", "exr"])
def test_sky_and_confidence_travel(format: str, tmp_path: Path) -> None:
    values = np.random.default_rng(0).uniform(1, 9, (14, 15)).astype(np.float32)
    depth = depth_map(values, DepthKind.CANONICAL, sky=values > 8, confidence=values + 1)
    path = tmp_path / f"s{SUFFIXES[format]}"
    write_depth(path, depth)
    back = read_depth(path)
    assert back.sky is not None
    assert back.confidence is not None
    assert back.sky.dtype == bool
    assert np.array_equal(back.sky, depth.sky)
    assert np.array_equal(back.confidence, depth.confidence)


def test_files_of_other_programs(tmp_path: Path) -> None:
    values = np.random.default_rng(0).uniform(1, 9, (14, 15)).astype(np.float32)
    tifffile.imwrite(tmp_path / "a.tif", values)
    cv2.imwrite(str(tmp_path / "a.pfm"), values)
    np.savez(tmp_path / "a.npz", something=values)
    np.save(tmp_path / "a.npy", values[None, ..., None].astype(np.float64))
    OpenEXR.File({}, {"depth.Z": values, "A": values * 0}).write(str(tmp_path / "a.exr"))
    for suffix in ("tif", "pfm", "npz", "npy", "exr"):
        back = read_depth(tmp_path / f"a.{suffix}", DepthKind.DEPTH)
        assert np.array_equal(back.values, values), suffix
    levels = np.arange(256, dtype=np.uint8)[None]
    cv2.imwrite(str(tmp_path / "b.png"), levels)
    assert np.allclose(read_depth(tmp_path / "b.png", DepthKind.NEAR).values, levels / 255)
    assert np.array_equal(read_depth(tmp_path / "b.png", DepthKind.INVERSE_DEPTH).values, levels)


def test_what_is_no_depth_file(tmp_path: Path) -> None:
    def refused(name: str, match: str) -> None:
        with pytest.raises(ImageError, match=match) as caught:
            read_depth(tmp_path / name, DepthKind.DEPTH)
        assert "\n" not in str(caught.value)

    Image.fromarray(data.coffee()).save(tmp_path / "c.png")
    refused("c.png", "in colours")
    refused("missing.png", "does not exist")
    np.save(tmp_path / "o.npy", np.array([{}], dtype=object), allow_pickle=True)
    refused("o.npy", "damaged or no array")
    np.save(tmp_path / "v.npy", np.zeros(7))
    refused("v.npy", "not a depth map")
    np.savez(tmp_path / "two.npz", a=np.zeros((2, 2)), b=np.zeros((2, 2)))
    refused("two.npz", "no array 'depth', but a, b")
    OpenEXR.File({}, {"RGB": np.zeros((4, 4, 3), np.float32)}).write(str(tmp_path / "rgb.exr"))
    refused("rgb.exr", "no depth channel")
    for format, suffix in SUFFIXES.items():
        path = tmp_path / f"t{suffix}"
        write_depth(path, scene(DepthKind.DEPTH), format)
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
        refused(path.name, "truncated|damaged|looks like|not a picture")
    write_depth(tmp_path / "j.png", scene(DepthKind.DEPTH))
    spoilt = (tmp_path / "j.png").read_bytes().replace(b'"kind": "depth"', b'"kind": "hope!"')
    (tmp_path / "k.png").write_bytes(spoilt)  # the chunk's checksum is wrong too
    refused("k.png", "damaged|truncated|looks like PNG")


def test_formats_and_suffixes(tmp_path: Path) -> None:
    assert format_of(Path("a.PNG")) == "png16"
    assert format_of(Path("a.tif")) == "tiff"
    assert format_of(Path("a.png"), "png8") == "png8"
    with pytest.raises(UsageError, match=r"files end with \.exr, not 'a\.png'"):
        format_of(Path("a.png"), "exr")
    with pytest.raises(UsageError, match=r"no depth format ends with '\.jpg'"):
        format_of(Path("a.jpg"))
    with pytest.raises(UsageError, match="use one of png16"):
        format_of(Path("a.png"), "png32")


@pytest.mark.parametrize("format", [*SUFFIXES, "rgb"])
def test_never_half_written(format: str, tmp_path: Path) -> None:
    """A full disk, played by a limit on the size of files: the old file stays, nothing else."""
    target = tmp_path / f"d{SUFFIXES.get(format, '.png')}"
    target.write_bytes(b"old")
    script = """
        import resource, signal, sys
        from pathlib import Path
        import numpy as np
        from depthsmith.errors import OutputError
        from depthsmith.media.depth_file import write_depth
        from depthsmith.media.rgb_file import write_rgb
        from depthsmith.types import DepthKind, DepthMap, Size
        import OpenEXR
        values = np.random.default_rng(0).random((300, 300)).astype(np.float32)
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
        path = Path(sys.argv[1])
        try:
            if sys.argv[2] == "rgb":
                write_rgb(path, (values * 255).astype(np.uint8)[..., None].repeat(3, 2))
            else:
                write_depth(path, DepthMap(values, DepthKind.NEAR, Size(300, 300)), sys.argv[2])
        except OutputError as error:
            print(error)
    """
    run = [sys.executable, "-c", textwrap.dedent(script), str(target), format]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == (f"cannot write {target}: File too large\n", "")
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.skipif(sys.platform != "linux", reason="names are text of 255 letters elsewhere")
@pytest.mark.parametrize("format", [*SUFFIXES, "rgb"])
@pytest.mark.parametrize("stem", [b"d\xff", b"new\nline", b"n" * 250, "深".encode() * 83])
def test_any_name_that_the_file_system_takes(format: str, stem: bytes, tmp_path: Path) -> None:
    target = tmp_path / os.fsdecode(stem + SUFFIXES.get(format, ".png").encode())
    near = depth_map(np.linspace(0, 1, 20).reshape(4, 5), DepthKind.NEAR)
    if format == "rgb":
        write_rgb(target, np.zeros((4, 5, 3), np.uint8))
    else:
        write_depth(target, near, format)
    assert list(tmp_path.iterdir()) == [target]
    plain = target.rename(tmp_path / f"d{target.suffix}")
    if format != "rgb":
        np.testing.assert_allclose(
            read_depth(plain, DepthKind.NEAR).values, near.values, atol=0.002
        )


@pytest.mark.parametrize("format", SUFFIXES)
def test_folder_that_does_not_exist(format: str, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="does not exist"):
        write_depth(tmp_path / "no" / f"d{SUFFIXES[format]}", scene(DepthKind.NEAR), format)


def test_pictures(tmp_path: Path) -> None:
    rgb = data.coffee()
    for name in ("a.png", "a.webp", "深度 a.png", "a.jpg"):
        write_rgb(tmp_path / name, rgb)
        back = read_photo(tmp_path / name).rgb
        limit = 3 if name == "a.jpg" else 0
        assert np.abs(back.astype(int) - rgb).mean() <= limit, name
    write_rgb(str(tmp_path / "b.png"), rgb)
    for wrong in (rgb / 255, rgb[..., 0], rgb[:0], rgb.astype(np.uint16)):
        with pytest.raises(InputError, match="uint8"):
            write_rgb(tmp_path / "c.png", wrong)
    assert not (tmp_path / "c.png").exists()
    with pytest.raises(UsageError, match=r"use \.png, \.jpg or \.webp"):
        write_rgb(tmp_path / "a.gif", rgb)
    with pytest.raises(UsageError, match="at most 16383"):
        write_rgb(tmp_path / "w.webp", np.zeros((1, 16384, 3), np.uint8))


def test_own_output_is_known(tmp_path: Path) -> None:
    near = scene(DepthKind.NEAR)
    for name, format in (("a.png", "png16"), ("b.png", "png8"), ("c.tiff", "tiff")):
        write_depth(tmp_path / name, near, format)
        assert is_own_output(tmp_path / name), name
    for name in ("d.png", "d.jpg", "d.webp"):
        write_rgb(tmp_path / name, data.coffee())
        assert is_own_output(tmp_path / name), name
    Image.fromarray(data.coffee()).save(tmp_path / "photo.jpg")
    tifffile.imwrite(tmp_path / "photo.tif", data.coffee())
    for name in ("photo.jpg", "photo.tif", "missing.png", "."):
        assert not is_own_output(tmp_path / name), name


def test_find_photos(tmp_path: Path) -> None:
    for name in (
        "b.JPG",
        "a.png",
        ".hidden.png",
        "c.txt",
        "sub/d.webp",
        ".git/e.png",
        "sub/x/f.tif",
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.touch()
    names = [p.relative_to(tmp_path).as_posix() for p in find_photos([tmp_path])]
    assert names == ["a.png", "b.JPG"]
    deep = find_photos([tmp_path], recursive=True)
    names = [p.relative_to(tmp_path).as_posix() for p in deep]
    assert names == ["a.png", "b.JPG", "sub/d.webp", "sub/x/f.tif"]
    given = [tmp_path / "c.txt", tmp_path / "b.JPG", tmp_path]
    assert find_photos(given) == [tmp_path / "c.txt", tmp_path / "b.JPG", tmp_path / "a.png"]
    with pytest.raises(ImageError, match="does not exist"):
        find_photos([tmp_path / "no.png"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(ImageError, match="holds no photo; look into its folders"):
        find_photos([tmp_path / "empty"])
