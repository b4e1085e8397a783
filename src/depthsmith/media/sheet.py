"""Rows of pictures with words, in one picture to look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from depthsmith.types import ByteArray

_MARGIN_PX = 12
_GAP_PX = 6
_TITLE_PX = 17
_TEXT_PX = 14
_PAPER, _INK, _PALE = (255, 255, 255), (20, 20, 20), (110, 110, 110)


@dataclass(frozen=True, eq=False)
class SheetRow:
    """Pictures of one size beside each other, and a line above them.

    Attributes:
        caption: the line.
        pictures: ``(H, W, 3)`` uint8 RGB each.
    """

    caption: str
    pictures: tuple[ByteArray, ...]


def draw_sheet(
    heading: str, titles: Sequence[str], rows: Sequence[SheetRow], *, footer: str = ""
) -> ByteArray:
    """Draw a sheet.

    Args:
        heading: at the top.
        titles: one for each column.
        rows: at least one; the pictures of all of them of one width.
        footer: at the bottom.

    Returns:
        ``(H, W, 3)`` uint8 RGB.
    """
    title_font, font = ImageFont.load_default(_TITLE_PX), ImageFont.load_default(_TEXT_PX)
    line = _TEXT_PX + 8
    column = rows[0].pictures[0].shape[1] + _GAP_PX
    width = 2 * _MARGIN_PX + len(titles) * column - _GAP_PX
    heights = [line + row.pictures[0].shape[0] + _GAP_PX for row in rows]
    height = 2 * _MARGIN_PX + _TITLE_PX + 10 + line + sum(heights) + (line if footer else 0)
    sheet = Image.new("RGB", (width, height), _PAPER)
    draw = ImageDraw.Draw(sheet)
    y = _MARGIN_PX
    room = width - 2 * _MARGIN_PX
    draw.text((_MARGIN_PX, y), _shortened(heading, title_font, room), _INK, title_font)
    y += _TITLE_PX + 10
    for i, title in enumerate(titles):
        draw.text((_MARGIN_PX + i * column, y), title, _PALE, font)
    y += line
    for row, row_height in zip(rows, heights, strict=True):
        draw.text((_MARGIN_PX, y), _shortened(row.caption, font, room), _INK, font)
        for i, picture in enumerate(row.pictures):
            sheet.paste(Image.fromarray(picture), (_MARGIN_PX + i * column, y + line))
        y += row_height
    if footer:
        draw.text((_MARGIN_PX, y), _shortened(footer, font, room), _PALE, font)
    return np.asarray(sheet)


def _shortened(text: str, font: ImageFont.ImageFont | ImageFont.FreeTypeFont, room: int) -> str:
    """The end of a text that is too long: the end of a path tells more than its beginning."""
    short = text
    while font.getlength(short) > room and len(short) > 1:
        short = "…" + short[2:]
    return short
