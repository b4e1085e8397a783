"""Pictures that Pillow cannot read without loss: more than 8 bits per colour, rare TIFF kinds.

Pillow drops the low byte of 16-bit colour, and reads some TIFF sample formats as if they were
others. OpenCV decodes the former; the latter are put right here, or refused where both
libraries give wrong values without an error.
"""

from __future__ import annotations

from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image, TiffImagePlugin

from depthsmith.errors import ImageError
from depthsmith.media.content import ImageFileContent

# TIFF 6.0 tags
_BITS, _PHOTOMETRIC, _SAMPLES, _PLANAR = 258, 262, 277, 284
_EXTRA_SAMPLES, _SAMPLE_FORMAT = 338, 339
_WHITE_IS_ZERO, _BLACK_IS_ZERO, _RGB = 0, 1, 2
_UNSIGNED, _SIGNED = 1, 2
_UNSPECIFIED, _PREMULTIPLIED_ALPHA = 0, 1

Tags = dict[int, Any]


def tiff_tags(file: BinaryIO) -> Tags:
    """Tags of the first page; empty where they cannot be read. Rewinds ``file``."""
    try:
        header = file.read(8)
        if header[2:4] in (b"+\0", b"\0+"):
            header += file.read(8)  # BigTIFF
        directory = TiffImagePlugin.ImageFileDirectory_v2(header)
        file.seek(directory.next)
        directory.load(file)
        return dict(directory)
    except Exception:  # the plug-in will say what is wrong with the file
        return {}
    finally:
        file.seek(0)


def refuse_separate_planes(tags: Tags, name: str) -> None:
    """Raise for deep colours in separate planes.

    Both Pillow 13 and OpenCV 5 return wrong colours for these without an error.
    """
    if tags.get(_PLANAR) == 2 and _bits(tags) > 8 and tags.get(_PHOTOMETRIC) == _RGB:
        raise ImageError(
            f"{name} keeps its colours in separate planes of {_bits(tags)} bits; "
            "save it with interleaved colours"
        )


def amend_tiff(
    content: ImageFileContent, image: Image.Image, file: BinaryIO, name: str, tags: Tags
) -> None:
    """Put right what Pillow read of a TIFF."""
    sample_format = tags.get(_SAMPLE_FORMAT, (_UNSIGNED,))[0]
    premultiplied = tags.get(_EXTRA_SAMPLES) == (_PREMULTIPLIED_ALPHA,)  # which Pillow undoes
    if _bits(tags) > 8 and tags.get(_PHOTOMETRIC) == _RGB and not premultiplied:
        # OpenCV applies the orientation of a TIFF itself.
        deep = decode_tiff(file, name, tags)
        content.pixels, content.orientation = deep.pixels, 1
        content.notes += deep.notes
    elif image.mode == "I" and sample_format == _UNSIGNED and _bits(tags) == 32:
        content.pixels = np.asarray(image).view(np.uint32)
    elif image.mode == "L" and sample_format == _SIGNED:
        content.pixels = np.asarray(image).view(np.int8)
    # Pillow inverts these only up to 8 bits.
    content.white_is_zero = tags.get(_PHOTOMETRIC) == _WHITE_IS_ZERO and image.mode[0] in "IF"


def decode_tiff(file: BinaryIO, name: str, tags: Tags) -> ImageFileContent:
    """A gray or RGB TIFF of any depth, upright.

    Raises:
        ImageError: if OpenCV cannot read it, or would take it for RGB while it is not.
    """
    gray_or_rgb = tags.get(_PHOTOMETRIC) in (_BLACK_IS_ZERO, _RGB)
    values = _opencv_decode(file) if gray_or_rgb else None
    if values is None:
        bits = "/".join(str(b) for b in tags.get(_BITS, ()))
        raise ImageError(f"{name} is damaged, or a TIFF of an unsupported kind ({bits} bits)")
    if values.ndim == 3 and values.shape[2] == 4 and tags.get(_EXTRA_SAMPLES) == (_UNSPECIFIED,):
        values = values[..., :3]
    samples, channels = int(tags.get(_SAMPLES, 1)), 1 if values.ndim == 2 else values.shape[2]
    ignored = [f"{samples - channels} extra channels ignored"] if samples > channels else []
    return ImageFileContent(values, notes=ignored)


def is_deep_png(head: bytes) -> bool:
    """Whether these first bytes are of a PNG with 16 bits and colour or alpha."""
    return head[:4] == b"\x89PNG" and len(head) > 25 and head[24] == 16 and head[25] in (2, 4, 6)


def amend_png(content: ImageFileContent, image: Image.Image, file: BinaryIO) -> None:
    """Replace Pillow's 8 bits by all 16. The orientation stays to be applied.

    OpenCV also gets a transparent colour (tRNS) right, which Pillow compares with 8 bits.
    """
    values = _opencv_decode(file)
    if values is not None and values.shape[:2] == (image.height, image.width):
        content.pixels = values


def _bits(tags: Tags) -> int:
    return int(max(tags.get(_BITS, (1,))))


def _opencv_decode(file: BinaryIO) -> NDArray[Any] | None:
    """Values as stored, colours in the order RGB(A); None if OpenCV cannot read them."""
    import cv2

    file.seek(0)
    # OpenCV prints what it cannot read. The function has moved between versions.
    set_log_level = getattr(cv2.utils, "logging", cv2).setLogLevel
    level = set_log_level(0)
    try:
        values: NDArray[Any] | None = cv2.imdecode(
            np.frombuffer(file.read(), np.uint8), cv2.IMREAD_UNCHANGED
        )
    except cv2.error:
        return None
    finally:
        set_log_level(level)
    if values is not None and values.ndim == 3 and values.shape[2] in (3, 4):
        blue = values[..., 0].copy()  # swapped in place, as the picture may be large
        values[..., 0] = values[..., 2]
        values[..., 2] = blue
    return values
