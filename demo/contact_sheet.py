"""Labelled pictures on one page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from depthsmith.atomic import atomic_path

WIDTH = 1300
_MARGIN, _GAP = 24, 12
_TITLE, _HEADING, _LABEL = 30, 21, 15
_PAPER, _INK, _GRAY, _RED = "#f7f6f3", "#1d1d1b", "#6a6a66", "#b3261e"


@dataclass(frozen=True, eq=False)
class Panel:
    """A picture, ``(H, W, 3)`` uint8 RGB, and the line below it, if any."""

    label: str
    rgb: NDArray[np.uint8]


@dataclass(frozen=True)
class Row:
    """Panels side by side, made equally high; with ``text`` at the right, if there is any.

    Attributes:
        text: lines of columns, the first one the head.
        share: of the page's width for the panels; the text has the rest.
    """

    panels: tuple[Panel, ...]
    text: tuple[tuple[str, ...], ...] = ()
    share: float = 1.0


@dataclass(frozen=True)
class Section:
    """Rows below a heading.

    Attributes:
        warning: printed in red below the heading.
    """

    heading: str
    rows: tuple[Row, ...]
    warning: str = ""


def write_sheet(path: Path, title: str, sections: Sequence[Section], footer: str) -> None:
    """Lay everything out on a page of `WIDTH` pixels and write it as JPEG."""
    # Drawn on a page that is certainly long enough, then cut.
    page = Image.new("RGB", (WIDTH, 6000), _PAPER)
    draw = ImageDraw.Draw(page)
    y = _MARGIN
    y = _line(draw, y, title, _TITLE, _INK) + _GAP
    for section in sections:
        y = _line(draw, y, section.heading, _HEADING, _INK) + 4
        if section.warning:
            y = _line(draw, y, section.warning, _HEADING, _RED) + 4
        y += _GAP // 2
        for row in section.rows:
            y = _row(page, draw, y, row) + _GAP
        y += _GAP
    y = _line(draw, y, footer, _LABEL, _GRAY)
    with atomic_path(path) as part:
        page.crop((0, 0, WIDTH, y + _MARGIN)).save(part, "JPEG", quality=80)


def _row(page: Image.Image, draw: ImageDraw.ImageDraw, y: int, row: Row) -> int:
    room = round(row.share * (WIDTH - 2 * _MARGIN)) - _GAP * (len(row.panels) - 1)
    aspects = [panel.rgb.shape[1] / panel.rgb.shape[0] for panel in row.panels]
    height = round(room / sum(aspects))
    x = _MARGIN
    for panel, aspect in zip(row.panels, aspects, strict=True):
        size = (round(aspect * height), height)
        page.paste(Image.fromarray(panel.rgb).resize(size, Image.Resampling.LANCZOS), (x, y))
        draw.text((x, y + height + 6), panel.label, _GRAY, _font(_LABEL))
        x += size[0] + _GAP
    if row.text:
        _table(draw, x + _GAP, y, row.text)
    labelled = any(panel.label for panel in row.panels)
    return y + int(height) + (6 + round(1.4 * _LABEL) if labelled else 0)


def _table(draw: ImageDraw.ImageDraw, x: int, y: int, lines: Sequence[Sequence[str]]) -> None:
    font = _font(_LABEL)
    for column in range(len(lines[0])):
        step = round(1.55 * _LABEL)
        for i, line in enumerate(lines):
            draw.text((x, y + i * step), line[column], _GRAY if i == 0 else _INK, font)
        x += round(max(draw.textlength(line[column], font) for line in lines)) + 2 * _GAP


def _line(draw: ImageDraw.ImageDraw, y: int, text: str, size: int, ink: str) -> int:
    draw.text((_MARGIN, y), text, ink, _font(size))
    return y + round(1.3 * size)


def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)  # Pillow's own, the same on every machine
