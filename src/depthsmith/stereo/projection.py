"""Flat views on the inside of a sphere, for headsets: VR180 and fisheye.

A flat view looks through a window of some field of view. On the picture of half a sphere it
takes up that window, and all around it is black. Looking straight ahead both have as many
pixels per degree.

=============  ===================================================================
vr180          equirectangular: a column is a longitude and a row a latitude, 180
               degrees of each. Google, "Spherical Video V2 RFC".
fisheye180     equidistant: the distance from the middle is the angle from straight
               ahead, 90 degrees at the edge of the circle.
=============  ===================================================================
"""

from __future__ import annotations

import math
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from depthsmith.errors import InputError, UsageError
from depthsmith.types import FloatArray, PixelArray, Size, StereoPair, describe

Sphere = Literal["vr180", "fisheye180"]
SPHERES: tuple[Sphere, ...] = ("vr180", "fisheye180")

FLAT_FOV_DEG = 70.0
"""Horizontal field of view where nothing is known: that of a telephone's main camera, whose
lens is like one of 26 mm before 35 mm film."""

_NARROWEST_DEG, _WIDEST_DEG = 1.0, 170.0
_MOST_PIXELS = 32_000  # cv2.remap counts in 16 bits
_PER_PIXEL = 2
"""Sides of a picture are a multiple: codecs store colour for two pixels at a time."""


class Projector:
    """Puts flat views of one size on half spheres; its maps are made once for a whole film.

    Args:
        size: of a flat view.
        sphere: ``vr180`` or ``fisheye180``.
        fov_deg: horizontal field of view of the flat view.
        side: of the square picture of one eye, in pixels; None for as many pixels per degree
            straight ahead as the flat view has, see `natural_side`.

    Attributes:
        side: as given or chosen.

    Raises:
        UsageError: for unknown names and values out of range.
    """

    def __init__(
        self,
        size: Size,
        sphere: Sphere,
        fov_deg: float = FLAT_FOV_DEG,
        side: int | None = None,
    ) -> None:
        if sphere not in SPHERES:
            raise UsageError(f"the projection is one of {', '.join(SPHERES)}, not {sphere!r}")
        natural = natural_side(size.width, fov_deg)
        self.size = size
        self.side = natural if side is None else side
        if not _PER_PIXEL <= self.side <= _MOST_PIXELS:
            raise UsageError(
                f"the picture of one eye would be {self.side} pixels wide and high; it can be up "
                f"to {_MOST_PIXELS}: use a larger --flat-fov, or a smaller picture"
            )
        # Fewer pixels than there are: averaged first, so that the map only has to interpolate.
        scale = min(1.0, self.side / natural)
        self._shrunk = Size(max(1, round(size.height * scale)), max(1, round(size.width * scale)))
        # Of both spheres the view is widest in the middle row, and highest in the middle column.
        focal_px = _focal_px(size.width, fov_deg)
        self._rows = self._span(math.atan(size.height / 2 / focal_px))
        self._columns = self._span(math.atan(size.width / 2 / focal_px))
        x, y = self._seen(sphere, focal_px)
        # How much of a pixel the flat view covers, along its edges.
        covered = np.clip(np.minimum(x, size.width - x) * scale + 0.5, 0, 1)
        covered *= np.clip(np.minimum(y, size.height - y) * scale + 0.5, 0, 1)
        across = np.where(covered > 0, x, 0) * self._shrunk.width / size.width - 0.5
        down = np.where(covered > 0, y, 0) * self._shrunk.height / size.height - 0.5
        self._maps = cv2.convertMaps(
            across.astype(np.float32), down.astype(np.float32), cv2.CV_16SC2
        )
        self._shown: NDArray[np.uint8] = (covered > 0).astype(np.uint8)
        self._edge = np.flatnonzero((covered > 0) & (covered < 1))
        self._edge_weight: FloatArray = covered.ravel()[self._edge, None].astype(np.float32)

    def _span(self, half_angle: float) -> slice:
        """Pixels of the half sphere up to that angle from its middle, and one more."""
        reach = math.ceil(half_angle / math.pi * self.side) + 1
        return slice(max(0, self.side // 2 - reach), min(self.side, self.side // 2 + reach))

    def _seen(self, sphere: Sphere, focal_px: float) -> tuple[FloatArray, FloatArray]:
        """Where on the flat view each pixel looks: columns and rows from its upper left corner;
        far outside where it looks past it.
        """
        # From the middle, in radians of the field.
        angle = ((np.arange(self.side) + 0.5) / self.side - 0.5) * math.pi
        lon, lat = angle[self._columns][None], angle[self._rows][:, None]
        if sphere == "vr180":
            across = np.broadcast_to(np.tan(lon), (lat.size, lon.size))
            down = np.tan(lat) / np.cos(lon)
        else:
            theta = np.maximum(np.hypot(lon, lat), 1e-9)
            # Beyond the circle there is nothing.
            stretch = np.where(theta < math.pi / 2, np.tan(theta) / theta, 1e9)
            across, down = stretch * lon, stretch * lat
        x: FloatArray = (self.size.width / 2 + focal_px * across).astype(np.float32)
        y: FloatArray = (self.size.height / 2 + focal_px * down).astype(np.float32)
        return x, y

    def __repr__(self) -> str:
        return f"Projector({self.size} to {self.side}x{self.side})"

    def __call__(self, pair: StereoPair, canvas: PixelArray | None = None) -> PixelArray:
        """Both eyes side by side, the left one on the left.

        Args:
            pair: of flat views of ``size``, uint8 or uint16.
            canvas: ``(side, 2 side, 3)`` of the same type to draw on, black where no view was
                drawn before; a new one without.

        Returns:
            ``(side, 2 side, 3)``, of the type of the views.

        Raises:
            InputError: for views of another size, or a canvas that is not that.
        """
        if not isinstance(pair, StereoPair):
            raise InputError(f"the views are a StereoPair, not {describe(pair)}")
        if pair.size != self.size:
            raise InputError(
                f"the views are {pair.size.wxh}, the projector is for {self.size.wxh}"
            )
        shape = (self.side, 2 * self.side, 3)
        if canvas is None:
            canvas = np.zeros(shape, pair.left.dtype)
        elif canvas.shape != shape or canvas.dtype != pair.left.dtype:
            raise InputError(
                f"the canvas is {describe(canvas)}; it must be {shape} {pair.left.dtype}"
            )
        for eye, view in enumerate((pair.left, pair.right)):
            half = canvas[:, eye * self.side : (eye + 1) * self.side]
            half[self._rows, self._columns] = self._draw(view)
        return canvas

    def _draw(self, view: PixelArray) -> PixelArray:
        """The part of the half sphere in which there is anything."""
        if self._shrunk != self.size:
            view = cv2.resize(
                view, (self._shrunk.width, self._shrunk.height), interpolation=cv2.INTER_AREA
            )
        drawn = cv2.remap(
            view, *self._maps, interpolation=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
        )
        part: PixelArray = cv2.bitwise_and(drawn, drawn, mask=self._shown)
        pixels = part.reshape(-1, 3)
        pixels[self._edge] = np.rint(pixels[self._edge] * self._edge_weight)
        return part


def natural_side(width: int, fov_deg: float) -> int:
    """Side of the picture of one eye with as many pixels per degree in its middle as a flat
    view has in its own.

    A degree there is ``side / 180`` pixels here, and ``focal_px * pi / 180`` there.

    Raises:
        UsageError: for a field of view out of range.
    """
    return _PER_PIXEL * round(math.pi * _focal_px(width, fov_deg) / _PER_PIXEL)


def _focal_px(width: int, fov_deg: float) -> float:
    if not _NARROWEST_DEG <= fov_deg <= _WIDEST_DEG:
        raise UsageError(
            f"the field of view is {fov_deg:g} degrees; a flat picture has between "
            f"{_NARROWEST_DEG:g} and {_WIDEST_DEG:g}"
        )
    return width / 2 / math.tan(math.radians(fov_deg) / 2)
