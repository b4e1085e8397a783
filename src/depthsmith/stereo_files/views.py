"""From a photo and its depth to the pictures of a format."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import cv2
import numpy as np

from depthsmith.depth.convert import to_near
from depthsmith.stereo import (
    FLAT_FOV_DEG,
    Align,
    Border,
    Projector,
    StereoSettings,
    metres_to_disparity,
    natural_side,
    near_to_disparity,
    pack,
    render_pair,
    wiggle,
    with_depth,
)
from depthsmith.stereo.projection import SPHERES
from depthsmith.stereo_files.depth import Found
from depthsmith.types import (
    ByteArray,
    DepthKind,
    DepthMap,
    FloatArray,
    Photo,
    Size,
    StereoPair,
)

LARGEST_SIDE = 8192
"""Of one eye's half sphere, where none is asked for: more than any headset shows."""

WIGGLE_SIDE = 640
"""Longer side of wiggles that are pictures: they hold every view."""

_WIDE_PERCENT = 6.0
"""Of the width: more disparity than this strains most eyes."""


@dataclass(frozen=True)
class Look:
    """What is made of a photo.

    Attributes:
        format: one of `depthsmith.stereo_files.plan.FORMATS`.
        settings: how deep.
        border, fill, align: see `depthsmith.stereo.render_pair`.
        flat_fov_deg: for VR180 and fisheye, horizontal field of view of the photo; None for
            what the focal length says, else `FLAT_FOV_DEG`.
        vr_side: for them, side of one eye's picture; None for the photo's own resolution.
        threads: that work on it.
    """

    format: str = "sbs"
    settings: StereoSettings = field(default_factory=StereoSettings)
    border: Border = "scale"
    fill: str = "smooth"
    align: Align = "auto"
    flat_fov_deg: float | None = None
    vr_side: int | None = None
    threads: int = 1

    @property
    def sphere(self) -> bool:
        """Whether it is for a headset's half sphere."""
        return self.format in SPHERES


@dataclass(frozen=True, eq=False)
class Views:
    """What became of a photo.

    Attributes:
        pictures: ``(H, W, 3)`` uint8: one; two for ``left-right`` and ``mpo``; all frames of a
            wiggle.
        notes: what a user may want to know, one clause each.
    """

    pictures: tuple[ByteArray, ...]
    notes: tuple[str, ...] = ()


def views_of(photo: Photo, found: Found, look: Look, focal_px: float | None) -> Views:
    """The pictures of a format.

    Args:
        focal_px: of the photo, if known.

    Raises:
        UsageError: if the options do not go together with this photo.
    """
    if look.format == "rgbd":
        near = _of_size(near_of(found.depth), photo.size)
        return Views((with_depth(photo.rgb, near),))
    disparity, notes = disparity_of(found.depth, photo.size.width, focal_px, look.settings)
    if look.format == "wiggle":
        views = wiggle(
            photo.rgb, disparity, look.settings, align=look.align, factor=found.factor,
            fill=look.fill, border=look.border, threads=look.threads,
        )  # fmt: skip
        return Views(tuple(views), notes)
    pair = render_pair(
        photo.rgb, disparity, look.settings, align=look.align, factor=found.factor,
        fill=look.fill, border=look.border, threads=look.threads,
    )  # fmt: skip
    if look.format in ("left-right", "mpo"):
        return Views((pair.left, pair.right), notes)
    if not look.sphere:
        return Views((pack(pair, look.format),), notes)
    picture, more = _around(pair, photo, look, focal_px)
    return Views((picture,), notes + more)


def disparity_of(
    depth: DepthMap, width: int, focal_px: float | None, settings: StereoSettings
) -> tuple[FloatArray, tuple[str, ...]]:
    """Disparity of a depth map of any kind, in pixels of a photo of ``width``.

    Metres and a focal length give what two eyes at the camera's place would see; everything
    else a share of the width.
    """
    if depth.kind is not DepthKind.DEPTH_M or focal_px is None:
        return near_to_disparity(near_of(depth), width, settings), ()
    metres = np.where(np.isfinite(depth.values) & (depth.values > 0), depth.values, np.inf)
    if depth.sky is not None:
        metres[depth.sky] = np.inf
    disparity = metres_to_disparity(metres.astype(np.float32), width, focal_px, settings)
    span = float(disparity.max() - disparity.min()) / width * 100
    if span > _WIDE_PERCENT:
        return disparity, (
            f"true to scale, the disparity spans {span:.1f} % of the width; "
            "--max-disparity 3 is easier on the eyes",
        )
    return disparity, ()


def near_of(depth: DepthMap) -> FloatArray:
    """Near of a depth map of any kind, everywhere between 0 and 1."""
    near = to_near(depth).values
    return np.clip(np.nan_to_num(near), 0, 1)


def _around(
    pair: StereoPair, photo: Photo, look: Look, focal_px: float | None
) -> tuple[ByteArray, tuple[str, ...]]:
    """Both eyes' half spheres side by side."""
    width = photo.size.width
    fov_deg = look.flat_fov_deg
    if fov_deg is None and focal_px is not None:
        fov_deg = math.degrees(2 * math.atan(width / 2 / focal_px))
    fov_deg = FLAT_FOV_DEG if fov_deg is None else fov_deg
    if pair.size.width != width:  # cropped
        half = math.tan(math.radians(fov_deg) / 2) * pair.size.width / width
        fov_deg = math.degrees(2 * math.atan(half))
    side, notes = look.vr_side, tuple[str, ...]()
    natural = natural_side(pair.size.width, fov_deg)
    if side is None and natural > LARGEST_SIDE:
        side = LARGEST_SIDE
        notes = (f"{side} pixels a side for one eye; {natural} would be the photo's resolution",)
    sphere = next(name for name in SPHERES if name == look.format)
    return Projector(pair.size, sphere, fov_deg, side)(pair), notes


def shrunk(photo: Photo, longest: int) -> Photo:
    """A smaller copy, whose longer side is that long at most."""
    scale = longest / max(photo.size)
    if scale >= 1:
        return photo
    height, width = (max(1, round(side * scale)) for side in photo.size)
    rgb = cv2.resize(photo.rgb, (width, height), interpolation=cv2.INTER_AREA)
    return replace(photo, rgb=rgb)


def _of_size(values: FloatArray, size: Size) -> FloatArray:
    if values.shape == tuple(size):
        return values
    resized: FloatArray = cv2.resize(
        values, (size.width, size.height), interpolation=cv2.INTER_LINEAR
    )
    return resized
