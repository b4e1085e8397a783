"""Alignment against numpy's least squares, depth-tools, and planted scales and shifts."""

from __future__ import annotations

import depth_tools
import numpy as np
import pytest
from numpy.typing import NDArray

from depthsmith.depth.align import (
    MIN_DEPTH_M,
    Alignment,
    align,
    default_alignment,
    fit_scale,
    fit_scale_shift,
    valid_pixels,
)
from depthsmith.errors import DatasetError, InputError, UsageError
from depthsmith.types import DepthKind
from scenes import make_scene, render

Values = NDArray[np.float64]


@pytest.fixture(scope="module")
def truth_m() -> Values:
    """Depth of a rendered street; infinite in the sky."""
    depth = render(*make_scene("street", 3, 60, 80), smooth_edges=False).depth_m
    return depth.astype(np.float64)


def noisy(values: Values, seed: int = 0) -> Values:
    rng = np.random.default_rng(seed)
    return np.asarray(values * rng.lognormal(0.0, 0.2, values.shape) + rng.normal(0, 0.01))


def test_scale_and_shift_are_numpys_least_squares(truth_m: Values) -> None:
    valid = valid_pixels(truth_m)
    target = 1 / truth_m[valid]
    predicted = 300 * noisy(target) + 1000  # a large offset, which normal equations dislike
    system = np.stack([predicted, np.ones_like(predicted)], 1)
    (scale, shift), *_ = np.linalg.lstsq(system, target, rcond=None)
    np.testing.assert_allclose(fit_scale_shift(predicted, target), (scale, shift), rtol=1e-9)
    (scale,), *_ = np.linalg.lstsq(predicted[:, None], target, rcond=None)
    assert fit_scale(predicted, target) == pytest.approx(scale, rel=1e-12)


def test_alignment_of_depth_is_that_of_depth_tools(truth_m: Values) -> None:
    valid = valid_pixels(truth_m, cap_m=60.0)
    predicted = 3 * noisy(np.where(valid, truth_m, 1.0)) + 5
    expected, shift, scale = depth_tools.align_shift_scale(
        pred_values=predicted, gt_values=np.where(valid, truth_m, 0.0), mask=valid
    )
    aligned = align(predicted, truth_m, valid, kind=DepthKind.DEPTH, cap_m=1000)
    assert (aligned.scale, aligned.shift) == pytest.approx((float(scale), float(shift)), rel=1e-9)
    inside = valid & (expected > MIN_DEPTH_M)
    np.testing.assert_allclose(aligned.depth_m[inside], expected[inside], rtol=1e-9)


@pytest.mark.parametrize("kind", [DepthKind.INVERSE_DEPTH, DepthKind.NEAR])
def test_planted_scale_and_shift_of_inverse_depth_come_back(
    truth_m: Values, kind: DepthKind
) -> None:
    valid = valid_pixels(truth_m)
    predicted = ((1 / truth_m - 0.02) / 0.35).astype(np.float32)  # the sky is 1 / inf = 0
    aligned = align(predicted, truth_m, valid, kind=kind)
    assert (aligned.scale, aligned.shift) == pytest.approx((0.35, 0.02), rel=1e-5)
    assert aligned.inverse_space and not aligned.reversed
    np.testing.assert_allclose(aligned.depth_m[valid], truth_m[valid], rtol=1e-4)


def test_planted_scale_and_shift_of_depth_come_back(truth_m: Values) -> None:
    valid = valid_pixels(truth_m)
    predicted = (np.where(valid, truth_m, 0.0) - 1.5) / 4
    aligned = align(predicted, truth_m, valid, kind=DepthKind.DEPTH)
    assert (aligned.scale, aligned.shift) == pytest.approx((4, 1.5), rel=1e-9)
    assert not aligned.inverse_space and aligned.clipped == 0
    np.testing.assert_allclose(aligned.depth_m[valid], truth_m[valid], rtol=1e-9)


def test_inverse_depth_is_not_aligned_in_depth(truth_m: Values) -> None:
    """The two spaces weigh errors differently: the fit in the other one is another fit."""
    valid = valid_pixels(truth_m)
    predicted = noisy(1 / truth_m)
    right = align(predicted, truth_m, valid, kind=DepthKind.INVERSE_DEPTH, cap_m=200)
    p, q = predicted[valid], 1 / truth_m[valid]
    residual = float(np.sum((right.scale * p + right.shift - q) ** 2))
    for change in (0.99, 1.01):
        assert float(np.sum((right.scale * change * p + right.shift - q) ** 2)) > residual
        assert float(np.sum((right.scale * p + right.shift * change - q) ** 2)) > residual


@pytest.mark.parametrize(
    ("kind", "predicted", "scale"),
    [
        (DepthKind.DEPTH, [1.0, 2.0, 4.0], 3.0),  # medians 2 and 6
        (DepthKind.DEPTH_M, [2.0, 12.0, 30.0], 0.5),  # medians 12 and 6
        (DepthKind.INVERSE_DEPTH, [2.0, 1.0, 0.5], 1 / 6),  # depths 0.5, 1, 2
        (DepthKind.INVERSE_DEPTH, [2.0, 1.0, -0.5], 1 / 6),  # behind infinity is far
    ],
)
def test_median_by_hand(kind: DepthKind, predicted: list[float], scale: float) -> None:
    truth, valid = np.array([[3.0, 6.0, 24.0]]), np.ones((1, 3), bool)
    aligned = align(np.array([predicted]), truth, valid, kind=kind, how="median")
    assert aligned.scale == pytest.approx(scale) and aligned.shift == 0
    assert np.median(aligned.depth_m) == pytest.approx(6.0)


def test_scale_by_hand() -> None:
    truth, valid = np.array([[2.0, 4.0]]), np.ones((1, 2), bool)
    # (1*2 + 3*4) / (1 + 9); (1*0.5 + 3*0.25) / 10 in inverse depth
    aligned = align(np.array([[1.0, 3.0]]), truth, valid, kind=DepthKind.DEPTH, how="scale")
    assert aligned.scale == pytest.approx(1.4)
    aligned = align(
        np.array([[1.0, 3.0]]), truth, valid, kind=DepthKind.INVERSE_DEPTH, how="scale", cap_m=80
    )
    assert aligned.scale == pytest.approx(0.125)
    np.testing.assert_allclose(aligned.depth_m, [[8.0, 8 / 3]])


def test_what_lies_outside_the_limits_is_clipped_and_counted() -> None:
    truth, valid = np.array([[1.0, 2.0, 3.0, 4.0]]), np.array([[True, True, True, False]])
    predicted = np.array([[-1.0, 2.0, 9.0, np.nan]], np.float32)
    aligned = align(predicted, truth, valid, kind=DepthKind.DEPTH_M, cap_m=5.0)
    np.testing.assert_allclose(aligned.depth_m, [[MIN_DEPTH_M, 2.0, 5.0, 5.0]])
    assert aligned.clipped == 2 and (aligned.scale, aligned.shift) == (1.0, 0.0)
    without = align(predicted, truth, valid, kind=DepthKind.DEPTH_M)
    assert without.depth_m.max() == 3.0  # the farthest valid truth


def test_inverse_depth_below_zero_is_the_cap() -> None:
    truth, valid = np.array([[1.0, 2.0, 40.0, 40.0]]), np.ones((1, 4), bool)
    predicted = np.array([[1.0, 0.5, 0.025, -0.4]])
    aligned = align(predicted, truth, valid, kind=DepthKind.INVERSE_DEPTH, how="median", cap_m=50)
    assert aligned.depth_m[0, 3] == 50.0 and aligned.clipped == 1


def test_wrong_polarity_shows_in_the_scale(truth_m: Values) -> None:
    valid = valid_pixels(truth_m)
    depth_as_inverse = np.where(valid, truth_m, 100.0)
    aligned = align(depth_as_inverse, truth_m, valid, kind=DepthKind.INVERSE_DEPTH)
    assert aligned.reversed


def test_a_flat_prediction_becomes_the_mean() -> None:
    truth, valid = np.array([[2.0, 4.0, 2.0, 4.0]]), np.ones((1, 4), bool)
    flat = np.full((1, 4), 7.0, np.float32)
    aligned = align(flat, truth, valid, kind=DepthKind.DEPTH)
    np.testing.assert_allclose(aligned.depth_m, 3.0)
    aligned = align(flat, truth, valid, kind=DepthKind.INVERSE_DEPTH)
    np.testing.assert_allclose(aligned.depth_m, 1 / 0.375)


@pytest.mark.parametrize(("how", "least"), [("scale-shift", 3), ("scale", 2), ("median", 2)])
def test_pixels_that_any_prediction_would_fit_are_no_score(how: Alignment, least: int) -> None:
    truth, prediction = np.array([[2.0, 4.0, 3.0]]), np.array([[9.0, 1.0, 5.0]])
    valid = np.array([[True, True, True]])
    align(prediction[:, :least], truth[:, :least], valid[:, :least], kind=DepthKind.DEPTH, how=how)
    with pytest.raises(DatasetError, match=f"at least {least}"):
        align(
            prediction[:, : least - 1], truth[:, : least - 1], valid[:, : least - 1],
            kind=DepthKind.DEPTH, how=how,
        )  # fmt: skip


def test_metric_kinds_are_not_aligned_by_default() -> None:
    expected = {
        DepthKind.INVERSE_DEPTH: "scale-shift", DepthKind.DEPTH: "scale-shift",
        DepthKind.NEAR: "scale-shift", DepthKind.DEPTH_M: "none", DepthKind.CANONICAL: "none",
    }  # fmt: skip
    assert {kind: default_alignment(kind) for kind in DepthKind} == expected


def test_valid_pixels() -> None:
    truth = np.array([[0.0, -1.0, np.nan, np.inf, 1.0, 2.0, 90.0]])
    np.testing.assert_array_equal(valid_pixels(truth, cap_m=80)[0], [0, 0, 0, 0, 1, 1, 0])
    mask = np.array([[True, True, True, True, True, False, True]])
    np.testing.assert_array_equal(valid_pixels(truth, mask)[0], [0, 0, 0, 0, 1, 0, 1])


def test_refusals() -> None:
    ones, valid = np.ones((2, 3)), np.ones((2, 3), bool)
    with pytest.raises(DatasetError, match="no pixel has a usable truth"):
        valid_pixels(np.zeros((2, 3)))
    with pytest.raises(DatasetError, match=r"up to 0.5 m"):
        valid_pixels(ones, cap_m=0.5)
    with pytest.raises(DatasetError, match="mask is 3x2, the truth 2x3"):
        valid_pixels(ones, np.ones((3, 2), bool))
    with pytest.raises(DatasetError, match="must be bool, not uint8"):
        valid_pixels(ones, np.full((2, 3), 255, np.uint8))  # type: ignore[arg-type]
    with pytest.raises(DatasetError, match="prediction is 3x2, truth 2x3"):
        align(np.ones((3, 2)), ones, valid, kind=DepthKind.DEPTH)
    with pytest.raises(DatasetError, match="no pixel"):
        align(ones, ones, ~valid, kind=DepthKind.DEPTH)
    with pytest.raises(InputError, match="NaN or infinite at 1 of 6 pixels"):
        broken = ones.copy()
        broken[1, 1] = np.nan
        align(broken, ones, valid, kind=DepthKind.DEPTH)
    with pytest.raises(UsageError, match="inverse_depth has no unit"):
        align(ones, ones, valid, kind=DepthKind.INVERSE_DEPTH, how="none")
    with pytest.raises(UsageError, match="focal length"):
        align(ones, ones, valid, kind=DepthKind.CANONICAL)
    with pytest.raises(InputError, match="zero everywhere"):
        align(0 * ones, ones, valid, kind=DepthKind.DEPTH, how="scale")
    with pytest.raises(InputError, match="median is -1"):
        align(-ones, ones, valid, kind=DepthKind.DEPTH, how="median")
