"""The pinhole camera and its stereo pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from scenes.pose import Array, Vector, pitch, roll, yaw

# Columns: the camera's right, down and forward in the world, when it looks along y.
_LEVEL: Array = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])


@dataclass(frozen=True, eq=False)
class Camera:
    """A pinhole camera. Camera axes are OpenCV's: x right, y down, z forward.

    Attributes:
        height, width: of the picture, pixels.
        focal_px: focal length, the same on both axes (square pixels).
        cx, cy: principal point, pixels. The centre of pixel ``(row, column)`` is at
            ``(column + 0.5, row + 0.5)``, so ``width / 2, height / 2`` is the middle.
        position_m: ``(3,)`` centre of projection in the world.
        rotation: ``(3, 3)`` from camera axes to the world.
    """

    height: int
    width: int
    focal_px: float
    cx: float
    cy: float
    position_m: Array
    rotation: Array

    @classmethod
    def looking(
        cls,
        height: int,
        width: int,
        *,
        position_m: Vector | Array = (0.0, 0.0, 0.0),
        fov_deg: float = 60.0,
        yaw_deg: float = 0.0,
        pitch_deg: float = 0.0,
        roll_deg: float = 0.0,
    ) -> Camera:
        """A camera with a centred principal point. ``fov_deg`` is across the longer side."""
        focal_px = 0.5 * max(height, width) / math.tan(math.radians(fov_deg) / 2.0)
        rotation = yaw(yaw_deg) @ pitch(pitch_deg) @ roll(roll_deg) @ _LEVEL
        position = np.asarray(position_m, np.float64)
        return cls(height, width, focal_px, width / 2.0, height / 2.0, position, rotation)

    @property
    def matrix(self) -> Array:
        """``(3, 3)`` intrinsic matrix K, for pixel coordinates with centres at +0.5."""
        return np.array(
            [[self.focal_px, 0.0, self.cx], [0.0, self.focal_px, self.cy], [0.0, 0.0, 1.0]]
        )

    def project(self, points_m: Array) -> tuple[Array, Array, Array]:
        """``u, v`` in pixels and ``z`` in metres of world points ``(..., 3)``."""
        x, y, z = np.moveaxis((points_m - self.position_m) @ self.rotation, -1, 0)
        return self.focal_px * x / z + self.cx, self.focal_px * y / z + self.cy, z

    def resized(self, height: int, width: int) -> Camera:
        """The same view in another number of pixels of the same shape."""
        scale = width / self.width
        return replace(
            self, height=height, width=width, focal_px=self.focal_px * scale,
            cx=self.cx * scale, cy=self.cy * height / self.height,
        )  # fmt: skip

    def shifted(self, offset_m: float, convergence_m: float = math.inf) -> Camera:
        """This camera moved to its right, the image plane shifted back ("off-axis").

        A point at ``convergence_m`` stays at the same pixel. One at depth z moves left by
        ``focal_px * offset_m * (1/z - 1/convergence_m)``.
        """
        return replace(
            self,
            position_m=self.position_m + self.rotation[:, 0] * offset_m,
            cx=self.cx + self.focal_px * offset_m / convergence_m,
        )

    def stereo(
        self,
        baseline_m: float,
        convergence_m: float = math.inf,
        reference: Literal["centre", "left", "right"] = "centre",
    ) -> tuple[Camera, Camera]:
        """Left and right cameras; ``reference`` says where this one is.

        Their disparity ``u_left - u_right`` is
        ``focal_px * baseline_m * (1/z - 1/convergence_m)``.
        """
        left = {"centre": -0.5, "left": 0.0, "right": -1.0}[reference] * baseline_m
        return (
            self.shifted(left, convergence_m),
            self.shifted(left + baseline_m, convergence_m),
        )

    def turned(self, yaw_deg: float, pitch_deg: float = 0.0, roll_deg: float = 0.0) -> Camera:
        """Turned about its own axes: to its left, up, and leaning right."""
        own = _LEVEL.T @ yaw(yaw_deg) @ pitch(pitch_deg) @ roll(roll_deg) @ _LEVEL
        return replace(self, rotation=self.rotation @ own)

    def moved(self, right_m: float, down_m: float, forward_m: float) -> Camera:
        """Moved along its own axes."""
        step = self.rotation @ np.array([right_m, down_m, forward_m])
        return replace(self, position_m=self.position_m + step)
