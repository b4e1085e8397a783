"""How large and how small the pictures of a codec may be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from depthsmith.errors import UsageError
from depthsmith.types import Size

if TYPE_CHECKING:
    from depthsmith.media.film.encoding import Encoding

# (least side, most of a side, most pixels). The highest levels of the standards that players
# know: H.264 6.2 (139264 macroblocks, ITU-T H.264 table A-1; libx264 takes 16384 for a side),
# H.265 6.2 (ITU-T H.265 table A.8), AV1 6.3 (annex A). FFmpeg allocates no larger FFV1.
_SOFTWARE: dict[str, tuple[int, int, int]] = {
    "h264": (2, 16384, 139264 * 256),
    "hevc": (16, 16384, 35651584),
    "av1": (8, 16384, 35651584),
    "ffv1": (1, 32767, 1 << 28),
}
_HARDWARE = (160, 8192, 8192 * 8192)
_HARDWARE_H264 = (160, 4096, 4096 * 4096)


def coded_size(encoding: Encoding, size: Size) -> Size:
    """The size of the pictures in the file: even sides where chroma is halved."""
    if not encoding.subsampled:
        return size
    return Size(size.height + size.height % 2, size.width + size.width % 2)


def check_size(encoding: Encoding, size: Size) -> tuple[str, ...]:
    """Make sure, before any work, that pictures of this size can be written.

    Returns:
        Notes, such as padding to even sides.

    Raises:
        UsageError: if the codec has no level for such pictures.
    """
    coded = coded_size(encoding, size)
    least, most, pixels = _SOFTWARE[encoding.codec]
    name: str = encoding.codec
    if encoding.hardware:
        least, most, pixels = _HARDWARE_H264 if name == "h264" else _HARDWARE
        name = encoding.encoder
    if min(coded) < least:
        other = "h264" if encoding.codec != "h264" or not encoding.hardware else "no --hardware"
        raise UsageError(
            f"{name} takes pictures of at least {least}x{least}, not {size.width}x{size.height}; "
            f"use {other if other.startswith('no') else '--codec ' + other}"
        )
    if max(coded) > most or coded.height * coded.width > pixels:
        raise UsageError(
            f"pictures of {size.width}x{size.height} are too large for {name} "
            f"(a side of {most}, {pixels / 1e6:.1f} million pixels); {_way_out(encoding)}"
        )
    if coded != size:
        return (
            f"{size.width}x{size.height} is padded to {coded.width}x{coded.height}: "
            f"{encoding.codec} needs even sides",
        )
    return ()


def _way_out(encoding: Encoding) -> str:
    if encoding.hardware:
        return "leave out --hardware"
    if encoding.content == "gray":
        return "use --codec ffv1, or a sequence of pictures"
    return "use a half format, or --codec ffv1"
