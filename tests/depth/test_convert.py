"""Conversions between the meanings of depth: closed forms and upstream's own functions."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from addict import Dict
from skimage import data

from depthsmith.depth.convert import (
    convert,
    focal_at_network,
    fov_to_focal_px,
    near_span,
    to_near,
)
from depthsmith.depth.sky import is_sky, push_sky_away
from depthsmith.errors import UsageError
from depthsmith.types import DepthKind, DepthMap, Placement, Size
from upstream import install_torchvision_stand_in

install_torchvision_stand_in()

from depth_anything_3.utils.alignment import (  # noqa: E402
    apply_metric_scaling,
)

RNG = np.random.default_rng(5)


def depth_map(values: np.ndarray, kind: DepthKind, **more: object) -> DepthMap:
    values = np.asarray(values, np.float32)
    return DepthMap(values, kind, Size(*values.shape), **more)  # type: ignore[arg-type]


def motorcycle() -> tuple[np.ndarray, np.ndarray]:
    """Middlebury's disparity in pixels, NaN where there is none, and its photo."""
    folder = Path(data.__file__).parent
    disparity = np.load(folder / "motorcycle_disp.npz")["arr_0"]
    from skimage.io import imread

    return np.where(np.isfinite(disparity), disparity, np.nan), imread(
        folder / "motorcycle_left.png"
    )


@pytest.mark.parametrize("kind", [DepthKind.DEPTH, DepthKind.CANONICAL, DepthKind.DEPTH_M])
def test_near_is_the_same_whatever_the_network_gives(kind: DepthKind) -> None:
    """A scene of known depth gives one near map, from inverse depth and from depth."""
    z = RNG.uniform(0.5, 40, (40, 60))
    from_depth = to_near(depth_map(z, kind)).values
    from_inverse = to_near(depth_map(3.7 / z + 0.2, DepthKind.INVERSE_DEPTH)).values
    assert np.abs(from_depth - from_inverse).max() < 1e-5
    expected = (1 / z - 1 / z.max()) / (1 / z.min() - 1 / z.max())
    assert np.abs(from_depth - expected).max() < 1e-5
    assert from_depth.ravel()[z.argmin()] == 1
    assert from_depth.ravel()[z.argmax()] == 0


def test_sky_and_invalid_values_do_not_count() -> None:
    z = RNG.uniform(1, 10, (40, 60))
    sky = np.zeros(z.shape, bool)
    sky[:10] = True
    z[:10] = 5  # whatever the network says there
    clean = to_near(depth_map(z[10:], DepthKind.DEPTH)).values
    near = to_near(depth_map(z, DepthKind.DEPTH, sky=sky)).values
    assert (near[:10] == 0).all()
    assert np.array_equal(near[10:], clean)
    for bad in (np.nan, np.inf, -np.inf, 0.0, -3.0, 1e-40):
        broken = z.copy()
        broken[20, 20] = bad
        result = to_near(depth_map(broken, DepthKind.DEPTH, sky=sky))
        assert np.isfinite(result.values).all()
        assert result.values[20, 20] == 0
        assert result.values.max() == 1
        assert "1 invalid values shown as far" in result.notes
    all_sky = to_near(depth_map(z, DepthKind.DEPTH, sky=np.ones_like(sky)))
    assert (all_sky.values == 0).all()


def test_constant_and_empty_maps() -> None:
    for kind in (DepthKind.INVERSE_DEPTH, DepthKind.DEPTH_M):
        for value, note in ((3.0, "constant"), (np.nan, "no valid depth")):
            for span in ("exact", "robust"):
                near = to_near(depth_map(np.full((4, 5), value), kind), span)
                assert (near.values == 0).all()
                assert any(note in n for n in near.notes)


def test_robust_range() -> None:
    values = RNG.uniform(2, 3, (100, 100))
    values[0, 0], values[0, 1] = 1000, -1000
    near = to_near(depth_map(values, DepthKind.INVERSE_DEPTH), "robust").values
    assert near[0, 0] == 1
    assert near[0, 1] == 0
    assert 0.4 < np.median(near) < 0.6
    assert near_span(depth_map(values, DepthKind.INVERSE_DEPTH), "robust") == pytest.approx(
        tuple(np.percentile(values, [2, 98])), rel=1e-6
    )
    flat = np.ones((50, 50))
    flat[0, 0] = 2
    assert to_near(depth_map(flat, DepthKind.INVERSE_DEPTH), "robust").values.max() == 1
    fixed = to_near(depth_map(values, DepthKind.INVERSE_DEPTH), (2.0, 4.0)).values
    assert np.allclose(fixed[1:], (values[1:] - 2) / 2, atol=1e-6)
    with pytest.raises(UsageError, match="empty"):
        to_near(depth_map(values, DepthKind.INVERSE_DEPTH), (4.0, 4.0))


def test_real_disparity() -> None:
    """Near of a stereo disparity and of the depth it means are one map; holes are far."""
    disparity, _ = motorcycle()
    near = to_near(depth_map(disparity, DepthKind.INVERSE_DEPTH)).values
    # The calibration in the docstring of skimage.data.stereo_motorcycle.
    with np.errstate(invalid="ignore"):
        depth_m = 994.978 * 0.193001 / (disparity + 31.086)
    from_depth = to_near(depth_map(depth_m, DepthKind.DEPTH_M)).values
    assert np.abs(near - from_depth).max() < 1e-5
    holes = ~np.isfinite(disparity)
    assert holes.any()
    assert (near[holes] == 0).all()


def test_what_would_be_a_lie_is_refused() -> None:
    inverse = depth_map([[1, 2]], DepthKind.INVERSE_DEPTH, model="da2-small")
    with pytest.raises(UsageError, match=r"da2-small.*unknown shift"):
        convert(inverse, "depth")
    with pytest.raises(UsageError, match="no metres"):
        convert(inverse, "depth-m")
    with pytest.raises(UsageError, match="no metres"):
        convert(depth_map([[1, 2]], DepthKind.DEPTH), "depth-m")
    with pytest.raises(UsageError, match="unknown shift"):
        convert(depth_map([[0, 1]], DepthKind.NEAR), "depth")
    with pytest.raises(UsageError, match="--focal-px or --fov"):
        convert(depth_map([[1, 2]], DepthKind.CANONICAL), "depth-m")
    with pytest.raises(UsageError, match="must be positive"):
        convert(depth_map([[1, 2]], DepthKind.CANONICAL), "depth-m", network_focal_px=0)


def test_inverse_depth_and_depth() -> None:
    metres = depth_map([[2, 4, 0, -1, np.nan]], DepthKind.DEPTH_M)
    inverse = convert(metres, "inverse-depth")
    assert inverse.kind is DepthKind.INVERSE_DEPTH
    assert np.array_equal(inverse.values, [[0.5, 0.25, np.nan, np.nan, np.nan]], equal_nan=True)
    depth = convert(depth_map([[2, 4]], DepthKind.CANONICAL), "depth")
    assert (depth.kind, depth.values.tolist()) == (DepthKind.DEPTH, [[2, 4]])
    assert convert(metres, "raw") is metres
    assert convert(metres, "depth-m") is metres
    near = to_near(depth_map([[1, 2, 3]], DepthKind.INVERSE_DEPTH))
    assert to_near(near) is near
    assert convert(near, "inverse-depth").values.tolist() == [[0, 0.5, 1]]


def test_metres_are_upstreams() -> None:
    """Upstream: the intrinsics at the network's input, mean of fx and fy, over 300."""
    placement = Placement(Size(1080, 1920), Size(280, 504), 0, 0, Size(280, 504))
    focal_px = 1500.0
    intrinsics = torch.eye(3)[None, None].repeat(1, 1, 1, 1)
    intrinsics[..., 0, 0] = focal_px * 504 / 1920
    intrinsics[..., 1, 1] = focal_px * 280 / 1080
    canonical = RNG.uniform(0.1, 30, (28, 50)).astype(np.float32)
    theirs = apply_metric_scaling(torch.from_numpy(canonical)[None, None], intrinsics)
    ours = convert(
        depth_map(canonical, DepthKind.CANONICAL),
        "depth-m",
        network_focal_px=focal_at_network(focal_px, placement),
    )
    assert ours.kind is DepthKind.DEPTH_M
    assert np.allclose(ours.values, theirs[0, 0].numpy(), rtol=1e-6)
    # Letterboxed, only the picture's own scale matters.
    padded = Placement(Size(1080, 1920), Size(518, 518), 113, 0, Size(291, 518))
    assert focal_at_network(1500, padded) == pytest.approx(1500 * 518 / 1920, rel=2e-3)


def test_field_of_view() -> None:
    assert fov_to_focal_px(90, Size(100, 200)) == pytest.approx(100)
    assert fov_to_focal_px(90, Size(100, 200), "height") == pytest.approx(50)
    assert fov_to_focal_px(90, Size(30, 40), "diagonal") == pytest.approx(25)
    # A 50 mm lens on 36 x 24 mm film sees 39.6 degrees across (published lens tables).
    assert fov_to_focal_px(39.6, Size(2400, 3600)) == pytest.approx(5000, rel=1e-3)
    for bad in (0, 180, -20, math.nan):
        with pytest.raises(UsageError, match="between 0 and 180"):
            fov_to_focal_px(bad, Size(10, 10))


def _upstream_sky(depth: np.ndarray, sky: np.ndarray) -> np.ndarray:
    from depth_anything_3.model.da3 import DepthAnything3Net

    output = Dict(depth=torch.from_numpy(depth), sky=torch.from_numpy(sky))
    result = DepthAnything3Net._process_mono_sky_estimation(None, output)
    return np.asarray(result.depth)


@pytest.mark.parametrize("sky_rows", [0, 1, 20, 199, 200])
def test_sky_is_upstreams(sky_rows: int) -> None:
    depth = RNG.uniform(0.5, 80, (200, 300)).astype(np.float32)  # 60000: upstream takes all
    sky = np.full(depth.shape, 0.1, np.float32)
    sky[:sky_rows] = RNG.uniform(0.3, 1, (sky_rows, 300))
    mask = is_sky(sky)
    ours = push_sky_away(depth, mask)
    theirs = _upstream_sky(depth, sky)
    assert np.allclose(ours, theirs, rtol=1e-6)
    assert mask.sum() == sky_rows * 300
    assert depth[0, 0] != ours[0, 0] or sky_rows in (0, 200)


def test_sky_of_few_pixels_is_left() -> None:
    depth = RNG.uniform(1, 9, (20, 20)).astype(np.float32)
    for count in (10, 11):
        sky = np.zeros(depth.shape, np.float32)
        sky.ravel()[:count] = 1
        for output in (sky, 1 - sky):
            ours = push_sky_away(depth, is_sky(output))
            assert np.allclose(ours, _upstream_sky(depth, output), rtol=1e-6)
            assert np.array_equal(ours, depth) == (count == 10)
