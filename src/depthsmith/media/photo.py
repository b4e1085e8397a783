"""Read a photo, whatever it is, as upright 8-bit sRGB."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from depthsmith.errors import ImageError
from depthsmith.media.content import ImageFileContent
from depthsmith.media.image_file import (
    DEFAULT_MAX_PIXELS,
    check_pixels,
    describe,
    frames_note,
    load_image_file,
    one_line,
)
from depthsmith.media.pixels import to_upright_rgb
from depthsmith.types import Photo

__all__ = ["DEFAULT_MAX_PIXELS", "read_photo"]

WHITE = (255, 255, 255)


def read_photo(
    source: Path | str | bytes | Image.Image | NDArray[Any],
    *,
    max_pixels: int | None = DEFAULT_MAX_PIXELS,
    allow_truncated: bool = False,
    background: tuple[int, int, int] = WHITE,
) -> Photo:
    """Read a photo.

    The EXIF orientation is applied once, in every format that carries it. Embedded ICC
    profiles (Display P3, Adobe RGB, CMYK) are converted to sRGB. More than 8 bits are scaled
    by the range of their type, never clipped; integers that need only 8, 10 or 12 bits by
    that; float outside of 0..1 by its own range. Of an animation or of several pages the
    first is taken. What was done beyond plain decoding is in ``Photo.notes``.

    Memory: at most 8 bytes per pixel for 8-bit pictures (Pillow's 4, the result's 3, and
    bands of a megapixel), 16 where a format is decoded in one piece (WebP, HEIF, AVIF) or
    holds more than 8 bits per colour; beside the encoded file.

    Args:
        source: path of a file, the bytes of one, a Pillow image, or an array ``(H, W)`` or
            ``(H, W, 1..4)`` in the order gray, gray+alpha, RGB, RGBA (OpenCV's BGR has to be
            reversed by the caller).
        max_pixels: refuse larger pictures before decoding; None for no limit.
        allow_truncated: read what there is of a truncated file; the rest is blank.
        background: RGB that shows through where the picture is transparent.

    Raises:
        ImageError: if it does not exist, is empty, a folder, no picture, truncated, too
            large, or a HEIC picture without the ``heif`` extra.
    """
    if isinstance(source, str):
        source = Path(source)
    path = source if isinstance(source, Path) else None
    if isinstance(source, (Path, bytes)):
        content = load_image_file(source, max_pixels=max_pixels, allow_truncated=allow_truncated)
    elif isinstance(source, Image.Image):
        content = _from_pillow(source, max_pixels)
    else:
        content = _from_array(source, max_pixels)
    try:
        rgb, notes = to_upright_rgb(content, background)
    except MemoryError as error:
        raise ImageError(f"{path or 'the picture'} does not fit into memory") from error
    return Photo(rgb, path, content.focal_35mm, (*content.notes, *notes))


def _from_pillow(image: Image.Image, max_pixels: int | None) -> ImageFileContent:
    check_pixels(image.width, image.height, "the picture", max_pixels)
    notes = frames_note(image)
    try:
        image.load()
    except Exception as error:  # whatever a decoder raises on damaged data
        raise ImageError(f"the picture is truncated or damaged ({one_line(error)})") from error
    return describe(image, notes)


def _from_array(array: NDArray[Any], max_pixels: int | None) -> ImageFileContent:
    if not isinstance(array, np.ndarray) or array.ndim not in (2, 3):
        shape = getattr(array, "shape", type(array).__name__)
        raise ImageError(f"{shape} is not a picture; expected an array (H, W) or (H, W, 1 to 4)")
    check_pixels(array.shape[1], array.shape[0], "the picture", max_pixels)
    return ImageFileContent(array)
