"""The light that comes from a point of a surface, or from the sky. Compiled.

Colours are linear RGB. Textures are filtered over the footprint of a pixel: trilinear in
the mip pyramid, with several taps along the direction in which a slanted surface
stretches the footprint.
"""

from __future__ import annotations

import math

from scenes.compiled import compiled
from scenes.intersect import (
    BOX_X,
    BOX_Y,
    BOX_Z,
    CAP,
    CARD,
    FLAT,
    ROUND,
    SIDE,
    blocked,
    local,
    turn,
)
from scenes.textures import LEVELS
from scenes.textures import SIDE as TILE_SIDE

_SHARPNESS = 24.0  # exponent of the highlight


@compiled
def bilinear(tiles, tile, level, u, v):
    """Linear reflectance at ``u, v`` (in tiles) of one mip level."""
    side = TILE_SIDE >> level
    # Levels lie one after the other: 256² + 128² + … texels come before this one.
    start = (TILE_SIDE * TILE_SIDE - side * side) * 4 // 3
    x = (u - math.floor(u)) * side - 0.5
    y = (v - math.floor(v)) * side - 0.5
    x0 = math.floor(x)
    y0 = math.floor(y)
    fx = x - x0
    fy = y - y0
    c0 = int(x0) & (side - 1)
    r0 = int(y0) & (side - 1)
    c1 = (c0 + 1) & (side - 1)
    r1 = (r0 + 1) & (side - 1)
    k00 = start + r0 * side + c0
    k01 = start + r0 * side + c1
    k10 = start + r1 * side + c0
    k11 = start + r1 * side + c1
    # Texels hold the square root of 255² times the reflectance.
    w00 = (1.0 - fx) * (1.0 - fy) / 65025.0
    w01 = fx * (1.0 - fy) / 65025.0
    w10 = (1.0 - fx) * fy / 65025.0
    w11 = fx * fy / 65025.0
    red = _mix(tiles, tile, 0, k00, k01, k10, k11, w00, w01, w10, w11)
    green = _mix(tiles, tile, 1, k00, k01, k10, k11, w00, w01, w10, w11)
    blue = _mix(tiles, tile, 2, k00, k01, k10, k11, w00, w01, w10, w11)
    return red, green, blue


@compiled
def _mix(tiles, tile, channel, k00, k01, k10, k11, w00, w01, w10, w11):
    a = float(tiles[tile, k00, channel])
    b = float(tiles[tile, k01, channel])
    c = float(tiles[tile, k10, channel])
    d = float(tiles[tile, k11, channel])
    return a * a * w00 + b * b * w01 + c * c * w10 + d * d * w11


@compiled
def mip_level(footprint):
    """Level whose texels are as large as a ``footprint`` in tiles, and the part of the next."""
    level = min(math.log2(max(footprint * TILE_SIDE, 1.0)), LEVELS - 1.0)
    low = min(int(level), LEVELS - 2)
    return low, level - low


@compiled
def trilinear(tiles, tile, u, v, low, part):
    """Reflectance around ``u, v``, averaged as `mip_level` says."""
    r0, g0, b0 = bilinear(tiles, tile, low, u, v)
    if part == 0.0:
        return r0, g0, b0
    r1, g1, b1 = bilinear(tiles, tile, low + 1, u, v)
    return r0 + (r1 - r0) * part, g0 + (g1 - g0) * part, b0 + (b1 - b0) * part


@compiled
def coordinates(solid, face, x, y, z):
    """Texture coordinates in tiles of a point in the solid's own unit coordinates."""
    hx, hy, hz, tile_m = solid.hx, solid.hy, solid.hz, solid.tile_m
    if face in (ROUND, SIDE):
        # A whole number of tiles around, so that there is no seam.
        around = math.pi * (hx + hy)
        u = math.atan2(y, x) / (2.0 * math.pi) * max(1.0, math.floor(around / tile_m + 0.5))
        v = -math.asin(min(max(z, -1.0), 1.0)) * hz / tile_m if face == ROUND else -z * hz / tile_m
    elif solid.fit:
        if face == BOX_X:
            u, v = 0.5 * (y + 1.0), 0.5 * (1.0 - z)
        elif face in (BOX_Z, CAP):
            u, v = 0.5 * (x + 1.0), 0.5 * (1.0 - y)
        else:
            u, v = 0.5 * (x + 1.0), 0.5 * (1.0 - z)
    elif face == BOX_X:
        u, v = y * hy / tile_m, -z * hz / tile_m
    elif face in (BOX_Z, CAP):
        u, v = x * hx / tile_m, -y * hy / tile_m
    elif face == FLAT:
        u, v = x / tile_m, -y / tile_m
    else:  # BOX_Y, CARD
        u, v = x * hx / tile_m, -z * hz / tile_m
    return u + solid.shift_u, v + solid.shift_v


@compiled
def normal_at(solid, face, x, y, z, dx, dy, dz):
    """Unit normal in the world, on the side that a ray of direction d comes from."""
    nx, ny, nz = 0.0, 0.0, 0.0
    if face == BOX_X:
        nx = 1.0
    elif face in (BOX_Y, CARD):
        ny = 1.0
    elif face in (BOX_Z, CAP, FLAT):
        nz = 1.0
    elif face == SIDE:
        nx, ny = x, y
    else:
        nx, ny, nz = x, y, z
    # Normals turn with the inverse transposed.
    wx = solid.i00 * nx + solid.i10 * ny + solid.i20 * nz
    wy = solid.i01 * nx + solid.i11 * ny + solid.i21 * nz
    wz = solid.i02 * nx + solid.i12 * ny + solid.i22 * nz
    length = math.sqrt(wx * wx + wy * wy + wz * wz)
    if wx * dx + wy * dy + wz * dz > 0.0:
        length = -length
    return wx / length, wy / length, wz / length


@compiled
def reflectance(solid, tiles, face, x, y, z, nx, ny, nz, dx, dy, dz, width, most):
    """Filtered texture times tint. ``d`` has length 1; ``width`` is a pixel's, in metres.

    ``most`` taps are taken along a stretched footprint.
    """
    tile = solid.tile
    u, v = coordinates(solid, face, x, y, z)
    across = solid.hx * 2.0 if solid.fit else solid.tile_m
    facing = max(abs(nx * dx + ny * dy + nz * dz), 1e-3)
    if face in (ROUND, SIDE) or facing > 0.7:
        low, part = mip_level(width / across / math.sqrt(facing))
        r, g, b = trilinear(tiles, tile, u, v, low, part)
    else:
        # The long axis of the footprint: the ray laid down on the surface.
        along = nx * dx + ny * dy + nz * dz
        ax, ay, az = dx - along * nx, dy - along * ny, dz - along * nz
        scale = width / (facing * math.sqrt(ax * ax + ay * ay + az * az))
        lx, ly, lz = turn(solid, ax * scale, ay * scale, az * scale)
        u1, v1 = coordinates(solid, face, x + lx, y + ly, z + lz)
        taps = min(int(1.0 / facing + 0.5), most)
        low, part = mip_level(width / across * max(1.0, 1.0 / (facing * taps)))
        r, g, b = 0.0, 0.0, 0.0
        for k in range(taps):
            s = (k + 0.5) / taps - 0.5
            tr, tg, tb = trilinear(tiles, tile, u + (u1 - u) * s, v + (v1 - v) * s, low, part)
            r += tr / taps
            g += tg / taps
            b += tb / taps
    return r * solid.tint_r, g * solid.tint_g, b * solid.tint_b


@compiled
def radiance(world, number, face, ids, count, ox, oy, oz, dx, dy, dz, t, pixel, most):
    """Light from solid ``number`` along the ray, and whether the light reaches it.

    Args:
        world: `scenes.pack.Packed`.
        ids, count: solids that may cast a shadow on the point.
        t: of the meeting; ``d`` has any length.
        pixel: angle of a pixel, radians.
        most: taps along a stretched footprint.

    Returns:
        red, green, blue, lit, and the unit normal.
    """
    solid = world.solids[number]
    setting = world.setting[0]
    px, py, pz = ox + t * dx, oy + t * dy, oz + t * dz
    length = math.sqrt(dx * dx + dy * dy + dz * dz)
    ux, uy, uz = dx / length, dy / length, dz / length
    way = t * length
    x, y, z = local(solid, px, py, pz)
    nx, ny, nz = normal_at(solid, face, x, y, z, ux, uy, uz)
    width = way * pixel
    r, g, b = reflectance(solid, world.tiles, face, x, y, z, nx, ny, nz, ux, uy, uz, width, most)
    lx, ly, lz, reach, fall = _towards_light(setting, px, py, pz)
    direct = nx * lx + ny * ly + nz * lz
    shine = 0.0
    lit = direct > 0.0
    if lit:
        lift = 1e-6 * (1.0 + way)  # off the surface, so that it does not shade itself
        lit = not blocked(
            world.solids, world.outlines, ids, count,
            px + nx * lift, py + ny * lift, pz + nz * lift, lx, ly, lz, lift, reach,
        )  # fmt: skip
    if lit and solid.gloss > 0.0:
        hx, hy, hz = lx - ux, ly - uy, lz - uz
        h = (hx * nx + hy * ny + hz * nz) / math.sqrt(hx * hx + hy * hy + hz * hz)
        shine = solid.gloss * fall * max(h, 0.0) ** _SHARPNESS
    direct = direct * fall if lit else 0.0
    up = 0.5 + 0.5 * nz
    # Surfaces seen edge-on get a little less, as corners do.
    dim = 0.8 + 0.2 * abs(ux * nx + uy * ny + uz * nz)
    above, below = dim * up, dim * (1.0 - up)
    s = setting
    r = r * (above * s.above_r + below * s.below_r + direct * s.light_r) + shine * s.light_r
    g = g * (above * s.above_g + below * s.below_g + direct * s.light_g) + shine * s.light_g
    b = b * (above * s.above_b + below * s.below_b + direct * s.light_b) + shine * s.light_b
    if s.fog_m < math.inf:
        keep = math.exp(-way / s.fog_m)
        r = s.fog_r + (r - s.fog_r) * keep
        g = s.fog_g + (g - s.fog_g) * keep
        b = s.fog_b + (b - s.fog_b) * keep
    return r, g, b, lit, nx, ny, nz


@compiled
def _towards_light(setting, px, py, pz):
    """Unit direction to the light, its distance, and what is left of it at that distance."""
    lx, ly, lz = setting.light_x, setting.light_y, setting.light_z
    if not setting.near:
        return lx, ly, lz, math.inf, 1.0
    lx, ly, lz = lx - px, ly - py, lz - pz
    reach = math.sqrt(lx * lx + ly * ly + lz * lz) + 1e-9
    fall = 1.0 / (1.0 + (reach / setting.reach_m) ** 2)
    return lx / reach, ly / reach, lz / reach, reach, fall


@compiled
def sky(setting, tiles, dx, dy, dz, pixel):
    """Light from beyond all solids."""
    s = setting
    length = math.sqrt(dx * dx + dy * dy + dz * dz)
    ux, uy, up = dx / length, dy / length, dz / length
    if s.fog_m < math.inf and up <= 0.0:
        return s.fog_r, s.fog_g, s.fog_b
    high = math.sqrt(max(up, 0.0))
    r = s.zenith_r * high + s.horizon_r * (1.0 - high)
    g = s.zenith_g * high + s.horizon_g * (1.0 - high)
    b = s.zenith_b * high + s.horizon_b * (1.0 - high)
    if s.clouds > 0.0 and up > 0.0:
        # A flat ceiling of clouds, bent down at the horizon.
        scale = 0.35 / (up + 0.15)
        low, part = mip_level(pixel * scale * scale * 8.0)
        c, _, _ = trilinear(tiles, s.cloud_tile, ux * scale, uy * scale, low, part)
        cover = min(max((math.sqrt(c) - 0.75 + 0.6 * s.clouds) * 3.0, 0.0), 1.0)
        cover *= min(up * 6.0, 1.0)
        r += (0.95 - r) * cover
        g += (0.95 - g) * cover
        b += (0.97 - b) * cover
    return r, g, b
