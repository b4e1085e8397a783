"""Rays through every pixel. Compiled.

Two passes. The first sends one ray through the centre of each pixel; depth, normal and
solid are its exact result. The second sends more rays, at jittered places, through pixels
that differ from a neighbour (another face, or light against shadow) and replaces their
colour; elsewhere the texture filter has already averaged over the pixel.
"""

from __future__ import annotations

import math

import numpy as np

from scenes.compiled import compiled
from scenes.describe import PLANE
from scenes.intersect import first_hit
from scenes.shade import radiance, sky

TILE = 16
SAMPLES = 8
TAPS = 8
_BRIGHTEST = 4.0  # a highlight counts at most this much in an average


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
def visible(solids, view, left, top, right, bottom, ids):
    """Solids whose sphere meets the cone around a rectangle of pixels, into ``ids``."""
    ux, uy, uz = ray(view, 0.5 * (left + right), 0.5 * (top + bottom))
    n = math.sqrt(ux * ux + uy * uy + uz * uz)
    ux, uy, uz = ux / n, uy / n, uz / n
    cosine = 1.0
    for u in (left, right):
        for v in (top, bottom):
            x, y, z = ray(view, u, v)
            n = math.sqrt(x * x + y * y + z * z)
            cosine = min(cosine, (x * ux + y * uy + z * uz) / n)
    opening = math.acos(min(cosine, 1.0)) + 1e-6
    count = 0
    for i in range(solids.shape[0]):
        solid = solids[i]
        keep = solid.shape == PLANE
        if not keep:
            x, y, z = solid.cx - view.x, solid.cy - view.y, solid.cz - view.z
            distance = math.sqrt(x * x + y * y + z * z)
            if distance <= solid.radius:
                keep = True
            else:
                angle = opening + math.asin(solid.radius / distance)
                keep = angle >= math.pi or x * ux + y * uy + z * uz >= distance * math.cos(angle)
        if keep:
            ids[count] = i
            count += 1
    return count


@compiled
def shading(solids, setting, cx, cy, cz, radius, ids):
    """Solids that may stand between the light and any point of a sphere, into ``ids``."""
    lx, ly, lz = setting.light_x, setting.light_y, setting.light_z
    reach = math.inf
    if setting.near:
        lx, ly, lz = lx - cx, ly - cy, lz - cz
        reach = math.sqrt(lx * lx + ly * ly + lz * lz) + 1e-9
        lx, ly, lz = lx / reach, ly / reach, lz / reach
    count = 0
    for i in range(solids.shape[0]):
        solid = solids[i]
        if not solid.casts:
            continue
        x, y, z = solid.cx - cx, solid.cy - cy, solid.cz - cz
        along = min(max(x * lx + y * ly + z * lz, 0.0), reach)
        x, y, z = x - along * lx, y - along * ly, z - along * lz
        gap = radius + solid.radius
        if solid.shape == PLANE or x * x + y * y + z * z <= gap * gap:
            ids[count] = i
            count += 1
    return count


@compiled
def trace(world, views, rgb, depth, normal, key):
    """First pass: fill all outputs from the rays through the pixel centres.

    Args:
        rgb: ``(H, W, 3)`` float32, linear.
        depth: ``(H, W)`` float64, z in metres, infinite where nothing is met.
        normal: ``(H, W, 3)`` float32 in camera axes, 0 where nothing is met.
        key: ``(H, W)`` int32: 32 * solid + 2 * face + lit; -1 where nothing is met.
    """
    view = views[0]
    height, width = depth.shape
    total = world.solids.shape[0]
    ids = np.empty(total, np.int64)
    shade_ids = np.empty(total, np.int64)
    ox, oy, oz = view.x, view.y, view.z
    pixel = 1.0 / view.focal_px
    for top in range(0, height, TILE):
        for left in range(0, width, TILE):
            bottom, right = min(top + TILE, height), min(left + TILE, width)
            count = visible(world.solids, view, left, top, right, bottom, ids)
            _depths(world, view, left, top, right, bottom, ids, count, depth, key)
            cx, cy, cz, radius = _bounds(view, left, top, right, bottom, depth)
            shades = shading(world.solids, world.setting[0], cx, cy, cz, radius, shade_ids)
            for row in range(top, bottom):
                for column in range(left, right):
                    dx, dy, dz = ray(view, column + 0.5, row + 0.5)
                    found = key[row, column]
                    if found < 0:
                        r, g, b = sky(world.setting[0], world.tiles, dx, dy, dz, pixel)
                        nx, ny, nz = 0.0, 0.0, 0.0
                    else:
                        r, g, b, lit, nx, ny, nz = radiance(
                            world, found >> 5, (found >> 1) & 15, shade_ids, shades,
                            ox, oy, oz, dx, dy, dz, depth[row, column], pixel, TAPS,
                        )  # fmt: skip
                        key[row, column] = found | lit
                    rgb[row, column, 0] = r
                    rgb[row, column, 1] = g
                    rgb[row, column, 2] = b
                    v = view
                    normal[row, column, 0] = v.r00 * nx + v.r10 * ny + v.r20 * nz
                    normal[row, column, 1] = v.r01 * nx + v.r11 * ny + v.r21 * nz
                    normal[row, column, 2] = v.r02 * nx + v.r12 * ny + v.r22 * nz


@compiled
def _depths(world, view, left, top, right, bottom, ids, count, depth, key):
    for row in range(top, bottom):
        for column in range(left, right):
            dx, dy, dz = ray(view, column + 0.5, row + 0.5)
            t, solid, face = first_hit(
                world.solids, world.outlines, ids, count,
                view.x, view.y, view.z, dx, dy, dz, 1e-6,
            )  # fmt: skip
            depth[row, column] = t
            key[row, column] = -1 if solid < 0 else (solid << 5) | (face << 1)


@compiled
def _bounds(view, left, top, right, bottom, depth):
    """A sphere around all points seen in a tile: centre and radius (0 without a point)."""
    x0, y0, z0 = math.inf, math.inf, math.inf
    x1, y1, z1 = -math.inf, -math.inf, -math.inf
    for row in range(top, bottom):
        for column in range(left, right):
            t = depth[row, column]
            if t < math.inf:
                dx, dy, dz = ray(view, column + 0.5, row + 0.5)
                x, y, z = view.x + t * dx, view.y + t * dy, view.z + t * dz
                x0, y0, z0 = min(x0, x), min(y0, y), min(z0, z)
                x1, y1, z1 = max(x1, x), max(y1, y), max(z1, z)
    if x0 > x1:
        return 0.0, 0.0, 0.0, 0.0
    radius = 0.5 * math.sqrt((x1 - x0) ** 2 + (y1 - y0) ** 2 + (z1 - z0) ** 2) + 1e-3
    return 0.5 * (x0 + x1), 0.5 * (y0 + y1), 0.5 * (z0 + z1), radius


@compiled
def smooth(world, views, rgb, depth, key):
    """Second pass: average `SAMPLES` rays in every pixel that `edge` names."""
    view = views[0]
    height, width = depth.shape
    total = world.solids.shape[0]
    ids = np.empty(total, np.int64)
    shade_ids = np.empty(total, np.int64)
    casters = np.flatnonzero(world.solids["casts"])
    for top in range(0, height, TILE):
        for left in range(0, width, TILE):
            bottom, right = min(top + TILE, height), min(left + TILE, width)
            ready = False
            count, shades, cx, cy, cz, radius = 0, 0, 0.0, 0.0, 0.0, 0.0
            for row in range(top, bottom):
                for column in range(left, right):
                    if not edge(key, row, column):
                        continue
                    if not ready:
                        count = visible(world.solids, view, left, top, right, bottom, ids)
                        cx, cy, cz, radius = _bounds(view, left, top, right, bottom, depth)
                        shades = shading(
                            world.solids, world.setting[0], cx, cy, cz, radius, shade_ids
                        )
                        ready = True
                    _average(
                        world, view, row, column, ids, count, shade_ids, shades, casters,
                        cx, cy, cz, radius, rgb,
                    )  # fmt: skip


@compiled
def edge(key, row, column):
    """Whether a pixel's face or lighting differs from any of its eight neighbours."""
    height, width = key.shape
    own = key[row, column]
    for r in range(max(row - 1, 0), min(row + 2, height)):
        for c in range(max(column - 1, 0), min(column + 2, width)):
            if key[r, c] != own:
                return True
    return False


@compiled
def _average(
    world, view, row, column, ids, count, shade_ids, shades, casters, cx, cy, cz, radius, rgb
):
    ox, oy, oz = view.x, view.y, view.z
    pixel = 1.0 / (view.focal_px * math.sqrt(SAMPLES))  # each sample stands for a share
    red, green, blue = 0.0, 0.0, 0.0
    shift_u, shift_v = jitter(row, column)
    for k in range(SAMPLES):
        # The R2 sequence, shifted by another amount in each pixel: even, and not regular.
        u = column + (shift_u + k * 0.7548776662466927) % 1.0
        v = row + (shift_v + k * 0.5698402909980532) % 1.0
        dx, dy, dz = ray(view, u, v)
        t, solid, face = first_hit(
            world.solids, world.outlines, ids, count, ox, oy, oz, dx, dy, dz, 1e-6
        )
        if solid < 0:
            r, g, b = sky(world.setting[0], world.tiles, dx, dy, dz, pixel)
        else:
            x, y, z = ox + t * dx - cx, oy + t * dy - cy, oz + t * dz - cz
            if x * x + y * y + z * z <= radius * radius:
                r, g, b, _, _, _, _ = radiance(
                    world, solid, face, shade_ids, shades, ox, oy, oz, dx, dy, dz, t, pixel, 1
                )
            else:  # seen between the centres only, so not in the tile's bounds
                r, g, b, _, _, _, _ = radiance(
                    world, solid, face, casters, casters.shape[0],
                    ox, oy, oz, dx, dy, dz, t, pixel, 1,
                )  # fmt: skip
        red += min(r, _BRIGHTEST)
        green += min(g, _BRIGHTEST)
        blue += min(b, _BRIGHTEST)
    rgb[row, column, 0] = red / SAMPLES
    rgb[row, column, 1] = green / SAMPLES
    rgb[row, column, 2] = blue / SAMPLES


@compiled
def jitter(row, column):
    """Two numbers in [0, 1) that depend on the pixel only."""
    n = np.uint32(row) * np.uint32(0x9E3779B1) ^ np.uint32(column) * np.uint32(0x85EBCA77)
    n ^= n >> np.uint32(15)
    n = np.uint32(n * np.uint32(0x2C1B3C6D))
    n ^= n >> np.uint32(12)
    n = np.uint32(n * np.uint32(0x297A2D39))
    n ^= n >> np.uint32(15)
    return (n & np.uint32(0xFFFF)) / 65536.0, (n >> np.uint32(16)) / 65536.0
