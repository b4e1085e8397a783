"""read_photo on every kind of picture, against Pillow, OpenCV, scikit-image and closed forms."""

from __future__ import annotations

import io
import subprocess
import sys
import textwrap
import zlib
from pathlib import Path

import cv2
import numpy as np
import pillow_heif
import pytest
import tifffile
from PIL import Image, ImageCms, ImageOps
from skimage import data

from depthsmith.errors import ImageError
from depthsmith.media.photo import read_photo

pillow_heif.register_heif_opener()
PHOTO = data.chelsea()[100:181, 120:239]  # (81, 119, 3): odd and not square
GRAY = PHOTO[..., 1]
RAMP16 = np.linspace(0, 65535, 81 * 119).astype(np.uint16).reshape(81, 119)


def save(path: Path, image: Image.Image, **options: object) -> Path:
    image.save(path, **options)
    return path


def test_plain_pictures_are_what_opencv_reads(tmp_path: Path) -> None:
    for suffix in ("png", "bmp", "tif", "ppm", "webp"):
        options = {"lossless": True} if suffix == "webp" else {}
        path = save(tmp_path / f"a.{suffix}", Image.fromarray(PHOTO), **options)
        photo = read_photo(path)
        assert np.array_equal(photo.rgb, PHOTO), suffix
        assert np.array_equal(photo.rgb, cv2.imread(str(path))[..., ::-1]), suffix
        assert photo.notes == ()
        assert photo.path == path
    path = save(tmp_path / "a.jpg", Image.fromarray(PHOTO), quality=90)
    # Two builds of libjpeg-turbo may differ in the last bit of the inverse DCT.
    assert np.abs(read_photo(path).rgb.astype(int) - cv2.imread(str(path))[..., ::-1]).max() <= 2


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("suffix", ["jpg", "png", "webp", "tif", "heic", "avif"])
def test_orientation_is_applied_once(suffix: str, orientation: int, tmp_path: Path) -> None:
    image = Image.fromarray(PHOTO)
    exif = image.getexif()
    exif[0x0112] = orientation
    options = {"lossless": True} if suffix == "webp" else {"quality": 95}
    # As bytes, pillow-heif also writes the rotation that HEIF readers go by.
    tag = exif.tobytes() if suffix == "heic" else exif
    path = save(tmp_path / f"o.{suffix}", image, exif=tag, **options)
    # What the tag means: Pillow's own transposition of the picture in memory.
    image.getexif()[0x0112] = orientation
    upright = np.asarray(ImageOps.exif_transpose(image)).astype(int)
    rgb = read_photo(path).rgb.astype(int)
    assert rgb.shape == upright.shape
    assert np.abs(rgb - upright).mean() < 3  # lossy formats; another orientation gives over 20


@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation_of_deep_pictures(orientation: int, tmp_path: Path) -> None:
    image = Image.fromarray(PHOTO)
    image.getexif()[0x0112] = orientation
    upright = np.asarray(ImageOps.exif_transpose(image))
    deep = PHOTO.astype(np.uint16) * 257
    tags = [(0x0112, "H", 1, orientation, True)]
    tifffile.imwrite(tmp_path / "o.tif", deep, photometric="rgb", extratags=tags)
    assert np.array_equal(read_photo(tmp_path / "o.tif").rgb, upright)
    tifffile.imwrite(tmp_path / "g.tif", deep[..., 0], extratags=tags)
    assert np.array_equal(read_photo(tmp_path / "g.tif").rgb[..., 2], upright[..., 0])
    png = tmp_path / "o.png"
    png.write_bytes(_with_exif(cv2.imencode(".png", deep[..., ::-1])[1].tobytes(), orientation))
    assert np.array_equal(read_photo(png).rgb, upright)


def _with_exif(png: bytes, orientation: int) -> bytes:
    """Insert the eXIf chunk that Pillow writes for this orientation."""
    buffer = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = orientation
    Image.new("L", (1, 1)).save(buffer, "PNG", exif=exif)
    other = buffer.getvalue()
    start = other.index(b"eXIf") - 4
    length = int.from_bytes(other[start : start + 4], "big")
    at = png.index(b"IDAT") - 4
    return png[:at] + other[start : start + 12 + length] + png[at:]


def test_focal_length(tmp_path: Path) -> None:
    image = Image.fromarray(PHOTO)
    exif = image.getexif()
    exif.get_ifd(0x8769)[0xA405] = 26
    for suffix in ("jpg", "tif", "webp", "heic"):
        photo = read_photo(save(tmp_path / f"f.{suffix}", image, exif=exif.tobytes()))
        assert photo.focal_35mm == 26, suffix
    # 36 x 24 mm: a 3:2 picture of 3600 px width has 100 px per mm.
    wide = Image.new("RGB", (3600, 2400))
    photo = read_photo(save(tmp_path / "w.jpg", wide, exif=exif))
    assert photo.focal_px() == pytest.approx(2600)
    exif.get_ifd(0x8769)[0xA405] = 0
    assert read_photo(save(tmp_path / "z.jpg", image, exif=exif)).focal_35mm is None


def test_alpha_shows_white(tmp_path: Path) -> None:
    alpha = np.zeros(GRAY.shape, np.uint8)
    alpha[:, 40:] = 255
    path = save(tmp_path / "a.png", Image.fromarray(np.dstack([PHOTO, alpha])))
    photo = read_photo(path)
    assert (photo.rgb[:, :40] == 255).all()
    assert np.array_equal(photo.rgb[:, 40:], PHOTO[:, 40:])
    assert photo.notes == ("transparent parts shown over white",)
    assert (read_photo(path, background=(0, 0, 0)).rgb[:, :40] == 0).all()
    half = np.full(GRAY.shape, 128, np.uint8)
    path = save(tmp_path / "h.png", Image.fromarray(np.dstack([GRAY, half]), "LA"))
    expected = np.asarray(
        Image.alpha_composite(
            Image.new("RGBA", (119, 81), "white"), Image.open(path).convert("RGBA")
        ).convert("RGB")
    )
    assert np.abs(read_photo(path).rgb.astype(int) - expected).max() <= 1
    opaque = save(tmp_path / "o.png", Image.fromarray(np.dstack([PHOTO, half * 0 + 255])))
    assert np.array_equal(read_photo(opaque).rgb, PHOTO)
    assert read_photo(opaque).notes == ()


def test_palette_and_its_transparency(tmp_path: Path) -> None:
    palette = Image.fromarray(PHOTO).quantize(16)
    path = save(tmp_path / "p.png", palette)
    assert np.array_equal(read_photo(path).rgb, cv2.imread(str(path))[..., ::-1])
    path = save(tmp_path / "t.png", palette, transparency=3)
    clear = np.asarray(palette) == 3
    rgb = read_photo(path).rgb
    assert clear.any()
    assert (rgb[clear] == 255).all()
    assert np.array_equal(rgb[~clear], np.asarray(palette.convert("RGB"))[~clear])
    gif = read_photo(save(tmp_path / "t.gif", palette, transparency=3)).rgb
    assert (gif[clear] == 255).all()
    key = tuple(int(v) for v in PHOTO[5, 5])
    rgb = read_photo(save(tmp_path / "k.png", Image.fromarray(PHOTO), transparency=key)).rgb
    assert (rgb[5, 5] == 255).all()


def test_one_bit_and_gray(tmp_path: Path) -> None:
    bits = data.horse()[:90, :101]
    path = save(tmp_path / "b.png", Image.fromarray(bits))
    assert Image.open(path).mode == "1"
    assert np.array_equal(read_photo(path).rgb[..., 0], bits * np.uint8(255))
    path = save(tmp_path / "g.png", Image.fromarray(GRAY))
    assert np.array_equal(read_photo(path).rgb, np.dstack([GRAY] * 3))


@pytest.mark.parametrize("order", ["<", ">"])
def test_sixteen_bit_gray_is_scaled(order: str, tmp_path: Path) -> None:
    expected = np.rint(RAMP16 / 257.0)
    tifffile.imwrite(tmp_path / "g.tif", RAMP16, byteorder=order)
    cv2.imwrite(str(tmp_path / "g.png"), RAMP16)
    for name in ("g.tif", "g.png"):
        photo = read_photo(tmp_path / name)
        assert np.array_equal(photo.rgb[..., 0], expected), name
        assert photo.notes == ()
    memory = Image.fromarray(RAMP16)
    assert np.array_equal(read_photo(memory).rgb[..., 0], expected)
    assert np.array_equal(read_photo(RAMP16).rgb[..., 0], expected)


def test_bits_stored_in_larger_types(tmp_path: Path) -> None:
    twelve = RAMP16 >> 4
    tifffile.imwrite(tmp_path / "t.tif", twelve)
    photo = read_photo(tmp_path / "t.tif")
    assert np.array_equal(photo.rgb[..., 0], np.rint(twelve / 4095 * 255))
    assert photo.notes == ("taken as 12-bit values stored in 16-bit integer",)
    wide = RAMP16.astype(np.uint32) * 65537  # 0 to 2**32 - 1: Pillow's "I" is signed
    tifffile.imwrite(tmp_path / "u.tif", wide)
    photo = read_photo(tmp_path / "u.tif")
    assert np.array_equal(photo.rgb[..., 0], np.rint(wide / wide.max() * 255))
    assert "scaled by their range" in photo.notes[0]
    signed = RAMP16.astype(np.int32) - 1000
    tifffile.imwrite(tmp_path / "s.tif", signed)
    assert read_photo(tmp_path / "s.tif").rgb[0, 0, 0] == 0
    assert read_photo(Image.fromarray(RAMP16.astype(np.int32))).rgb[-1, -1, 0] == 255
    tifffile.imwrite(tmp_path / "i8.tif", (np.arange(256) - 128).astype(np.int8)[None])
    assert np.array_equal(read_photo(tmp_path / "i8.tif").rgb[0, :, 0], np.arange(256))


def test_white_is_zero(tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "w.tif", RAMP16, photometric="miniswhite")
    assert np.array_equal(
        read_photo(tmp_path / "w.tif").rgb[..., 0], np.rint((65535 - RAMP16.astype(float)) / 257)
    )


def test_sixteen_bit_colour_is_rounded_not_cut(tmp_path: Path) -> None:
    deep = np.dstack([RAMP16, RAMP16[::-1], RAMP16[:, ::-1]])
    expected = np.rint(deep / 257.0)
    cv2.imwrite(str(tmp_path / "c.png"), deep[..., ::-1])
    tifffile.imwrite(tmp_path / "c.tif", deep, photometric="rgb")
    tifffile.imwrite(tmp_path / "z.tif", deep, photometric="rgb", compression="zlib")
    for name in ("c.png", "c.tif", "z.tif"):
        assert np.array_equal(read_photo(tmp_path / name).rgb, expected), name
    alpha = np.full_like(RAMP16, 65535)
    alpha[:, :30] = 0
    cv2.imwrite(str(tmp_path / "a.png"), np.dstack([deep[..., ::-1], alpha]))
    rgb = read_photo(tmp_path / "a.png").rgb
    assert (rgb[:, :30] == 255).all()
    assert np.array_equal(rgb[:, 30:], expected[:, 30:])
    planes = np.moveaxis(deep, 2, 0)
    tifffile.imwrite(tmp_path / "p.tif", planes, photometric="rgb", planarconfig="separate")
    with pytest.raises(ImageError, match="separate planes of 16 bits"):
        read_photo(tmp_path / "p.tif")
    with pytest.raises(ImageError, match="separate planes of 64 bits"):
        read_photo(Path(data.__file__).parent / "multipage_rgb.tif")
    tifffile.imwrite(
        tmp_path / "p8.tif", np.moveaxis(PHOTO, 2, 0), photometric="rgb", planarconfig="separate"
    )
    assert np.array_equal(read_photo(tmp_path / "p8.tif").rgb, PHOTO)


def test_extra_channels_of_deep_pictures(tmp_path: Path) -> None:
    alpha = np.full_like(RAMP16, 65535)
    alpha[:, :30] = 0
    deep = np.dstack([RAMP16] * 3 + [alpha])
    for extra, shows_white in (("unassalpha", True), ("unspecified", False)):
        path = tmp_path / f"{extra}.tif"
        tifffile.imwrite(path, deep, photometric="rgb", extrasamples=[extra])
        rgb = read_photo(path).rgb
        assert (rgb[:, :30] == 255).all() == shows_white
        assert np.array_equal(rgb[:, 30:, 1], np.rint(RAMP16 / 257)[:, 30:])
    half = np.dstack([RAMP16 // 2] * 3 + [np.full_like(RAMP16, 32768)])  # premultiplied by 0.5
    tifffile.imwrite(tmp_path / "p.tif", half, photometric="rgb", extrasamples=["assocalpha"])
    over_white = RAMP16 / 257 / 2 + 255 / 2
    assert np.abs(read_photo(tmp_path / "p.tif").rgb[..., 0] - over_white).max() <= 2


def test_transparent_colour_of_sixteen_bits(tmp_path: Path) -> None:
    deep = np.dstack([RAMP16] * 3)
    png = cv2.imencode(".png", deep)[1].tobytes()
    key = int(RAMP16[40, 50])
    body = b"tRNS" + key.to_bytes(2, "big") * 3
    chunk = (6).to_bytes(4, "big") + body + zlib.crc32(body).to_bytes(4, "big")
    at = png.index(b"IDAT") - 4
    (tmp_path / "k.png").write_bytes(png[:at] + chunk + png[at:])
    rgb = read_photo(tmp_path / "k.png").rgb[..., 0]
    expected = np.where(key == RAMP16, 255, np.rint(RAMP16 / 257))
    assert np.array_equal(rgb, expected)


def test_float(tmp_path: Path) -> None:
    unit = (RAMP16 / 65535).astype(np.float32)
    tifffile.imwrite(tmp_path / "f.tif", unit)
    photo = read_photo(tmp_path / "f.tif")
    assert np.abs(photo.rgb[..., 0] - unit * 255.0).max() <= 0.5 + 1e-4
    assert photo.notes == ()
    photo = read_photo(Image.fromarray(unit * 8 - 2))
    assert (photo.rgb.min(), photo.rgb.max()) == (0, 255)
    assert photo.notes == ("32-bit float values -2 to 6 scaled by their range",)
    holes = unit.copy()
    holes[3, 3], holes[4, 4] = np.nan, np.inf
    photo = read_photo(holes)
    assert photo.rgb[3, 3, 0] == photo.rgb[4, 4, 0] == 0
    assert photo.notes == ("2 values that are not finite shown as black",)
    color = PHOTO.astype(np.float32) / 255
    tifffile.imwrite(tmp_path / "c.tif", color, photometric="rgb")
    assert np.array_equal(read_photo(tmp_path / "c.tif").rgb, PHOTO)
    assert np.array_equal(read_photo(color.astype(np.float64)).rgb, PHOTO)
    flat = read_photo(np.full((4, 5), 7.0))
    assert (flat.rgb == 0).all()


def test_cmyk(tmp_path: Path) -> None:
    cmyk = Image.fromarray(PHOTO).convert("CMYK")
    path = save(tmp_path / "c.jpg", cmyk, quality=95)  # Pillow writes Adobe's inverted form
    assert b"Adobe" in path.read_bytes()[:200]
    assert np.abs(read_photo(path).rgb.astype(int) - cv2.imread(str(path))[..., ::-1]).max() <= 3
    assert np.abs(read_photo(path).rgb.astype(int) - PHOTO).mean() < 4
    tiff = read_photo(save(tmp_path / "c.tif", cmyk))
    assert np.abs(tiff.rgb.astype(int) - PHOTO).max() <= 1


def test_ycbcr_and_hsv() -> None:
    photo = read_photo(Image.fromarray(PHOTO).convert("YCbCr"))
    assert np.abs(photo.rgb.astype(int) - PHOTO).max() <= 3
    assert (
        np.abs(read_photo(Image.fromarray(PHOTO).convert("HSV")).rgb - PHOTO.astype(int)).mean()
        < 3
    )


def test_lab(tmp_path: Path) -> None:
    # sRGB primaries, white and a gray in Lab (D50), from the ICC's sRGB characterisation:
    # http://www.brucelindbloom.com/WorkingSpaceInfo.html#Specifications
    lab = np.array(
        [[[54.29, 80.81, 69.89], [87.82, -79.29, 80.99], [29.57, 68.30, -112.03],
          [100, 0, 0], [53.585, 0, 0]]]
    )  # fmt: skip
    stored = np.rint(lab * (255 / 100, 1, 1)).astype(np.int16).astype(np.uint8)
    tifffile.imwrite(tmp_path / "l.tif", stored, photometric="cielab")
    rgb = read_photo(tmp_path / "l.tif").rgb[0].astype(int)
    expected = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255], [128, 128, 128]]
    # One step of a or b is up to 4 steps of a saturated channel.
    assert np.abs(rgb - expected).max() <= 12
    assert np.abs(rgb[3:] - expected[3:]).max() <= 1


def _display_p3() -> bytes:
    """A Display P3 profile as phones embed it."""
    return _matrix_profile(
        # Columns are the colorants in XYZ (D50), as in Apple's "Display P3" profile.
        [[0.51512, 0.29198, 0.15710], [0.24120, 0.69225, 0.06657], [-0.00105, 0.04189, 0.78407]],
        "Display P3",
    )


def _matrix_profile(colorants: list[list[float]], name: str) -> bytes:
    """An ICC v2 matrix profile with the sRGB curve, byte by byte as ICC.1:2001-04 says."""

    def s15(value: float) -> bytes:
        return round(value * 65536).to_bytes(4, "big", signed=True)

    def xyz(values: list[float]) -> bytes:
        return b"XYZ \0\0\0\0" + b"".join(s15(v) for v in values)

    x = np.linspace(0, 1, 1024)
    curve = np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4)
    points = np.rint(curve * 65535).astype(">u2").tobytes()
    trc = b"curv\0\0\0\0" + (1024).to_bytes(4, "big") + points
    text = name.encode() + b"\0"
    desc = b"desc\0\0\0\0" + len(text).to_bytes(4, "big") + text + bytes(78)
    blobs = {b"desc": desc, b"cprt": b"text\0\0\0\0none\0", b"wtpt": xyz([0.9642, 1.0, 0.8249])}
    for tag, column in zip((b"rXYZ", b"gXYZ", b"bXYZ"), zip(*colorants, strict=True), strict=True):
        blobs[tag] = xyz(list(column))
    for tag in (b"rTRC", b"gTRC", b"bTRC"):
        blobs[tag] = trc
    table, body, at = b"", b"", 128 + 4 + 12 * len(blobs)
    for tag, blob in blobs.items():
        padded = blob + bytes(-len(blob) % 4)
        table += tag + (at + len(body)).to_bytes(4, "big") + len(blob).to_bytes(4, "big")
        body += padded
    head = bytearray(128)
    head[0:4] = (at + len(body)).to_bytes(4, "big")
    head[8:12], head[12:24], head[36:40] = b"\x02\x40\0\0", b"mntrRGB XYZ ", b"acsp"
    head[68:80] = s15(0.9642) + s15(1.0) + s15(0.8249)
    return bytes(head) + len(blobs).to_bytes(4, "big") + table + body


def test_display_p3_becomes_srgb(tmp_path: Path) -> None:
    profile = _display_p3()
    for suffix in ("png", "jpg", "webp", "tif"):
        image = Image.new("RGB", (8, 8), (128, 64, 200))
        photo = read_photo(save(tmp_path / f"p.{suffix}", image, icc_profile=profile, quality=100))
        # CSS Color 4: color(display-p3 0.50196 0.25098 0.78431) is rgb(138.4 59.0 208.6).
        assert np.abs(photo.rgb[0, 0] - np.array([138, 59, 208.6])).max() <= 3, suffix
        assert photo.notes == ("converted from 'Display P3' to sRGB",)
    gray = Image.fromarray(np.dstack([GRAY] * 3))
    photo = read_photo(save(tmp_path / "g.png", gray, icc_profile=profile))
    assert np.abs(photo.rgb.astype(int) - np.asarray(gray)).max() <= 2  # white stays white


def test_srgb_profile_changes_nothing(tmp_path: Path) -> None:
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    photo = read_photo(save(tmp_path / "s.png", Image.fromarray(PHOTO), icc_profile=srgb))
    assert np.array_equal(photo.rgb, PHOTO)
    assert photo.notes == ()
    lindbloom = [  # sRGB's own colorants
        [0.43607, 0.38515, 0.14307], [0.22249, 0.71687, 0.06061], [0.01392, 0.09708, 0.71410],
    ]  # fmt: skip
    profile = _matrix_profile(lindbloom, "other sRGB")
    photo = read_photo(save(tmp_path / "o.png", Image.fromarray(PHOTO), icc_profile=profile))
    assert np.array_equal(photo.rgb, PHOTO)


def test_profiles_that_cannot_be_used(tmp_path: Path) -> None:
    image = Image.fromarray(PHOTO)
    photo = read_photo(save(tmp_path / "d.png", image, icc_profile=b"nonsense" * 40))
    assert np.array_equal(photo.rgb, PHOTO)
    assert photo.notes == ("its ICC profile is damaged and was ignored",)
    path = save(tmp_path / "g.png", Image.fromarray(GRAY), icc_profile=_display_p3())
    photo = read_photo(path)
    assert np.array_equal(photo.rgb[..., 0], GRAY)
    assert photo.notes == ("its ICC profile 'Display P3' is not for GRAY and was ignored",)


def test_first_frame(tmp_path: Path) -> None:
    frames = [Image.fromarray(np.roll(PHOTO, 9 * i, axis=1)) for i in range(3)]
    for suffix, word in (("webp", "frame"), ("png", "frame"), ("tif", "page")):
        options = {"lossless": True} if suffix == "webp" else {}
        path = tmp_path / f"m.{suffix}"
        save(path, frames[0], save_all=True, append_images=frames[1:], **options)
        photo = read_photo(path)
        assert np.array_equal(photo.rgb, PHOTO), suffix
        assert photo.notes == (f"{word} 1 of 3",), suffix
    palettes = [f.quantize(32) for f in frames]
    path = save(tmp_path / "m.gif", palettes[0], save_all=True, append_images=palettes[1:])
    photo = read_photo(path)
    assert np.array_equal(photo.rgb, np.asarray(palettes[0].convert("RGB")))
    assert photo.notes == ("frame 1 of 3",)
    bundled = Path(data.__file__).parent / "multipage.tif"
    gray = np.dstack([tifffile.imread(bundled, key=0)] * 3)
    assert np.array_equal(read_photo(bundled).rgb, gray)


@pytest.mark.parametrize("shape", [(1, 1), (1, 20), (20, 1), (30, 600), (600, 30)])
def test_extreme_shapes(shape: tuple[int, int], tmp_path: Path) -> None:
    rgb = np.resize(PHOTO, (*shape, 3))
    assert np.array_equal(read_photo(save(tmp_path / "x.png", Image.fromarray(rgb))).rgb, rgb)


def test_names_and_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("Füße 深度 🏍.png", "with space.png", "-o.png", "noext"):
        Image.fromarray(PHOTO).save(Path(name), "PNG")
        assert np.array_equal(read_photo(Path(name)).rgb, PHOTO)
        assert np.array_equal(read_photo(name).rgb, PHOTO)
    encoded = Path("-o.png").read_bytes()
    assert np.array_equal(read_photo(encoded).rgb, PHOTO)
    assert read_photo(encoded).path is None
    assert np.array_equal(read_photo(PHOTO).rgb, PHOTO)
    assert np.array_equal(read_photo(PHOTO[..., :1]).rgb[..., 2], PHOTO[..., 0])
    turned = Image.fromarray(PHOTO)
    turned.getexif()[0x0112] = 6
    assert np.array_equal(read_photo(turned).rgb, np.rot90(PHOTO, -1))
    for array in (np.zeros((3, 4, 7)), np.zeros(5), np.zeros((0, 4, 3)), np.array([["a"]])):
        with pytest.raises(ImageError):
            read_photo(array)


def _refused(source: object, match: str, **options: object) -> None:
    with pytest.raises(ImageError, match=match) as caught:
        read_photo(source, **options)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_what_is_no_picture(tmp_path: Path) -> None:
    _refused(tmp_path, "is a folder")
    _refused(tmp_path / "no.jpg", "does not exist")
    (tmp_path / "empty.jpg").touch()
    _refused(tmp_path / "empty.jpg", "is empty")
    (tmp_path / "text.jpg").write_text("Größe: not a picture\n" * 500, encoding="utf-8")
    _refused(tmp_path / "text.jpg", "is a text file")
    (tmp_path / "noise.jpg").write_bytes(np.random.default_rng(0).bytes(5000))
    _refused(tmp_path / "noise.jpg", "not a picture")
    (tmp_path / "head.jpg").write_bytes(b"\xff\xd8\xff\xe0\0\x10JFIF")
    _refused(tmp_path / "head.jpg", "looks like JPEG")
    (tmp_path / "x.eps").write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n\xff\xfe")
    _refused(tmp_path / "x.eps", "not a picture")
    _refused(b"", "is empty")
    _refused("nul\0byte.png", "cannot read|does not exist")
    _refused(tmp_path / ("x" * 300), "cannot read")
    _refused("/dev/zero", "not a regular file")


@pytest.mark.parametrize("deep", [False, True])
def test_wrong_data_of_a_png(deep: bool, tmp_path: Path) -> None:
    """Most of it can be decoded to something: the checksum tells."""
    path = tmp_path / "p.png"
    Image.fromarray(data.chelsea()).save(path)
    if deep:
        cv2.imwrite(str(path), data.chelsea().astype(np.uint16) * 257)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 255
    path.write_bytes(content)
    _refused(path, "damaged")
    assert read_photo(path, allow_truncated=True).rgb.shape == data.chelsea().shape


@pytest.mark.parametrize("suffix", ["jpg", "png", "bmp", "gif", "tif", "webp", "heic", "jp2"])
def test_truncated(suffix: str, tmp_path: Path) -> None:
    path = save(tmp_path / f"t.{suffix}", Image.fromarray(data.chelsea()))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) * 6 // 10])
    _refused(path, "truncated|damaged|not a picture")
    if suffix in ("jpg", "png", "bmp"):
        photo = read_photo(path, allow_truncated=True)
        assert "truncated; the missing part is blank" in photo.notes
        rows = slice(-100, None) if suffix == "bmp" else slice(100)  # BMP begins at the bottom
        assert np.abs(photo.rgb[rows].astype(int) - data.chelsea()[rows]).mean() < 4
        _refused(path, "truncated")  # the leniency does not outlive the call


def test_too_many_pixels(tmp_path: Path) -> None:
    bomb = save(tmp_path / "bomb.png", Image.new("1", (20000, 20000)))
    assert bomb.stat().st_size < 100_000
    _refused(bomb, "20000x20000, 400,000,000 pixels; the limit is 200,000,000;.*--max-pixels")
    _refused(save(tmp_path / "s.png", Image.fromarray(PHOTO)), "9,639 .* 5,000;", max_pixels=5000)
    assert read_photo(tmp_path / "s.png", max_pixels=81 * 119).size == (81, 119)
    _refused(PHOTO, "limit", max_pixels=5000)
    _refused(Image.fromarray(PHOTO), "limit", max_pixels=5000)
    tifffile.imwrite(tmp_path / "f.tif", PHOTO.astype(np.float32), photometric="rgb")
    _refused(tmp_path / "f.tif", "limit", max_pixels=5000)
    # Pillow's own limit, from which on it warns or refuses, is not in the way.
    script = """
        import sys
        from PIL import Image
        Image.MAX_IMAGE_PIXELS = 1_200_000
        from depthsmith.media.photo import read_photo
        print(read_photo(sys.argv[1]).size, Image.MAX_IMAGE_PIXELS)
    """
    large = save(tmp_path / "l.png", Image.new("1", (1700, 1500)))
    run = [sys.executable, "-W", "error", "-c", textwrap.dedent(script), str(large)]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert done.stdout == "1500x1700 1200000\n"


def test_heic_without_the_extra(tmp_path: Path) -> None:
    path = save(tmp_path / "h.heic", Image.fromarray(PHOTO))
    script = """
        import sys
        sys.modules["pillow_heif"] = None  # as if not installed
        from depthsmith.errors import ImageError
        from depthsmith.media.photo import read_photo
        try:
            read_photo(sys.argv[1])
        except ImageError as error:
            print(error)
    """
    run = [sys.executable, "-c", textwrap.dedent(script), str(path)]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert "pip install depthsmith[heif]" in done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
@pytest.mark.parametrize(
    ("suffix", "mode", "bytes_per_pixel"),
    [("jpg", "RGB", 8), ("png", "P", 8), ("png", "RGBA", 8), ("png", "RGB16", 16)],
)
def test_memory_of_a_large_picture(
    suffix: str, mode: str, bytes_per_pixel: int, tmp_path: Path
) -> None:
    path = tmp_path / f"large.{suffix}"
    large = np.tile(np.repeat(np.arange(256, dtype=np.uint8), 16)[None, :, None], (8192, 1, 3))
    if mode == "RGB16":
        cv2.imwrite(str(path), large.astype(np.uint16) * 257)
    else:
        exif = Image.Exif()
        exif[0x0112] = 6  # the rotation is within the bound too
        Image.fromarray(large).convert(mode).save(path, exif=exif, compress_level=1)
    script = """
        import re, sys
        from pathlib import Path
        from depthsmith.media.photo import read_photo
        def peak():
            status = Path("/proc/self/status").read_text()
            return int(re.search(r"VmHWM:\\s+(\\d+) kB", status)[1]) * 1024
        read_photo(sys.argv[2])
        before = peak()
        photo = read_photo(sys.argv[1])
        assert min(photo.size) == 4096 and max(photo.size) == 8192
        print((peak() - before) / (4096 * 8192))
    """
    small = save(tmp_path / f"small.{suffix}", Image.fromarray(PHOTO))
    run = [sys.executable, "-c", textwrap.dedent(script), str(path), str(small)]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    # Bands of a megapixel and the file: 64 MB at most beside the bound of the docstring.
    # The result alone takes 3.
    assert 3 <= float(done.stdout) <= bytes_per_pixel + 64e6 / (4096 * 8192)
