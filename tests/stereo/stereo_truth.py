"""Pictures of which both eyes' views are known, and how views are measured against them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import cv2
import numpy as np
import skimage.data
from numpy.typing import NDArray
from skimage.metrics import peak_signal_noise_ratio, structural_similarity

from scenes import (
    Box,
    Camera,
    Ellipsoid,
    Frame,
    Material,
    Plane,
    Scene,
    expose,
    make_scene,
    optical_flow,
    pitch,
    render,
    yaw,
)

SOFTENING = 3.7
"""From a 1080p picture to the depth map of a 518 pixel network and back."""


@dataclass(frozen=True, eq=False)
class Truth:
    """Attributes:
    left, right: ``(H, W, 3)`` uint8.
    disparity_px: ``(H, W)`` float32 of the left view.
    visible: ``(H, W)`` bool, pixels of the right view that the left view shows too.
    right_frame: what else is known of the right view, in ray-cast scenes.
    """

    left: NDArray[np.uint8]
    right: NDArray[np.uint8]
    disparity_px: NDArray[np.float32]
    visible: NDArray[np.bool_]
    right_frame: Frame | None = None


@lru_cache(maxsize=1)
def motorcycle() -> Truth:
    """Middlebury 2014 "Motorcycle" at quarter size, as scikit-image ships it.

    D. Scharstein et al., "High-resolution stereo datasets with subpixel-accurate ground
    truth", GCPR 2014. Unknown disparities take the lesser of their neighbours in the row, the
    background's. Visible are the pixels of the right view on which a pixel of the left lands
    whose disparity is known: of the others nobody knows whether the right eye sees them.
    """
    left, right, disparity = skimage.data.stereo_motorcycle()
    known = np.isfinite(disparity)
    filled = np.stack([_from_background(row) for row in disparity])
    return Truth(left, right, filled, _landed(filled, known))


def _from_background(row: NDArray[np.float32]) -> NDArray[np.float32]:
    known = np.flatnonzero(np.isfinite(row))
    place = np.searchsorted(known, np.arange(row.size))
    before, after = known[np.maximum(place - 1, 0)], known[np.minimum(place, known.size - 1)]
    return np.where(np.isfinite(row), row, np.minimum(row[before], row[after]))


def _landed(disparity: NDArray[np.float32], known: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Pixels of the right view of which the nearest sample that lands there is a known one."""
    height, width = disparity.shape
    best = np.full((height, width), -np.inf, np.float32)
    seen = np.zeros((height, width), np.bool_)
    for x in range(width):
        at = np.rint(x - disparity[:, x]).astype(int)
        rows = np.flatnonzero((at >= 0) & (at < width))
        rows = rows[disparity[rows, x] > best[rows, at[rows]]]
        best[rows, at[rows]] = disparity[rows, x]
        seen[rows, at[rows]] = known[rows, x]
    return seen


def _photograph(scene: Scene, camera: Camera, baseline_m: float, convergence_m: float) -> Truth:
    eyes = camera.stereo(baseline_m, convergence_m, "left")
    left, right = (render(scene, eye) for eye in eyes)
    inverse = np.where(np.isfinite(left.depth_m), 1 / left.depth_m, 0)
    disparity = camera.focal_px * baseline_m * (inverse - 1 / convergence_m)
    seen = optical_flow(scene, eyes[1], scene, eyes[0]).seen
    return Truth(left.rgb, right.rgb, disparity.astype(np.float32), seen, right)


def shapes(height: int = 720, width: int = 1280, plain: bool = False) -> tuple[Scene, Camera]:
    """Five boxes and five spheres before a wall, above a floor.

    With ``plain`` each has one colour, so that what is wrong at an edge is seen at once.
    """
    rng = np.random.default_rng(7)
    looks = ("photo-pattern", "bricks", "rock", "dots", "carpet", "print", "wood", "photo")
    gray = (0.8, 0.8, 0.8)
    solids = [
        Box((0, 9.0, 1.0), (9, 0.1, 6), Material("wood", 1, 3.0, gray)),
        Plane((0, 0, -1.2), (1, 1, 1), Material("carpet", 0, 2.0, gray)),
    ]
    for k in range(10):
        y = rng.uniform(2.2, 7)
        x, z = rng.uniform(-0.55, 0.55) * y, rng.uniform(-0.25, 0.3) * y
        s = rng.uniform(0.08, 0.16) * y**0.8
        variant, tint = int(rng.integers(0, 6)), tuple(rng.uniform(0.5, 1, 3))
        look = Material(looks[k % len(looks)], variant, s * 2, tint)
        if k % 2:
            solids.append(Ellipsoid((x, y, z), (s, s, s), look, group=k + 1))
        else:
            half = (s, s * 0.6, s * rng.uniform(0.7, 1.4))
            turn = yaw(rng.uniform(-40, 40)) @ pitch(rng.uniform(-25, 25))
            solids.append(Box((x, y, z), half, look, turn, group=k + 1))
    if plain:
        bright = ((0.9, 0.2, 0.2), (0.2, 0.7, 0.2), (0.2, 0.3, 0.9), (0.9, 0.8, 0.2))
        solids = [
            replace(solid, material=Material("plain", 0, 500.0, bright[k % 4] if k > 1 else gray))
            for k, solid in enumerate(solids)
        ]
    camera = Camera.looking(height, width, fov_deg=60)
    return expose(Scene(tuple(solids), name="shapes"), camera), camera


@lru_cache(maxsize=2)
def shapes_truth(plain: bool = False) -> Truth:
    return _photograph(*shapes(plain=plain), 0.06, 4.0)


@lru_cache(maxsize=2)
def scene_truth(kind: str, seed: int) -> Truth:
    """One of the scenes that other tests use, without noise: noise has no second view."""
    scene, camera = make_scene(kind, seed, 720, 1280)
    scene = replace(scene, look=replace(scene.look, noise=0.0))
    return _photograph(scene, camera, 0.06, 4.0)


def soften(disparity_px: NDArray[np.float32]) -> NDArray[np.float32]:
    """As a network would give it: averaged to a smaller size, then enlarged bilinearly."""
    height, width = disparity_px.shape
    size = (round(width / SOFTENING), round(height / SOFTENING))
    small = cv2.resize(disparity_px, size, interpolation=cv2.INTER_AREA)
    return cv2.resize(small, (width, height), interpolation=cv2.INTER_LINEAR)


def psnr(
    truth: NDArray[np.uint8], view: NDArray[np.uint8], where: NDArray[np.bool_] | None = None
) -> float:
    """In dB; over all pixels, or some."""
    if where is not None:
        truth, view = truth[where], view[where]
    return float(peak_signal_noise_ratio(truth, view, data_range=255))


def ssim(truth: NDArray[np.uint8], view: NDArray[np.uint8]) -> float:
    return float(structural_similarity(truth, view, data_range=255, channel_axis=2))


def halo_px(truth: Truth, view: NDArray[np.uint8], jump_px: float = 2.0) -> tuple[float, float]:
    """How wide the wrong colour is at depth edges: on the near side, on the far side.

    Where the object changes along a row of the right view, and disparity by ``jump_px``: the
    pixels from there on, each way, up to the first whose colour is right within a tenth of
    the difference between the two sides. The mean over all edges, without the pixel that the
    edge itself runs through.
    """
    frame = truth.right_frame
    assert frame is not None
    error = np.abs(view.astype(int) - truth.right).max(axis=2)
    reach = 12
    width = error.shape[1]
    disparity = frame.camera.focal_px * 0.06 / frame.depth_m
    rows, columns = np.nonzero(
        (np.diff(frame.object_id, axis=1) != 0) & (np.abs(np.diff(disparity)) > jump_px)
    )
    inside = (columns >= reach) & (columns < width - reach - 1)
    sums, count = [0.0, 0.0], 0
    for y, x in zip(rows[inside], columns[inside], strict=True):
        sides = truth.right[y, x - 3].astype(int), truth.right[y, x + 4].astype(int)
        contrast = np.abs(sides[0] - sides[1]).max()
        if contrast < 40:
            continue
        wrong = error[y] > contrast / 10
        left = next((d for d in range(reach) if not wrong[x - d]), reach)
        right = next((d for d in range(reach) if not wrong[x + 1 + d]), reach)
        near_is_left = disparity[y, x] > disparity[y, x + 1]
        sums[0] += left if near_is_left else right
        sums[1] += right if near_is_left else left
        count += 1
    return sums[0] / count, sums[1] / count
