"""The time of day, or the count, that a recorder gave a film's first frame (SMPTE ST 12).

MP4 and MOV have a track for it, Matroska and MXF a tag; FFmpeg's muxers make either of a tag of
the file.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

_MOST_RATE = 255  # MP4 and MOV count frames of a second in a byte
_FORM = re.compile(r"\d\d:\d\d:\d\d([:;.])\d\d+")


def timecode_of(film: Any, rate: Fraction | None) -> tuple[str, str]:
    """The timecode of a film's first frame.

    Args:
        film: PyAV's, open.
        rate: frames in a second; None if not known.

    Returns:
        The timecode as it is written, empty if there is none; and why FFmpeg would not take it,
        empty if it does.
    """
    of_all = (film.metadata, *(stream.metadata for stream in film.streams))
    # Matroska's names are in capitals.
    tags = (tag for found in of_all for tag in found.items())
    timecode = next((text for name, text in tags if name.lower() == "timecode" and text), "")
    form = _FORM.fullmatch(timecode)
    if not timecode:
        return "", ""
    if form is None:
        return timecode, "not of the form hours:minutes:seconds:frames"
    if rate is None or not 1 <= rate <= _MOST_RATE:
        return timecode, "the frame rate is not known"
    # Frame numbers are left out so that the count keeps up with the clock.
    if form[1] != ":" and rate not in (Fraction(30000, 1001), Fraction(60000, 1001)):
        return timecode, "drop-frame, but not of 29.97 or 59.94 frames a second"
    return timecode, ""
