"""Encoders of graphics cards: which of them really work here."""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import Any, Literal

Hardware = Literal["off", "auto", "nvenc", "qsv", "videotoolbox", "vaapi", "amf"]

PLATFORMS: tuple[Hardware, ...] = ("nvenc", "videotoolbox", "qsv", "amf", "vaapi")
"""In the order in which ``auto`` tries them."""

_SIDE = 256


@functools.lru_cache
def find_encoder(codec: str, platform: Hardware, bits: int) -> str | None:
    """FFmpeg's name of a platform's encoder if it encodes a picture here, else None.

    FFmpeg lists encoders whether or not there is a card: only trying tells.
    """
    name = f"{codec}_{platform}"
    return name if _encodes(name, "nv12" if bits == 8 else "p010le") else None


def context_of(encoder: str) -> Any:
    """A codec context, not open yet; with a device where the encoder needs one."""
    import av

    hwaccel = None
    if encoder.endswith("_vaapi"):
        hwaccel = av.codec.hwaccel.HWAccel("vaapi")
    return av.CodecContext.create(encoder, "w", hwaccel)


def _encodes(encoder: str, pixel_format: str) -> bool:
    import av

    level = av.logging.get_level()
    av.logging.set_level(av.logging.PANIC)  # a card that is not there is no news
    try:
        context = context_of(encoder)
        context.width = context.height = _SIDE
        context.pix_fmt = pixel_format
        context.time_base, context.framerate = Fraction(1, 30), Fraction(30)
        frame = av.VideoFrame(_SIDE, _SIDE, pixel_format)
        frame.pts = 0
        return bool(context.encode(frame) + context.encode(None))
    except (av.error.FFmpegError, ValueError, OSError, NotImplementedError, RuntimeError):
        return False
    finally:
        av.logging.set_level(level)
