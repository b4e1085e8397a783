"""What a scene is made of: solids, materials, light, air and the way it is photographed."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from scenes.pose import IDENTITY, STILL, Array, Motion, Vector

PLANE, BOX, ELLIPSOID, CYLINDER, BILLBOARD = range(5)


@dataclass(frozen=True)
class Material:
    """The look of a surface.

    Attributes:
        texture: name of a tile (`scenes.textures.TILES`).
        variant: which of the tiles of that name.
        tile_m: side of the tile on the surface, metres.
        tint: multiplies the tile's linear reflectance.
        gloss: strength of a highlight, 0 for matte.
        shift: of the tile, in tiles.
        fit: the tile is stretched over each face instead of repeated (a picture, a label).
    """

    texture: str = "plain"
    variant: int = 0
    tile_m: float = 1.0
    tint: Vector = (0.7, 0.7, 0.7)
    gloss: float = 0.0
    shift: tuple[float, float] = (0.0, 0.0)
    fit: bool = False


@dataclass(frozen=True, eq=False)
class Solid:
    """A surface with a place, a size and a look.

    Attributes:
        centre_m: in the world.
        half_m: half extents along its own axes, metres.
        rotation: ``(3, 3)`` from its own axes to the world.
        motion: of the whole object it belongs to, from time 0.
        group: number of that object; solids of one object share it.
        casts_shadow: False for the walls of a room, whose light is inside.
    """

    centre_m: Vector | Array
    half_m: Vector = (1.0, 1.0, 1.0)
    material: Material = Material()
    rotation: Array = field(default_factory=lambda: IDENTITY)
    motion: Motion = STILL
    group: int = 0
    casts_shadow: bool = True

    shape: ClassVar[int]

    def at(self, time_s: float) -> Solid:
        """Where it is after ``time_s``. The result stands still."""
        turn, offset = self.motion.at(time_s)
        centre = turn @ np.asarray(self.centre_m, np.float64) + offset
        return replace(self, centre_m=centre, rotation=turn @ self.rotation, motion=STILL)

    @property
    def radius_m(self) -> float:
        """Of a sphere around ``centre_m`` that holds it."""
        x, y, z = self.half_m
        return {
            PLANE: math.inf,
            BOX: math.sqrt(x * x + y * y + z * z),
            ELLIPSOID: max(x, y, z),
            CYLINDER: math.hypot(max(x, y), z),
            BILLBOARD: math.hypot(x, z),
        }[self.shape]


class Plane(Solid):
    """Endless; its normal is its own z axis. ``half_m`` is not used."""

    shape = PLANE


class Box(Solid):
    shape = BOX


class Ellipsoid(Solid):
    shape = ELLIPSOID


class Cylinder(Solid):
    """Its axis is its own z; ``half_m`` gives both radii and half the length."""

    shape = CYLINDER


@dataclass(frozen=True, eq=False)
class Billboard(Solid):
    """A flat cut-out in its own x-z plane, seen from both sides.

    Attributes:
        mask: name of its outline (`scenes.masks.MASKS`); empty for a full rectangle.
        mask_variant: which of the outlines of that name.
    """

    mask: str = ""
    mask_variant: int = 0

    shape = BILLBOARD


@dataclass(frozen=True)
class Light:
    """One light with hard shadows, and what comes from all around.

    Attributes:
        towards: where the light is: a direction, or with ``near`` a place in metres.
        near: True for a lamp, whose light falls off with distance.
        reach_m: distance at which a lamp has lost half its light.
        colour: linear RGB of the direct light on a surface that faces it.
        above, below: linear RGB of the light from the sky or ceiling and from the ground.
    """

    towards: Vector = (0.4, -0.5, 0.8)
    near: bool = False
    reach_m: float = 4.0
    colour: Vector = (0.9, 0.85, 0.8)
    above: Vector = (0.3, 0.33, 0.38)
    below: Vector = (0.15, 0.14, 0.13)


@dataclass(frozen=True)
class Sky:
    """What is seen where nothing is hit, linear RGB; ``clouds`` from 0 to 1."""

    zenith: Vector = (0.2, 0.35, 0.7)
    horizon: Vector = (0.7, 0.78, 0.85)
    clouds: float = 0.0
    variant: int = 0


@dataclass(frozen=True)
class Look:
    """How the scene is photographed.

    Attributes:
        exposure: multiplies linear light before the tone curve.
        fog_m: distance at which fog hides 63 %; infinite for clear air.
        fog_colour: linear RGB.
        aperture_m: diameter of the lens opening; 0 keeps everything sharp. The blur of a
            point at depth z is ``focal_px * aperture_m * |1/z - 1/focus_m|`` pixels across.
        focus_m: depth that is sharp.
        noise: standard deviation of sensor noise at full scale, as a share of it.
        seed: of the noise.
    """

    exposure: float = 1.0
    fog_m: float = math.inf
    fog_colour: Vector = (0.7, 0.75, 0.8)
    aperture_m: float = 0.0
    focus_m: float = 1.0
    noise: float = 0.0
    seed: int = 0


@dataclass(frozen=True)
class Scene:
    """Solids in a fixed order, their light, and how they are photographed."""

    solids: tuple[Solid, ...]
    light: Light = Light()
    sky: Sky = Sky()
    look: Look = Look()
    name: str = ""

    def at(self, time_s: float) -> Scene:
        """The scene after ``time_s``; the order of its solids stays the same."""
        return replace(self, solids=tuple(solid.at(time_s) for solid in self.solids))
