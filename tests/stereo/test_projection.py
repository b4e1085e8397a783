"""Half spheres against OpenCV's camera models, SciPy's interpolation and closed forms."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
import skimage.data
from scipy import ndimage
from scipy.spatial.transform import Rotation

from depthsmith.errors import InputError, UsageError
from depthsmith.stereo import SPHERES, Projector, natural_side
from depthsmith.types import Size, StereoPair

PHOTO = np.ascontiguousarray(skimage.data.coffee()[:270, :480])
PAIR = StereoPair(PHOTO, np.ascontiguousarray(PHOTO[:, ::-1]))


def focal_px(width, fov_deg):
    return width / 2 / np.tan(np.radians(fov_deg / 2))


def look(size, sphere, fov_deg, side):
    """Where on the flat view each pixel of a half sphere looks, by other people's models:
    directions by rotations about the axes, and OpenCV's fisheye and pinhole cameras.
    """
    middle = (np.arange(side) + 0.5) - side / 2
    if sphere == "vr180":
        lon, lat = np.meshgrid(middle * 180 / side, middle * 180 / side)
        # Up first, then around: x is right, y is down, z is ahead.
        turns = Rotation.from_euler("xy", np.stack([-lat, lon], -1).reshape(-1, 2), degrees=True)
        rays = turns.apply([0.0, 0.0, 1.0])
    else:
        # With no distortion OpenCV's fisheye is the equidistant one: radius = focal * angle.
        k = np.diag([side / np.pi, side / np.pi, 1.0])
        x, y = np.meshgrid(middle, middle)
        points = np.stack([x, y], -1).reshape(-1, 1, 2).astype(np.float64)
        planar = cv2.fisheye.undistortPoints(points, k, np.zeros(4))[:, 0]
        rays = np.hstack([planar, np.ones((len(planar), 1))])
        rays[np.hypot(x, y).ravel() >= side / 2] = (0, 0, -1)
    f = focal_px(size.width, fov_deg)
    camera = np.array([[f, 0, size.width / 2], [0, f, size.height / 2], [0, 0, 1.0]])
    ahead = rays[:, 2] > 1e-3
    seen = np.full((side * side, 2), np.nan)
    seen[ahead] = cv2.projectPoints(rays[ahead], np.zeros(3), np.zeros(3), camera, None)[0][:, 0]
    return seen[:, 0].reshape(side, side), seen[:, 1].reshape(side, side)


@pytest.mark.parametrize("sphere", SPHERES)
@pytest.mark.parametrize("fov_deg", [50.0, 110.0])
def test_every_pixel_shows_what_it_looks_at(sphere, fov_deg):
    projector = Projector(PAIR.size, sphere, fov_deg)
    side = projector.side
    packed = projector(PAIR)
    assert packed.shape == (side, 2 * side, 3)
    x, y = look(PAIR.size, sphere, fov_deg, side)
    with np.errstate(invalid="ignore"):
        inside = (x > 1) & (x < 479) & (y > 1) & (y < 269)
        outside = ~((x > -1) & (x < 481) & (y > -1) & (y < 271))
    for view, drawn in ((PAIR.left, packed[:, :side]), (PAIR.right, packed[:, side:])):
        places = [y[inside] - 0.5, x[inside] - 0.5]
        expected = np.stack(
            [ndimage.map_coordinates(view[..., c].astype(float), places) for c in range(3)], 1
        )
        # Splines on one side, cubic convolution and positions of 1/32 pixel on the other.
        error = drawn[inside].astype(float) - expected
        assert 10 * np.log10(255**2 / (error**2).mean()) > 38
        assert not drawn[outside].any()
        assert inside.any() and outside.any()


@pytest.mark.parametrize("sphere", SPHERES)
def test_straight_ahead_is_the_flat_frame(sphere):
    """As many pixels per degree, and in the middle the same pixels."""
    projector = Projector(PAIR.size, sphere, 70.0)
    half = projector.side // 2
    around = projector(PAIR)[half - 12 : half + 12, half - 12 : half + 12]
    flat = PHOTO[135 - 12 : 135 + 12, 240 - 12 : 240 + 12]
    assert np.abs(around.astype(int) - flat).max() <= 2
    # Closed form: a pixel is atan(1 / focal) wide there, and 180 / side degrees here.
    degrees = np.degrees(np.arctan(1 / focal_px(480, 70.0)))
    assert 180 / projector.side == pytest.approx(degrees, rel=1e-3)


@pytest.mark.parametrize("fov_deg", [50.0, 90.0])
def test_edges_lie_where_the_closed_form_says(fov_deg):
    """A white frame: its edges on the half sphere, to half a pixel."""
    white = np.full((270, 480, 3), 255, np.uint8)
    f = focal_px(480, fov_deg)
    for sphere in SPHERES:
        projector = Projector(Size(270, 480), sphere, fov_deg)
        side = projector.side
        eye = projector(StereoPair(white, white))[:, :side, 0] / 255.0
        middle = side // 2
        # Along the middle row and column all is the angle itself, on both spheres.
        wide, high = eye[middle].sum(), eye[:, middle].sum()
        assert wide == pytest.approx(fov_deg / 180 * side, abs=0.6)
        assert high == pytest.approx(2 * np.degrees(np.arctan(135 / f)) / 180 * side, abs=0.6)
    # A straight upper edge: on a column of longitude l, tan(latitude) = cos(l) * 135 / f.
    eye = Projector(Size(270, 480), "vr180", fov_deg)(StereoPair(white, white)) / 255.0
    side = eye.shape[0]
    for longitude in (-0.45 * fov_deg, 0.2 * fov_deg, 0.4 * fov_deg):
        column = int(side / 2 + longitude / 180 * side)
        exact = np.radians((column + 0.5 - side / 2) * 180 / side)
        latitude = np.degrees(np.arctan(np.cos(exact) * 135 / f))
        assert eye[:, column, 0].sum() == pytest.approx(2 * latitude / 180 * side, abs=0.6)
    # The left and right edges of the picture are meridians: straight columns.
    column = int(side / 2 - fov_deg / 360 * side) + 1
    assert (eye[side // 2 - 20 : side // 2 + 20, column + 1, 0] == 1).all()
    assert (eye[side // 2 - 20 : side // 2 + 20, column - 2, 0] == 0).all()


def test_fewer_pixels_average():
    """Stripes of one pixel in half the size are gray, not moiré."""
    stripes = np.zeros((270, 480, 3), np.uint8)
    stripes[:, ::2] = 255
    natural = natural_side(480, 60.0)
    projector = Projector(Size(270, 480), "vr180", 60.0, side=natural // 2)
    eye = projector(StereoPair(stripes, stripes))[:, : projector.side]
    half = projector.side // 2
    around = eye[half - 40 : half + 40, half - 60 : half + 60].astype(float)
    assert abs(around - 127.5).max() < 25


def test_sixteen_bits_and_used_canvas():
    deep = StereoPair(PAIR.left.astype(np.uint16) * 257, PAIR.right.astype(np.uint16) * 257)
    projector = Projector(PAIR.size, "vr180", 80.0)
    packed, shallow = projector(deep), projector(PAIR)
    assert packed.dtype == np.uint16
    assert np.abs(packed / 257 - shallow).max() <= 1.0
    again = projector(StereoPair(PAIR.right, PAIR.left), canvas=shallow)
    assert again is shallow
    assert np.array_equal(again, projector(StereoPair(PAIR.right, PAIR.left)))


def test_wrong_options():
    for wrong in ({"fov_deg": 0.0}, {"fov_deg": 175.0}, {"side": 40_000}, {"side": 0}):
        with pytest.raises(UsageError):
            Projector(PAIR.size, "vr180", **wrong)
    with pytest.raises(UsageError, match="fisheye180"):
        Projector(PAIR.size, "cube")
    with pytest.raises(InputError, match="views"):
        Projector(Size(100, 100), "vr180")(PAIR)
    projector = Projector(PAIR.size, "vr180", side=64)
    with pytest.raises(InputError, match="a StereoPair, not tuple"):
        projector((PAIR.left, PAIR.right))
    for canvas in (np.zeros((64, 64, 3), np.uint8), np.zeros((64, 128, 3), np.uint16)):
        with pytest.raises(InputError, match="canvas"):
            projector(PAIR, canvas)


@pytest.mark.parametrize("size", [(1, 1), (2, 7), (31, 3)])
@pytest.mark.parametrize("sphere", SPHERES)
def test_any_size(size, sphere):
    white = np.full((*size, 3), 255, np.uint8)
    packed = Projector(Size(*size), sphere, 100.0)(StereoPair(white, white))
    assert packed.max() > 0 and packed.shape[1] == 2 * packed.shape[0]
