"""The values that pass between the stages of a film: frozen, numpy only.

Times are integers in units of a ``time_base`` (`Fraction` of a second), as in the file.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from depthsmith.errors import UsageError
from depthsmith.types import ByteArray, Size

WordArray = NDArray[np.uint16]

Packing = Literal["mono", "sbs", "half-sbs", "tb", "half-tb", "interlaced", "other"]
Projection = Literal["flat", "vr180", "fisheye180"]


@dataclass(frozen=True)
class ColorTags:
    """How a film's pixels are meant: code points of ITU-T H.273, and HDR side data.

    Attributes:
        primaries, transfer, matrix: 2 where the file does not say; 1 is BT.709, 9 BT.2020;
            transfer 16 is PQ, 18 HLG.
        full_range: None where the file does not say.
        bit_depth: of a component.
        mastering: SMPTE ST 2086 data, in the notation of x265's ``master-display``, or None.
        content_light: ``(MaxCLL, MaxFALL)`` in cd/m2, or None.
    """

    primaries: int = 2
    transfer: int = 2
    matrix: int = 2
    full_range: bool | None = None
    bit_depth: int = 8
    mastering: str | None = None
    content_light: tuple[int, int] | None = None

    @property
    def hdr(self) -> bool:
        """Whether the transfer is PQ or HLG."""
        return self.transfer in (16, 18)


@dataclass(frozen=True)
class Track:
    """A stream of a file beside the film's pictures.

    Attributes:
        index: of the stream in the file.
        kind: what it holds. A cover picture is an ``attachment``.
        codec: FFmpeg's name (``aac``, ``subrip``); empty where unknown.
        language: ISO 639-2, or empty.
        title: as tagged, or empty.
    """

    index: int
    kind: Literal["video", "audio", "subtitle", "attachment", "data"]
    codec: str
    language: str = ""
    title: str = ""

    def __str__(self) -> str:
        parts = [self.kind, self.codec, self.language]
        return " ".join(part for part in parts if part)


@dataclass(frozen=True)
class FilmInfo:
    """What a film file says about itself.

    Attributes:
        path: of the file.
        stream: index of the stream whose pictures are taken.
        size: upright, with square pixels: what a viewer sees.
        coded: of the pictures as stored.
        turn_deg: by which stored pictures are turned clockwise to stand upright: 0, 90, 180
            or 270; after a horizontal flip if ``flipped``.
        sample_aspect: width by height of a stored pixel.
        time_base: unit of this stream's times, in seconds.
        start: presentation time of the first frame as far as the file says, or None.
        frame_rate: average, or None where unknown.
        frame_count: as declared or estimated from the duration; None where unknown.
        duration_s: of the pictures, in seconds; None where unknown.
        codec: FFmpeg's name.
        bit_rate: of the pictures, in bit/s; None where unknown.
        color: see `ColorTags`.
        interlaced: whether the file says that its pictures are fields.
        tracks: all streams but the pictures'.
        chapters: how many.
        notes: what a user may want to know, one clause each.
    """

    path: Path
    stream: int
    size: Size
    coded: Size
    time_base: Fraction
    turn_deg: int = 0
    flipped: bool = False
    sample_aspect: Fraction = Fraction(1)
    start: int | None = None
    frame_rate: Fraction | None = None
    frame_count: int | None = None
    duration_s: float | None = None
    codec: str = ""
    bit_rate: int | None = None
    color: ColorTags = field(default=ColorTags())
    interlaced: bool = False
    tracks: tuple[Track, ...] = ()
    chapters: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Span:
    """A part of a film, in seconds of its own time (the first frame is at 0).

    Attributes:
        start_s: the first frame shown at or after this is the first of the part.
        end_s: the first frame shown at or after this is not in it; None for the film's end.

    Raises:
        UsageError: if it is empty, or begins before the film.
    """

    start_s: float = 0.0
    end_s: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.start_s < (math.inf if self.end_s is None else self.end_s):
            to = "" if self.end_s is None else f" to {self.end_s:g}"
            raise UsageError(f"no part of a film is from {self.start_s:g}{to} seconds")


@dataclass(frozen=True, eq=False)
class FilmFrame:
    """A picture of a film, upright, with square pixels.

    Attributes:
        index: counts the frames that are read, from 0.
        pts: when it is shown, in the film's ``time_base``.
        duration: in the same unit, or None.
        rgb: ``(H, W, 3)`` uint8, sRGB-like: HDR is tone-mapped.
        deep: ``(H, W, 3)`` uint16 R'G'B' over the full range, in the source's own primaries
            and transfer; only where asked for.
        cut: whether it is the first frame of a shot.
    """

    index: int
    pts: int
    duration: int | None
    rgb: ByteArray = field(repr=False)
    deep: WordArray | None = field(default=None, repr=False)
    cut: bool = False


@dataclass(frozen=True)
class StereoLayout:
    """How the two views of a stereo film lie in its pictures.

    Attributes:
        packing: where the views lie; ``mono`` for none, ``other`` for what no player knows.
        right_first: whether the right view is the left or upper one.
        projection: of each view.
    """

    packing: Packing = "mono"
    right_first: bool = False
    projection: Projection = "flat"
