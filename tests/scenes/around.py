"""What surrounds the objects of a scene: ground, walls, light, sky and air."""

from __future__ import annotations

import math

from scenes.build import Builder, Place
from scenes.describe import Billboard, Box, Light, Look, Material, Plane, Sky
from scenes.pose import Vector, pitch, yaw


def ground(b: Builder, *textures: str, tile_m: float = 1.5, tint: Vector | None = None) -> None:
    """The plane z = 0."""
    b.group()
    tint = b.gray(0.6, 1.0) if tint is None else tint
    b.add(Plane, (0, 0, 0), (1, 1, 1), b.material(*textures, tile_m=tile_m, tint=tint))


def walls(b: Builder, wide: float, ahead: float, behind: float, high: float) -> None:
    """Four walls and a ceiling, endless planes that cast no shadow."""
    plaster = b.material("plaster", "plaster", "plain", "stripes", "bricks", "dots", tile_m=1.2,
                         tint=b.gray(0.7, 1.1, 0.1))  # fmt: skip
    other = b.material("plaster", "plain", tile_m=1.5, tint=b.colour(0.6, 1.1))
    sides = (
        ((0.0, ahead, 0.0), 0.0, other if b.chance(0.4) else plaster),
        ((-wide, 0.0, 0.0), 90.0, plaster),
        ((wide, 0.0, 0.0), -90.0, plaster),
        ((0.0, -behind, 0.0), 180.0, plaster),
    )
    for at, turn, material in sides:
        b.group()
        upright = yaw(turn) @ pitch(90.0)  # the plane's own y goes up, its x to the right
        b.add(Plane, at, (1, 1, 1), material, upright, casts_shadow=False)
    b.group()
    b.add(Plane, (0, 0, high), (1, 1, 1), Material("plain", tint=(0.95, 0.95, 0.93)),
          casts_shadow=False)  # fmt: skip


def pictures(b: Builder, wide: float, ahead: float, behind: float) -> None:
    """Framed photos on three of those walls."""
    frame = b.material("wood", "plain", tint=b.gray(0.1, 1.0))
    spots = [Place(b.between(-0.7, 0.7) * wide, ahead, b.between(1.3, 1.8), 0.0)]
    for side, turn in ((-1, 90.0), (1, -90.0)):
        y = b.between(0.3, 0.8) * (ahead + behind) - behind
        spots.append(Place(side * wide, y, b.between(1.3, 1.8), turn))
    for spot in spots:
        if b.chance(0.8):
            b.group()
            x, z = b.between(0.2, 0.5), b.between(0.2, 0.45)
            photo = b.material("photo", "photo", "photo-pattern", tint=(1, 1, 1), fit=True)
            b.add(Box, spot.point(0, -0.012, 0), (x, 0.012, z), frame, spot.turn)
            card = spot.point(0, -0.026, 0)
            b.add(Billboard, card, (x - 0.03, 0.001, z - 0.03), photo, spot.turn)


def lamp(b: Builder, wide: float, ahead: float, high: float) -> Light:
    """A ceiling lamp of warmer or cooler white."""
    warm = b.between(0.0, 0.25)
    power = b.between(1.2, 2.2)
    return Light(
        towards=(b.between(-0.6, 0.6) * wide, b.between(0.2, 0.6) * ahead, high - 0.15),
        near=True, reach_m=b.between(2.0, 4.0),
        colour=(power, power * (1 - 0.5 * warm), power * (1 - warm)),
        above=(0.3, 0.3, 0.32), below=(0.2, 0.18, 0.16),
    )  # fmt: skip


def sun(b: Builder) -> Light:
    """Low and warm or high and white."""
    height, heading = math.radians(b.between(18, 60)), math.radians(b.between(0, 360))
    flat = math.cos(height)
    warm = 0.35 * flat
    towards = (flat * math.cos(heading), flat * math.sin(heading), math.sin(height))
    return Light(towards, colour=(1.1, 1.1 - 0.5 * warm, 1.1 - warm),
                 above=(0.26, 0.32, 0.42), below=(0.14, 0.13, 0.1))  # fmt: skip


def weather(b: Builder) -> Sky:
    """Overcast, or blue with some clouds."""
    if b.chance(0.3):  # overcast
        return Sky((0.62, 0.66, 0.72), (0.8, 0.82, 0.84), b.between(0.5, 1.0), b.count(0, 5))
    return Sky((0.12, 0.27, 0.62), (0.62, 0.74, 0.86), b.between(0.0, 0.8), b.count(0, 5))


def haze(b: Builder, sky: Sky, share: float, low: float, high: float) -> Look:
    """Fog in ``share`` of the scenes, with a reach between ``low`` and ``high`` metres."""
    if not b.chance(share):
        return Look()
    return Look(fog_m=b.between(low, high), fog_colour=sky.horizon)
