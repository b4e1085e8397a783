"""Putting solids together into objects, at random but from a seed."""

from __future__ import annotations

import colorsys
import math
from dataclasses import dataclass, replace

import numpy as np

from scenes.describe import Material, Solid
from scenes.pose import IDENTITY, STILL, Array, Motion, Vector, yaw


@dataclass(frozen=True)
class Place:
    """A spot on the ground (or a table) and a heading, in which objects are described."""

    x: float
    y: float
    z: float = 0.0
    yaw_deg: float = 0.0

    def point(self, x: float, y: float, z: float) -> Array:
        """A point of the object in the world."""
        return np.asarray((self.x, self.y, self.z) + self.turn @ (x, y, z))

    @property
    def turn(self) -> Array:
        return yaw(self.yaw_deg)

    def beside(self, x: float, y: float, z: float = 0.0, yaw_deg: float = 0.0) -> Place:
        """A place given relative to this one."""
        px, py, pz = self.point(x, y, z)
        return Place(px, py, pz, self.yaw_deg + yaw_deg)


class Builder:
    """Collects solids; everything random comes from its ``rng``."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.solids: list[Solid] = []
        self._groups = 0
        self._taken: list[tuple[float, float, float]] = []

    # --- chance

    def between(self, low: float, high: float) -> float:
        return float(self.rng.uniform(low, high))

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def count(self, low: int, high: int) -> int:
        """From ``low`` to ``high``, both included."""
        return int(self.rng.integers(low, high + 1))

    def choose(self, *options: str) -> str:
        return options[int(self.rng.integers(len(options)))]

    # --- looks

    def colour(self, low: float = 0.35, high: float = 1.1) -> Vector:
        """A tint, more often muted than bright."""
        hue, saturation = self.rng.random(), float(self.rng.beta(1.3, 2.2))
        r, g, b = colorsys.hsv_to_rgb(hue, saturation, self.between(low, high))
        return r, g, b

    def gray(self, low: float = 0.5, high: float = 1.1, warm: float = 0.06) -> Vector:
        value, tilt = self.between(low, high), float(self.rng.normal(0.0, warm))
        return value * (1 + tilt), value, value * (1 - tilt)

    def material(
        self,
        *textures: str,
        tile_m: float = 0.5,
        tint: Vector | None = None,
        gloss: float = 0.0,
        fit: bool = False,
    ) -> Material:
        """One of the textures, one of its variants, shifted at random unless it is fitted."""
        shift = (0.0, 0.0) if fit else (self.between(0, 1), self.between(0, 1))
        return Material(
            self.choose(*textures),
            self.count(0, 5),
            1.0 if fit else tile_m * self.between(0.7, 1.4),
            self.colour() if tint is None else tint,
            gloss,
            shift,
            fit,
        )

    # --- solids

    def group(self) -> int:
        """Start a new object; what is added next belongs to it."""
        self._groups += 1
        return self._groups

    def add(
        self,
        solid: type[Solid],
        centre: Array | Vector,
        half: Vector,
        material: Material,
        rotation: Array = IDENTITY,
        *,
        casts_shadow: bool = True,
        **more: object,
    ) -> None:
        """Add a solid to the current object. Half extents are kept above 0.1 mm."""
        safe = tuple(max(h, 1e-4) for h in half)
        self.solids.append(
            solid(centre, safe, material, rotation, STILL, self._groups, casts_shadow, **more)  # type: ignore[arg-type]
        )

    def move(self, group: int, motion: Motion) -> None:
        """Set an object in motion."""
        self.solids = [
            replace(solid, motion=motion) if solid.group == group else solid
            for solid in self.solids
        ]

    # --- places

    def reserve(self, x: float, y: float, radius: float) -> bool:
        """Take a round spot if it is free."""
        for other_x, other_y, other_radius in self._taken:
            if math.hypot(x - other_x, y - other_y) < radius + other_radius:
                return False
        self._taken.append((x, y, radius))
        return True

    def spot(
        self, x: tuple[float, float], y: tuple[float, float], radius: float, z: float = 0.0
    ) -> Place | None:
        """A free spot in a rectangle, or None after twenty attempts."""
        for _ in range(20):
            px, py = self.between(*x), self.between(*y)
            if self.reserve(px, py, radius):
                return Place(px, py, z, self.between(0.0, 360.0))
        return None

    def spot_ahead(
        self, near: float, far: float, spread: float, radius: float, z: float = 0.0
    ) -> Place | None:
        """A free spot in a wedge from the origin along y, log-uniform in distance."""
        for _ in range(20):
            distance = math.exp(self.between(math.log(near), math.log(far)))
            across = distance * spread * self.between(-1.0, 1.0)
            if self.reserve(across, distance, radius):
                return Place(across, distance, z, self.between(0.0, 360.0))
        return None
