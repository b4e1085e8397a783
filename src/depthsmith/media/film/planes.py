"""The samples of a decoded frame as arrays, whatever its pixel format."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[Any]
_PLANAR = re.compile(r"yuva?j?(420|422|444)p(\d*)(le)?")
_SEMI_PLANAR = {
    "nv12": (420, 8, 0), "nv21": (420, 8, 0), "nv16": (422, 8, 0), "nv24": (444, 8, 0),
    "nv42": (444, 8, 0), "p010le": (420, 10, 6), "p012le": (420, 12, 4), "p016le": (420, 16, 0),
    "p210le": (422, 10, 6), "p410le": (444, 10, 6),
}  # fmt: skip
_GRAY = re.compile(r"gray(\d*)(le)?")
_PLANAR_RGB = re.compile(r"gbra?p(\d*)(le)?")


@dataclass(frozen=True, eq=False)
class Samples3:
    """Luma and chroma, or red, green and blue, as the decoder left them.

    Attributes:
        planes: three of ``(h, at least w)`` for Y'CbCr, one for gray, one ``(h, w, 3)`` for
            R'G'B'.
        bits: significant bits of a sample.
        halve: whether chroma is halved across and down.
        kind: what they are.
        full_range: whether the pixel format implies full range.
    """

    planes: tuple[Samples, ...]
    bits: int
    kind: str
    halve: tuple[bool, bool] = (False, False)
    full_range: bool = False


def samples_of(frame: Any) -> Samples3:
    """Take the samples out of a PyAV frame, without copies where its format allows.

    The arrays are valid as long as the frame lives.
    """
    name = frame.format.name
    if any(plane.line_size < 0 for plane in frame.planes):  # stored bottom up
        frame = _converted(frame, "rgb24" if frame.format.is_rgb else "yuv444p")
        name = frame.format.name
    if match := _PLANAR.fullmatch(name):
        bits = int(match[2] or 8)
        planes = tuple(_plane(frame, n, bits) for n in range(3))
        return Samples3(planes, bits, "yuv", _halves(int(match[1])), "j" in name)
    if name in _SEMI_PLANAR:
        return _semi_planar(frame, *_SEMI_PLANAR[name])
    if match := _GRAY.fullmatch(name):
        bits = int(match[1] or 8)
        return Samples3((_plane(frame, 0, bits),), bits, "gray")
    if match := _PLANAR_RGB.fullmatch(name):
        bits = int(match[1] or 8)
        green, blue, red = (_plane(frame, n, bits)[:, : frame.width] for n in range(3))
        return Samples3((np.stack([red, green, blue], axis=2),), bits, "rgb", full_range=True)
    return _by_way_of(frame)


def _by_way_of(frame: Any) -> Samples3:
    """Formats that few films have: libswscale brings them to one that is read above."""
    layout, name = frame.format, frame.format.name
    bits = max(component.bits for component in layout.components)
    if layout.is_rgb or layout.has_palette or name.startswith(("mono", "bayer", "xyz", "pal")):
        if bits <= 8:
            frame = _converted(frame, "rgb24")
            return Samples3((_rgb(frame, np.uint8),), 8, "rgb", full_range=True)
        frame = _converted(frame, "rgb48le")
        return Samples3((_rgb(frame, np.uint16),), 16, "rgb", full_range=True)
    if name.startswith(("gray", "ya")):
        return samples_of(_converted(frame, "gray" if bits <= 8 else "gray16le"))
    if bits <= 8:
        packed = name in ("yuyv422", "uyvy422", "yvyu422")
        return samples_of(_converted(frame, "yuv422p" if packed else "yuv444p"))
    return samples_of(_converted(frame, "yuv444p16le"))


def _converted(frame: Any, to: str) -> Any:
    # One matrix and range on both sides: samples are rearranged, colours are left alone.
    return frame.reformat(
        format=to, src_colorspace=1, dst_colorspace=1, src_color_range=2, dst_color_range=2,
        interpolation="BILINEAR",
    )  # fmt: skip


def _plane(frame: Any, number: int, bits: int) -> Samples:
    plane = frame.planes[number]
    kind = np.uint8 if bits <= 8 else np.uint16
    stride = plane.line_size // np.dtype(kind).itemsize
    return np.frombuffer(plane, kind)[: plane.height * stride].reshape(plane.height, stride)


def _rgb(frame: Any, kind: Any) -> Samples:
    rows = _plane(frame, 0, 8 * np.dtype(kind).itemsize)
    # A copy: the decoder may go on reading its own.
    return rows[:, : 3 * frame.width].copy().reshape(frame.height, frame.width, 3)


def _semi_planar(frame: Any, layout: int, bits: int, shift: int) -> Samples3:
    across, down = _halves(layout)
    luma = _plane(frame, 0, bits)
    rows = np.frombuffer(frame.planes[1], luma.dtype)
    stride = frame.planes[1].line_size // luma.dtype.itemsize
    height = (frame.height + 1) // 2 if down else frame.height
    width = (frame.width + 1) // 2 if across else frame.width
    pairs = rows[: height * stride].reshape(height, stride)[:, : 2 * width]
    first, second = (np.ascontiguousarray(pairs[:, n::2]) >> shift for n in (0, 1))
    if frame.format.name in ("nv21", "nv42"):
        first, second = second, first
    return Samples3((luma >> shift, first, second), bits, "yuv", (across, down))


def _halves(layout: int) -> tuple[bool, bool]:
    return layout != 444, layout == 420
