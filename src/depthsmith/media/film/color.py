"""From a decoded frame to R'G'B': the right matrix, range and siting; HDR tone-mapped.

libswscale is not asked for colours: its defaults take BT.601 for everything, its fast path is
dark by one level, and its 16-bit white of limited-range film is 65280.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthsmith.film import ColorTags, WordArray
from depthsmith.media.film.planes import Samples3, samples_of
from depthsmith.media.film.transfer import light_for, needs_light
from depthsmith.types import ByteArray

# K_R and K_B by H.273 code of the matrix (BT.709, FCC, BT.601 twice, SMPTE 240M, BT.2020).
_WEIGHTS = {
    1: (0.2126, 0.0722),
    4: (0.30, 0.11),
    5: (0.299, 0.114),
    6: (0.299, 0.114),
    7: (0.212, 0.087),
    9: (0.2627, 0.0593),
    10: (0.2627, 0.0593),
}
_YCGCO = 8
_CENTRAL_CHROMA = ("mjpeg", "mpeg1video", "jpeg2000", "webp")


def to_rgb(
    frame: Any, tags: ColorTags, *, codec: str = "", deep: bool = False
) -> tuple[ByteArray, WordArray | None]:
    """Convert a PyAV video frame.

    Args:
        frame: `av.VideoFrame`, as stored. What it is tagged with goes before ``tags``.
        tags: of the film, for what the frame does not say.
        codec: FFmpeg's name; decides how chroma is sited, which files do not say.
        deep: whether 16-bit pictures are wanted too.

    Returns:
        ``(H, W, 3)`` uint8 of BT.709 primaries, HDR tone-mapped to an sRGB screen; and None,
        or ``(H, W, 3)`` uint16 R'G'B' over the full range in the film's own primaries and
        transfer, of which nothing was rounded to 8 bits.
    """
    samples = samples_of(frame)
    tags = _frame_tags(frame, tags)
    if not needs_light(tags):
        rgb = _gamma_rgb(samples, tags, frame, codec, np.uint8)
        return rgb, (_gamma_rgb(samples, tags, frame, codec, np.uint16) if deep else None)
    words = _gamma_rgb(samples, tags, frame, codec, np.uint16)
    light = light_for(tags)
    rgb = np.empty(words.shape, np.uint8)
    _loops().light_to_rgb(
        words.reshape(-1, 3), light.decode, light.system, light.tone, light.gamut, light.encode,
        light.luma, rgb.reshape(-1, 3),
    )  # fmt: skip
    return rgb, (words if deep else None)


def matrix_of(tags: ColorTags, height: int, width: int) -> int:
    """H.273 code of the matrix, guessed from primaries and size where it is not said.

    Untagged film of high definition is BT.709, else BT.601, as all players assume.
    """
    if tags.matrix in _WEIGHTS or tags.matrix == _YCGCO:
        return tags.matrix
    if tags.primaries == 9 or tags.hdr:
        return 9
    if tags.primaries == 1:
        return 1
    return 1 if height >= 720 or width >= 1280 else 5


def yuv_factors(matrix: int, bits: int, full_range: bool, largest: int) -> NDArray[np.float32]:
    """Factors for `compiled.yuv_to_rgb` (H.273, equations 20 to 68): to 0..``largest``.

    Returns:
        ``(10,)`` float32.
    """
    step = 1 << (bits - 8)
    if full_range:
        offset, luma, chroma = 0.0, float((1 << bits) - 1), float((1 << bits) - 1)
    else:
        offset, luma, chroma = 16.0 * step, 219.0 * step, 224.0 * step
    if matrix == _YCGCO:  # Cb is Cg and Cr is Co
        mix = np.array([[-1, 1], [1, 0], [-1, -1]], np.float64)
    else:
        k_r, k_b = _WEIGHTS[matrix]
        k_g, red, blue = 1 - k_r - k_b, 2 * (1 - k_r), 2 * (1 - k_b)
        mix = np.array([[0, red], [-k_b * blue / k_g, -k_r * red / k_g], [blue, 0]])
    return np.array(
        [offset, largest / luma, 128.0 * step, largest + 0.5, *(mix * largest / chroma).ravel()],
        np.float32,
    )


def _gamma_rgb(
    samples: Samples3, tags: ColorTags, frame: Any, codec: str, kind: Any
) -> NDArray[Any]:
    height, width = frame.height, frame.width
    largest = int(np.iinfo(kind).max)
    if samples.kind == "rgb":
        return _rescaled(np.ascontiguousarray(samples.planes[0]), samples.bits, kind)
    full = samples.full_range or tags.full_range
    if full is None:  # gray without colour is what FFmpeg writes and reads as full range
        full = samples.kind == "gray"
    out = np.empty((height, 3 * width), kind)
    if samples.kind == "gray":
        offset, gain, _, top = yuv_factors(5, samples.bits, full, largest)[:4]
        luma = samples.planes[0][:, :width].astype(np.float32)
        gray = np.clip((luma - offset) * gain + 0.5, 0, top).astype(kind)
        return np.repeat(gray[..., None], 3, axis=2)
    factors = yuv_factors(matrix_of(tags, height, width), samples.bits, full, largest)
    halve = np.array([*samples.halve, codec in _CENTRAL_CHROMA], np.int64)
    _loops().yuv_to_rgb(*samples.planes, factors, halve, out)
    return out.reshape(height, width, 3)


def _rescaled(rgb: NDArray[Any], bits: int, kind: Any) -> NDArray[Any]:
    largest, top = (1 << bits) - 1, int(np.iinfo(kind).max)
    if largest == top:
        return rgb
    table = np.rint(np.arange(1 << bits) * (top / largest)).astype(kind)
    return np.asarray(table[np.minimum(rgb, largest)])


def _frame_tags(frame: Any, tags: ColorTags) -> ColorTags:
    return _merged(
        tags, frame.color_primaries, frame.color_trc, frame.colorspace, frame.color_range
    )


@lru_cache(maxsize=64)
def _merged(tags: ColorTags, primaries: int, transfer: int, matrix: int, span: int) -> ColorTags:
    return ColorTags(
        primaries if primaries not in (0, 2) else tags.primaries,
        transfer if transfer not in (0, 2) else tags.transfer,
        matrix if matrix != 2 else tags.matrix,
        {1: False, 2: True}.get(span, tags.full_range),
        tags.bit_depth, tags.mastering, tags.content_light,
    )  # fmt: skip


@lru_cache
def _loops() -> Any:
    """Compiled where numba loads: half a second, so not before it is needed."""
    try:
        from depthsmith.media.film import compiled
    except ImportError:
        from depthsmith.media.film import plain

        return plain
    return compiled
