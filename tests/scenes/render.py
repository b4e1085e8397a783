"""A picture of a scene with everything that is known about it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from scenes.camera import Camera
from scenes.describe import Scene
from scenes.pack import Packed, pack, view_of
from scenes.pose import Array
from scenes.sensor import develop
from scenes.trace import smooth, trace


@dataclass(frozen=True, eq=False)
class Frame:
    """A rendered picture and its truth.

    Attributes:
        rgb: ``(H, W, 3)`` uint8, sRGB.
        depth_m: ``(H, W)`` float32, z along the optical axis at the pixel's centre;
            infinite in the sky.
        normal: ``(H, W, 3)`` float32, length 1, camera axes, towards the camera; 0 in the sky.
        object_id: ``(H, W)`` int32, number of the object; -1 in the sky.
        solid_id: ``(H, W)`` int32, place of the solid in the scene; -1 in the sky.
        camera: that took it.
    """

    rgb: NDArray[np.uint8]
    depth_m: NDArray[np.float32]
    normal: NDArray[np.float32]
    object_id: NDArray[np.int32]
    solid_id: NDArray[np.int32]
    camera: Camera

    @property
    def valid(self) -> NDArray[np.bool_]:
        """``(H, W)``: False in the sky."""
        return np.isfinite(self.depth_m)


def render(
    scene: Scene, camera: Camera, *, noise_seed: int = 0, smooth_edges: bool = True
) -> Frame:
    """Photograph a scene as it stands.

    Args:
        noise_seed: tells the noise of one picture from that of the next.
        smooth_edges: False leaves one ray a pixel, for depth alone or a quick look.
    """
    linear, depth, normal, key = _light(pack(scene), camera, smooth_edges)
    solid_id = np.where(key < 0, -1, key >> 5).astype(np.int32)
    groups = np.array([s.group for s in scene.solids] + [-1], np.int32)
    depth_m = depth.astype(np.float32)
    return Frame(
        rgb=develop(linear, depth_m, camera.focal_px, scene.look, noise_seed),
        depth_m=depth_m,
        normal=normal,
        object_id=groups[solid_id],
        solid_id=solid_id,
        camera=camera,
    )


def _light(
    world: Packed, camera: Camera, smooth_edges: bool
) -> tuple[NDArray[np.float32], Array, NDArray[np.float32], NDArray[np.int32]]:
    size = (camera.height, camera.width)
    linear = np.empty((*size, 3), np.float32)
    depth = np.empty(size, np.float64)
    normal = np.empty((*size, 3), np.float32)
    key = np.empty(size, np.int32)
    view = view_of(camera)
    trace(world, view, linear, depth, normal, key)
    if smooth_edges:
        smooth(world, view, linear, depth, key)
    return linear, depth, normal, key


def expose(scene: Scene, camera: Camera, *, middle: float = 0.2) -> Scene:
    """The scene with an exposure that puts the median brightness at ``middle`` (linear)."""
    scale = 96 / max(camera.height, camera.width)
    small = camera.resized(
        max(1, round(camera.height * scale)), max(1, round(camera.width * scale))
    )
    linear = _light(pack(scene), small, False)[0]
    median = float(np.median(linear.mean(axis=2)))
    exposure = middle / max(median, 1e-3)
    return replace(scene, look=replace(scene.look, exposure=exposure))
