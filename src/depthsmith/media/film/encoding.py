"""How pictures become video: the codec, its settings, and what is said of the pixels.

=========  =======  =====================  ======================================================
codec      content  pixels                 what is said of them
=========  =======  =====================  ======================================================
``h264``   gray     8 bits, 4:2:0          BT.709, limited range: what editors expect. Near 0 is
                                           Y 16, near 1 is Y 235, chroma is neutral
``hevc``,  gray     10 bits, 4:2:0         BT.709, limited range: near 0 is Y 64, 1 is Y 940
``av1``
``ffv1``   gray     16 bits, gray          full range: near 1 is 65535; exact to half a level
``h264``   rgb      8 bits, 4:2:0          BT.709, limited range
``hevc``,  rgb      10 bits, 4:2:0         BT.709, limited range
``av1``
``ffv1``   rgb      8 bits, R'G'B'         BT.709, full range; lossless
``hevc``,  deep     10 bits, 4:2:0         the source's primaries and transfer, with its HDR data
``av1``
``ffv1``   deep     16 bits, R'G'B'        the same; lossless
=========  =======  =====================  ======================================================
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from depthsmith.errors import ProviderError, UsageError
from depthsmith.film import ColorTags, FilmInfo
from depthsmith.media.film.hardware import PLATFORMS, Hardware, find_encoder
from depthsmith.media.film.limits import check_size

__all__ = ["Codec", "Content", "Encoding", "Hardware", "check_size", "choose_encoding"]

Codec = Literal["h264", "hevc", "ffv1", "av1"]
Content = Literal["gray", "rgb", "deep"]

CONTAINERS = {".mp4": "mp4", ".m4v": "mp4", ".mov": "mov", ".mkv": "matroska"}
"""FFmpeg's names of what is written, by suffix."""

SOFTWARE: dict[Codec, str] = {
    "h264": "libx264",
    "hevc": "libx265",
    "ffv1": "ffv1",
    "av1": "libsvtav1",
}

_X26_PRESETS = (
    "ultrafast", "superfast", "veryfast", "faster", "fast",
    "medium", "slow", "slower", "veryslow", "placebo",
)  # fmt: skip
_MOST_THREADS = 16
# The network needs the cores more than the encoding of depth does.
_MOST_THREADS_GRAY = 4

# Depth is data: the error of a pixel counts, not how it looks. Measured on 1080p depth, see
# `encoder_options`: mean error 0.45 of 255 in h264, 0.25 in hevc, 0.3 in av1.
_CRF_GRAY: dict[Codec, int] = {"h264": 12, "hevc": 8, "av1": 10}
# How much more the same look takes or gets, as CRF: their scales differ.
_CRF_SHIFT: dict[Codec, int] = {"h264": 0, "hevc": 2, "av1": 8}
_MOST_BIT_RATE = 10_000_000_000
_CRF_MOST: dict[Codec, int] = {"h264": 51, "hevc": 51, "av1": 63}
# Bits that a source's codec needs where H.264 needs one, about.
_EFFICIENCY = {"hevc": 0.6, "av1": 0.5, "vp9": 0.6, "mpeg2video": 2.0, "mpeg4": 1.5}


@dataclass(frozen=True)
class Encoding:
    """Everything that decides the bytes of a video; part of a job's key.

    Attributes:
        codec: what is written.
        encoder: FFmpeg's name of it.
        pixel_format: FFmpeg's name.
        content: ``gray``: ``(H, W)`` float32 in [0, 1]; ``rgb``: ``(H, W, 3)`` uint8;
            ``deep``: ``(H, W, 3)`` uint16.
        container: FFmpeg's name.
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
    container: str
    color: ColorTags
    crf: int | None = None
    bit_rate: int | None = None
    preset: str | None = None
    threads: int = 1

    @property
    def hardware(self) -> bool:
        return self.encoder != SOFTWARE[self.codec]

    @property
    def subsampled(self) -> bool:
        """Whether sides must be even."""
        return self.codec != "ffv1"


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
        target: decides the container by its suffix: .mp4, .m4v, .mov, .mkv.
        content: what the pictures are.
        codec: None for ``h264``, or ``hevc`` for deep pictures.
        hardware: whose encoder; ``auto`` for any that opens, else software.
        crf, preset, bit_rate: the user's; None for what suits content and source. Hardware
            encoders take ``crf`` for their own scale of quality.
        color: of deep pictures, as the source has it; that of ``info`` if None.
        info: the source, whose bit rate tells how good its pictures are.

    Raises:
        UsageError: for options that contradict each other.
        ProviderError: if the hardware encoder that was asked for does not open.
    """
    suffix = target.suffix.lower()
    if suffix not in CONTAINERS:
        raise UsageError(
            f"films are written as {', '.join(CONTAINERS)}, not {target.suffix or target.name!r}"
        )
    codec = codec or ("hevc" if content == "deep" else "h264")
    if codec not in get_args(Codec):
        raise UsageError(f"no codec is called {codec!r}; use one of {', '.join(get_args(Codec))}")
    _check_together(suffix, codec, content, crf, preset, bit_rate, hardware)
    encoder = _encoder(codec, content, hardware)
    software = encoder == SOFTWARE[codec]
    if preset is not None and software:
        _check_preset(codec, preset)
    cores = os.cpu_count() or 1
    encoding = Encoding(
        codec=codec,
        encoder=encoder,
        pixel_format=_pixel_format(codec, content, software),
        content=content,
        container=CONTAINERS[suffix],
        color=_color(codec, content, color or (info.color if info else None)),
        crf=crf,
        bit_rate=bit_rate,
        preset=preset or (_default_preset(codec, content) if software else None),
        threads=min(cores, _MOST_THREADS_GRAY if content == "gray" else _MOST_THREADS),
    )
    if crf is None and bit_rate is None and codec != "ffv1":
        encoding = replace(encoding, crf=default_crf(info, encoding))
    return encoding


def default_crf(info: FilmInfo | None, encoding: Encoding) -> int:
    """The quality that suits a source: no worse than it looks, and no more bits than that takes.

    Pictures of a source with few bits a pixel hold no detail that many bits would keep: half
    of the bits is 3 more of CRF, from 20 at 0.05 bits of H.264 a pixel, between 16 and 24.
    Depth maps are data: their quality does not depend on the source.
    """
    if encoding.content == "gray":
        return _CRF_GRAY[encoding.codec]
    crf = 18.0
    if info is not None and info.bit_rate and info.frame_rate:
        pixels = info.coded.height * info.coded.width * float(info.frame_rate)
        needed = info.bit_rate / _EFFICIENCY.get(info.codec, 1.0) / pixels
        crf = min(24.0, max(16.0, 20 - 3 * math.log2(max(needed, 1e-6) / 0.05)))
    return round(crf) + _CRF_SHIFT[encoding.codec]


def _check_together(
    suffix: str,
    codec: Codec,
    content: Content,
    crf: int | None,
    preset: str | None,
    bit_rate: int | None,
    hardware: Hardware,
) -> None:
    if codec == "ffv1":
        if suffix != ".mkv":
            raise UsageError(f"ffv1 goes into .mkv only, not {suffix}; or use --codec hevc")
        if crf is not None or bit_rate is not None or preset is not None:
            raise UsageError("ffv1 is lossless: it takes no --crf, --bitrate or --preset")
        if hardware not in ("off", "auto"):
            raise UsageError("no hardware encodes ffv1; leave out --hardware")
        return
    if codec == "av1" and suffix == ".mov":
        raise UsageError("no .mov takes av1; write .mp4 or .mkv, or use --codec hevc")
    if content == "deep" and codec == "h264":
        raise UsageError(
            "HDR pictures of 10 bits need --codec hevc, av1 or ffv1; for h264 use --hdr tonemap"
        )
    if crf is not None and bit_rate is not None:
        raise UsageError("--crf and --bitrate contradict each other; leave one out")
    if crf is not None and not 0 <= crf <= _CRF_MOST[codec]:
        raise UsageError(f"--crf of {codec} is 0 (best) to {_CRF_MOST[codec]}, not {crf}")
    if bit_rate is not None and not 1000 <= bit_rate <= _MOST_BIT_RATE:
        wrong = "low" if bit_rate < 1000 else "high"
        raise UsageError(
            f"a bit rate of {bit_rate} bit/s is too {wrong} for video; write 8M or 500k"
        )


def _check_preset(codec: Codec, preset: str) -> None:
    known = tuple(str(n) for n in range(-1, 14)) if codec == "av1" else _X26_PRESETS
    if preset not in known:
        raise UsageError(
            f"no preset of {codec} is called {preset!r}; use one of {', '.join(known)}"
        )


def _default_preset(codec: Codec, content: Content) -> str | None:
    if codec == "ffv1":
        return None
    if codec == "av1":
        return "10" if content == "gray" else "8"
    if content == "gray":
        return "ultrafast"
    return "veryfast" if codec == "h264" else "superfast"


def _encoder(codec: Codec, content: Content, hardware: Hardware) -> str:
    if hardware == "off" or codec == "ffv1":
        return SOFTWARE[codec]
    if hardware not in get_args(Hardware):
        raise UsageError(
            f"no hardware is called {hardware!r}; use one of {', '.join(get_args(Hardware))}"
        )
    bits = 8 if codec == "h264" else 10
    for platform in PLATFORMS if hardware == "auto" else (hardware,):
        encoder = find_encoder(codec, platform, bits)
        if encoder is not None:
            return encoder
    if hardware == "auto":
        return SOFTWARE[codec]
    raise ProviderError(
        f"{hardware} cannot encode {codec} here; leave out --hardware to encode on the CPU"
    )


def _pixel_format(codec: Codec, content: Content, software: bool) -> str:
    if codec == "ffv1":
        return {"gray": "gray16le", "rgb": "bgr0", "deep": "gbrp16le"}[content]
    if codec == "h264":
        return "yuv420p" if software else "nv12"
    return "yuv420p10le" if software else "p010le"


def _color(codec: Codec, content: Content, source: ColorTags | None) -> ColorTags:
    lossless = codec == "ffv1"
    if content == "gray":
        if lossless:
            return ColorTags(full_range=True, bit_depth=16)
        return ColorTags(1, 1, 1, full_range=False, bit_depth=8 if codec == "h264" else 10)
    if content == "rgb":
        if lossless:
            return ColorTags(1, 1, 0, full_range=True, bit_depth=8)
        return ColorTags(1, 1, 1, full_range=False, bit_depth=8 if codec == "h264" else 10)
    said = source or ColorTags(1, 1, 1)
    if lossless:
        return replace(said, matrix=0, full_range=True, bit_depth=16)
    # Pixels come as R'G'B' and go by the matrix that goes with their primaries, with luma that
    # is not constant: the only ones that players expect.
    matrix = 9 if said.primaries == 9 else 1
    return replace(said, matrix=matrix, full_range=False, bit_depth=10)
