"""Rotations and rigid motion.

The world is right-handed, in metres: x to the right, y ahead, z up. Rotations are
``(3, 3)`` float64 and turn columns: ``x_world = rotation @ x_local + centre``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = tuple[float, float, float]
Array = NDArray[np.float64]

IDENTITY: Array = np.eye(3)
IDENTITY.setflags(write=False)


def yaw(angle_deg: float) -> Array:
    """Turn about z: x goes towards y, so a camera turns to its left."""
    c, s = _cos_sin(angle_deg)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def pitch(angle_deg: float) -> Array:
    """Turn about x: y goes towards z, so a camera looks up."""
    c, s = _cos_sin(angle_deg)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def roll(angle_deg: float) -> Array:
    """Turn about y: z goes towards x, so a camera leans to its right."""
    c, s = _cos_sin(angle_deg)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def _cos_sin(angle_deg: float) -> tuple[float, float]:
    angle = math.radians(angle_deg)
    return math.cos(angle), math.sin(angle)


@dataclass(frozen=True)
class Motion:
    """Rigid motion as a closed form of time, the identity at time 0.

    Attributes:
        velocity_m_s: steady translation.
        spin_deg_s: turn about the vertical through ``pivot_m``, which moves along.
        swing_m: amplitude of a sine of ``swing_hz`` that is added to the translation.
    """

    velocity_m_s: Vector = (0.0, 0.0, 0.0)
    spin_deg_s: float = 0.0
    pivot_m: Vector = (0.0, 0.0, 0.0)
    swing_m: Vector = (0.0, 0.0, 0.0)
    swing_hz: float = 0.0
    swing_phase_deg: float = 0.0

    def at(self, time_s: float) -> tuple[Array, Array]:
        """``rotation, offset`` with ``x(time) = rotation @ x(0) + offset``."""
        phase = math.radians(self.swing_phase_deg)
        wave = math.sin(2.0 * math.pi * self.swing_hz * time_s + phase) - math.sin(phase)
        turn = yaw(self.spin_deg_s * time_s)
        pivot = np.array(self.pivot_m)
        shift = np.array(self.velocity_m_s) * time_s + np.array(self.swing_m) * wave
        return turn, pivot - turn @ pivot + shift


STILL = Motion()
