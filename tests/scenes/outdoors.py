"""Things found in streets and fields, and people. Sizes in metres."""

from __future__ import annotations

import numpy as np

from scenes.build import Builder, Place
from scenes.describe import Billboard, Box, Cylinder, Ellipsoid, Material
from scenes.pose import Array, pitch, roll, yaw

_SKIN = ((0.95, 0.68, 0.55), (0.75, 0.5, 0.36), (0.45, 0.28, 0.2), (1.0, 0.75, 0.62))


def any_turn(b: Builder) -> Array:
    """A rotation, evenly from all."""
    q, r = np.linalg.qr(b.rng.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return np.asarray(q if np.linalg.det(q) > 0 else -q)


def person(b: Builder, place: Place, height: float = 1.75) -> int:
    """A standing figure; returns its group."""
    group = b.group()
    skin = Material("plaster", 0, 0.3, _SKIN[b.count(0, 3)], 0.08)
    shirt = b.material("cloth", "stripes", "plain", "dots", tile_m=0.25)
    trousers = b.material("cloth", "plain", tile_m=0.3, tint=b.colour(0.12, 0.6))
    hair = Material("bark", b.count(0, 5), 0.12, b.gray(0.08, 0.6, 0.2))
    h, broad, turn = height, b.between(0.9, 1.15), place.turn
    for side in (-1, 1):
        step = b.between(-0.05, 0.05) * h
        at = place.point(side * 0.055 * h, step, 0.25 * h)
        b.add(Cylinder, at, (0.043 * h, 0.048 * h, 0.25 * h), trousers, turn)
        b.add(
            Box, place.point(side * 0.055 * h, step - 0.03 * h, 0.018 * h),
            (0.04 * h, 0.075 * h, 0.018 * h), hair, turn,
        )  # fmt: skip
        arm = turn @ roll(-side * b.between(4, 14)) @ pitch(b.between(-15, 15))
        at = place.point(side * 0.155 * h * broad, 0, 0.64 * h)
        b.add(Ellipsoid, at, (0.035 * h, 0.038 * h, 0.17 * h), shirt, arm)
        at = at + arm @ np.array([0.0, 0.0, -0.19 * h])
        b.add(Ellipsoid, at, (0.026 * h, 0.03 * h, 0.05 * h), skin, arm)
    b.add(
        Ellipsoid, place.point(0, 0, 0.66 * h), (0.13 * h * broad, 0.085 * h, 0.2 * h), shirt, turn
    )
    head(b, place, 0.92 * h, h / 1.75, skin, hair)
    return group


def head(b: Builder, place: Place, z: float, scale: float, skin: Material, hair: Material) -> None:
    """A head looking along the place's -y, its middle at height ``z``."""
    s, turn = scale, place.turn
    b.add(Cylinder, place.point(0, 0.01 * s, z - 0.14 * s), (0.055 * s, 0.055 * s, 0.08 * s), skin)
    b.add(Ellipsoid, place.point(0, 0, z), (0.078 * s, 0.095 * s, 0.118 * s), skin, turn)
    b.add(
        Ellipsoid,
        place.point(0, 0.03 * s, z + 0.035 * s),
        (0.088 * s, 0.09 * s, 0.1 * s),
        hair,
        turn,
    )
    b.add(Ellipsoid, place.point(0, -0.095 * s, z - 0.015 * s), (0.014 * s, 0.02 * s, 0.026 * s),
          skin, turn)  # fmt: skip
    white, pupil = Material(tint=(1.0, 1.0, 1.0), gloss=0.4), Material(tint=(0.03, 0.03, 0.04))
    lips = Material(tint=(0.6, 0.25, 0.22), gloss=0.2)
    for side in (-1, 1):
        eye = place.point(side * 0.031 * s, -0.083 * s, z + 0.018 * s)
        b.add(Ellipsoid, eye, (0.015 * s, 0.009 * s, 0.008 * s), white, turn)
        iris = place.point(side * 0.031 * s, -0.0905 * s, z + 0.018 * s)
        b.add(Ellipsoid, iris, (0.006 * s, 0.003 * s, 0.006 * s), pupil, turn)
        ear = place.point(side * 0.08 * s, 0.005 * s, z)
        b.add(Ellipsoid, ear, (0.012 * s, 0.022 * s, 0.032 * s), skin, turn)
    b.add(Ellipsoid, place.point(0, -0.082 * s, z - 0.058 * s), (0.026 * s, 0.01 * s, 0.008 * s),
          lips, turn)  # fmt: skip


def bust(b: Builder, place: Place, eye_height: float) -> int:
    """Head and shoulders, life size; returns its group."""
    group = b.group()
    skin = Material("plaster", 0, 0.3, _SKIN[b.count(0, 3)], 0.1)
    shirt = b.material("cloth", "stripes", "dots", "photo-pattern", "carpet", tile_m=0.12)
    hair = Material("bark", b.count(0, 5), 0.1, b.gray(0.08, 0.7, 0.2))
    z, turn, broad = eye_height, place.turn, b.between(0.9, 1.15)
    b.add(Ellipsoid, place.point(0, 0.02, z - 0.44), (0.19 * broad, 0.115, 0.29), shirt, turn)
    for side in (-1, 1):
        at = place.point(side * 0.14 * broad, 0.02, z - 0.27)
        b.add(Ellipsoid, at, (0.11, 0.085, 0.075), shirt, turn @ roll(side * 18))
        at = place.point(side * 0.225 * broad, 0.02, z - 0.48)
        b.add(Ellipsoid, at, (0.058, 0.065, 0.24), shirt, turn @ roll(-side * 8))
    head(b, place, z, 1.0, skin, hair)
    if b.chance(0.4):  # a hat
        felt = b.material("cloth", "plain", "carpet", tile_m=0.1)
        b.add(Cylinder, place.point(0, 0.015, z + 0.085), (0.15, 0.16, 0.006), felt, turn)
        b.add(Cylinder, place.point(0, 0.02, z + 0.125), (0.092, 0.1, 0.04), felt, turn)
    return group


def tree(b: Builder, place: Place, height: float) -> None:
    b.group()
    bark = Material("bark", b.count(0, 5), 0.5, b.gray(0.4, 0.8, 0.1))
    green = (b.between(0.5, 1.0), b.between(0.8, 1.2), b.between(0.4, 0.8))
    leaves = Material("leaves", b.count(0, 5), height * 0.14, green)
    trunk = height * b.between(0.02, 0.035)
    b.add(Cylinder, place.point(0, 0, height * 0.3), (trunk, trunk, height * 0.3), bark)
    if b.chance(0.4):  # crossed cards
        variant = b.count(0, 5)
        for turn in (0, 45, 90, 135):
            here = place.beside(0, 0, 0, turn)
            half = (height * 0.34, 0.001, height * 0.34)
            b.add(Billboard, here.point(0, 0, height * 0.68), half, leaves, here.turn,
                  mask="foliage", mask_variant=variant)  # fmt: skip
        return
    for _ in range(b.count(4, 8)):
        size = height * b.between(0.12, 0.22)
        x, y = b.rng.normal(0.0, 0.12 * height, 2)
        at = place.point(x, y, height * b.between(0.55, 0.88))
        half = (size, size * b.between(0.8, 1.1), size * b.between(0.7, 0.95))
        b.add(Ellipsoid, at, half, leaves, yaw(b.between(0, 360)))


def bush(b: Builder, place: Place, height: float) -> None:
    b.group()
    leaves = Material("leaves", b.count(0, 5), height * 0.5, (0.8, 1.0, 0.6))
    variant = b.count(0, 5)
    for turn in (0, 60, 120):
        here = place.beside(0, 0, 0, turn)
        b.add(Billboard, here.point(0, 0, height / 2), (height * 0.6, 0.001, height / 2), leaves,
              here.turn, mask="bush", mask_variant=variant)  # fmt: skip


def rock(b: Builder, place: Place, size: float) -> None:
    b.group()
    stone = b.material("rock", "concrete", "photo-stone", tile_m=size, tint=b.gray(0.6, 1.0))
    half = tuple(size / 2 * b.between(0.6, 1.2) for _ in range(3))
    b.add(
        Ellipsoid,
        place.point(0, 0, half[2] * 0.4),
        (half[0], half[1], half[2]),
        stone,
        any_turn(b),
    )


def horse(b: Builder, place: Place, height: float = 1.9) -> int:
    group = b.group()
    coat = Material("bark", b.count(0, 5), 0.6, b.gray(0.25, 0.9, 0.2))
    b.add(Billboard, place.point(0, 0, height / 2), (height * 0.62, 0.001, height / 2), coat,
          place.turn, mask="horse")  # fmt: skip
    return group


def car(b: Builder, place: Place) -> int:
    """A car heading along the place's y; returns its group."""
    group = b.group()
    paint = b.material("plain", tint=b.colour(0.15, 1.1), gloss=0.6)
    glass = Material("plain", 1, 0.5, (0.08, 0.09, 0.1), 0.8)
    tyre, lamp = Material(tint=(0.04, 0.04, 0.04)), Material(tint=(1.0, 0.3, 0.25), gloss=0.5)
    turn = place.turn
    b.add(Box, place.point(0, 0, 0.55), (0.85, 2.1, 0.27), paint, turn)
    b.add(Box, place.point(0, -0.25, 1.02), (0.72, 1.1, 0.22), glass, turn)
    b.add(Box, place.point(0, -0.25, 1.27), (0.74, 1.05, 0.03), paint, turn)
    for x in (-1, 1):
        for y in (-1.3, 1.3):
            at = place.point(x * 0.78, y, 0.32)
            b.add(Cylinder, at, (0.32, 0.32, 0.11), tyre, turn @ roll(90))
        b.add(Box, place.point(x * 0.65, -2.1, 0.62), (0.14, 0.02, 0.06), lamp, turn)
    plate = b.material("print", fit=True, tint=(1, 1, 1))
    b.add(Box, place.point(0, -2.1, 0.5), (0.26, 0.015, 0.06), plate, turn)
    return group


def lamp_post(b: Builder, place: Place) -> None:
    b.group()
    metal = b.material("plain", tint=b.gray(0.15, 0.5), gloss=0.3)
    b.add(Cylinder, place.point(0, 0, 2.6), (0.06, 0.06, 2.6), metal)
    b.add(Box, place.point(0, -0.5, 5.2), (0.08, 0.6, 0.05), metal, place.turn)


def building(b: Builder, centre: Array, half: tuple[float, float, float], turn: Array) -> None:
    """A block with windows, a base of another stone and a flat roof."""
    b.group()
    wall = b.material(
        "facade", "facade", "bricks", "concrete", tile_m=6.0, tint=b.gray(0.6, 1.1, 0.1)
    )
    base = b.material("concrete", "tiles", "bricks", tile_m=2.0, tint=b.gray(0.4, 0.9))
    x, y, z = half
    b.add(Box, centre + np.array([0.0, 0.0, z]), (x, y, z), wall, turn)
    low = b.between(0.4, 1.6)
    b.add(Box, centre + np.array([0.0, 0.0, low]), (x + 0.1, y + 0.1, low), base, turn)
    edge = centre + np.array([0.0, 0.0, 2 * z + 0.15])
    b.add(Box, edge, (x + 0.25, y + 0.25, 0.15), base, turn)
