"""How pictures become video: the codec, and what is said of the pixels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from depthsmith.film import ColorTags, FilmInfo
from depthsmith.types import Size

Codec = Literal["h264", "hevc", "ffv1", "av1"]
Content = Literal["gray", "rgb", "deep"]
Hardware = Literal["off", "auto", "nvenc", "qsv", "videotoolbox", "vaapi", "amf"]


@dataclass(frozen=True)
class Encoding:
    """Everything that decides the bytes of a video; part of a job's key.

    Attributes:
        codec: what is written.
        encoder: FFmpeg's name of it.
        pixel_format: FFmpeg's name.
        content: ``gray``: ``(H, W)`` float32 in [0, 1]; ``rgb``: ``(H, W, 3)`` uint8;
            ``deep``: ``(H, W, 3)`` uint16.
        color: what is written about the pixels.
        crf: quality, smaller is better; None where ``bit_rate`` rules, or for lossless.
        bit_rate: bit/s, or None.
        preset: the encoder's own name for its speed, or None.
        threads: of the encoder; bytes depend on it.
    """

    codec: Codec
    encoder: str
    pixel_format: str
    content: Content
    color: ColorTags
    crf: int | None = None
    bit_rate: int | None = None
    preset: str | None = None
    threads: int = 1


def choose_encoding(
    target: Path,
    content: Content,
    *,
    codec: Codec | None = None,
    hardware: Hardware = "off",
    crf: int | None = None,
    preset: str | None = None,
    bit_rate: int | None = None,
    color: ColorTags | None = None,
    info: FilmInfo | None = None,
) -> Encoding:
    """Choose the encoder for a file.

    Args:
        target: decides the container by its suffix: .mp4, .mov, .mkv.
        content: what the pictures are.
        codec: None for ``h264``, or ``hevc`` for deep pictures.
        hardware: whose encoder; ``auto`` for any that opens, else software.
        crf, preset, bit_rate: the user's; None for what suits content and source.
        color: of deep pictures, as the source has it.
        info: the source, whose bit rate tells how good the pictures are.

    Raises:
        UsageError: for options that contradict each other.
        ProviderError: if the hardware encoder that was asked for does not open.
    """
    raise NotImplementedError


def check_size(encoding: Encoding, size: Size) -> tuple[str, ...]:
    """Make sure, before any work, that pictures of this size can be written.

    Returns:
        Notes, such as padding to even sides.

    Raises:
        UsageError: if the codec has no level for such pictures.
    """
    raise NotImplementedError
