"""Write views that swing to and fro: depth without glasses."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
from PIL import Image

from depthsmith.atomic import atomic_path
from depthsmith.errors import InputError, UsageError
from depthsmith.media.depth_levels import KEY
from depthsmith.media.film.encoding import choose_encoding
from depthsmith.media.film.marks import MARK
from depthsmith.media.film.pictures import Pictures
from depthsmith.media.rgb_file import check_picture
from depthsmith.types import ByteArray, Size

WIGGLE_SUFFIXES = (".gif", ".webp", ".mp4")

_EXIF_SOFTWARE = 0x0131
_FILM_S = 6.0
"""An MP4 does not say that it loops: it holds the loop so long."""
_LARGEST_SIDE = 16383
_MOST_FPS = 100
"""GIF counts hundredths of a second."""
_BT709, _LIMITED = 1, 1
"""Code points of ITU-T H.273, and FFmpeg's number of the range from 16 to 235."""


def write_wiggle(path: str | Path, frames: Sequence[ByteArray], *, fps: int = 12) -> None:
    """Write a loop as GIF, WebP or MP4 (H.264) by its suffix.

    Args:
        path: of the file; its folder exists.
        frames: ``(H, W, 3)`` uint8 each, of one size.
        fps: a divisor of 100 is exact in a GIF.

    Raises:
        InputError: for arrays of other shapes or types.
        UsageError: for another suffix, no rate, or pictures too large or small for the format.
        OutputError: if the file cannot be written.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in WIGGLE_SUFFIXES:
        raise UsageError(f"a wiggle cannot be written as {path.name!r}; use .gif, .webp or .mp4")
    for frame in frames:
        check_picture(frame)
    if len({frame.shape for frame in frames}) != 1:
        raise InputError("a wiggle has one picture or more, all of one size")
    if fps not in range(1, _MOST_FPS + 1):
        raise UsageError(f"a wiggle has 1 to {_MOST_FPS} pictures a second, not {fps}")
    if max(frames[0].shape[:2]) > _LARGEST_SIDE:
        raise UsageError(f"a wiggle can be {_LARGEST_SIDE} pixels wide or high")
    if suffix == ".mp4" and min(frames[0].shape[:2]) < 2:
        raise UsageError("an MP4 is 2 pixels wide and high or more; use .gif or .webp")
    with atomic_path(path) as part:
        if suffix == ".mp4":
            _write_mp4(part, frames, fps)
        else:
            _write_pictures(part, frames, fps)


def _write_pictures(path: Path, frames: Sequence[ByteArray], fps: int) -> None:
    images = [Image.fromarray(frame) for frame in frames]
    options = {"append_images": images[1:], "duration": round(1000 / fps), "loop": 0}
    if path.suffix.lower() == ".webp":
        exif = Image.Exif()
        exif[_EXIF_SOFTWARE] = KEY
        images[0].save(path, "WEBP", save_all=True, quality=85, exif=exif, **options)
        return
    # One palette for all, or colours would flicker; of all frames, or some would be missing.
    palette = Image.fromarray(np.concatenate(frames)).quantize(256, Image.Quantize.MEDIANCUT)
    shown = [image.quantize(palette=palette) for image in images]
    options["append_images"] = shown[1:]
    shown[0].save(path, "GIF", save_all=True, comment=KEY, optimize=False, **options)


def _write_mp4(path: Path, frames: Sequence[ByteArray], fps: int) -> None:
    import av

    loops = max(1, round(_FILM_S * fps / len(frames)))
    # Colours are stored for two pixels at a time.
    height, width = (side - side % 2 for side in frames[0].shape[:2])
    flags = {"movflags": "faststart+use_metadata_tags"}
    with av.open(str(path), "w", format="mp4", options=flags) as container:
        container.metadata[MARK] = "wiggle"
        stream = container.add_stream("libx264", rate=Fraction(fps), options={"crf": "18"})
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        context = stream.codec_context
        context.color_primaries = context.color_trc = context.colorspace = _BT709
        context.color_range = _LIMITED
        pictures = Pictures(choose_encoding(path, "rgb"), Size(height, width))
        for number in range(loops * len(frames)):
            frame = pictures.frame(frames[number % len(frames)][:height, :width])
            frame.pts, frame.time_base = number, Fraction(1, fps)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
