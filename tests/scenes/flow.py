"""Where every point of one picture is in another: exact optical flow and visibility."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scenes.camera import Camera
from scenes.compiled import compiled
from scenes.cull import TILE, ray, rectangles, to_camera, visible
from scenes.describe import Scene
from scenes.intersect import blocked, first_hit, local
from scenes.pack import pack, view_of

_TOLERANCE = 1e-5
"""A solid hides a point when it is nearer by more than this share of the distance."""


@dataclass(frozen=True, eq=False)
class Flow:
    """Motion of the points seen at the pixel centres of one picture, to another picture.

    Attributes:
        px: ``(H, W, 2)`` float32, ``u, v`` displacement in pixels, to the right and down.
            NaN where the point comes to lie behind the other camera.
        depth_m: ``(H, W)`` float32, z of the same point in the other camera; infinite in
            the sky.
        seen: ``(H, W)`` bool, True where the other picture shows the point: inside its
            frame and not behind another surface.
    """

    px: NDArray[np.float32]
    depth_m: NDArray[np.float32]
    seen: NDArray[np.bool_]


def optical_flow(scene: Scene, camera: Camera, other_scene: Scene, other_camera: Camera) -> Flow:
    """Flow from ``scene`` seen by ``camera`` to the other pair.

    The scenes hold the same solids in the same order, at two times. With one scene and two
    cameras of `Camera.stereo`, it is the disparity (negative, from left to right).

    Raises:
        ValueError: if the scenes do not hold the same number of solids.
    """
    if len(scene.solids) != len(other_scene.solids):
        raise ValueError("flow is defined between two times of one scene")
    size = (camera.height, camera.width)
    px = np.empty((*size, 2), np.float32)
    depth = np.empty(size, np.float32)
    seen = np.empty(size, np.bool_)
    other_size = (other_camera.height, other_camera.width)
    _flow(
        pack(scene), view_of(camera), pack(other_scene), view_of(other_camera), other_size,
        px, depth, seen,
    )  # fmt: skip
    return Flow(px, depth, seen)


@compiled
def _flow(world, views, other, other_views, other_size, px, depth, seen):
    height, width = depth.shape
    view, other_view = views[0], other_views[0]
    total = world.solids.shape[0]
    ids = np.empty(total, np.int64)
    rects = rectangles(world.solids, view)
    lists, counts = _tile_lists(other.solids, other_view, other_size)
    across = (other_size[1] + TILE - 1) // TILE
    for top in range(0, height, TILE):
        for left in range(0, width, TILE):
            count = visible(rects, left, top, ids)
            for row in range(top, min(top + TILE, height)):
                for column in range(left, min(left + TILE, width)):
                    dx, dy, dz = ray(view, column + 0.5, row + 0.5)
                    t, number, _ = first_hit(
                        world.solids, world.outlines, ids, count,
                        view.x, view.y, view.z, dx, dy, dz, 1e-6,
                    )  # fmt: skip
                    far = number < 0
                    if not far:
                        a, b, c = local(
                            world.solids[number],
                            view.x + t * dx, view.y + t * dy, view.z + t * dz,
                        )  # fmt: skip
                        dx, dy, dz = _direction(other.solids[number], other_view, a, b, c)
                    u, v, z = _project(other_view, dx, dy, dz)
                    px[row, column, 0] = u - (column + 0.5)
                    px[row, column, 1] = v - (row + 0.5)
                    depth[row, column] = math.inf if far else z
                    inside = z > 0.0 and 0.0 <= u < other_size[1] and 0.0 <= v < other_size[0]
                    seen[row, column] = False
                    if inside:
                        tile = int(v) // TILE * across + int(u) // TILE
                        seen[row, column] = not blocked(
                            other.solids, other.outlines, lists[tile], counts[tile],
                            other_view.x, other_view.y, other_view.z, dx, dy, dz,
                            1e-6, math.inf if far else 1.0 - _TOLERANCE,
                        )  # fmt: skip


@compiled
def _tile_lists(solids, view, size):
    """For each tile of a picture, row by row, the solids that may be seen in it."""
    height, width = size
    down, across = (height + TILE - 1) // TILE, (width + TILE - 1) // TILE
    rects = rectangles(solids, view)
    lists = np.empty((down * across, solids.shape[0]), np.int64)
    counts = np.empty(down * across, np.int64)
    for tile in range(down * across):
        counts[tile] = visible(rects, tile % across * TILE, tile // across * TILE, lists[tile])
    return lists, counts


@compiled
def _direction(solid, view, a, b, c):
    """From a camera to a point that is given in a solid's own coordinates."""
    x = solid.f00 * a + solid.f01 * b + solid.f02 * c + solid.cx
    y = solid.f10 * a + solid.f11 * b + solid.f12 * c + solid.cy
    z = solid.f20 * a + solid.f21 * b + solid.f22 * c + solid.cz
    return x - view.x, y - view.y, z - view.z


@compiled
def _project(view, dx, dy, dz):
    """Pixel coordinates and depth of a direction from the camera; NaN behind it."""
    x, y, z = to_camera(view, dx, dy, dz)
    if z <= 0.0:
        return math.nan, math.nan, z
    return view.focal_px * x / z + view.cx, view.focal_px * y / z + view.cy, z
