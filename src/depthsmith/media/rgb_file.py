"""Write colour pictures: colour maps, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from depthsmith.atomic import atomic_paths, writing
from depthsmith.errors import InputError, UsageError
from depthsmith.media.depth_levels import KEY
from depthsmith.types import ByteArray

_EXIF_SOFTWARE = 0x0131
# Pillow's format, its options, and the largest side that the format can hold.
_FORMATS: dict[str, tuple[str, dict[str, Any], int]] = {
    ".png": ("PNG", {}, 2**31 - 1),
    ".jpg": ("JPEG", {"quality": 95, "subsampling": 0}, 65500),
    ".jpeg": ("JPEG", {"quality": 95, "subsampling": 0}, 65500),
    ".webp": ("WEBP", {"lossless": True}, 16383),
}


def write_rgb(path: str | Path, rgb: ByteArray) -> None:
    """Write a picture as PNG, JPEG (quality 95, full chroma) or lossless WebP by its suffix.

    The file is there whole or not at all, and names depthsmith as its software.

    Args:
        path: of the file; its folder exists.
        rgb: ``(H, W, 3)`` uint8.

    Raises:
        InputError: for an array of another shape or type.
        UsageError: for another suffix, or a picture too large for the format.
        OutputError: if the file cannot be written.
    """
    write_rgbs([Path(path)], [rgb])


def write_rgbs(paths: Sequence[Path], pictures: Sequence[ByteArray]) -> None:
    """As `write_rgb`, of pictures that belong together: their files are all there, or none is."""
    for path, rgb in zip(paths, pictures, strict=True):
        _check(path, rgb)
    exif = Image.Exif()
    exif[_EXIF_SOFTWARE] = KEY
    with atomic_paths(paths) as parts:
        for part, path, rgb in zip(parts, paths, pictures, strict=True):
            name, options, _ = _FORMATS[path.suffix.lower()]
            with writing(path):
                Image.fromarray(rgb).save(part, name, exif=exif, **options)


def check_picture(rgb: ByteArray) -> None:
    """Make sure that it is ``(H, W, 3)`` uint8; Pillow takes more for a picture.

    Raises:
        InputError: if it is not.
    """
    if rgb.dtype != np.uint8 or rgb.shape[2:] != (3,) or not rgb.size:
        raise InputError(f"a picture to write is {rgb.shape} {rgb.dtype}, not (H, W, 3) uint8")


def _check(path: Path, rgb: ByteArray) -> None:
    check_picture(rgb)
    if path.suffix.lower() not in _FORMATS:
        raise UsageError(f"a picture cannot be written as {path.name!r}; use .png, .jpg or .webp")
    name, _, limit = _FORMATS[path.suffix.lower()]
    if max(rgb.shape[:2]) > limit:
        raise UsageError(f"{name} holds at most {limit} pixels a side; use .png")
