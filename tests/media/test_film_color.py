"""Colours of films, against published equations and patches, OpenCV and what encoders make."""

from __future__ import annotations

from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from skimage import data

from depthsmith.film import ColorTags
from depthsmith.media.film import compiled, plain
from depthsmith.media.film.color import matrix_of, to_rgb
from depthsmith.media.film.probe import probe
from depthsmith.media.film.read import FilmReader
from depthsmith.media.film.transfer import (
    gamut_matrix,
    hlg_to_scene,
    light_for,
    light_to_pq,
    pq_to_light,
    roll_off,
)
from films import BT709, HLG, PQ, ColorSpec, make_film_file

# R - Y by Cr, G - Y by Cb and Cr, B - Y by Cb, as the recommendations print them.
PRINTED = {
    1: (1.5748, -0.1873, -0.4681, 1.8556),  # ITU-R BT.709
    5: (1.402, -0.344136, -0.714136, 1.772),  # ITU-R BT.601, from JFIF
    9: (1.4746, -0.16455, -0.57135, 1.8814),  # ITU-R BT.2020
}
# Bars of 75 %: BT.709 from SMPTE RP 219, BT.601 from SMPTE EG 1; each is 191 or 0.
BARS = {
    1: {"yellow": (168, 44, 136), "cyan": (145, 147, 44), "green": (134, 63, 52),
        "magenta": (63, 193, 204), "red": (51, 109, 212), "blue": (28, 212, 120)},
    5: {"yellow": (162, 44, 142), "cyan": (131, 156, 44), "green": (112, 72, 58),
        "magenta": (84, 184, 198), "red": (65, 100, 212), "blue": (35, 212, 114)},
}  # fmt: skip
LIT = {"yellow": (1, 1, 0), "cyan": (0, 1, 1), "green": (0, 1, 0), "magenta": (1, 0, 1),
       "red": (1, 0, 0), "blue": (0, 0, 1)}  # fmt: skip


def yuv_frame(planes: list[np.ndarray], pix_fmt: str, matrix: int, full: bool) -> av.VideoFrame:
    height, width = planes[0].shape
    frame = av.VideoFrame(width, height, pix_fmt)
    for plane, values in zip(frame.planes, planes, strict=True):
        rows = np.frombuffer(plane, values.dtype).reshape(plane.height, -1)
        rows[:, : plane.width] = values
    frame.colorspace, frame.color_range = matrix, 2 if full else 1
    return frame


def smooth(shape: tuple[int, int], low: float, high: float, seed: int) -> np.ndarray:
    noise = np.random.default_rng(seed).random((7, 9))
    return cv2.resize(noise, shape[::-1], interpolation=cv2.INTER_LINEAR) * (high - low) + low


@pytest.mark.parametrize("matrix", PRINTED)
@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("bits", [8, 10, 12])
def test_equations_of_the_recommendations(matrix: int, full: bool, bits: int) -> None:
    step, kind = 1 << (bits - 8), np.uint8 if bits == 8 else np.uint16
    y, u, v = (
        (smooth((70, 101), *span, seed) * step).astype(kind)
        for seed, span in enumerate([(60, 190), (110, 150), (105, 145)])
    )
    name = "yuv444p" if bits == 8 else f"yuv444p{bits}le"
    rgb, deep = to_rgb(yuv_frame([y, u, v], name, matrix, full), ColorTags(), deep=True)
    top = (1 << bits) - 1
    luma = y / top if full else (y / step - 16) / 219
    cb, cr = ((c - 128.0 * step) / (top if full else 224 * step) for c in (u, v))
    r_v, g_u, g_v, b_u = PRINTED[matrix]
    expected = np.stack([luma + r_v * cr, luma + g_u * cb + g_v * cr, luma + b_u * cb], axis=-1)
    assert expected.min() > 0 and expected.max() < 1
    # A half for rounding; the printed factors have four digits.
    assert np.abs(rgb - 255 * expected).max() < 0.52
    assert np.abs(deep - 65535 * expected).max() < 5


@pytest.mark.parametrize("matrix", BARS)
def test_color_bars(matrix: int) -> None:
    for name, code in BARS[matrix].items():
        planes = [
            np.full((8, 8), code[0], np.uint8),
            *(np.full((4, 4), c, np.uint8) for c in code[1:]),
        ]
        rgb, _ = to_rgb(yuv_frame(planes, "yuv420p", matrix, False), ColorTags())
        # The codes are rounded to whole numbers, a step of chroma is up to two of colour.
        assert np.abs(rgb.astype(int) - 191 * np.array(LIT[name])).max() <= 2, name


def test_halved_chroma_against_opencv() -> None:
    """OpenCV knows one case, BT.601 of limited range, and does not interpolate chroma."""
    luma = smooth((240, 320), 60, 190, 0).astype(np.uint8)
    for code in ((128, 128), (110, 140), (150, 120)):
        planes = [luma, *(np.full((120, 160), c, np.uint8) for c in code)]
        rgb, _ = to_rgb(yuv_frame(planes, "yuv420p", 5, False), ColorTags())
        packed = np.concatenate([p.ravel() for p in planes]).reshape(360, 320)
        other = cv2.cvtColor(packed, cv2.COLOR_YUV2RGB_I420).astype(int)
        assert np.abs(rgb - other).max() <= 1
        assert np.mean(rgb == other) > 0.95


def test_chroma_is_sited_on_even_columns_and_between_rows() -> None:
    """A ramp that is sampled where H.264 puts its samples comes back as the same ramp."""
    rows, columns = np.mgrid[0:32, 0:64].astype(float)
    for pix_fmt, codec, at in (
        ("yuv420p", "h264", (2 * np.mgrid[0:16, 0:32][1], 2 * np.mgrid[0:16, 0:32][0] + 0.5)),
        (
            "yuvj420p",
            "mjpeg",
            (2 * np.mgrid[0:16, 0:32][1] + 0.5, 2 * np.mgrid[0:16, 0:32][0] + 0.5),
        ),
    ):
        blue = (128 + (at[0] - 32) + (at[1] - 16)).astype(np.float64)
        u = np.floor(blue).astype(np.uint8)
        planes = [np.full((32, 64), 120, np.uint8), u, np.full((16, 32), 128, np.uint8)]
        _, deep = to_rgb(
            yuv_frame(planes, pix_fmt, 1, "j" in pix_fmt), ColorTags(), codec=codec, deep=True
        )
        assert deep is not None
        slope = np.polyfit(columns[4:-4, 4:-4].ravel(), deep[4:-4, 4:-4, 2].ravel(), 1)
        unit = 1.8556 * 65535 / (255 if "j" in pix_fmt else 224)
        assert slope[0] == pytest.approx(unit, rel=0.01)
        middle = deep[4:-4, 4:-4, 2].astype(int) - deep[4:-4, 4:-4, 1]
        per_blue = (1.8556 + 0.1873) * 65535 / (255 if "j" in pix_fmt else 224)
        found = middle / per_blue
        wanted = (columns - 32 + rows - 16)[4:-4, 4:-4]
        # Codes were rounded down, by a half on average where positions have halves.
        assert np.abs((found - wanted).mean() + (0.5 if codec == "h264" else 0.0)) < 0.1


@pytest.mark.parametrize("halve", [(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1)])
@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_plain_loops_do_what_the_compiled_do(halve: tuple[int, int, int], kind: type) -> None:
    rng = np.random.default_rng(1)
    height, width = 37, 51
    chroma = ((height + 1) // 2 if halve[1] else height, (width + 1) // 2 if halve[0] else width)
    planes = [
        rng.integers(0, 256, (s[0], s[1] + 5), np.uint8) for s in ((height, width), chroma, chroma)
    ]
    top = np.iinfo(kind).max
    factors = np.array([16, top / 219, 128, top + 0.5, 0, 450, -54, -134, 531, 0], np.float32)
    results = [np.empty((height, 3 * width), kind) for _ in range(2)]
    for loops, out in zip((compiled, plain), results, strict=True):
        loops.yuv_to_rgb(*planes, factors, np.array(halve), out)
    # Fused multiply-add may round the other way.
    assert np.abs(results[0].astype(int) - results[1]).max() <= 1


def test_plain_light_does_what_the_compiled_does() -> None:
    words = np.random.default_rng(0).integers(0, 65536, (4000, 3), np.uint16)
    for tags in (ColorTags(9, 16), ColorTags(9, 18), ColorTags(12, 1)):
        light = light_for(tags)
        tables = light.decode, light.system, light.tone, light.gamut, light.encode, light.luma
        results = [np.empty(words.shape, np.uint8) for _ in range(2)]
        for loops, out in zip((compiled, plain), results, strict=True):
            loops.light_to_rgb(words, *tables, out)
        assert np.abs(results[0].astype(int) - results[1]).max() <= 1


def test_unspecified_matrix_goes_by_size() -> None:
    assert matrix_of(ColorTags(), 576, 720) == 5
    assert matrix_of(ColorTags(), 720, 1280) == 1
    assert matrix_of(ColorTags(), 534, 1280) == 1
    assert matrix_of(ColorTags(primaries=9, transfer=16), 2160, 3840) == 9
    assert matrix_of(ColorTags(matrix=6), 1080, 1920) == 6


@pytest.mark.parametrize(
    "codec, pix_fmt, color, suffix",
    [
        ("libx264", "yuv420p", BT709, "mp4"),
        ("libx264", "yuv444p", ColorSpec(6, 6, 6, False), "mkv"),
        ("libx264", "yuv420p", ColorSpec(1, 1, 1, True), "mp4"),
        ("mjpeg", "yuvj420p", ColorSpec(), "avi"),
        ("ffv1", "bgr0", ColorSpec(), "mkv"),
        ("ffv1", "gbrp10le", ColorSpec(), "mkv"),
        ("png", "rgba", ColorSpec(), "mov"),
        ("ffv1", "yuv422p10le", BT709, "mkv"),
        ("ffv1", "yuv410p", BT709, "mkv"),
        ("rawvideo", "bgr24", ColorSpec(), "avi"),  # rows from below
        ("rawvideo", "uyvy422", ColorSpec(), "avi"),
        ("prores_ks", "yuva444p10le", BT709, "mov"),
    ],
)
def test_photos_come_back(
    codec: str, pix_fmt: str, color: ColorSpec, suffix: str, tmp_path: Path
) -> None:
    """Through libswscale's conversion and an encoder, a photo is what it was."""
    photo = cv2.GaussianBlur(data.astronaut()[:256, :320], (0, 0), 3)
    path = make_film_file(
        tmp_path / f"a.{suffix}", pictures=[photo] * 2, parts=((0.08, 25),), codec=codec,
        pix_fmt=pix_fmt, color=color,
    )  # fmt: skip
    frames = list(FilmReader(probe(path), deep=True))
    assert len(frames) == 2
    difference = frames[0].rgb.astype(int) - photo
    assert np.abs(difference).mean() < 2.0
    # libswscale makes chroma of full range half a code too low, 0.93 of blue.
    bias = 1.5 if color.full_range or pix_fmt.startswith("yuvj") else 0.6
    assert np.abs(difference.mean(axis=(0, 1))).max() < bias
    deep = frames[0].deep
    assert deep is not None and deep.dtype == np.uint16
    assert np.abs(deep / 257 - photo).mean() < 2.0


def test_gray_film(tmp_path: Path) -> None:
    gray = cv2.GaussianBlur(data.astronaut()[:96, :128, 1], (0, 0), 2)
    picture = np.repeat(gray[..., None], 3, axis=2)
    full = ColorSpec(full_range=True)
    for codec, pix_fmt, color in (
        ("ffv1", "gray", ColorSpec()),
        ("ffv1", "gray16le", ColorSpec()),
        ("libx264", "gray", full),
    ):  # fmt: skip
        path = make_film_file(tmp_path / "a.mkv", pictures=[picture], codec=codec, color=color,
                              parts=((0.04, 25),), pix_fmt=pix_fmt)  # fmt: skip
        rgb = next(iter(FilmReader(probe(path)))).rgb.astype(int)
        assert np.array_equal(rgb[..., 0], rgb[..., 2])
        # libswscale rounds down on the way to gray.
        assert np.abs(rgb - picture).max() <= (1 if codec == "ffv1" else 6), codec
        assert np.abs((rgb - picture).mean()) < 1.0, codec


def test_sixteen_bits_are_not_rounded_to_eight(tmp_path: Path) -> None:
    ramp = np.repeat(np.linspace(20000, 21000, 512)[None, :, None], 3, axis=2)
    picture = np.repeat(ramp, 32, axis=0).astype(np.uint16)  # four levels of 8 bits
    path = make_film_file(tmp_path / "a.mkv", pictures=[picture], parts=((0.04, 25),),
                          codec="ffv1", pix_fmt="gbrp16le")  # fmt: skip
    deep = next(iter(FilmReader(probe(path), deep=True))).deep
    assert np.array_equal(deep, picture)
    path = make_film_file(tmp_path / "b.mkv", pictures=[picture], parts=((0.04, 25),),
                          codec="ffv1", pix_fmt="yuv444p12le", color=BT709)  # fmt: skip
    deep = next(iter(FilmReader(probe(path), deep=True))).deep
    assert deep is not None
    assert len(np.unique(deep[..., 1])) > 40
    # libswscale takes 65280 for white where it makes limited range of 16 bits.
    assert np.abs(deep * (65280 / 65535) - picture).max() < 90


# ---- light -----------------------------------------------------------------------------------


def test_published_points_of_pq_and_hlg() -> None:
    """ITU-R BT.2408-7, table 1: signal levels of 100, 203, 1000 and 10000 cd/m2."""
    levels = light_to_pq(np.array([100.0, 203.0, 1000.0, 10000.0]))
    assert levels == pytest.approx([0.51, 0.58, 0.75, 1.0], abs=0.005)
    assert pq_to_light(levels) == pytest.approx([100, 203, 1000, 10000], rel=1e-9)
    # HLG's white is at 75 %; with a gamma of 1.2 and a peak of 1000 that is 203 cd/m2.
    assert 1000 * hlg_to_scene(np.array(0.75)) ** 1.2 == pytest.approx(203, abs=1)
    assert hlg_to_scene(np.array([0.5, 1.0])) == pytest.approx([1 / 12, 1.0], abs=1e-6)


def test_gamut_matrix_is_the_one_of_bt2087() -> None:
    printed = [[1.6605, -0.5876, -0.0728], [-0.1246, 1.1329, -0.0083], [-0.0182, -0.1006, 1.1187]]
    assert gamut_matrix(9) == pytest.approx(np.array(printed), abs=2e-4)
    assert gamut_matrix(12) @ np.ones(3) == pytest.approx(np.ones(3))


def test_roll_off_keeps_what_is_dim_and_reaches_white_at_the_peak() -> None:
    light = np.linspace(0, 1000, 2001)
    mapped = roll_off(light, 1000.0)
    assert mapped[light < 80] == pytest.approx(light[light < 80], rel=1e-6, abs=1e-6)
    assert mapped[-1] == pytest.approx(203, abs=0.1)
    assert np.all(np.diff(mapped) > 0)
    assert np.all(mapped <= light + 1e-6)


@pytest.mark.parametrize("color", [PQ, HLG])
def test_hdr_film_is_shown_as_a_screen_would(color: ColorSpec, tmp_path: Path) -> None:
    """Gray patches of known light: dim ones keep their light, the peak becomes white."""
    nits = np.array([0.0, 1.0, 10.0, 50.0, 203.0, 1000.0])
    if color is PQ:
        code = light_to_pq(nits)
    else:  # the inverse of HLG's system: scene light is display light to the power of 1/1.2
        scene = (nits / 1000) ** (1 / 1.2)
        grid = np.linspace(0, 1, 20001)
        code = np.interp(scene, hlg_to_scene(grid), grid)
    row = np.repeat(np.rint(65535 * code), 32)[None, :, None]
    picture = np.broadcast_to(row, (64, row.shape[1], 3)).astype(np.uint16)
    path = make_film_file(tmp_path / "a.mkv", pictures=[picture], parts=((0.04, 25),),
                          codec="libx265", pix_fmt="yuv420p10le", color=color)  # fmt: skip
    info = probe(path)
    assert info.color.hdr and info.color.bit_depth == 10
    frame = next(iter(FilmReader(info, deep=True)))
    shown = frame.rgb[32, 16::32].astype(float)
    assert np.abs(np.ptp(shown, axis=1)).max() <= 2  # gray stays gray
    linear = np.where(shown <= 10.3, shown / 255 / 12.92, ((shown / 255 + 0.055) / 1.055) ** 2.4)
    light = 203 * linear.mean(axis=1)
    assert light[:4] == pytest.approx(nits[:4], rel=0.05, abs=0.3)
    assert 120 < light[4] < 190  # white makes room for what is brighter
    assert light[5] == pytest.approx(203, rel=0.03)
    assert frame.deep is not None
    assert np.abs(frame.deep[32, 16::32] / 65535 - code[:, None]).max() < 0.006
    if color is PQ:
        assert info.color.mastering == PQ.mastering
        assert info.color.content_light == (1000, 400)


def test_wide_gamut_that_is_not_hdr(tmp_path: Path) -> None:
    """BT.709 red, written in BT.2020 primaries, is red again; gray is left as it is."""
    red = np.linalg.inv(gamut_matrix(9)) @ np.array([0.5, 0.0, 0.0])
    patches = np.stack([red ** (1 / 2.4), np.full(3, 0.5), np.full(3, 0.1)])
    picture = np.broadcast_to(np.repeat(patches, 32, axis=0), (32, 96, 3)) * 65535
    path = make_film_file(tmp_path / "a.mkv", pictures=[np.rint(picture).astype(np.uint16)],
                          parts=((0.04, 25),), codec="ffv1", pix_fmt="gbrp16le",
                          color=ColorSpec(9, 14, 0))  # fmt: skip
    rgb = next(iter(FilmReader(probe(path)))).rgb[16, 16::32].astype(int)
    assert np.abs(rgb[0] - [255 * 0.5 ** (1 / 2.4), 0, 0]).max() <= 3  # steep near black
    assert np.abs(rgb[1] - 127.5).max() <= 1.5
    assert np.abs(rgb[2] - 25.5).max() <= 1.5
