"""Where a ray meets a solid. Compiled; strict floating point.

A ray is ``origin + t * direction``. Directions need not have length 1: for rays of a camera
the direction has a forward part of 1, so that t is the depth z itself.
"""

from __future__ import annotations

import math

from scenes.compiled import compiled
from scenes.describe import BILLBOARD, BOX, CYLINDER, ELLIPSOID, PLANE

BOX_X, BOX_Y, BOX_Z, ROUND, SIDE, CAP, FLAT, CARD = range(8)
"""Faces: three pairs of a box, an ellipsoid, a cylinder's side and ends, a plane, a billboard."""

MISS = -1


@compiled
def local(solid, px, py, pz):
    """A world point in the solid's own coordinates, in which its shape has half size 1."""
    return turn(solid, px - solid.cx, py - solid.cy, pz - solid.cz)


@compiled
def turn(solid, x, y, z):
    """A world direction in the solid's own coordinates."""
    return (
        solid.i00 * x + solid.i01 * y + solid.i02 * z,
        solid.i10 * x + solid.i11 * y + solid.i12 * z,
        solid.i20 * x + solid.i21 * y + solid.i22 * z,
    )


@compiled
def hit(solid, outlines, ox, oy, oz, dx, dy, dz, t_min, t_max):
    """First meeting with a solid between ``t_min`` and ``t_max``: ``t, face``.

    ``t_max, MISS`` without one.
    """
    ax, ay, az = local(solid, ox, oy, oz)
    bx, by, bz = turn(solid, dx, dy, dz)
    shape = solid.shape
    if shape == BOX:
        return _box(ax, ay, az, bx, by, bz, t_min, t_max)
    if shape == ELLIPSOID:
        t = _quadric(ax, ay, az, bx, by, bz, t_min)
        if t < t_max:
            return t, ROUND
    elif shape == CYLINDER:
        return _cylinder(ax, ay, az, bx, by, bz, t_min, t_max)
    elif shape == PLANE:
        if bz != 0.0:
            t = -az / bz
            if t_min < t < t_max:
                return t, FLAT
    elif shape == BILLBOARD and by != 0.0:
        t = -ay / by
        if t_min < t < t_max:
            x = ax + t * bx
            z = az + t * bz
            if -1.0 <= x <= 1.0 and -1.0 <= z <= 1.0 and inside(solid, outlines, x, z):
                return t, CARD
    return t_max, MISS


@compiled
def _box(ax, ay, az, bx, by, bz, t_min, t_max):
    """Slabs. From inside, the wall that is left through."""
    enter, leave = -math.inf, math.inf
    face_in, face_out = BOX_X, BOX_X
    for a, b, face in ((ax, bx, BOX_X), (ay, by, BOX_Y), (az, bz, BOX_Z)):
        if b == 0.0:
            if a < -1.0 or a > 1.0:
                return t_max, MISS
            continue
        near, far = (-1.0 - a) / b, (1.0 - a) / b
        if near > far:
            near, far = far, near
        if near > enter:
            enter, face_in = near, face
        if far < leave:
            leave, face_out = far, face
    if enter > leave:
        return t_max, MISS
    if t_min < enter < t_max:
        return enter, face_in
    if enter <= t_min < leave < t_max:
        return leave, face_out
    return t_max, MISS


@compiled
def _quadric(ax, ay, az, bx, by, bz, t_min):
    """Unit sphere (with ``az = bz = 0`` a unit cylinder): t, or infinity."""
    a = bx * bx + by * by + bz * bz
    half_b = ax * bx + ay * by + az * bz
    c = ax * ax + ay * ay + az * az - 1.0
    square = half_b * half_b - a * c
    if square <= 0.0 or a == 0.0:
        return math.inf
    root = math.sqrt(square)
    # The form that does not cancel: q and c/q are the two solutions.
    q = -half_b - root if half_b > 0.0 else -half_b + root
    first = q / a
    second = c / q if q != 0.0 else first
    if first > second:
        first, second = second, first
    if first > t_min:
        return first
    if second > t_min:
        return second
    return math.inf


@compiled
def _cylinder(ax, ay, az, bx, by, bz, t_min, t_max):
    best = t_max
    face = MISS
    t = _quadric(ax, ay, 0.0, bx, by, 0.0, t_min)
    if t < best and abs(az + t * bz) <= 1.0:
        best = t
        face = SIDE
    if bz != 0.0:
        for end in (-1.0, 1.0):
            t = (end - az) / bz
            if t_min < t < best:
                x = ax + t * bx
                y = ay + t * by
                if x * x + y * y <= 1.0:
                    best = t
                    face = CAP
    return best, face


@compiled
def inside(solid, outlines, x, z):
    """Whether a point of a billboard, from -1 to 1, lies inside its outline."""
    number = solid.outline
    if number < 0:
        return True
    side = outlines.shape[1]
    column = (x + 1.0) * 0.5 * side - 0.5
    row = (1.0 - z) * 0.5 * side - 0.5
    column = min(max(column, 0.0), side - 1.0)
    row = min(max(row, 0.0), side - 1.0)
    c0 = min(int(column), side - 2)
    r0 = min(int(row), side - 2)
    fc = column - c0
    fr = row - r0
    top = outlines[number, r0, c0] * (1.0 - fc) + outlines[number, r0, c0 + 1] * fc
    low = outlines[number, r0 + 1, c0] * (1.0 - fc) + outlines[number, r0 + 1, c0 + 1] * fc
    return top * (1.0 - fr) + low * fr >= 127.5


@compiled
def first_hit(solids, outlines, ids, count, ox, oy, oz, dx, dy, dz, t_min):
    """Nearest meeting with the first ``count`` solids of ``ids``: ``t, number, face``.

    ``inf, -1, MISS`` when nothing is met.
    """
    best = math.inf
    number = -1
    face = MISS
    for k in range(count):
        t, f = hit(solids[ids[k]], outlines, ox, oy, oz, dx, dy, dz, t_min, best)
        if f != MISS:
            best = t
            number = ids[k]
            face = f
    return best, number, face


@compiled
def blocked(solids, outlines, ids, count, ox, oy, oz, dx, dy, dz, t_min, t_max):
    """Whether any of the first ``count`` solids of ``ids`` lies on the way."""
    for k in range(count):
        _, face = hit(solids[ids[k]], outlines, ox, oy, oz, dx, dy, dz, t_min, t_max)
        if face != MISS:
            return True
    return False
