"""Seven kinds of scene, each from a seed. Sizes in metres; the camera looks along y."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from scenes import around, furniture, outdoors
from scenes.build import Builder, Place
from scenes.camera import Camera
from scenes.describe import (
    Billboard,
    Box,
    Cylinder,
    Ellipsoid,
    Look,
    Material,
    Plane,
    Scene,
    Solid,
)
from scenes.pose import pitch, roll, yaw
from scenes.render import expose

KINDS = ("room", "street", "nature", "close-up", "tabletop", "portrait", "abstract")


def make_scene(kind: str, seed: int, height: int, width: int) -> tuple[Scene, Camera]:
    """A scene and a camera for it; the same for the same arguments.

    Args:
        kind: one of `KINDS`.
        seed: any number from 0.
        height, width: of the camera, pixels. The scene does not depend on them, but its
            exposure does a little.

    Raises:
        ValueError: for another kind.
    """
    if kind not in KINDS:
        raise ValueError(f"no scene kind {kind!r}; there are {', '.join(KINDS)}")
    b = Builder(np.random.default_rng([KINDS.index(kind), seed]))
    scene, camera = _MAKERS[kind](b, height, width)
    look = replace(scene.look, noise=b.between(0.002, 0.012), seed=seed)
    scene = replace(scene, name=f"{kind}-{seed}", look=look, solids=tuple(b.solids))
    scene = replace(scene, solids=_in_front(scene, camera))
    return expose(scene, camera, middle=b.between(0.14, 0.24)), camera


def _in_front(scene: Scene, camera: Camera) -> tuple[Solid, ...]:
    """Without solids that hold the camera or all but touch it."""

    def clear(solid: Solid) -> bool:
        if isinstance(solid, Plane):
            return True
        own = solid.rotation.T @ (camera.position_m - np.asarray(solid.centre_m))
        return bool(np.any(np.abs(own) > np.array(solid.half_m) + 0.08))

    return tuple(solid for solid in scene.solids if clear(solid))


def _room(b: Builder, height: int, width: int) -> tuple[Scene, Camera]:
    wide, ahead, behind, high = b.between(1.7, 3.0), b.between(3.5, 6.5), 0.8, b.between(2.4, 3.0)
    around.ground(b, "boards", "boards", "tiles", "wood", "carpet", "checker", tile_m=1.4)
    around.walls(b, wide, ahead, behind, high)
    around.pictures(b, wide, ahead, behind)
    if b.chance(0.6):
        b.group()
        rug = b.material("carpet", "stripes", "photo-pattern", tile_m=1.0)
        b.add(Box, (b.between(-0.5, 0.5), ahead * 0.5, 0.006), (1.0, 0.8, 0.006), rug,
              yaw(b.between(-10, 10)))  # fmt: skip
    along_walls: tuple[Callable[[Builder, Place], None], ...] = (
        furniture.sofa, furniture.shelf, furniture.cabinet, furniture.floor_lamp,
    )  # fmt: skip
    for wall in range(4):
        x = b.between(-0.6, 0.6) * wide
        y = b.between(0.45, 0.85) * ahead
        place = (
            Place(x, ahead - 0.5, 0, 0), Place(x - 1.2, ahead - 0.4, 0, 0),
            Place(-wide + 0.5, y, 0, 90), Place(wide - 0.5, y, 0, -90),
        )[wall]  # fmt: skip
        if b.chance(0.75) and b.reserve(place.x, place.y, 0.7):
            along_walls[b.count(0, 3)](b, place)
    for _ in range(b.count(2, 5)):
        spot = b.spot((-wide + 0.6, wide - 0.6), (1.4, ahead - 0.7), 0.55)
        if spot is None:
            continue
        kind = b.choose("table", "table", "chair", "chair", "plant", "person", "parcel")
        if kind == "table":
            x, y = furniture.table(b, spot)
            for _ in range(b.count(1, 4)):
                on = spot.beside(b.between(-0.8, 0.8) * x, b.between(-0.8, 0.8) * y, 0.75)
                furniture.small_thing(b, on, b.between(0.1, 0.18))
        elif kind == "chair":
            furniture.chair(b, spot)
        elif kind == "plant":
            furniture.plant(b, spot, b.between(0.5, 1.5))
        elif kind == "person":
            outdoors.person(b, spot, b.between(1.5, 1.9))
        else:
            furniture.parcel(b, spot, b.between(0.25, 0.6))
    camera = Camera.looking(
        height, width, position_m=(b.between(-0.5, 0.5) * wide, 0.0, b.between(1.2, 1.7)),
        fov_deg=b.between(60, 80), yaw_deg=b.between(-15, 15), pitch_deg=b.between(-14, -3),
        roll_deg=float(b.rng.normal(0, 0.7)),
    )  # fmt: skip
    return Scene((), around.lamp(b, wide, ahead, high)), camera


def _street(b: Builder, height: int, width: int) -> tuple[Scene, Camera]:
    half_road = b.between(3.5, 6.0)
    sky = around.weather(b)
    around.ground(b, "asphalt", "asphalt", "concrete", tile_m=3.0, tint=b.gray(0.7, 1.1))
    b.group()
    dash = Material("concrete", 0, 1.0, (1.1, 1.1, 1.05))
    for k in range(13):
        b.add(Box, (0, 2 + 6 * k, 0.0), (0.08, 1.4, 0.004), dash)
    pavement = b.material("tiles", "concrete", "photo-stone", tile_m=2.0, tint=b.gray(0.7, 1.0))
    for side in (-1, 1):
        b.group()
        b.add(Box, (side * (half_road + 2.0), 60, 0.05), (2.0, 75, 0.09), pavement)
        y = -6.0
        while y < 110:
            length, deep = b.between(4, 9), b.between(4, 7)
            centre = np.array([side * (half_road + 4.0 + deep), y + length, 0.0])
            outdoors.building(b, centre, (deep, length, b.between(3.0, 10.0)), yaw(0))
            y += 2 * length + (b.between(0.5, 7.0) if b.chance(0.4) else 0.0)
    centre = np.array([b.between(-10, 10), 135.0, 0.0])
    outdoors.building(b, centre, (22.0, 8.0, b.between(8, 16)), yaw(b.between(-15, 15)))
    for _ in range(b.count(2, 5)):
        side = -1 if b.chance(0.5) else 1
        y = b.between(7, 45)
        x = side * half_road * b.between(0.35, 0.7)
        if b.reserve(x, y, 2.4):
            outdoors.car(b, Place(x, y, 0, 180.0 * (side < 0) + b.between(-3, 3)))
    for _ in range(b.count(3, 8)):
        side = -1 if b.chance(0.5) else 1
        y, x = (
            math.exp(b.between(math.log(4), math.log(40))),
            side * (half_road + b.between(0.5, 3.2)),
        )
        if b.reserve(x, y, 0.7):
            kind = b.choose("person", "person", "person", "tree", "post", "bush")
            place = Place(x, y, 0.14, b.between(0, 360))
            if kind == "person":
                outdoors.person(b, place, b.between(1.5, 1.9))
            elif kind == "tree":
                outdoors.tree(b, place, b.between(4, 8))
            elif kind == "post":
                outdoors.lamp_post(b, replace(place, yaw_deg=90.0 * side))
            else:
                furniture.plant(b, place, b.between(0.8, 1.5))
    camera = Camera.looking(
        height, width, position_m=(b.between(-0.6, 0.6) * half_road, 0.0, b.between(1.3, 2.2)),
        fov_deg=b.between(55, 78), yaw_deg=b.between(-12, 12), pitch_deg=b.between(-4, 4),
        roll_deg=float(b.rng.normal(0, 0.6)),
    )  # fmt: skip
    return Scene((), around.sun(b), sky, around.haze(b, sky, 0.5, 80, 400)), camera


def _nature(b: Builder, height: int, width: int) -> tuple[Scene, Camera]:
    sky = around.weather(b)
    around.ground(b, "lawn", "lawn", "photo-stone", tile_m=2.5, tint=(0.75, 0.85, 0.5))
    for _ in range(b.count(3, 6)):  # hills
        b.group()
        x, y, size = b.between(-250, 250), b.between(150, 400), b.between(60, 160)
        slope = b.material("leaves", "lawn", "rock", tile_m=25.0, tint=(0.6, 0.75, 0.5))
        half = (size, size * b.between(0.6, 1.2), size * b.between(0.15, 0.35))
        b.add(Ellipsoid, (x, y, 0.0), half, slope)
    for _ in range(b.count(10, 20)):
        spot = b.spot_ahead(5, 90, 0.7, 1.4)
        if spot is not None:
            outdoors.tree(b, spot, b.between(3, 10))
    for _ in range(b.count(4, 10)):
        spot = b.spot_ahead(2.2, 25, 0.6, 0.6)
        if spot is None:
            continue
        kind = b.choose("rock", "rock", "bush", "bush", "person", "horse")
        if kind == "rock":
            outdoors.rock(b, spot, b.between(0.3, 1.3))
        elif kind == "bush":
            outdoors.bush(b, spot, b.between(0.4, 1.4))
        elif kind == "person":
            outdoors.person(b, spot, b.between(1.4, 1.9))
        else:
            outdoors.horse(b, replace(spot, yaw_deg=b.between(-30, 30)), b.between(1.5, 2.0))
    camera = Camera.looking(
        height, width, position_m=(0.0, 0.0, b.between(0.8, 2.2)), fov_deg=b.between(50, 75),
        pitch_deg=b.between(-7, 2), roll_deg=float(b.rng.normal(0, 0.8)),
    )  # fmt: skip
    return Scene((), around.sun(b), sky, around.haze(b, sky, 0.6, 80, 500)), camera


def _close_up(b: Builder, height: int, width: int) -> tuple[Scene, Camera]:
    """Things on the ground, from above at arm's length; shallow focus."""
    high, down = b.between(0.35, 0.8), b.between(20, 50)
    around.ground(b, "photo-stone", "lawn", "boards", "cloth", "tiles", "rock", "carpet", "wood",
            tile_m=0.5, tint=b.colour(0.6, 1.1))  # fmt: skip
    aim = high / math.tan(math.radians(down))
    for _ in range(b.count(5, 10)):
        spot = b.spot((-0.4, 0.4), (aim * 0.75, aim * 1.7 + 0.15), 0.09)
        if spot is None:
            continue
        if b.chance(0.35):
            outdoors.rock(b, spot, b.between(0.06, 0.2))
        else:
            furniture.small_thing(b, spot, b.between(0.08, 0.2))
    away = math.hypot(high, aim)
    camera = Camera.looking(height, width, position_m=(0.0, 0.0, high), fov_deg=b.between(42, 60),
                            pitch_deg=-down, roll_deg=float(b.rng.normal(0, 3)))  # fmt: skip
    look = Look(aperture_m=b.between(0.0, 0.012), focus_m=away * b.between(0.85, 1.05))
    return Scene((), around.sun(b), look=look), camera


def _tabletop(b: Builder, height: int, width: int) -> tuple[Scene, Camera]:
    top, down = 0.75, b.between(14, 40)
    around.ground(b, "boards", "tiles", "carpet", tile_m=1.2)
    ahead = b.between(2.0, 4.0)
    around.walls(b, 2.5, ahead, 1.0, 2.6)
    around.pictures(b, 2.5, ahead, 1.0)
    b.group()
    wood = b.material("wood", "boards", "cloth", "tiles", "plain", tile_m=0.7, gloss=0.1)
    b.add(Box, (0, 0.75, top - 0.02), (0.9, 0.5, 0.02), wood)
    for x in (-0.85, 0.85):
        for y in (0.3, 1.2):
            b.add(Box, (x, y, 0.36), (0.03, 0.03, 0.36), wood)
    for _ in range(b.count(6, 11)):
        spot = b.spot((-0.5, 0.5), (0.4, 1.15), 0.1, top)
        if spot is not None:
            furniture.small_thing(b, spot, b.between(0.09, 0.19))
    if b.chance(0.5):
        furniture.chair(b, Place(b.between(-0.6, 0.6), 1.65, 0, b.between(-20, 20)))
    if b.chance(0.5):
        furniture.shelf(b, Place(b.between(-1.5, 1.5), ahead - 0.2, 0, 0))
    high = 0.68 * math.tan(math.radians(down)) + 0.06
    camera = Camera.looking(height, width, position_m=(b.between(-0.1, 0.1), 0.0, top + high),
                            fov_deg=b.between(48, 64), pitch_deg=-down * 0.95,
                            roll_deg=float(b.rng.normal(0, 1.0)))  # fmt: skip
    look = Look(aperture_m=b.between(0.0, 0.01), focus_m=b.between(0.6, 0.9))
    return Scene((), around.lamp(b, 1.5, 1.5, 2.4), look=look), camera


def _portrait(b: Builder, height: int, width: int) -> tuple[Scene, Camera]:
    eye, away = 1.62, b.between(0.75, 1.2)
    outdoor = b.chance(0.5)
    sky = around.weather(b)
    b.reserve(0.0, away, 0.6)
    if outdoor:
        around.ground(b, "lawn", "concrete", "photo-stone", tile_m=2.0)
        for _ in range(b.count(6, 12)):
            spot = b.spot_ahead(away + 2.5, 40, 0.6, 1.0)
            if spot is not None and b.chance(0.75):
                outdoors.tree(b, spot, b.between(3, 8))
            elif spot is not None:
                outdoors.person(b, spot, b.between(1.5, 1.9))
        for _ in range(b.count(0, 2)):
            centre = np.array([b.between(-20, 20), b.between(25, 45), 0.0])
            outdoors.building(b, centre, (6.0, 5.0, b.between(4, 9)), yaw(b.between(-30, 30)))
        light = around.sun(b)
        turn = math.radians(b.between(-150, -30))  # from the photographer's side
        light = replace(light, towards=(math.cos(turn), math.sin(turn), light.towards[2] + 0.2))
    else:
        around.ground(b, "boards", "carpet", "tiles", tile_m=1.3)
        ahead = away + b.between(1.5, 4.0)
        around.walls(b, 2.5, ahead, 1.0, 2.7)
        around.pictures(b, 2.5, ahead, 1.0)
        furniture.shelf(b, Place(b.between(-1.6, 1.6), ahead - 0.25, 0, 0))
        if b.chance(0.6):
            furniture.plant(b, Place(b.between(-1.2, 1.2), ahead - 0.8, 0, 0), b.between(1, 1.7))
        light = replace(around.lamp(b, 1.0, 0.5, 2.5), reach_m=3.0)
    aim = Place(b.between(-0.12, 0.12), away, 0.0, b.between(-25, 25))
    outdoors.bust(b, aim, eye)
    camera = Camera.looking(height, width, position_m=(0.0, 0.0, eye + b.between(-0.1, 0.1)),
                            fov_deg=b.between(45, 60), pitch_deg=b.between(-7, -1),
                            roll_deg=float(b.rng.normal(0, 1.0)))  # fmt: skip
    look = Look(aperture_m=b.between(0.004, 0.02), focus_m=away - 0.08)
    return Scene((), light, sky, look), camera


def _abstract(b: Builder, height: int, width: int) -> tuple[Scene, Camera]:
    """Shapes at all angles, some floating: nothing that a network has learnt to expect."""
    sky = around.weather(b)
    if b.chance(0.7):
        around.ground(b, "checker", "carpet", "photo-stone", "plain", "dots", tile_m=1.5,
                tint=b.colour(0.5, 1.1))  # fmt: skip
    looks = ("photo-pattern", "checker", "stripes", "dots", "carpet", "print", "bricks", "rock",
             "plain", "photo", "tiles")  # fmt: skip
    for _ in range(b.count(14, 26)):
        b.group()
        y = math.exp(b.between(math.log(1.5), math.log(14)))
        at = (b.between(-0.7, 0.7) * y, y, b.between(0.0, 0.45) * y)
        size = b.between(0.08, 0.28) * math.sqrt(y)
        half = tuple(size * b.between(0.4, 1.3) for _ in range(3))
        shape = (Box, Ellipsoid, Cylinder, Billboard)[b.count(0, 3)]
        material = b.material(*looks, tile_m=size, gloss=b.between(0, 0.5))
        turn = outdoors.any_turn(b)
        if shape is Billboard:
            mask = b.choose("blob", "leaf", "foliage", "")
            turn = yaw(b.between(-50, 50)) @ pitch(b.between(-40, 40)) @ roll(b.between(0, 360))
            b.add(shape, at, (half[0], 0.001, half[2]), material, turn, mask=mask,
                  mask_variant=b.count(0, 5))  # fmt: skip
        else:
            b.add(shape, at, (half[0], half[1], half[2]), material, turn)
    camera = Camera.looking(height, width, position_m=(0.0, 0.0, b.between(0.8, 1.6)),
                            fov_deg=b.between(50, 75), pitch_deg=b.between(-8, 5),
                            roll_deg=float(b.rng.normal(0, 5)))  # fmt: skip
    return Scene((), around.sun(b), sky, around.haze(b, sky, 0.3, 15, 60)), camera


_MAKERS: dict[str, Callable[[Builder, int, int], tuple[Scene, Camera]]] = {
    "room": _room, "street": _street, "nature": _nature, "close-up": _close_up,
    "tabletop": _tabletop, "portrait": _portrait, "abstract": _abstract,
}  # fmt: skip
