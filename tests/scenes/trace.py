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
from scenes.cull import TILE, holds, ray, rectangles, seen_box, shading, to_camera, visible
from scenes.intersect import first_hit
from scenes.shade import radiance, sky

SAMPLES = 8
TAPS = 8
_BRIGHTEST = 4.0  # a highlight counts at most this much in an average


@compiled
def trace(world, views, rgb, depth, normal, key):
    """First pass: fill all outputs from the rays through the pixel centres.

    Args:
        world: `scenes.pack.Packed`.
        views: ``(1,)`` of `scenes.pack.VIEW`.
        rgb: ``(H, W, 3)`` float32, linear.
        depth: ``(H, W)`` float64, z in metres, infinite where nothing is met.
        normal: ``(H, W, 3)`` float32 in camera axes, 0 where nothing is met.
        key: ``(H, W)`` int32: 32 * solid + 2 * face + lit; -1 where nothing is met.
    """
    view, setting = views[0], world.setting[0]
    height, width = depth.shape
    ids = np.empty(world.solids.shape[0], np.int64)
    box = np.empty(6)
    rects = rectangles(world.solids, view)
    ox, oy, oz = view.x, view.y, view.z
    pixel = 1.0 / view.focal_px
    for top in range(0, height, TILE):
        for left in range(0, width, TILE):
            count = visible(rects, left, top, ids)
            _depths(world, view, left, top, ids, count, depth, key)
            seen_box(setting, view, left, top, depth, box)
            count = shading(world.solids, setting, box, ids)
            for row in range(top, min(top + TILE, height)):
                for column in range(left, min(left + TILE, width)):
                    dx, dy, dz = ray(view, column + 0.5, row + 0.5)
                    found = key[row, column]
                    if found < 0:
                        r, g, b = sky(setting, world.tiles, dx, dy, dz, pixel)
                        nx, ny, nz = 0.0, 0.0, 0.0
                    else:
                        r, g, b, lit, nx, ny, nz = radiance(
                            world, found >> 5, (found >> 1) & 15, ids, count,
                            ox, oy, oz, dx, dy, dz, depth[row, column], pixel, TAPS,
                        )  # fmt: skip
                        key[row, column] = found | lit
                        nx, ny, nz = to_camera(view, nx, ny, nz)
                    _put(rgb, row, column, r, g, b)
                    _put(normal, row, column, nx, ny, nz)


@compiled
def _put(picture, row, column, a, b, c):
    picture[row, column, 0] = a
    picture[row, column, 1] = b
    picture[row, column, 2] = c


@compiled
def _depths(world, view, left, top, ids, count, depth, key):
    height, width = depth.shape
    for row in range(top, min(top + TILE, height)):
        for column in range(left, min(left + TILE, width)):
            dx, dy, dz = ray(view, column + 0.5, row + 0.5)
            t, solid, face = first_hit(
                world.solids, world.outlines, ids, count,
                view.x, view.y, view.z, dx, dy, dz, 1e-6,
            )  # fmt: skip
            depth[row, column] = t
            key[row, column] = -1 if solid < 0 else (solid << 5) | (face << 1)


@compiled
def smooth(world, views, rgb, depth, key):
    """Second pass: average `SAMPLES` rays in every pixel that `edge` names."""
    view, setting = views[0], world.setting[0]
    height, width = depth.shape
    total = world.solids.shape[0]
    ids, shade_ids = np.empty(total, np.int64), np.empty(total, np.int64)
    box = np.empty(6)
    rects = rectangles(world.solids, view)
    casters = np.flatnonzero(world.solids["casts"])
    for top in range(0, height, TILE):
        for left in range(0, width, TILE):
            count, shades = -1, 0
            for row in range(top, min(top + TILE, height)):
                for column in range(left, min(left + TILE, width)):
                    if not edge(key, row, column):
                        continue
                    if count < 0:
                        count = visible(rects, left, top, ids)
                        seen_box(setting, view, left, top, depth, box)
                        shades = shading(world.solids, setting, box, shade_ids)
                    r, g, b = _average(
                        world, view, row, column, ids, count, shade_ids, shades, casters, box
                    )
                    _put(rgb, row, column, r, g, b)


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
def _average(world, view, row, column, ids, count, shade_ids, shades, casters, box):
    """Mean light of several rays through one pixel."""
    setting = world.setting[0]
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
            r, g, b = sky(setting, world.tiles, dx, dy, dz, pixel)
        elif holds(setting, box, ox + t * dx, oy + t * dy, oz + t * dz):
            r, g, b, _, _, _, _ = radiance(
                world, solid, face, shade_ids, shades, ox, oy, oz, dx, dy, dz, t, pixel, 1
            )
        else:  # seen between the centres only, so the tile's list of shades may lack some
            r, g, b, _, _, _, _ = radiance(
                world, solid, face, casters, casters.shape[0],
                ox, oy, oz, dx, dy, dz, t, pixel, 1,
            )  # fmt: skip
        red += min(r, _BRIGHTEST)
        green += min(g, _BRIGHTEST)
        blue += min(b, _BRIGHTEST)
    return red / SAMPLES, green / SAMPLES, blue / SAMPLES


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
