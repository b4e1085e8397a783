"""Which solids a tile of the picture needs: those it may show, and those that may shade it."""

from __future__ import annotations

import math

import numpy as np

from scenes.compiled import compiled
from scenes.describe import PLANE

TILE = 16
_NEAR = 1e-6  # metres; rays start here
_MARGIN_PX = 0.01


@compiled
def ray(view, u, v):
    """Direction through pixel coordinates ``u, v``, with a forward part of 1.

    ``view`` is a record of `scenes.pack.VIEW`.
    """
    x = (u - view.cx) / view.focal_px
    y = (v - view.cy) / view.focal_px
    return (
        view.r00 * x + view.r01 * y + view.r02,
        view.r10 * x + view.r11 * y + view.r12,
        view.r20 * x + view.r21 * y + view.r22,
    )


@compiled
def to_camera(view, x, y, z):
    """A direction of the world in camera axes."""
    return (
        view.r00 * x + view.r10 * y + view.r20 * z,
        view.r01 * x + view.r11 * y + view.r21 * z,
        view.r02 * x + view.r12 * y + view.r22 * z,
    )


@compiled
def rectangles(solids, view):
    """``(N, 4)``: left, top, right, bottom of each solid's box in the picture, pixels.

    A box that reaches behind the camera is cut off there; one behind it has ``left > right``.
    """
    result = np.empty((solids.shape[0], 4))
    corners = np.empty((8, 3))
    for i in range(solids.shape[0]):
        s = solids[i]
        left, top, right, bottom = math.inf, math.inf, -math.inf, -math.inf
        if s.shape == PLANE:
            left, top, right, bottom = -math.inf, -math.inf, math.inf, math.inf
        else:
            for k in range(8):
                a, b, c = (k & 1) * 2.0 - 1.0, (k & 2) - 1.0, (k & 4) * 0.5 - 1.0
                x, y, z = to_camera(
                    view,
                    s.cx + s.f00 * a + s.f01 * b + s.f02 * c - view.x,
                    s.cy + s.f10 * a + s.f11 * b + s.f12 * c - view.y,
                    s.cz + s.f20 * a + s.f21 * b + s.f22 * c - view.z,
                )
                corners[k, 0], corners[k, 1], corners[k, 2] = x, y, z
            for k in range(8):
                for other in (k, k ^ 1, k ^ 2, k ^ 4):  # the corner, then its edges
                    x, y, z = corners[k, 0], corners[k, 1], corners[k, 2]
                    if other == k:
                        if z < _NEAR:
                            continue
                    else:
                        if z < _NEAR or corners[other, 2] >= _NEAR:
                            continue
                        part = (z - _NEAR) / (z - corners[other, 2])
                        x += part * (corners[other, 0] - x)
                        y += part * (corners[other, 1] - y)
                        z = _NEAR
                    u, v = view.focal_px * x / z + view.cx, view.focal_px * y / z + view.cy
                    left, right = min(left, u), max(right, u)
                    top, bottom = min(top, v), max(bottom, v)
        result[i, 0], result[i, 1] = left - _MARGIN_PX, top - _MARGIN_PX
        result[i, 2], result[i, 3] = right + _MARGIN_PX, bottom + _MARGIN_PX
    return result


@compiled
def visible(boxes, left, top, ids):
    """Solids whose rectangle meets the tile at ``left, top``, into ``ids``; how many."""
    count = 0
    for i in range(boxes.shape[0]):
        if (
            boxes[i, 0] <= left + TILE
            and boxes[i, 2] >= left
            and boxes[i, 1] <= top + TILE
            and boxes[i, 3] >= top
        ):
            ids[count] = i
            count += 1
    return count


@compiled
def to_light(setting, x, y, z):
    """Coordinates across and along the direction of the light; for a lamp those of the world."""
    return (
        setting.l00 * x + setting.l01 * y + setting.l02 * z,
        setting.l10 * x + setting.l11 * y + setting.l12 * z,
        setting.l20 * x + setting.l21 * y + setting.l22 * z,
    )


@compiled
def seen_box(setting, view, left, top, depth, box):
    """Fill ``box`` with the bounds in light coordinates of all points seen in a tile.

    Six numbers, lows then highs; the lows are infinite when nothing is seen.
    """
    height, width = depth.shape
    box[:3] = math.inf
    box[3:] = -math.inf
    for row in range(top, min(top + TILE, height)):
        for column in range(left, min(left + TILE, width)):
            t = depth[row, column]
            if t < math.inf:
                dx, dy, dz = ray(view, column + 0.5, row + 0.5)
                a, b, c = to_light(setting, view.x + t * dx, view.y + t * dy, view.z + t * dz)
                box[0], box[3] = min(box[0], a), max(box[3], a)
                box[1], box[4] = min(box[1], b), max(box[4], b)
                box[2], box[5] = min(box[2], c), max(box[5], c)
    # A millimetre for rounding, and for points between those that were looked at.
    box[:3] -= 1e-3
    box[3:] += 1e-3


@compiled
def holds(setting, box, x, y, z):
    """Whether a point of the world lies in a box of `seen_box`."""
    a, b, c = to_light(setting, x, y, z)
    return box[0] <= a <= box[3] and box[1] <= b <= box[4] and box[2] <= c <= box[5]


@compiled
def shading(solids, setting, box, ids):
    """Solids that may stand between the light and a point of ``box``, into ``ids``; how many."""
    if box[0] > box[3]:
        return 0
    a, b, c = 0.5 * (box[0] + box[3]), 0.5 * (box[1] + box[4]), 0.5 * (box[2] + box[5])
    wide, high, deep = box[3] - a, box[4] - b, box[5] - c
    count = 0
    for i in range(solids.shape[0]):
        s = solids[i]
        if not s.casts:
            continue
        keep = s.shape == PLANE
        if not keep and setting.near:
            keep = _near_segment(setting, s, a, b, c, math.sqrt(wide**2 + high**2 + deep**2))
        elif not keep:
            x, y, z = to_light(setting, s.cx, s.cy, s.cz)
            x0, y0, z0 = to_light(setting, s.f00, s.f10, s.f20)
            x1, y1, z1 = to_light(setting, s.f01, s.f11, s.f21)
            x2, y2, z2 = to_light(setting, s.f02, s.f12, s.f22)
            keep = (
                abs(x - a) <= wide + abs(x0) + abs(x1) + abs(x2)
                and abs(y - b) <= high + abs(y0) + abs(y1) + abs(y2)
                and z + abs(z0) + abs(z1) + abs(z2) >= box[2]
            )
        if keep:
            ids[count] = i
            count += 1
    return count


@compiled
def _near_segment(setting, solid, x, y, z, radius):
    """Whether a solid's sphere comes near the way from a sphere of points to the lamp."""
    lx, ly, lz = setting.light_x - x, setting.light_y - y, setting.light_z - z
    reach = math.sqrt(lx * lx + ly * ly + lz * lz) + 1e-9
    lx, ly, lz = lx / reach, ly / reach, lz / reach
    dx, dy, dz = solid.cx - x, solid.cy - y, solid.cz - z
    along = min(max(dx * lx + dy * ly + dz * lz, 0.0), reach)
    dx, dy, dz = dx - along * lx, dy - along * ly, dz - along * lz
    gap = radius + solid.radius
    return dx * dx + dy * dy + dz * dz <= gap * gap
