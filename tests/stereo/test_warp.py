"""The warp against shifts by other programs, and its two implementations against each other."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest
import skimage.data
from scipy import ndimage

import depthsmith.stereo.compiled
from depthsmith.errors import InputError, UsageError
from depthsmith.stereo import (
    ENDINGS,
    FILLS,
    FORMATS,
    Scratch,
    StereoSettings,
    align_edges,
    margins_of,
    render_pair,
    sharpness,
    warp_view,
    wiggle,
)

PHOTO = np.ascontiguousarray(skimage.data.chelsea()[:120, :200])


def noisy_disparity(seed, shape=(120, 200)):
    """Steps, ramps, thin things and noise: every way through the loops."""
    rng = np.random.default_rng(seed)
    values = ndimage.gaussian_filter(rng.normal(0, 40, shape), 8)
    for _ in range(12):
        y, x = rng.integers(0, shape[0]), rng.integers(0, shape[1])
        high, wide = rng.integers(3, 50, 2)
        values[y : y + high, x : x + wide // rng.integers(1, 12) + 1] += rng.uniform(-15, 25)
    values += rng.normal(0, 0.3, shape) * (rng.random(shape) < 0.3)
    return values.astype(np.float32)


@pytest.mark.parametrize("share", [1.0, -1.0])
def test_whole_shift_moves_pixels(share):
    view = warp_view(PHOTO, np.full((120, 200), 7, np.float32), share)
    if share > 0:
        assert np.array_equal(view[:, :193], PHOTO[:, 7:])
    else:
        assert np.array_equal(view[:, 7:], PHOTO[:, :193])


@pytest.mark.parametrize("shift", [0.25, 3.5, -2.75])
def test_part_of_a_pixel_is_linear_interpolation(shift):
    view = warp_view(PHOTO, np.full((120, 200), shift, np.float32), 1.0)
    expected = ndimage.shift(PHOTO.astype(float), (0, -shift, 0), order=1, mode="nearest")
    assert np.abs(view - expected)[:, 4:-4].max() <= 0.51  # rounding


def test_shear_is_scipys():
    """A slanted wall: no tears, no holes inside, each pixel where its disparity says."""
    x = np.arange(200, dtype=np.float32)
    disparity = np.broadcast_to(x * 0.1, (120, 200)).astype(np.float32)
    holes = np.zeros((120, 200), bool)
    view = warp_view(PHOTO, disparity, 1.0, holes=holes)
    assert not holes[:, :180].any()
    columns = np.arange(200) / 0.9  # x - 0.1 x = column
    expected = np.stack(
        [
            ndimage.map_coordinates(
                PHOTO[..., c].astype(float), np.meshgrid(np.arange(120), columns, indexing="ij"),
                order=1, mode="nearest",
            )
            for c in range(3)
        ],
        axis=2,
    )  # fmt: skip
    # 1/256 pixel of position; the steepest edge has 150 levels.
    assert np.abs(view - expected)[:, :179].max() <= 1.6


@pytest.mark.parametrize("share", [1.0, -1.0, 0.5, -0.5])
def test_near_covers_far_without_ghosts(share):
    """One bar before a wall is one bar, of its width, where it belongs, and nothing behind."""
    rgb = np.full((40, 200, 3), 90, np.uint8)
    rgb[:, 80:100] = (250, 20, 20)
    disparity = np.zeros((40, 200), np.float32)
    disparity[:, 80:100] = 24
    view = warp_view(rgb, disparity, share)
    expected = np.full((40, 200, 3), 90, np.uint8)
    at = 80 - round(24 * share)
    expected[:, at : at + 20] = (250, 20, 20)
    assert np.array_equal(view, expected)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("fill", ["smooth", "repeat"])
def test_numpy_gives_the_compiled_picture(seed, fill):
    """The stated difference between them: none."""
    disparity = noisy_disparity(seed)
    for share in (1.0, -1.0, 0.37, -0.5):
        both = []
        for backend in ("compiled", "plain"):
            holes = np.zeros(disparity.shape, bool)
            view = warp_view(
                PHOTO, disparity, share, fill=FILLS[fill], backend=backend, holes=holes
            )
            both.append((view, holes))
        assert np.array_equal(both[0][1], both[1][1])
        assert np.array_equal(both[0][0], both[1][0])
        assert both[0][1].any()


def deep(rgb, seed=0):
    """The same picture in 16 bits, with bits below those of 8."""
    low = np.random.default_rng(seed).integers(-100, 100, rgb.shape)
    return np.clip(rgb.astype(int) * 257 + low, 0, 65535).astype(np.uint16)


@pytest.mark.parametrize("seed", range(3))
def test_sixteen_bits_are_the_same_picture(seed):
    """Of HDR films: as in 8 bits, but for the bits below; and numpy's is the compiled one."""
    disparity, rgb = noisy_disparity(seed), deep(PHOTO, seed)
    rgb[0, 0], rgb[0, 1] = 0, 65535
    shallow = np.rint(rgb / 257).astype(np.uint8)
    for align in ("never", "always"):
        pair = render_pair(rgb, disparity, align=align)
        plain = render_pair(rgb, disparity, align=align, backend="plain")
        assert pair.left.dtype == pair.right.dtype == np.uint16
        assert np.array_equal(pair.left, plain.left) and np.array_equal(pair.right, plain.right)
    disparity = ndimage.gaussian_filter(disparity, 1.0)
    pair = render_pair(rgb, disparity, align="never")
    same = render_pair(shallow, disparity, align="never")
    apart = np.abs(pair.left / 257 - same.left).max(axis=2)
    # Both roundings to 8 bits; where the low bits decide what is a fringe, more.
    assert (apart > 1.01).mean() < 0.005


def test_sixteen_bits_shift_exactly():
    rgb = deep(PHOTO)
    view = warp_view(rgb, np.full((120, 200), 7, np.float32), 1.0)
    assert np.array_equal(view[:, :193], rgb[:, 7:])
    view = warp_view(rgb, np.full((120, 200), -2.75, np.float32), 1.0)
    expected = ndimage.shift(rgb.astype(float), (0, 2.75, 0), order=1, mode="nearest")
    assert np.abs(view - expected)[:, 4:-4].max() <= 0.51


@pytest.mark.parametrize("seed", range(4))
def test_numpy_aligns_edges_alike(seed):
    soft = ndimage.gaussian_filter(noisy_disparity(seed), 2)
    compiled = align_edges(soft, PHOTO, align="always", backend="compiled")
    plain = align_edges(soft, PHOTO, align="always", backend="plain")
    assert np.array_equal(compiled, plain)
    assert not np.array_equal(compiled, soft)


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (7, 1), (3, 2), (5, 400)])
@pytest.mark.parametrize("backend", ["compiled", "plain"])
def test_any_size(shape, backend):
    rgb = np.full((*shape, 3), 77, np.uint8)
    disparity = np.linspace(-30, 500, shape[0] * shape[1], dtype=np.float32).reshape(shape)
    for values in (disparity, disparity[:, ::-1]):
        pair = render_pair(rgb, np.ascontiguousarray(values), align="always", backend=backend)
        assert (pair.left == 77).all() and (pair.right == 77).all()


def test_threads_and_used_memory_change_nothing():
    disparity = noisy_disparity(3)
    scratch = Scratch()
    one = render_pair(PHOTO, disparity)
    warp_view(PHOTO, noisy_disparity(4), 1.0, scratch=scratch)
    for threads in (3, 10**20):
        more = render_pair(PHOTO, disparity, threads=threads, scratch=scratch)
        assert np.array_equal(one.left, more.left) and np.array_equal(one.right, more.right)


def test_left_eye_is_the_mirrored_right_eye():
    disparity = noisy_disparity(5)
    right = warp_view(PHOTO, disparity, 0.5)
    mirrored = warp_view(
        np.ascontiguousarray(PHOTO[:, ::-1]), np.ascontiguousarray(disparity[:, ::-1]), -0.5
    )
    assert np.abs(right.astype(int) - mirrored[:, ::-1]).max() <= 1  # w and 256 - w round apart


def test_holes_take_the_background():
    """Left of the hole a red bar, right of it a wall in two tones: no red, no third tone."""
    rgb = np.full((60, 120, 3), 60, np.uint8)
    rgb[30:] = 180
    rgb[:, 30:60] = (255, 0, 0)
    disparity = np.zeros((60, 120), np.float32)
    disparity[:, 30:60] = 20
    view = warp_view(rgb, disparity, 1.0)
    hole = view[:, 40:60]
    assert (hole[..., 0] == hole[..., 1]).all()
    assert (hole[:20] == 60).all() and (hole[40:] == 180).all()
    repeat = warp_view(rgb, disparity, 1.0, fill=FILLS["inverse_warp"])
    assert np.isin(repeat[:, 40:60], (60, 180)).all()


def test_mixed_pixels_do_not_fill_holes():
    rgb = np.full((20, 120, 3), 60, np.uint8)
    rgb[:, 30:60] = (255, 0, 0)
    rgb[:, 60] = (157, 30, 30)  # half bar, half wall
    disparity = np.zeros((20, 120), np.float32)
    disparity[:, 30:60] = 20
    view = warp_view(rgb, disparity, 1.0)
    assert (view[:, 41:] == 60).all()


def test_sharpness_tells_exact_from_soft():
    steps = np.repeat(np.float32([0, 10, 3, 30]), 50)[None] * np.ones((20, 1), np.float32)
    assert sharpness(steps) == pytest.approx(1.0)
    assert sharpness(ndimage.gaussian_filter1d(steps, 2.0, axis=1)) < 0.5
    assert sharpness(np.zeros((20, 50), np.float32)) == 1.0


def test_small_map_is_enlarged_onto_the_edges():
    rgb = np.zeros((74, 148, 3), np.uint8)
    rgb[:, 73:] = 200
    small = np.zeros((20, 40), np.float32)
    small[:, 20:] = 12  # from column 74 of 148, a pixel beside the colour edge
    aligned = align_edges(small, rgb)
    assert np.all(aligned[:, :73] == 0) and np.all(aligned[:, 73:] == 12)


def test_borders():
    settings = StereoSettings()
    disparity = np.full((120, 200), 10, np.float32)
    margins = margins_of(disparity, settings.shares)
    assert margins == ((5, 0), (0, 5))
    cropped = render_pair(PHOTO, disparity, settings, border="crop")
    assert np.array_equal(cropped.left, PHOTO[:, 0:190])
    assert np.array_equal(cropped.right, PHOTO[:, 10:200])
    window = render_pair(PHOTO, disparity, settings, border="floating-window")
    assert not window.left[:, :5].any() and np.array_equal(window.left[:, 5:], PHOTO[:, :195])
    assert not window.right[:, 195:].any() and np.array_equal(window.right[:, :195], PHOTO[:, 5:])
    scaled = render_pair(PHOTO, disparity, settings, border="scale")
    assert scaled.size == (120, 200)
    # The zoom is the same on both axes, about the middle: 190 columns and 114 rows.
    zoomed = ndimage.zoom(PHOTO[3:117, :190].astype(float), (120 / 114, 200 / 190, 1), order=3,
                          grid_mode=True, mode="nearest")  # fmt: skip
    assert np.abs(scaled.left - zoomed).mean() < 1.5
    replicated = render_pair(PHOTO, disparity, settings)
    assert np.array_equal(replicated.left[:, 5:], PHOTO[:, :195])
    for border in ("crop", "scale"):
        with pytest.raises(UsageError, match="strength"):
            render_pair(PHOTO, disparity * 15, settings, border=border)


def test_wrong_options():
    disparity = np.zeros((120, 200), np.float32)
    for wrong in ({"fill": "guess"}, {"border": "none"}):
        with pytest.raises(UsageError):
            render_pair(PHOTO, disparity + 1, **wrong)
    with pytest.raises(UsageError, match="larger"):
        render_pair(PHOTO, np.zeros((240, 400), np.float32))
    with pytest.raises(UsageError, match="33000 pixels wide"):
        render_pair(np.zeros((1, 33_000, 3), np.uint8), np.zeros((1, 9), np.float32))
    for wrong in ({"align": "sometimes"}, {"factor": 0.5}, {"factor": np.nan}):
        with pytest.raises(UsageError):
            render_pair(PHOTO, disparity + 1, **wrong)
    render_pair(PHOTO, disparity + 1, align="always", factor=1e9)
    for picture, shifts in (
        (PHOTO / 255, disparity), (PHOTO[..., 0], disparity), (PHOTO[:0], disparity),
        (PHOTO, disparity.astype(np.float64)), (PHOTO, disparity[0]), (PHOTO, disparity[:0]),
    ):  # fmt: skip
        for make in (render_pair, wiggle):
            with pytest.raises(InputError, match="must be"):
                make(picture, shifts)
    with pytest.raises(InputError, match="canvas"):
        render_pair(PHOTO, disparity, canvas=PHOTO.copy())
    for canvas, left in ((PHOTO.copy(), 1), (PHOTO[:-1].copy(), 0), (PHOTO[:, ::-1], 0)):
        with pytest.raises(ValueError, match="cannot be drawn"):
            warp_view(PHOTO, disparity, 1.0, canvas=canvas, left=left)
    for bad in (np.nan, np.inf, 1e6):
        for make in (render_pair, wiggle):
            with pytest.raises(UsageError, match="disparity"):
                make(PHOTO, disparity + np.float32(bad))
    with pytest.raises(ValueError):
        warp_view(PHOTO, np.zeros((10, 10), np.float32), 1.0)
    with pytest.raises(ValueError, match="float32"):
        warp_view(PHOTO.astype(np.float32), disparity, 1.0)
    with pytest.raises(ValueError, match="canvas"):
        warp_view(PHOTO, disparity, 1.0, canvas=np.empty((120, 200, 3), np.uint16))
    for bad in (np.nan, np.inf, -np.inf, 1e6):
        disparity[7, 9] = bad
        for backend in ("compiled", "plain"):
            with pytest.raises(ValueError, match="shift"):
                warp_view(PHOTO, disparity, 1.0, backend=backend)


def test_compiled_functions_call_nothing_in_other_files():
    """numba would keep what they called when they were compiled."""
    for path in Path(depthsmith.stereo.compiled.__file__).parent.glob("[!_]*.py"):
        imported = {
            alias.name
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        # The decorator only, and names that are types.
        assert imported <= {
            "annotations", "numpy", "NDArray", "PixelArray", "FloatArray", "compiled",
        }  # fmt: skip


def test_works_without_numba_and_imports_it_late():
    """In a fresh interpreter: nothing of numba on import; without it the plain loops run."""
    code = (
        "import sys, numpy as np\n"
        "from depthsmith.stereo import backend, render_pair\n"
        "assert 'numba' not in sys.modules\n"
        "class Without:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] == 'numba': raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Without())\n"
        "rgb = np.arange(3000, dtype=np.uint8).reshape(20, 50, 3)\n"
        "pair = render_pair(rgb, np.full((20, 50), 4, np.float32))\n"
        "assert backend() == 'plain'\n"
        "assert (pair.left[:, 2:] == rgb[:, :-2]).all()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_works_where_nothing_can_be_kept():
    """numba refuses to cache without a folder that can be written."""
    code = (
        "import numba.core.caching as caching\n"
        "caching.FunctionCache._impl_class._locator_classes = []\n"
        "import numba\n"
        "try: numba.njit(cache=True)(lambda x: x)\n"
        "except RuntimeError: pass\n"
        "else: raise SystemExit('numba found a folder after all')\n"
        "from depthsmith.stereo.compiled.edges import toggle\n"
        "import numpy as np\n"
        "out = np.zeros((1, 3), np.float32)\n"
        "one = np.ones((1, 3), np.float32)\n"
        "toggle(one * 2, one, one * 9, 1.0, out, 0, 1)\n"
        "assert (out == 1).all()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_map_enlarged_before_is_as_soft_as_one_enlarged_now():
    """A photo's map comes at the photo's size; its softness is that of the network's."""
    rgb = np.zeros((90, 300, 3), np.uint8)
    rgb[:, 135:] = 200
    small = np.zeros((9, 15), np.float32)
    small[:, 7:] = 12
    large = cv2.resize(small, (300, 90), interpolation=cv2.INTER_LINEAR)
    for values, factor in ((small, None), (large, 20.0)):
        aligned = align_edges(values, rgb, factor=factor)
        # The first and last column of a ramp rise by half a step: too little to belong to it.
        assert np.all(aligned[:, :135] <= 0.31) and np.all(aligned[:, 135:] >= 11.69)
    unknown = align_edges(large, rgb)
    assert ((unknown > 2) & (unknown < 10)).any()


def test_wiggle_swings_about_the_convergence_plane():
    """One bar before a wall: it moves from side to side, and the wall, on the plane, stays."""
    rgb = np.full((40, 200, 3), 90, np.uint8)
    rgb[:, 80:100] = (250, 20, 20)
    disparity = np.zeros((40, 200), np.float32)
    disparity[:, 80:100] = 24
    frames = wiggle(rgb, disparity, steps=6, border="replicate")
    assert len(frames) == 12
    left_sides = [int(np.flatnonzero(f[20, :, 1] < 50)[0]) for f in frames]
    assert left_sides[0] == 92 and left_sides[6] == 68  # the left eye, the right eye
    assert left_sides[1:6] == left_sides[:6:-1]
    assert sorted(left_sides[:7], reverse=True) == left_sides[:7]
    pair = render_pair(rgb, disparity, border="scale")
    scaled = wiggle(rgb, disparity, steps=1)
    assert np.array_equal(scaled[0], pair.left) and np.array_equal(scaled[1], pair.right)
    assert {f.shape for f in wiggle(rgb, disparity + 10, steps=2, border="crop")} == {(40, 190, 3)}
    with pytest.raises(UsageError, match="step"):
        wiggle(rgb, disparity, steps=0)


def test_every_format_has_a_name():
    special = {"vr180", "fisheye180", "left-right", "mpo", "rgbd", "wiggle"}
    assert set(ENDINGS) == set(FORMATS) | special
