"""Things found in rooms and on tables. Sizes in metres."""

from __future__ import annotations

from scenes.build import Builder, Place
from scenes.describe import Billboard, Box, Cylinder, Ellipsoid, Material
from scenes.pose import pitch, roll


def table(b: Builder, place: Place, height: float = 0.75) -> tuple[float, float]:
    """A table; returns half its width and depth."""
    b.group()
    wide, deep, thick = b.between(0.4, 0.8), b.between(0.3, 0.5), 0.02
    top = b.material("wood", "boards", "plain", tile_m=0.8, gloss=0.1, tint=b.gray(0.5, 1.0, 0.1))
    b.add(Box, place.point(0, 0, height - thick), (wide, deep, thick), top, place.turn)
    leg, half = b.between(0.02, 0.04), (height - 2 * thick) / 2
    shape = Box if b.chance(0.5) else Cylinder
    for x in (-1, 1):
        for y in (-1, 1):
            at = place.point(x * (wide - leg), y * (deep - leg), half)
            b.add(shape, at, (leg, leg, half), top, place.turn)
    return wide, deep


def chair(b: Builder, place: Place) -> None:
    b.group()
    frame = b.material("wood", "plain", tile_m=0.5)
    seat = b.material("cloth", "wood", "stripes", tile_m=0.2)
    b.add(Box, place.point(0, 0, 0.45), (0.21, 0.21, 0.025), seat, place.turn)
    b.add(Box, place.point(0, 0.2, 0.72), (0.21, 0.015, 0.2), seat, place.turn @ pitch(-6))
    for x in (-0.19, 0.19):
        for y in (-0.19, 0.19):
            b.add(Cylinder, place.point(x, y, 0.22), (0.018, 0.018, 0.22), frame, place.turn)


def sofa(b: Builder, place: Place) -> None:
    b.group()
    wide = b.between(0.6, 1.0)
    cloth = b.material("cloth", "carpet", "stripes", "plain", tile_m=0.4)
    b.add(Box, place.point(0, 0, 0.22), (wide, 0.42, 0.2), cloth, place.turn)
    b.add(Box, place.point(0, 0.36, 0.5), (wide, 0.12, 0.36), cloth, place.turn @ pitch(-8))
    for side in (-1, 1):
        b.add(Box, place.point(side * wide, 0, 0.3), (0.1, 0.44, 0.29), cloth, place.turn)
    for _ in range(b.count(0, 3)):
        at = place.point(b.between(-0.75, 0.75) * wide, 0.14, 0.56)
        pillow = b.material("cloth", "dots", "stripes", "photo-pattern", tile_m=0.3)
        b.add(Ellipsoid, at, (0.2, 0.09, 0.17), pillow, place.turn @ pitch(-15))


def shelf(b: Builder, place: Place) -> None:
    """An open shelf with things in it."""
    b.group()
    wide, deep, height = b.between(0.35, 0.6), 0.16, b.between(0.9, 2.0)
    wood = b.material("wood", "plain", tile_m=0.7, tint=b.gray(0.5, 1.1, 0.1))
    levels = b.count(2, 5)
    b.add(Box, place.point(0, deep, height / 2), (wide, 0.008, height / 2), wood, place.turn)
    for side in (-1, 1):
        at = place.point(side * wide, 0, height / 2)
        b.add(Box, at, (0.012, deep, height / 2), wood, place.turn)
    gap = height / levels
    for level in range(levels + 1):
        at = place.point(0, 0, level * gap + 0.01)
        b.add(Box, at, (wide, deep, 0.01), wood, place.turn)
    for level in range(levels):
        x = -wide + 0.08
        while x < wide - 0.1:
            here = place.beside(x, -0.03, level * gap + 0.02, b.between(-8, 8))
            if b.chance(0.55):
                books(b, here, min(0.28, gap * 0.8))
            elif b.chance(0.6):
                pot(b, here, b.between(0.4, 0.8) * min(gap, 0.3))
            x += b.between(0.15, 0.4)


def books(b: Builder, place: Place, height: float) -> None:
    """A few books standing side by side."""
    b.group()
    x = 0.0
    for _ in range(b.count(2, 5)):
        thick, tall = b.between(0.008, 0.022), height * b.between(0.7, 1.0) / 2
        cover = b.material("plain", "cloth", "stripes", tile_m=0.2)
        b.add(Box, place.point(x + thick, 0, tall), (thick * 0.96, 0.07, tall), cover, place.turn)
        x += 2 * thick


def book(b: Builder, place: Place) -> None:
    """One lying flat, with a picture on its cover."""
    b.group()
    cover = b.material("photo", "print", "photo-pattern", tint=(1, 1, 1), fit=True, gloss=0.05)
    half = (b.between(0.07, 0.11), b.between(0.1, 0.14), b.between(0.008, 0.02))
    b.add(Box, place.point(0, 0, half[2]), half, cover, place.turn)


def cabinet(b: Builder, place: Place) -> None:
    b.group()
    half = (b.between(0.3, 0.7), b.between(0.2, 0.3), b.between(0.25, 1.0))
    wood = b.material("wood", "plain", "boards", tile_m=0.8, gloss=0.05)
    b.add(Box, place.point(0, 0, half[2]), half, wood, place.turn)
    knob = Material("plain", 0, 0.1, (0.9, 0.85, 0.7), 0.5)
    for side in (-1, 1):
        at = place.point(side * 0.05, -half[1] - 0.01, half[2])
        b.add(Ellipsoid, at, (0.015, 0.015, 0.015), knob)


def floor_lamp(b: Builder, place: Place) -> None:
    b.group()
    metal, shade = b.material("plain", tint=b.gray(0.1, 0.8), gloss=0.4), b.material("cloth")
    b.add(Cylinder, place.point(0, 0, 0.015), (0.14, 0.14, 0.015), metal)
    b.add(Cylinder, place.point(0, 0, 0.75), (0.012, 0.012, 0.75), metal)
    b.add(Cylinder, place.point(0, 0, 1.55), (0.2, 0.2, 0.14), shade)


def plant(b: Builder, place: Place, height: float) -> None:
    """A pot with leaves on crossed cards."""
    b.group()
    clay = b.material("plain", "concrete", "tiles", tile_m=0.3)
    leaves = Material("leaves", b.count(0, 5), 0.25 * height, (0.9, 1.1, 0.8))
    b.add(
        Cylinder, place.point(0, 0, 0.15 * height), (0.14 * height,) * 2 + (0.15 * height,), clay
    )
    shape, variant = b.choose("foliage", "bush", "leaf"), b.count(0, 5)
    for turn in (0, 60, 120) if shape != "leaf" else (0, 45, 90, 135):
        here = place.beside(0, 0, 0, turn)
        half = (0.38 * height, 0.001, 0.36 * height)
        if shape == "leaf":
            half = (0.14 * height, 0.001, 0.36 * height)
        b.add(
            Billboard, here.point(0, 0, 0.64 * height), half, leaves,
            here.turn @ pitch(b.between(-12, 12)), mask=shape, mask_variant=variant,
        )  # fmt: skip


def cup(b: Builder, place: Place, height: float = 0.09) -> None:
    b.group()
    glaze = b.material("plain", "stripes", "dots", tile_m=0.08, gloss=0.5)
    drink = Material("plain", 0, 0.1, (0.16, 0.08, 0.04), 0.4)
    radius = height * 0.42
    b.add(Cylinder, place.point(0, 0, height / 2), (radius, radius, height / 2), glaze)
    b.add(Cylinder, place.point(0, 0, height), (radius * 0.9, radius * 0.9, 0.001), drink)
    handle = place.turn @ roll(90)
    at = place.point(radius * 1.25, 0, height * 0.5)
    b.add(Ellipsoid, at, (height * 0.3, height * 0.06, radius * 0.4), glaze, handle)
    if b.chance(0.5):
        b.add(Cylinder, place.point(0, 0, 0.004), (radius * 1.9, radius * 1.9, 0.004), glaze)


def bottle(b: Builder, place: Place, height: float = 0.26) -> None:
    b.group()
    glass = b.material("plain", tint=b.colour(0.15, 0.7), gloss=0.8)
    label = b.material("photo", "print", "photo-pattern", tint=(1, 1, 1), tile_m=height * 0.4)
    radius = height * 0.14
    b.add(Cylinder, place.point(0, 0, height * 0.32), (radius, radius, height * 0.32), glass)
    b.add(Ellipsoid, place.point(0, 0, height * 0.64), (radius, radius, height * 0.14), glass)
    b.add(
        Cylinder, place.point(0, 0, height * 0.86), (radius * 0.36, radius * 0.36, height * 0.14),
        glass,
    )  # fmt: skip
    wide = radius * 1.01
    b.add(Cylinder, place.point(0, 0, height * 0.32), (wide, wide, height * 0.16), label)


def fruit(b: Builder, place: Place, size: float = 0.08) -> None:
    b.group()
    skin = b.material("plain", "plaster", tile_m=size, gloss=0.3)
    skin = b.material("plaster", tile_m=size, gloss=0.3, tint=_ripe(b)) if b.chance(0.8) else skin
    r = size / 2
    b.add(Ellipsoid, place.point(0, 0, r), (r, r, r * b.between(0.85, 1.0)), skin, place.turn)
    stalk = Material("bark", 0, 0.05, (0.4, 0.3, 0.2))
    b.add(Cylinder, place.point(0, 0, 2 * r), (r * 0.06, r * 0.06, r * 0.25), stalk)


def _ripe(b: Builder) -> tuple[float, float, float]:
    return ((1.1, 0.25, 0.12), (1.1, 0.7, 0.1), (0.6, 0.9, 0.15), (1.1, 0.5, 0.1))[b.count(0, 3)]


def pot(b: Builder, place: Place, height: float) -> None:
    """A vase, a jar or a ball."""
    b.group()
    glaze = b.material("plain", "tiles", "dots", "stripes", "photo-pattern", "rock",
                       tile_m=0.15, gloss=0.3)  # fmt: skip
    r = height * b.between(0.25, 0.45)
    if b.chance(0.4):
        b.add(Cylinder, place.point(0, 0, height / 2), (r, r, height / 2), glaze, place.turn)
    else:
        half = height * 0.45
        b.add(Ellipsoid, place.point(0, 0, half), (r, r, half), glaze, place.turn)
        if b.chance(0.6):
            b.add(
                Cylinder, place.point(0, 0, height * 0.9), (r * 0.4, r * 0.4, height * 0.1), glaze
            )


def parcel(b: Builder, place: Place, size: float) -> None:
    b.group()
    sides = b.material("plain", "photo", "print", "checker", "wood", "photo-pattern",
                       tile_m=size, fit=b.chance(0.6))  # fmt: skip
    half = tuple(size / 2 * b.between(0.5, 1.0) for _ in range(3))
    b.add(Box, place.point(0, 0, half[2]), (half[0], half[1], half[2]), sides, place.turn)


def small_thing(b: Builder, place: Place, size: float) -> None:
    """Something that stands on a table, about ``size`` high."""
    kind = b.choose("cup", "bottle", "fruit", "pot", "parcel", "book", "books", "plant")
    if kind == "cup":
        cup(b, place, size * 0.8)
    elif kind == "bottle":
        bottle(b, place, size * 1.6)
    elif kind == "fruit":
        fruit(b, place, size * 0.8)
    elif kind == "pot":
        pot(b, place, size * 1.3)
    elif kind == "parcel":
        parcel(b, place, size)
    elif kind == "book":
        book(b, place)
    elif kind == "books":
        books(b, place, size * 1.5)
    else:
        plant(b, place, size * 2.0)
