"""What a test film consists of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class AudioSpec:
    """An audio track: silence but for the beeps."""

    codec: str = "aac"
    language: str = ""
    layout: str = "stereo"
    rate: int = 48000
    title: str = ""
    seconds: float | None = None  # as long as the pictures by default


@dataclass(frozen=True)
class SubtitleSpec:
    """A track of text: ``(start, end, text)`` in seconds."""

    events: tuple[tuple[float, float, str], ...]
    language: str = ""
    codec: str = ""  # what the container takes: mov_text or subrip


@dataclass(frozen=True)
class ColorSpec:
    """Code points of ITU-T H.273, range (1 limited, 2 full), and HDR10 data for x265."""

    primaries: int = 2
    transfer: int = 2
    matrix: int = 2
    full_range: bool | None = None
    mastering: str = ""  # x265's master-display
    content_light: str = ""  # x265's max-cll


BT709 = ColorSpec(1, 1, 1, False)
PQ = ColorSpec(
    9, 16, 9, False,
    "G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1)", "1000,400",
)  # fmt: skip
HLG = ColorSpec(9, 18, 9, False)
UNTAGGED = ColorSpec()
