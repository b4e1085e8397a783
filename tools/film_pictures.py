"""Make the pictures of docs/video.md and of the README's section on films.

    python tools/film_pictures.py [FOLDER]

No trained network is at hand, so the depth is that of a rendered film, with the errors put on
top that networks make from frame to frame: scale, shift, swimming, edges that jump. Written to
docs/images/ unless a folder is named; each has at most 150 kB.
"""

from __future__ import annotations

import sys
from pathlib import Path

import cv2
import numpy as np
from PIL import Image

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "depth")]

from temporal_films import (  # noqa: E402
    NetworkErrors,
    network_like,
    samples,
    steadied,
    true_film,
)

from depthsmith.depth.colormap import color_table  # noqa: E402
from depthsmith.depth.temporal import SteadySettings  # noqa: E402
from depthsmith.media.sheet import SheetRow, draw_sheet  # noqa: E402
from depthsmith.types import ByteArray, FloatArray  # noqa: E402

MOST_BYTES = 150_000
_SHOWN = (2, 16, 30, 40, 52, 66)  # frames; a cut lies in the middle
_TILE_PX = 240


def main(folder: Path) -> None:
    film = true_film(("street", "room"), 7, 36, (180, 320))
    inverses = network_like(film, NetworkErrors(), 7)
    rows = {"film": film.guides}
    for mode in ("off", "fast", "quality"):
        steady = steadied(samples(film, inverses), SteadySettings(mode=mode))
        rows[mode] = [_colors(s.near) for s in steady]
    names = {
        "film": "frames of a rendered film with one cut",
        "off": "--stabilize off: what the network gives, in one range for each shot",
        "quality": "--stabilize quality",
    }
    sheet = [
        SheetRow(text, tuple(_tile(rows[name][n]) for n in _SHOWN)) for name, text in names.items()
    ]
    titles = tuple(f"frame {n}" for n in _SHOWN)
    save(folder / "video_frames.jpg", draw_sheet("A film and its depth", titles, sheet))

    height = film.guides[0].shape[0]
    row = height * 2 // 3
    slices = [
        SheetRow(text, (_slice(rows[name], row),))
        for name, text in (
            ("film", "one row of the film, frame under frame; time runs down"),
            ("off", "its depth, --stabilize off"),
            ("fast", "--stabilize fast"),
            ("quality", "--stabilize quality"),
        )
    ]
    save(folder / "video_steady.jpg", draw_sheet("The same row through time", ("",), slices))


def _colors(near: FloatArray) -> ByteArray:
    colors: ByteArray = color_table("inferno")[np.rint(near * 255).astype(np.uint8)]
    return colors


def _tile(picture: ByteArray) -> ByteArray:
    height = round(picture.shape[0] * _TILE_PX / picture.shape[1])
    return np.asarray(cv2.resize(picture, (_TILE_PX, height), interpolation=cv2.INTER_AREA))


def _slice(pictures: list[ByteArray], row: int) -> ByteArray:
    lines = np.stack([picture[row] for picture in pictures])
    return np.asarray(cv2.resize(lines, (960, 3 * len(lines)), interpolation=cv2.INTER_NEAREST))


def save(path: Path, picture: ByteArray) -> None:
    for quality in range(92, 40, -4):
        Image.fromarray(picture).save(path, quality=quality)
        if path.stat().st_size <= MOST_BYTES:
            return
    raise SystemExit(f"{path} is larger than {MOST_BYTES} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images")
