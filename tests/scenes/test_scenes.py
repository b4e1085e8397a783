"""The ray-caster against closed forms, OpenCV and itself at a finer sampling."""

from __future__ import annotations

import hashlib
import math
import os
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import ndimage

from scenes import (
    KINDS,
    Billboard,
    Box,
    Camera,
    CameraPath,
    Cylinder,
    Ellipsoid,
    Film,
    Light,
    Look,
    Material,
    Motion,
    Plane,
    Scene,
    Shot,
    make_film,
    make_scene,
    masks,
    optical_flow,
    pitch,
    render,
    roll,
    sensor,
    yaw,
)
from scenes.pose import Array

SIZE = (90, 120)
SPECKLED = Material("photo-stone", 0, 0.8, (1.0, 1.0, 1.0))
WALL = Plane((0, 4.0, 0), material=SPECKLED, rotation=pitch(90.0))
GROUND = Plane((0, 0, 0), material=SPECKLED)


def camera(**options: object) -> Camera:
    return Camera.looking(*SIZE, **options)  # type: ignore[arg-type]


def rays(view: Camera) -> tuple[Array, Array]:
    """``x / z`` and ``y / z`` of every pixel centre, camera axes."""
    rows, columns = np.mgrid[: view.height, : view.width] + 0.5
    return (columns - view.cx) / view.focal_px, (rows - view.cy) / view.focal_px


def relative_error(depth: NDArray[np.float32], truth: Array) -> float:
    """Largest relative error; both must be infinite at the same places."""
    seen = np.isfinite(truth)
    assert np.array_equal(np.isfinite(depth), seen)
    return float(np.max(np.abs(depth[seen] / truth[seen] - 1.0)))


# --- depth


def test_projection_agrees_with_opencv() -> None:
    view = camera(position_m=(0.3, -1.0, 1.5), yaw_deg=20, pitch_deg=-15, roll_deg=7)
    points = np.random.default_rng(0).uniform((-1, 2, 0), (1, 6, 2), (50, 3))
    u, v, z = view.project(points)
    to_camera = view.rotation.T
    turn, _ = cv2.Rodrigues(to_camera)
    expected, _ = cv2.projectPoints(
        points, turn, -to_camera @ view.position_m, view.matrix, np.zeros(4)
    )
    np.testing.assert_allclose(np.stack([u, v], 1), expected[:, 0], atol=1e-9)
    np.testing.assert_allclose(z, (points - view.position_m) @ view.rotation[:, 2])


def test_depth_of_a_wall_is_its_distance() -> None:
    depth = render(Scene((WALL,)), camera()).depth_m
    assert relative_error(depth, np.full(SIZE, 4.0)) < 1e-6


def test_depth_of_the_ground_under_a_tilted_camera() -> None:
    view = camera(position_m=(0, 0, 1.6), pitch_deg=-12, roll_deg=5, yaw_deg=33)
    x, y = rays(view)
    down, lean = math.radians(12), math.radians(5)
    # How fast a ray goes down, per metre of depth.
    falls = (y * math.cos(lean) + x * math.sin(lean)) * math.cos(down) + math.sin(down)
    truth = np.where(falls > 0, 1.6 / np.where(falls > 0, falls, 1.0), np.inf)
    assert relative_error(render(Scene((GROUND,)), view).depth_m, truth) < 1e-5


def test_depth_of_a_sphere() -> None:
    centre, radius = np.array([0.4, -0.3, 3.0]), 0.8  # camera axes: right, down, forward
    view = camera(position_m=(1.0, 2.0, 3.0), yaw_deg=-40, pitch_deg=10, roll_deg=3)
    at = view.position_m + view.rotation @ centre
    solid = Ellipsoid(at, (radius,) * 3, SPECKLED)
    x, y = rays(view)
    a = x * x + y * y + 1.0
    b = x * centre[0] + y * centre[1] + centre[2]
    square = b * b - a * (centre @ centre - radius**2)
    truth = np.where(square > 0, (b - np.sqrt(np.maximum(square, 0.0))) / a, np.inf)
    assert relative_error(render(Scene((solid,)), view).depth_m, truth) < 1e-5


def test_depth_of_a_box() -> None:
    half, turn, at = np.array([0.5, 0.3, 0.7]), yaw(30) @ pitch(20), np.array([0.2, 3.0, 0.1])
    view = camera()
    x, y = rays(view)
    directions = np.stack([x, y, np.ones_like(x)], -1) @ view.rotation.T
    truth = np.full(SIZE, np.inf)
    for axis in range(3):  # each face as a bounded plane
        for side in (-1.0, 1.0):
            normal = turn[:, axis]
            z = ((at + side * half[axis] * normal) @ normal) / (directions @ normal)
            own = (directions * z[..., None] - at) @ turn
            others = [k for k in range(3) if k != axis]
            on_face = np.all(np.abs(own[..., others]) <= half[others], axis=-1)
            truth = np.where(on_face & (z > 0), np.minimum(truth, z), truth)
    solid = Box(at, tuple(half), SPECKLED, turn)
    assert relative_error(render(Scene((solid,)), view).depth_m, truth) < 1e-5


@pytest.mark.parametrize("shape", [Ellipsoid, Cylinder])
def test_first_point_of_a_round_solid(shape: type[Ellipsoid | Cylinder]) -> None:
    """The point lies on the surface, and the ray before it outside."""
    half, turn, at = np.array([0.6, 0.4, 0.8]), roll(35) @ pitch(50), np.array([0.1, 3.0, -0.1])
    view = camera()
    depth = render(Scene((shape(at, tuple(half), SPECKLED, turn),)), view).depth_m
    x, y = rays(view)
    directions = np.stack([x, y, np.ones_like(x)], -1) @ view.rotation.T

    def outside(z: Array) -> Any:
        own = (directions * z[..., None] - at) @ turn / half
        if shape is Ellipsoid:
            return np.linalg.norm(own, axis=-1)
        return np.maximum(np.hypot(own[..., 0], own[..., 1]), np.abs(own[..., 2]))

    hit = np.isfinite(depth)
    assert 0.05 < hit.mean() < 0.6
    np.testing.assert_allclose(outside(np.where(hit, depth, 3.0))[hit], 1.0, atol=1e-6)
    for z in np.linspace(1.5, 4.5, 200):
        before = np.where(hit, np.minimum(z, depth * (1 - 1e-5)), z)
        assert outside(before).min() > 1.0 - 1e-9


def test_a_billboard_has_the_shape_of_its_outline() -> None:
    card = Billboard((0, 2.0, 0), (0.5, 0.001, 0.5), SPECKLED, mask="horse")
    view = Camera.looking(128, 128, fov_deg=2 * math.degrees(math.atan(0.25)))
    hit = np.isfinite(render(Scene((card,)), view).depth_m)
    assert np.array_equal(hit, masks.outline("horse", 0) >= 128)
    assert 0.1 < hit.mean() < 0.6


def test_normals_are_those_of_the_points() -> None:
    scene = Scene((GROUND, Ellipsoid((0, 3, 0.5), (0.7, 0.5, 0.5), SPECKLED)))
    view = camera(position_m=(0, 0, 1.2), pitch_deg=-15)
    frame = render(scene, view)
    np.testing.assert_allclose(np.linalg.norm(frame.normal[frame.valid], axis=-1), 1, atol=1e-6)
    x, y = rays(view)
    z = np.where(frame.valid, frame.depth_m, np.nan).astype(np.float64)
    points = np.stack([x * z, y * z, z], -1)
    across = points[1:-1, 2:] - points[1:-1, :-2]
    down = points[2:, 1:-1] - points[:-2, 1:-1]
    normal = np.cross(down, across)
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    cosine = (normal * frame.normal[1:-1, 1:-1]).sum(-1)
    same = cv2.erode((frame.solid_id == 1).astype(np.uint8), np.ones((7, 7))) > 0
    same |= cv2.erode((frame.solid_id == 0).astype(np.uint8), np.ones((7, 7))) > 0
    assert np.nanmin(cosine[same[1:-1, 1:-1]]) > math.cos(math.radians(3))


# --- light


def test_shadow_of_a_ball_under_a_vertical_light() -> None:
    ball = Ellipsoid((0, 4, 1.2), (0.5, 0.5, 0.5), SPECKLED)
    plain = Plane((0, 0, 0), material=Material("plain", tint=(0.5, 0.5, 0.5)))
    light = Light((0, 0, 1), colour=(0.5,) * 3, above=(0.1,) * 3, below=(0.1,) * 3)
    view = camera(position_m=(0, 0, 2.5), pitch_deg=-30)
    frame = render(Scene((plain, ball), light), view)
    x, y = rays(view)
    points = np.stack([x, y, np.ones_like(x)], -1) @ view.rotation.T * frame.depth_m[..., None]
    distance = np.hypot(points[..., 0], points[..., 1] - 4.0)
    ground = frame.solid_id == 0
    brightness = frame.rgb.mean(-1)
    dark = brightness[ground & (distance < 0.47)]
    bright = brightness[ground & (distance > 0.53)]
    assert dark.size > 30 and dark.max() < bright.min() - 20


def test_fog_leaves_a_known_share() -> None:
    """Black wall: what arrives is fog alone, 1 - exp(-way / fog_m) of it."""
    black = Plane((0, 4, 0), material=Material(tint=(0, 0, 0)), rotation=pitch(90.0))
    view = camera()
    frame = render(Scene((black,), look=Look(fog_m=6.0, fog_colour=(0.5,) * 3)), view)
    x, y = rays(view)
    light = 0.5 * (1 - np.exp(-4.0 * np.sqrt(x * x + y * y + 1) / 6.0))
    expected = np.rint(255 * (1.055 * light ** (1 / 2.4) - 0.055))
    assert np.abs(frame.rgb[..., 0] - expected).max() <= 1


def test_edges_are_as_smooth_as_a_finer_picture() -> None:
    scene, view = make_scene("room", 1, *SIZE)
    scene = Scene(scene.solids, scene.light, scene.sky, Look(scene.look.exposure))
    fine = render(scene, view.resized(SIZE[0] * 6, SIZE[1] * 6), smooth_edges=False)
    # Averaged in linear light, as a sensor does.
    linear = cv2.resize((fine.rgb / 255.0) ** 2.2, SIZE[::-1], interpolation=cv2.INTER_AREA)
    errors = []
    for smooth_edges in (True, False):
        frame = render(scene, view, smooth_edges=smooth_edges)
        solid = frame.solid_id.astype(np.int16)
        edges = cv2.erode(solid, np.ones((3, 3))) != cv2.dilate(solid, np.ones((3, 3)))
        errors.append((frame.rgb - 255 * linear ** (1 / 2.2))[edges])
    smooth, rough = (float(np.sqrt(np.mean(error**2))) for error in errors)
    assert smooth < 0.5 * rough
    assert smooth < 5.0


def test_defocus_spreads_an_edge_over_the_blur_disc() -> None:
    """White beside black on one wall, out of focus by a known amount."""
    white, black = Material(tint=(1, 1, 1)), Material(tint=(0, 0, 0))
    card = Box((-5, 3, 0), (5, 0.5, 9), white)
    beside = Box((5, 3, 0), (5, 0.5, 9), black)
    view = camera()
    light = Light((0, -1, 0), colour=(0.5,) * 3)
    look = Look(aperture_m=0.2, focus_m=10.0)
    row = render(Scene((card, beside), light, look=look), view).rgb[45, :, 0] / 255.0
    linear = ((row + 0.055) / 1.055) ** 2.4
    linear /= linear[:20].mean()
    width = view.focal_px * 0.2 * (1 / 2.5 - 1 / 10)
    # Across a disc's edge, 10 % to 90 % takes 0.687 of the diameter.
    positions = np.interp([-0.9, -0.1], -linear, np.arange(row.size))
    assert positions[1] - positions[0] == pytest.approx(0.687 * width, abs=0.7)
    spread = sensor.blur_px(np.full((1, 1), 2.5, np.float32), view.focal_px, 0.2, 10.0)
    assert float(spread[0, 0]) == pytest.approx(width, rel=1e-6)


# --- stereo and flow


def test_right_view_of_a_wall_is_the_left_view_shifted() -> None:
    view = camera()
    shift, convergence = 7, 9.0
    baseline = shift / (view.focal_px * (1 / 4.0 - 1 / convergence))
    left, right = view.stereo(baseline, convergence)
    pattern = Material("dots", 1, 3.0, (1.0, 1.0, 1.0))
    scene = Scene((replace(WALL, material=pattern),))
    pictures = [render(scene, eye).rgb.astype(float) for eye in (left, right)]
    difference = np.abs(pictures[0][:, shift:] - pictures[1][:, :-shift])
    # The texture filter follows the distance to the eye, which differs a little.
    assert difference.mean() < 1.0 and np.percentile(difference, 99) <= 6
    assert np.abs(pictures[0] - pictures[1]).mean() > 10
    flow = optical_flow(scene, left, scene, right)
    np.testing.assert_allclose(flow.px[..., 0], -shift, atol=1e-4)
    np.testing.assert_allclose(flow.px[..., 1], 0.0, atol=1e-4)
    assert np.array_equal(flow.seen, np.broadcast_to(np.arange(120) >= shift, SIZE))


def test_disparity_of_a_scene_is_that_of_its_depth() -> None:
    scene, view = make_scene("room", 2, *SIZE)
    references: tuple[Literal["centre", "left", "right"], ...] = ("centre", "left", "right")
    for reference in references:
        left, right = view.stereo(0.065, 2.0, reference)
        depth = render(scene, left, smooth_edges=False).depth_m
        expected = view.focal_px * 0.065 * (1 / depth - 1 / 2.0)
        flow = optical_flow(scene, left, scene, right)
        np.testing.assert_allclose(flow.px[..., 0], -expected, atol=1e-4)
        np.testing.assert_allclose(flow.depth_m, depth, rtol=1e-6)


def test_flow_of_a_pan_is_a_homography() -> None:
    scene, view = make_scene("street", 1, *SIZE)
    turned = view.turned(4.0, -2.0, 1.5)
    flow = optical_flow(scene, view, scene, turned)
    matrix = turned.matrix @ turned.rotation.T @ view.rotation @ np.linalg.inv(view.matrix)
    rows, columns = np.mgrid[: SIZE[0], : SIZE[1]] + 0.5
    start = np.stack([columns, rows], -1).reshape(-1, 1, 2)
    expected = (cv2.perspectiveTransform(start, matrix) - start).reshape(*SIZE, 2)
    np.testing.assert_allclose(flow.px, expected, atol=1e-3)
    u, v = (start.reshape(*SIZE, 2) + expected).transpose(2, 0, 1)
    inside = (u >= 0) & (u < SIZE[1]) & (v >= 0) & (v < SIZE[0])
    assert np.array_equal(flow.seen, inside)  # a pan hides nothing


def test_flow_of_a_forward_move_grows_from_the_middle() -> None:
    view = camera()
    flow = optical_flow(Scene((WALL,)), view, Scene((WALL,)), view.moved(0, 0, 0.5))
    x, y = rays(view)
    growth = view.focal_px * (4.0 / 3.5 - 1.0)
    np.testing.assert_allclose(flow.px, np.stack([x, y], -1) * growth, atol=1e-4)
    np.testing.assert_allclose(flow.depth_m, 3.5, rtol=1e-6)


def test_flow_of_a_moving_object() -> None:
    """A ball goes to the right before a still wall, and hides what it comes to cover."""
    ball = Ellipsoid(
        (-0.2, 2.5, 0), (0.4,) * 3, SPECKLED, motion=Motion(velocity_m_s=(1.0, 0, 0)), group=1
    )
    scene, view = Scene((WALL, ball)), camera()
    frame = render(scene, view)
    flow = optical_flow(scene, view, scene.at(0.2), view)
    on_ball = frame.object_id == 1
    expected = np.where(on_ball, view.focal_px * 0.2 / frame.depth_m, 0.0)
    np.testing.assert_allclose(flow.px[..., 0], expected, atol=1e-4)
    later = render(scene.at(0.2), view).object_id == 1
    assert np.array_equal(flow.seen[~on_ball], ~later[~on_ball])
    assert flow.seen[on_ball].mean() > 0.99 and (~flow.seen).sum() > 50


def test_flow_of_a_spin_keeps_points_on_the_ball() -> None:
    motion = Motion(spin_deg_s=30.0, pivot_m=(0, 2.5, 0))
    scene = Scene((Ellipsoid((0, 2.5, 0), (0.5,) * 3, SPECKLED, motion=motion),))
    view = camera()
    depth = render(scene, view).depth_m
    flow = optical_flow(scene, view, scene.at(0.5), view)
    hit = np.isfinite(depth)
    x, y = rays(view)
    z = np.where(hit, depth, 1.0)
    around = np.stack([x * z, y * z, z - 2.5], -1)  # camera axes, from the pivot
    axis = np.array([0.0, -1.0, 0.0])  # up
    turned = around @ cv2.Rodrigues(axis * math.radians(15.0))[0].T + (0, 0, 2.5)
    end = view.focal_px * turned[..., :2] / turned[..., 2:] + (view.cx, view.cy)
    start = np.stack([x * view.focal_px + view.cx, y * view.focal_px + view.cy], -1)
    np.testing.assert_allclose(flow.px[hit], (end - start)[hit], atol=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_flow_leads_to_the_same_point_where_it_is_seen(kind: str) -> None:
    """Depth, colour and the flow back, looked up where the flow ends in the other frame."""
    film = make_film((kind,), 3, *SIZE, frames=4, fps=Fraction(12))
    still_light = Look(film.shots[0].scene.look.exposure)  # no noise, fog or blur
    first, other = ((replace(s, look=still_light), c) for s, c in (film.view(0), film.view(3)))
    flow, back = optical_flow(*first, *other), optical_flow(*other, *first)
    start, end = render(*first), render(*other)
    rows, columns = np.mgrid[: SIZE[0], : SIZE[1]].astype(np.float32)
    u, v = columns + flow.px[..., 0], rows + flow.px[..., 1]  # indices, not pixel coordinates

    def look_up(values: Any, how: int = cv2.INTER_NEAREST) -> Any:
        return cv2.remap(values, np.nan_to_num(u), np.nan_to_num(v), how)

    # Where the other frame is one solid all around the landing place.
    solid = end.solid_id.astype(np.int16)
    calm = cv2.erode(solid, np.ones((3, 3))) == cv2.dilate(solid, np.ones((3, 3)))
    calm = (look_up(calm.astype(np.uint8)) > 0) & (look_up(solid) == start.solid_id)
    inside = (u > 1) & (u < SIZE[1] - 2) & (v > 1) & (v < SIZE[0] - 2)
    calm &= flow.seen & start.valid & inside
    assert calm.mean() > 0.3
    # On a plane 1/z is linear in u and v. (cv2.remap rounds places to 1/32 of a pixel.)
    inverse = ndimage.map_coordinates(1 / end.depth_m, np.nan_to_num([v, u]), order=1)
    assert np.quantile(np.abs(inverse[calm] * flow.depth_m[calm] - 1), 0.98) < 0.01
    round_trip = flow.px + cv2.remap(back.px, u, v, cv2.INTER_LINEAR)
    assert np.quantile(np.abs(round_trip)[calm], 0.98) < 0.05
    colour = np.abs(look_up(end.rgb, cv2.INTER_LINEAR).astype(float) - start.rgb).mean(-1)
    unmoved = np.abs(end.rgb.astype(float) - start.rgb).mean(-1)
    assert colour[calm].mean() < max(0.6 * unmoved[calm].mean(), 4.0)

    # Hidden points: what the other frame shows there is nearer.
    hidden = inside & ~flow.seen & start.valid
    if hidden.sum() > 20:
        nearer = cv2.dilate(1 / end.depth_m, np.ones((3, 3))) * 1.001
        assert (look_up(nearer)[hidden] > 1 / flow.depth_m[hidden]).mean() > 0.97


def test_flow_between_different_scenes_is_refused() -> None:
    with pytest.raises(ValueError, match="one scene"):
        optical_flow(Scene((WALL,)), camera(), Scene((WALL, GROUND)), camera())


# --- the same everywhere

_DIGEST = """
import hashlib
from scenes import KINDS, make_film, make_scene, render
digest = hashlib.sha256()
for kind in KINDS:
    frame = render(*make_scene(kind, 5, 48, 64), noise_seed=2)
    for part in (frame.rgb, frame.depth_m, frame.normal, frame.object_id):
        digest.update(part.tobytes())
for shot in make_film(("street", "room"), 2, 24, 32, frames=2):
    digest.update(shot.frame.rgb.tobytes())
print(digest.hexdigest())
"""


def test_two_processes_make_the_same_pixels() -> None:
    tests = Path(__file__).parents[1]
    digests = [
        subprocess.run(
            [sys.executable, "-c", _DIGEST], check=True, capture_output=True, text=True,
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(tests)},
        ).stdout
        for seed in ("1", "2")
    ]  # fmt: skip
    assert digests[0] == digests[1] and len(digests[0]) == 65


def test_seeds_and_kinds_differ() -> None:
    pictures = {
        hashlib.sha256(render(*make_scene(kind, seed, 24, 32)).rgb.tobytes()).hexdigest()
        for kind in KINDS
        for seed in range(3)
    }
    assert len(pictures) == 3 * len(KINDS)
    with pytest.raises(ValueError, match="no scene kind 'mars'"):
        make_scene("mars", 0, 24, 32)


@pytest.mark.parametrize("kind", KINDS)
def test_scenes_are_lit_textured_and_deep(kind: str) -> None:
    for seed in range(4):
        frame = render(*make_scene(kind, seed, 60, 80))
        gray = frame.rgb.mean(-1)
        assert 50 < np.median(gray) < 200, seed
        assert gray.std() > 12, seed
        assert (gray > 252).mean() < 0.25, seed
        depth = frame.depth_m[frame.valid]
        assert depth.min() > 0.02 and np.unique(frame.object_id).size >= 3, seed
        assert np.percentile(depth, 95) > 1.3 * np.percentile(depth, 5), seed
        assert kind not in ("room", "tabletop") or frame.valid.all(), seed


# --- films


def test_a_film_has_cuts_and_flow_within_its_shots() -> None:
    film = make_film(("street", "room", "room"), 1, 24, 32, frames=3, fps=Fraction(30000, 1001))
    frames = list(film)
    assert len(film) == len(frames) == 9
    assert [f.index for f in frames if f.is_cut] == film.cuts == [3, 6]
    assert frames[4].time == Fraction(4 * 1001, 30000)
    for frame in frames:
        assert (frame.to_previous() is None) == (frame.index in (0, 3, 6))
        assert (frame.to_next() is None) == (frame.index in (2, 5, 8))
    with pytest.raises(IndexError):
        film.view(9)


def test_a_still_camera_differs_by_noise_only() -> None:
    scene = Scene((WALL,), look=Look(noise=0.02))
    first, second = Film((Shot(scene, camera(), 2),))
    difference = second.frame.rgb.astype(float) - first.frame.rgb
    assert np.array_equal(first.frame.depth_m, second.frame.depth_m)
    assert abs(difference.mean()) < 0.1 and 1.0 < difference.std() < 15.0
    flow = second.to_previous()
    assert flow is not None and flow.seen.all()
    np.testing.assert_allclose(flow.px, 0.0, atol=1e-9)


def test_exposure_changes_by_stops() -> None:
    gray = Plane((0, 4, 0), material=Material(tint=(0.2,) * 3), rotation=pitch(90.0))
    shot = Shot(Scene((gray,)), camera(), 5, stops=1.0, stops_from=0.25, stops_to=0.75)
    encoded = [f.frame.rgb.mean() / 255 for f in Film((shot,))]
    linear = [((value + 0.055) / 1.055) ** 2.4 for value in encoded]
    np.testing.assert_allclose(np.log2(np.array(linear) / linear[0]), [0, 0, 0.5, 1, 1], atol=0.02)


def test_a_camera_path_is_steady() -> None:
    path = CameraPath(velocity_m_s=(0.5, 0, 2.0), pan_deg_s=10)
    end = path.at(camera(yaw_deg=90), 1.5)
    np.testing.assert_allclose(end.position_m, (-3.0, 0.75, 0.0), atol=1e-12)
    np.testing.assert_allclose(end.rotation[:, 2], yaw(105)[:, 1], atol=1e-12)
