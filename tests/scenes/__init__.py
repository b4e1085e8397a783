"""Pictures whose depth, stereo views and motion are known exactly.

A ray-caster for tests: scenes of boxes, ellipsoids, cylinders, planes and cut-outs with
textures, light, shadows, fog, defocus and noise. The same seed gives the same pixels.

>>> scene, camera = make_scene("room", seed=3, height=360, width=640)
>>> frame = render(scene, camera)                      # rgb, depth_m, normal, object_id
>>> left, right = camera.stereo(baseline_m=0.06, convergence_m=2.0)
>>> disparity = optical_flow(scene, left, scene, right)   # and what is hidden
>>> for frame in make_film(("street", "room"), seed=1, height=180, width=320):
...     frame.to_previous()                            # None at a cut

Describe a scene of your own with `Scene` and its solids.
"""

from __future__ import annotations

from scenes.camera import Camera
from scenes.describe import (
    Billboard,
    Box,
    Cylinder,
    Ellipsoid,
    Light,
    Look,
    Material,
    Plane,
    Scene,
    Sky,
    Solid,
)
from scenes.film import CameraPath, Film, FilmFrame, Shot, make_film
from scenes.flow import Flow, optical_flow
from scenes.kinds import KINDS, make_scene
from scenes.pose import Motion, pitch, roll, yaw
from scenes.render import Frame, expose, render

__all__ = [
    "KINDS", "Billboard", "Box", "Camera", "CameraPath", "Cylinder", "Ellipsoid", "Film",
    "FilmFrame", "Flow", "Frame", "Light", "Look", "Material", "Motion", "Plane", "Scene",
    "Shot", "Sky", "Solid", "expose", "make_film", "make_scene", "optical_flow", "pitch",
    "render", "roll", "yaw",
]  # fmt: skip
