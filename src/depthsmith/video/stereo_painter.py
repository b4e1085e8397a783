"""From a frame and its depth to what two eyes see."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Literal, get_args

import cv2
import numpy as np

from depthsmith.errors import UsageError
from depthsmith.film import StereoLayout
from depthsmith.media.film.encoding import Content
from depthsmith.stereo import (
    FLAT_FOV_DEG,
    Align,
    Border,
    Margins,
    Projector,
    Scratch,
    StereoSettings,
    auto_convergence,
    natural_side,
    near_to_disparity,
    pack,
    render_pair,
    with_depth,
)
from depthsmith.stereo.borders import treat_borders
from depthsmith.stereo.projection import Sphere
from depthsmith.types import FloatArray, PixelArray, Size, StereoPair
from depthsmith.video.frame_depth import Memory, Seen

FilmFormat = Literal[
    "sbs", "half-sbs", "tb", "half-tb", "cross-eyed", "anaglyph", "anaglyph-color",
    "anaglyph-half-color", "anaglyph-gray", "anaglyph-dubois", "interlaced", "rgbd", "vr180",
    "fisheye180", "left-right", "wiggle",
]  # fmt: skip
"""``left-right`` is painted side by side, for a file of each; ``wiggle`` shows the eyes in turn,
for previews."""

LAYOUTS: dict[str, StereoLayout] = {
    "sbs": StereoLayout("sbs"),
    "half-sbs": StereoLayout("half-sbs"),
    "tb": StereoLayout("tb"),
    "half-tb": StereoLayout("half-tb"),
    "cross-eyed": StereoLayout("sbs", right_first=True),
    "interlaced": StereoLayout("interlaced"),
    "vr180": StereoLayout("sbs", projection="vr180"),
    "fisheye180": StereoLayout("sbs", projection="fisheye180"),
}
"""What a film of a format says of itself; the others are plain pictures."""

DEEP_FORMATS = frozenset({
    "sbs", "half-sbs", "tb", "half-tb", "cross-eyed", "interlaced", "vr180", "fisheye180",
    "left-right",
})  # fmt: skip
"""In which the picture's own colours are shown, so that HDR can stay HDR."""

_LARGEST_SIDE = 4096
"""Of one eye's half sphere: twice that is the widest that codecs have levels for."""

_MOST_SIDE = 8192
"""Of what is asked for: no codec takes pictures of more than twice that width."""

# Each eye's turn in a wiggle: about an eighth of a second.
_WIGGLE_FRAMES = 4
# A share of the way that the plane of `auto` moves in a frame: seconds, not frames.
_PLANE_PACE = 0.02


class StereoPainter:
    """A `Painter` of pairs.

    Args:
        size: of the film.
        format: how the views are laid out.
        settings: how deep.
        border, fill, align: see `depthsmith.stereo.render_pair`. Depth of a network is soft:
            its edges are always put on the picture's, also where a frame has few of them.
        fov_deg, side: of VR180 and fisheye, see `Projector`.
        deep: whether frames are shown in 16 bits.
        threads: that work on a frame.
        longest: frames are shrunk to so many pixels first.

    Raises:
        UsageError: for what cannot be.
    """

    needs_picture = True

    def __init__(
        self,
        size: Size,
        format: str,
        settings: StereoSettings,
        *,
        border: Border = "scale",
        fill: str = "smooth",
        align: Align = "always",
        fov_deg: float | None = None,
        side: int | None = None,
        deep: bool = False,
        threads: int = 1,
        longest: int | None = None,
    ) -> None:
        if format not in get_args(FilmFormat):
            raise UsageError(f"the format is one of {', '.join(get_args(FilmFormat))}")
        if deep and format not in DEEP_FORMATS:
            raise UsageError(f"{format} cannot be shown in HDR; use --hdr tonemap")
        self.format, self.settings = format, settings
        # Previews are of a smaller film.
        scale = 1.0 if longest is None else min(1.0, longest / max(size))
        self.size = Size(*(max(1, round(side * scale)) for side in size))
        self.border, self.fill, self.align = border, fill, align
        self.deep, self.threads = deep, threads
        self.content: Content = "deep" if deep else "rgb"
        self._plane: float | None = None
        self._scratch = Scratch()
        self._margins = _widest(settings, size.width)
        self._project: Callable[[StereoPair], PixelArray] | None = None
        if format in ("vr180", "fisheye180"):
            self._project = self._projector(
                "vr180" if format == "vr180" else "fisheye180", fov_deg, side
            )

    def __repr__(self) -> str:
        """Tells all that the pictures depend on."""
        return (
            f"StereoPainter({self.size}, {self.format}, {self.settings}, {self.border}, "
            f"{self.fill}, {self.align}, {self._project}, deep={self.deep})"
        )

    @property
    def layout(self) -> StereoLayout:
        layout = LAYOUTS.get(self.format, StereoLayout())
        if layout.packing != "mono" and self.settings.swap:
            return replace(layout, right_first=not layout.right_first)
        return layout

    def size_of(self, source: Size) -> Size:
        """By laying out two black views. Of ``left-right``, of one view."""
        if isinstance(self._project, Projector):
            return Size(self._project.side, 2 * self._project.side)
        blank = np.zeros((*self.size, 3), np.uint8)
        pair = StereoPair(blank, blank)
        if self.border == "crop":
            pair = treat_borders(pair, "crop", self._margins)
        if self.format == "rgbd":
            return Size(self.size.height, 2 * self.size.width)
        if self.format in ("wiggle", "left-right"):
            return pair.size
        return Size(*pack(pair, self.format).shape[:2])

    def paint(self, seen: Seen) -> PixelArray:
        frame = seen.frame
        picture: PixelArray = frame.rgb
        if self.deep:
            assert frame.deep is not None
            picture = frame.deep
        if picture.shape[:2] != self.size:
            height, width = self.size
            picture = cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA)
        near = _half_pixel(seen, self.size)
        self._move_plane(near, frame.cut)
        return self._lay_out(picture, near, frame.index)

    def memory(self) -> Memory:
        return {} if self._plane is None else {"plane": np.float64(self._plane)}

    def recall(self, memory: Memory) -> None:
        self._plane = float(memory["plane"]) if "plane" in memory else None

    def _lay_out(self, picture: PixelArray, near: FloatArray, index: int) -> PixelArray:
        if self.format == "rgbd":
            height, width = picture.shape[:2]
            large = cv2.resize(near, (width, height), interpolation=cv2.INTER_LINEAR)
            return with_depth(picture, large)
        settings = self.settings
        if self._plane is not None:
            settings = replace(settings, convergence=self._plane)
        pair = render_pair(
            picture, near_to_disparity(near, self.size.width, settings), settings,
            align=self.align, fill=self.fill, border=self.border, margins=self._margins,
            threads=self.threads, scratch=self._scratch,
        )  # fmt: skip
        if self._project is not None:
            return self._project(pair)
        if self.format == "wiggle":
            return (pair.left if index // _WIGGLE_FRAMES % 2 else pair.right).copy()
        return pack(pair, "sbs" if self.format == "left-right" else self.format)

    def _move_plane(self, near: FloatArray, cut: bool) -> None:
        """With ``auto``, follow what the picture is about, slowly; a new shot starts afresh."""
        if self.settings.convergence != "auto":
            return
        wanted = auto_convergence(near)
        if cut or self._plane is None:
            self._plane = wanted
        else:
            self._plane += _PLANE_PACE * (wanted - self._plane)

    def _projector(self, sphere: Sphere, fov_deg: float | None, side: int | None) -> Projector:
        size, fov_deg = self.size, FLAT_FOV_DEG if fov_deg is None else fov_deg
        if self.border == "crop":
            margins = self._margins
            left = max(margins.left_view[0], margins.right_view[0])
            right = max(margins.left_view[1], margins.right_view[1])
            kept = size.width - left - right
            half = math.tan(math.radians(fov_deg) / 2) * kept / size.width
            size, fov_deg = Size(size.height, kept), math.degrees(2 * math.atan(half))
        natural = natural_side(size.width, fov_deg)
        if side is not None and side > _MOST_SIDE:
            raise UsageError(f"--vr-side of films is up to {_MOST_SIDE}, not {side}")
        return Projector(size, sphere, fov_deg, side or min(natural, _LARGEST_SIDE))


def _widest(settings: StereoSettings, width: int) -> Margins:
    """The strips that no frame exceeds, so that the border does not breathe."""
    ends = np.array([[0.0, 1.0]], np.float32)
    planes = (0.0, 1.0) if settings.convergence == "auto" else (settings.convergence,)
    widest = Margins((0, 0), (0, 0))
    for plane in planes:
        shift = near_to_disparity(ends, width, replace(settings, convergence=plane)).ravel()
        strips = []
        for share, before in zip(settings.shares, widest, strict=True):
            least, most = sorted(float(s) * share for s in shift)
            strips.append(
                (max(before[0], int(np.ceil(-least))), max(before[1], int(np.ceil(most))))
            )
        widest = Margins(*strips)
    return widest


def _half_pixel(seen: Seen, shown: Size) -> FloatArray:
    """Near so that enlarging it by half pixels, as the renderer does, puts it where it is.

    Args:
        shown: size of the picture, which near may not exceed.
    """
    near, place = seen.near, seen.placement
    rows, columns = near.shape
    height, width = place.source
    if rows > shown.height or columns > shown.width:
        full = np.clip(seen.full_size(near), 0, 1)
        return np.asarray(cv2.resize(full, shown[::-1], interpolation=cv2.INTER_AREA))
    if not place.align_corners or min(near.shape) < 2:
        return near
    x = ((np.arange(columns) + 0.5) * width / columns - 0.5) * ((columns - 1) / (width - 1))
    y = ((np.arange(rows) + 0.5) * height / rows - 0.5) * ((rows - 1) / (height - 1))
    across, down = np.meshgrid(x.astype(np.float32), y.astype(np.float32))
    moved: FloatArray = cv2.remap(
        near, across, down, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    return np.clip(moved, 0, 1)
