"""Measures against numbers worked out by hand, scikit-learn and depth-tools."""

from __future__ import annotations

import math

import depth_tools
import numpy as np
import pytest
import skimage.data
import sklearn.metrics
from numpy.typing import NDArray
from scipy import stats

from depthsmith.depth import metrics
from depthsmith.depth.align import valid_pixels
from depthsmith.depth.boundary import THRESHOLDS, edge_score
from depthsmith.depth.ordinal import PointPair, ordinal_accuracy, sample_pairs
from depthsmith.depth.scores import Scores, mean_scores, row_baseline, score, score_pairs
from depthsmith.errors import DatasetError, InputError
from depthsmith.types import DepthKind
from scenes import make_scene, render

Values = NDArray[np.float64]
ALL = (
    metrics.abs_rel, metrics.sq_rel, metrics.rmse, metrics.rmse_log, metrics.log10,
    metrics.silog, metrics.delta,
)  # fmt: skip


@pytest.fixture(scope="module")
def case() -> tuple[Values, Values, NDArray[np.bool_]]:
    """A prediction with errors, its truth and a mask with holes."""
    truth = render(*make_scene("nature", 4, 60, 80), smooth_edges=False).depth_m.astype(float)
    rng = np.random.default_rng(1)
    valid = valid_pixels(truth, rng.random(truth.shape) < 0.7, cap_m=80.0)
    predicted = np.where(valid, truth * rng.lognormal(0.1, 0.35, truth.shape), np.nan)
    return predicted, truth, valid


# --- pixel measures


def test_by_hand() -> None:
    """Pixels (p, t): (2, 1), (3, 4), (8, 8); a fourth one is masked."""
    p = np.array([[2.0, 3.0], [8.0, 99.0]])
    t = np.array([[1.0, 4.0], [8.0, 1.0]])
    valid = np.array([[True, True], [True, False]])
    log2, log34 = math.log(2), math.log(3 / 4)
    assert metrics.abs_rel(p, t, valid) == pytest.approx((1 + 0.25 + 0) / 3)
    assert metrics.sq_rel(p, t, valid) == pytest.approx((1 + 0.25 + 0) / 3)
    assert metrics.rmse(p, t, valid) == pytest.approx(math.sqrt(2 / 3))
    assert metrics.rmse_log(p, t, valid) == pytest.approx(math.sqrt((log2**2 + log34**2) / 3))
    assert metrics.log10(p, t, valid) == pytest.approx((log2 - log34) / 3 / math.log(10))
    mean = (log2 + log34) / 3
    variance = (log2**2 + log34**2) / 3 - mean**2
    assert metrics.silog(p, t, valid) == pytest.approx(100 * math.sqrt(variance))
    # Ratios 2, 1.333 and 1 against 1.25, 1.5625 and 1.953.
    assert metrics.delta(p, t, valid) == pytest.approx(1 / 3)
    assert metrics.delta(p, t, valid, power=2) == pytest.approx(2 / 3)
    assert metrics.delta(p, t, valid, power=3) == pytest.approx(2 / 3)


def test_delta_is_strict() -> None:
    """Exactly 1.25 is outside (arXiv:1406.2283: "< thr")."""
    one = np.ones((1, 1))
    assert metrics.delta(1.25 * one, one, one > 0) == 0.0
    assert metrics.delta(one, 1.25 * one, one > 0) == 0.0


def test_against_scikit_learn(case: tuple[Values, Values, NDArray[np.bool_]]) -> None:
    p, t = case[0][case[2]], case[1][case[2]]
    log_p, log_t = np.log(p), np.log(t)
    expected = {
        metrics.abs_rel: sklearn.metrics.mean_absolute_percentage_error(t, p),
        metrics.sq_rel: sklearn.metrics.mean_squared_error(t, p, sample_weight=1 / t)
        * np.mean(1 / t),
        metrics.rmse: sklearn.metrics.root_mean_squared_error(t, p),
        metrics.rmse_log: sklearn.metrics.root_mean_squared_error(log_t, log_p),
        metrics.log10: sklearn.metrics.mean_absolute_error(np.log10(t), np.log10(p)),
        metrics.silog: 100 * math.sqrt(stats.describe(log_p - log_t, ddof=0).variance),
    }
    for measure, value in expected.items():
        assert measure(*case) == pytest.approx(float(value), rel=1e-12), measure.__name__


def test_against_depth_tools(case: tuple[Values, Values, NDArray[np.bool_]]) -> None:
    predicted, truth, valid = case
    arrays = {
        "pred": np.where(valid, predicted, 1.0), "gt": np.where(valid, truth, 1.0), "mask": valid
    }  # fmt: skip
    for power in (1, 2, 3):
        expected = float(depth_tools.dx_loss(**arrays, x=power))
        assert metrics.delta(*case, power=power) == pytest.approx(expected, rel=1e-12)
    assert metrics.rmse(*case) ** 2 == pytest.approx(float(depth_tools.mse_loss(**arrays)))
    assert metrics.rmse_log(*case) ** 2 == pytest.approx(float(depth_tools.mse_log_loss(**arrays)))


def test_silog_ignores_a_scale_and_rmse_log_does_not(
    case: tuple[Values, Values, NDArray[np.bool_]],
) -> None:
    predicted, truth, valid = case
    assert metrics.silog(3 * predicted, truth, valid) == pytest.approx(metrics.silog(*case))
    assert metrics.rmse_log(3 * truth, truth, valid) == pytest.approx(math.log(3))


@pytest.mark.parametrize("measure", ALL)
def test_refusals(measure: object) -> None:
    assert callable(measure)
    one, valid = np.ones((2, 2)), np.ones((2, 2), bool)
    bad = np.array([[1.0, np.nan], [1.0, 1.0]])
    with pytest.raises(DatasetError, match="no valid pixel"):
        measure(one, one, ~valid)
    with pytest.raises(DatasetError, match="one size"):
        measure(np.ones((2, 3)), one, valid)
    with pytest.raises(DatasetError, match="must be bool"):
        measure(one, one, valid.astype(np.uint8))
    with pytest.raises(DatasetError, match="truth is not finite and positive at 1 of 4"):
        measure(one, bad, valid)
    for value in (np.nan, np.inf, 0.0, -1.0):
        with pytest.raises(InputError, match="prediction is not finite and positive at 1 of 4"):
            measure(np.where(np.isnan(bad), value, 1.0), one, valid)
    assert np.isfinite(measure(bad, one, ~np.isnan(bad)))  # masked: nothing to refuse


# --- point pairs


def test_ordinal_by_hand() -> None:
    inverse = np.array([[4.0, 3.0], [2.0, 2.0]])
    right = PointPair((0, 0), (1, 1))
    wrong = PointPair((1, 0), (0, 1))
    tie = PointPair((1, 0), (1, 1))
    assert ordinal_accuracy(inverse, [right, right, wrong], kind=DepthKind.NEAR) == 2 / 3
    assert ordinal_accuracy(inverse, [right, right, wrong], kind=DepthKind.DEPTH) == 1 / 3
    for kind in (DepthKind.INVERSE_DEPTH, DepthKind.DEPTH_M):
        assert ordinal_accuracy(inverse, [tie, right], kind=kind) == (kind.larger_is_nearer) / 2


def test_sampled_pairs_are_ordered_as_the_truth() -> None:
    truth = render(*make_scene("room", 6, 60, 80), smooth_edges=False).depth_m
    valid = np.random.default_rng(0).random(truth.shape) < 0.1  # sparse
    pairs = sample_pairs(truth, valid, count=500, ratio=1.2)
    assert pairs == sample_pairs(truth, valid, count=500, ratio=1.2)
    assert pairs != sample_pairs(truth, valid, count=500, ratio=1.2, seed=1)
    assert len(pairs) == 500 and all(valid[p.nearer] and valid[p.farther] for p in pairs)
    assert all(truth[p.farther] > 1.2 * truth[p.nearer] for p in pairs)
    assert ordinal_accuracy(truth, pairs, kind=DepthKind.DEPTH_M) == 1.0
    assert ordinal_accuracy(truth, pairs, kind=DepthKind.INVERSE_DEPTH) == 0.0
    assert sample_pairs(np.ones((4, 4)), np.ones((4, 4), bool)) == []


def test_rank_agreement_is_kendalls() -> None:
    """Over all pairs of distinct values, tau is twice the accuracy less one."""
    rng = np.random.default_rng(2)
    truth, predicted = rng.permutation(12.0 + np.arange(12)), rng.permutation(12)
    pairs = [
        PointPair((0, i), (0, j)) for i in range(12) for j in range(12) if truth[i] < truth[j]
    ]
    accuracy = ordinal_accuracy(predicted[None].astype(float), pairs, kind=DepthKind.DEPTH)
    tau = stats.kendalltau(truth, predicted).statistic
    assert 2 * accuracy - 1 == pytest.approx(tau)


def test_ordinal_refusals() -> None:
    with pytest.raises(DatasetError, match="no point pair"):
        ordinal_accuracy(np.ones((2, 2)), [], kind=DepthKind.DEPTH)
    for point in ((2, 0), (0, -1)):
        with pytest.raises(DatasetError, match="outside of a picture of 2x2"):
            ordinal_accuracy(np.ones((2, 2)), [PointPair((0, 0), point)], kind=DepthKind.DEPTH)
    with pytest.raises(InputError, match="NaN"):
        pair = PointPair((0, 0), (1, 1))
        ordinal_accuracy(np.full((2, 2), np.nan), [pair], kind=DepthKind.DEPTH)
    with pytest.raises(DatasetError, match="no valid pixel"):
        sample_pairs(np.ones((2, 2)), np.zeros((2, 2), bool))


# --- edges


def test_edges_by_hand() -> None:
    """Two steps in the truth, of which the prediction has one, and one of its own."""
    truth = np.array([[1.0, 1.0, 2.0, 2.0, 4.0, 4.0]])
    predicted = np.array([[1.0, 1.0, 2.0, 2.0, 2.0, 3.0]])
    valid = np.ones_like(truth, bool)
    result = edge_score(predicted, truth, valid)
    assert result is not None
    assert (result.precision, result.recall, result.f_score) == pytest.approx((0.5, 0.5, 0.5))
    down = edge_score(predicted.T, truth.T, valid.T)
    assert down == result
    # The other way up: an edge whose near side is the other one is another edge.
    assert edge_score(1 / truth, truth, valid).f_score == 0.0  # type: ignore[union-attr]
    # A masked pixel takes its pairs along.
    valid[0, 5] = False
    assert edge_score(predicted, truth, valid).precision == 1.0  # type: ignore[union-attr]


def test_edges_by_threshold() -> None:
    """A step of 1.12 in the prediction counts up to that threshold only."""
    truth, predicted = np.array([[1.0, 1.5]]), np.array([[1.0, 1.12]])
    result = edge_score(predicted, truth, np.ones((1, 2), bool))
    reached = sum(t for t in THRESHOLDS if t < 1.12) / sum(THRESHOLDS)
    assert result is not None and result.recall == pytest.approx(reached)
    assert THRESHOLDS[0] == 1.05 and THRESHOLDS[-1] == 1.25 and len(THRESHOLDS) == 10


def test_edges_against_scikit_learn() -> None:
    """All four directions as one list of yes and no."""
    truth = render(*make_scene("street", 2, 60, 80), smooth_edges=False).depth_m
    valid = valid_pixels(truth)
    z = np.where(valid, truth, 1e4).astype(float)
    rng = np.random.default_rng(0)
    predicted = np.roll(z, 1, axis=1) * rng.lognormal(0, 0.02, z.shape)
    rows = []
    for threshold in THRESHOLDS:
        labels = []
        for depth in (z, predicted):
            right = depth[:, 1:] > threshold * depth[:, :-1]
            left = depth[:, :-1] > threshold * depth[:, 1:]
            below = depth[1:] > threshold * depth[:-1]
            above = depth[:-1] > threshold * depth[1:]
            across, down = valid[:, 1:] & valid[:, :-1], valid[1:] & valid[:-1]
            labels.append(np.concatenate([right[across], left[across], below[down], above[down]]))
        rows.append(sklearn.metrics.precision_recall_fscore_support(*labels, average="binary")[:3])
    expected = np.average(np.array(rows), axis=0, weights=THRESHOLDS)
    result = edge_score(predicted, truth, valid)
    assert result is not None and 0.05 < result.f_score < 0.95
    assert (result.precision, result.recall, result.f_score) == pytest.approx(tuple(expected))


def test_no_edges_is_not_a_number_of_any_kind() -> None:
    flat, valid = np.ones((3, 3)), np.ones((3, 3), bool)
    steps = np.arange(1.0, 10.0).reshape(3, 3)
    assert edge_score(steps, flat, valid) is None
    assert edge_score(steps, steps, np.eye(3, dtype=bool)) is None  # no valid neighbours
    assert edge_score(flat, steps, valid).f_score == 0.0  # type: ignore[union-attr]


# --- records


@pytest.mark.parametrize("kind", ["room", "street", "portrait"])
def test_a_perfect_prediction_is_perfect(kind: str) -> None:
    truth = render(*make_scene(kind, 8, 60, 80), smooth_edges=False).depth_m.astype(float)
    valid = valid_pixels(truth)
    predictions = {
        DepthKind.DEPTH_M: np.where(valid, truth, 0.0),
        DepthKind.DEPTH: np.where(valid, 0.3 * truth, 7.0),
        DepthKind.INVERSE_DEPTH: 40 / truth + 3,
    }
    for meaning, prediction in predictions.items():
        result, _ = score(prediction, truth, valid, kind=meaning)
        ones = {"delta1", "delta2", "delta3", "ordinal", "edge_precision", "edge_recall", "edge_f"}
        for name, value in result.measured().items():
            assert value == pytest.approx(float(name in ones), abs=1e-6), (meaning, name)
        assert result.pixels == valid.sum() and len(result.measured()) == 13


def test_the_row_baseline_is_the_ground() -> None:
    """Exact where all is flat ground; far from it in a room and on a real photo."""
    _, view = make_scene("street", 0, 60, 80)
    rows = np.arange(60) + 0.5
    below = rows > view.cy + 1
    flat = np.repeat((1.5 * view.focal_px / (rows[below] - view.cy))[:, None], 80, axis=1)
    baseline = row_baseline(60, 80)[below]
    valid = np.ones(flat.shape, bool)
    result, aligned = score(baseline, flat, valid, kind=DepthKind.INVERSE_DEPTH)
    assert result.abs_rel == pytest.approx(0.0, abs=1e-4) and result.delta1 == 1.0
    assert aligned.scale > 0

    _, _, disparity = skimage.data.stereo_motorcycle()
    valid = np.isfinite(disparity) & (disparity > 0)
    depth = np.where(valid, 1000.0 / np.where(valid, disparity, 1.0), 0.0)
    perfect, _ = score(np.where(valid, disparity, 0.0), depth, valid, kind=DepthKind.INVERSE_DEPTH)
    low, _ = score(row_baseline(*depth.shape), depth, valid, kind=DepthKind.INVERSE_DEPTH)
    assert perfect.abs_rel == pytest.approx(0.0, abs=1e-5) and perfect.delta1 == 1.0
    assert low.abs_rel is not None and low.delta1 is not None
    assert low.abs_rel > 0.1 and low.delta1 < 0.8


def test_wrong_polarity_is_not_hidden_by_the_alignment() -> None:
    truth = render(*make_scene("room", 8, 60, 80), smooth_edges=False).depth_m
    result, aligned = score(truth, truth, valid_pixels(truth), kind=DepthKind.INVERSE_DEPTH)
    assert aligned.reversed and result.ordinal == 0.0


def test_means() -> None:
    first = Scores(abs_rel=0.1, rmse=1.0, edge_f=0.5, pixels=10)
    second = Scores(abs_rel=0.3, rmse=3.0, pixels=1000)
    mean = mean_scores([first, second, score_pairs(
        np.array([[2.0, 1.0]]), [PointPair((0, 0), (0, 1))], kind=DepthKind.NEAR
    )])  # fmt: skip
    assert mean == Scores(abs_rel=0.2, rmse=2.0, edge_f=0.5, ordinal=1.0, pixels=1010)
    with pytest.raises(DatasetError, match="no picture could be scored"):
        mean_scores([])
    with pytest.raises(ValueError, match="rmse is nan"):
        Scores(rmse=math.nan)
