"""What a picture file holds, before it becomes a photo."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray
from PIL import Image


@dataclass
class ImageFileContent:
    """A decoded picture as stored, and what the file says about it.

    Attributes:
        pixels: a loaded Pillow image of any mode, or ``(H, W)``/``(H, W, C)`` values in RGB(A)
            order where the file holds more than 8 bits per colour.
        orientation: EXIF orientation that is still to be applied, 1 to 8.
        icc: the embedded ICC profile.
        focal_35mm: EXIF focal length in 35 mm film equivalent, millimetres.
        white_is_zero: deep gray values that count from white to black.
        text: text fields of the file (PNG tEXt/iTXt, TIFF ImageDescription).
        notes: what a user may want to know.
    """

    pixels: Image.Image | NDArray[Any]
    orientation: int = 1
    icc: bytes | None = None
    focal_35mm: float | None = None
    white_is_zero: bool = False
    text: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
