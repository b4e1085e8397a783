"""Photos, their depth and what two eyes see of them, in one picture to look at."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import cv2
import numpy as np

from depthsmith.depth.colormap import color_table
from depthsmith.media.rgb_file import write_rgb
from depthsmith.media.sheet import SheetRow, draw_sheet
from depthsmith.stereo_files.depth import Found
from depthsmith.stereo_files.views import Look, near_of, views_of
from depthsmith.types import ByteArray, Photo

TILE_PX = 320
"""Longer side of a tile."""
_MOST_ROWS = 200
_COLORMAP = "inferno"


@dataclass
class StereoSheet:
    """Collects a row for each photo that it is shown. Memory: three tiles for each.

    Attributes:
        what: a row is called: ``photo``, or ``frame`` of a film.
    """

    what: str = "photo"
    _rows: list[SheetRow] = field(default_factory=list)
    _seen: int = 0

    def observe(
        self,
        photo: Photo,
        found: Found,
        look: Look,
        focal_px: float | None,
        at_s: float | None = None,
    ) -> None:
        """Take in one photo; see `depthsmith.stereo_files.make.Observe`.

        Args:
            at_s: of a frame, its time in the film.
        """
        self._seen += 1
        if len(self._rows) == _MOST_ROWS:
            return
        # At full size, for small pictures have other disparities; the tile shows less of it.
        glasses = views_of(photo, found, replace(look, format="anaglyph"), focal_px).pictures[0]
        near = _tile(np.rint(near_of(found.depth) * 255).astype(np.uint8), photo)
        # With its folder, for many may be called alike.
        name = "/".join(photo.path.parts[-2:]) if photo.path else self.what
        if at_s is not None:
            tenths = int(at_s * 10)
            name += f"   {tenths // 600}:{tenths % 600 / 10:04.1f}"
        row = (_tile(photo.rgb, photo), color_table(_COLORMAP)[near], _tile(glasses, photo))
        self._rows.append(SheetRow(f"{name}   {photo.size.wxh}", row))

    def write(self, path: Path, model: str) -> bool:
        """Write the sheet as PNG, JPEG or WebP.

        Args:
            model: that the depth comes from.

        Returns:
            Whether there was a photo to show.

        Raises:
            UsageError: for another suffix.
            OutputError: if the file cannot be written.
        """
        if not self._rows:
            return False
        pictures = self.what if self._seen == 1 else f"{self.what}s"
        more = f", {len(self._rows)} of them shown" if self._seen > len(self._rows) else ""
        heading = f"{self._seen} {pictures} in 3D{more}; depth by {model}"
        titles = (self.what, "depth", "for red-cyan glasses")
        write_rgb(path, draw_sheet(heading, titles, self._rows))
        return True


def _tile(values: ByteArray, photo: Photo) -> ByteArray:
    """In a square of `TILE_PX`, in the middle: columns of a sheet are of one width."""
    scale = TILE_PX / max(photo.size)
    height, width = (max(1, round(side * scale)) for side in photo.size)
    small = cv2.resize(values, (width, height), interpolation=cv2.INTER_AREA)
    left = (TILE_PX - width) // 2
    border = (0, 0, left, TILE_PX - width - left)
    white = 255 if values.ndim == 3 else 0
    framed = cv2.copyMakeBorder(small, *border, cv2.BORDER_CONSTANT, value=(white,) * 3)
    return np.asarray(framed)
