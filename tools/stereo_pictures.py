"""Make the pictures of docs/stereo.md and of the README's section on 3D.

    python tools/stereo_pictures.py [FOLDER]

From Middlebury's motorcycle with its measured depth, as scikit-image ships it. Written to
docs/images/ unless a folder is named; each has at most 150 kB.
"""

from __future__ import annotations

import sys
from pathlib import Path

import cv2
import numpy as np
from PIL import Image

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "stereo")]

from stereo_truth import motorcycle, soften  # noqa: E402

from depthsmith.depth.colormap import color_table  # noqa: E402
from depthsmith.media.sheet import SheetRow, draw_sheet  # noqa: E402
from depthsmith.stereo import (  # noqa: E402
    FILLS,
    Projector,
    StereoSettings,
    align_edges,
    near_to_disparity,
    pack,
    render_pair,
    warp_view,
    wiggle,
)
from depthsmith.types import ByteArray, FloatArray, StereoPair  # noqa: E402

MOST_BYTES = 150_000
WIDTH = 900


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    truth = motorcycle()
    rgb, near = truth.left, span(truth.disparity_px)
    usual = StereoSettings(convergence="auto")
    pair = pair_of(rgb, near, usual)

    photo = np.hstack([rgb, color_table("inferno")[np.rint(near * 255).astype(np.uint8)]])
    save(folder / "stereo_photo.jpg", photo)
    save(folder / "stereo_sbs.jpg", pack(pair, "sbs"))
    save(folder / "stereo_anaglyph.jpg", pack(pair, "anaglyph"), 720)
    small = fitted(rgb, 400)
    loop = wiggle(small, near_to_disparity(fitted(near, 400), 400, usual), usual)
    save_loop(folder / "stereo_wiggle.webp", loop)

    save(folder / "stereo_formats.jpg", formats(pair))
    save(folder / "stereo_strength.jpg", strengths(rgb, near))
    save(folder / "stereo_convergence.jpg", convergences(rgb, near))
    save(folder / "stereo_borders.jpg", borders(rgb, near))
    save(folder / "stereo_edges.jpg", edges())
    save(folder / "stereo_vr180.jpg", spheres(pair))


def pair_of(rgb: ByteArray, near: FloatArray, settings: StereoSettings, **options) -> StereoPair:
    disparity = near_to_disparity(near, rgb.shape[1], settings)
    return render_pair(rgb, disparity, settings, **{"border": "scale", **options})


def formats(pair: StereoPair) -> ByteArray:
    names = ("sbs", "half-sbs", "tb", "half-tb", "cross-eyed", "interlaced")
    glasses = ("anaglyph-dubois", "anaglyph-color", "anaglyph-half-color", "anaglyph-gray")
    boxes = []
    for name in names:
        if name == "interlaced":
            # Rows are seen only where they are large.
            rows = pack(pair, name)[130:175, 400:475]
            picture = cv2.resize(rows, None, fx=4, fy=4, interpolation=cv2.INTER_NEAREST)
        else:
            picture = pack(pair, name)
        boxes.append(boxed(picture, 288, 194))
    tall = [boxed(pack(pair, name), 288, 194) for name in glasses]
    first = draw_sheet("Formats", names[:3], [SheetRow("", tuple(boxes[:3]))])
    rest = draw_sheet(
        "", [*names[3:5], "interlaced, a part, enlarged"], [SheetRow("", tuple(boxes[3:]))]
    )
    last = draw_sheet("", glasses[:3], [SheetRow("", tuple(tall[:3]))])
    return stack(first, rest, last)


def strengths(rgb: ByteArray, near: FloatArray) -> ByteArray:
    values = (0.5, 1.0, 2.0)
    pictures = [
        pack(pair_of(rgb, near, StereoSettings(strength=v)), "anaglyph-gray") for v in values
    ]
    return in_a_row("--strength, for red-cyan glasses", [f"{v:g}" for v in values], pictures)


def convergences(rgb: ByteArray, near: FloatArray) -> ByteArray:
    values = (0.0, 0.5, 1.0)
    pictures = [
        pack(pair_of(rgb, near, StereoSettings(convergence=v)), "anaglyph-gray") for v in values
    ]
    titles = ["0: all before the screen", "0.5", "1: all behind the screen"]
    return in_a_row("--convergence: what has no red and cyan fringe lies on the screen", titles,
                    pictures)  # fmt: skip


def borders(rgb: ByteArray, near: FloatArray) -> ByteArray:
    settings = StereoSettings(convergence=0.0, strength=2.5)
    names = ("replicate", "scale", "crop", "floating-window")
    views = [pair_of(rgb, near, settings, border=name) for name in names]
    rows = [
        SheetRow(eye, tuple(boxed(getattr(view, eye), 216, 146) for view in views))
        for eye in ("left", "right")
    ]
    return draw_sheet("--border, at a strength that makes it seen", names, rows)


def edges() -> ByteArray:
    """What alignment and filling do, beside what the camera would see."""
    truth = motorcycle()
    soft = soften(truth.disparity_px)
    rows, columns = slice(60, 270), slice(400, 670)
    plain = warp_view(truth.left, soft, 1.0)
    aligned = align_edges(soft, truth.left, align="always")
    holes = np.zeros(soft.shape, np.bool_)
    smooth = warp_view(truth.left, aligned, 1.0, holes=holes)
    marked = smooth.copy()
    marked[holes] = (255, 0, 255)
    repeat = warp_view(truth.left, aligned, 1.0, fill=FILLS["repeat"])
    pictures = [truth.right, plain, marked, repeat, smooth]
    titles = [
        "a camera's right view", "--align never", "aligned; what was hidden", "--fill repeat",
        "--fill smooth",
    ]  # fmt: skip
    cut = [fitted(np.ascontiguousarray(picture[rows, columns]), 288) for picture in pictures]
    first = draw_sheet("Edges and what comes to light behind them", titles[:3],
                       [SheetRow("", tuple(cut[:3]))])  # fmt: skip
    return stack(first, draw_sheet("", titles[3:], [SheetRow("", tuple(cut[3:]))]))


def spheres(pair: StereoPair) -> ByteArray:
    pictures = []
    for sphere in ("vr180", "fisheye180"):
        packed = Projector(pair.size, sphere, 90.0)(pair)
        pictures.append(boxed(packed, 432, 216))
    return draw_sheet("--flat-fov 90", ("vr180", "fisheye180"), [SheetRow("", tuple(pictures))])


def in_a_row(heading: str, titles: list[str], pictures: list[ByteArray]) -> ByteArray:
    tiles = tuple(boxed(picture, 288, 194) for picture in pictures)
    return draw_sheet(heading, titles, [SheetRow("", tiles)])


def span(values: FloatArray) -> FloatArray:
    return (values - values.min()) / np.ptp(values)


def fitted(values: np.ndarray, width: int) -> np.ndarray:
    height = round(values.shape[0] * width / values.shape[1])
    return cv2.resize(values, (width, height), interpolation=cv2.INTER_AREA)


def boxed(picture: ByteArray, width: int, height: int) -> ByteArray:
    """As large as it fits, in the upper left of a white box."""
    scale = min(width / picture.shape[1], height / picture.shape[0])
    size = (round(picture.shape[1] * scale), round(picture.shape[0] * scale))
    box = np.full((height, width, 3), 255, np.uint8)
    box[: size[1], : size[0]] = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    return box


def stack(*sheets: ByteArray) -> ByteArray:
    width = max(sheet.shape[1] for sheet in sheets)
    wide = [
        np.pad(s, ((0, 0), (0, width - s.shape[1]), (0, 0)), constant_values=255) for s in sheets
    ]
    return np.concatenate(wide)


def save(path: Path, rgb: ByteArray, width: int = WIDTH) -> None:
    """As JPEG of the best quality that is small enough."""
    image = Image.fromarray(fitted(rgb, width) if rgb.shape[1] > width else rgb)
    for quality in range(92, 40, -4):
        image.save(path, quality=quality, optimize=True)
        if path.stat().st_size <= MOST_BYTES:
            break
    print(f"{path.stat().st_size / 1000:6.0f} kB  {path.name}  {image.size}, quality {quality}")


def save_loop(path: Path, frames: list[ByteArray]) -> None:
    images = [Image.fromarray(frame) for frame in frames]
    for quality in range(80, 20, -5):
        images[0].save(path, save_all=True, append_images=images[1:], duration=90, loop=0,
                       quality=quality, method=6)  # fmt: skip
        if path.stat().st_size <= MOST_BYTES:
            break
    print(f"{path.stat().st_size / 1000:6.0f} kB  {path.name}  {images[0].size}, {quality}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images")
