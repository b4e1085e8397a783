"""Whether depth jumps where it should: precision, recall and F-score of depth edges.

The measure of Depth Pro (Bochkovskii et al. 2024, arXiv:2410.02073, its boundary metrics).
A pair of neighbouring pixels is an edge when the farther one's depth is more than ``t`` times
the nearer one's; edges are compared with the side that is nearer. Only ratios enter, so no
scale is needed. The result is averaged over ten thresholds from 1.05 to 1.25, weighted by
the threshold.

The pairs of all four directions are counted together. The authors' code takes the mean of
four directions instead, which gives a perfect prediction less than 1 in a picture without
edges in one of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthsmith.depth.metrics import pairs
from depthsmith.types import BoolArray

THRESHOLDS: tuple[float, ...] = tuple(float(t) for t in np.linspace(1.05, 1.25, 10))


@dataclass(frozen=True)
class EdgeScore:
    """Each from 0 to 1; 1 is perfect."""

    precision: float
    recall: float
    f_score: float


def edge_score(
    prediction_m: NDArray[Any], truth_m: NDArray[Any], valid: BoolArray
) -> EdgeScore | None:
    """Edges of the prediction against those of the truth.

    Pairs count where both pixels are valid, so sparse truth (lidar) has hardly any. A
    threshold at which the truth has no edge is left out; None when that is so for all of
    them, because then there is nothing to recall.

    Args:
        prediction_m, truth_m: ``(H, W)``, depth, not inverse depth.
        valid: ``(H, W)`` bool.

    Raises:
        DatasetError, InputError: as the functions of `depthsmith.depth.metrics`.
    """
    pairs(prediction_m, truth_m, valid)
    predicted, true = _ratios(prediction_m, valid), _ratios(truth_m, valid)
    total = np.zeros(3)
    weights = 0.0
    for threshold in THRESHOLDS:
        ours, theirs = predicted > threshold, true > threshold
        edges = int(np.count_nonzero(theirs))
        if edges == 0:
            continue
        both = int(np.count_nonzero(ours & theirs))
        precision = both / max(int(np.count_nonzero(ours)), 1)
        recall = both / edges
        f_score = 2 * precision * recall / (precision + recall) if both else 0.0
        total += threshold * np.array([precision, recall, f_score])
        weights += threshold
    if weights == 0.0:
        return None
    precision, recall, f_score = (float(value) for value in total / weights)
    return EdgeScore(precision, recall, f_score)


def _ratios(depth: NDArray[Any], valid: BoolArray) -> NDArray[np.float64]:
    """Ratios of depths of all pairs of valid neighbours, to the right, left, down and up."""
    z = np.where(valid, depth, 1.0).astype(np.float64)
    across = (z[:, 1:] / z[:, :-1])[valid[:, 1:] & valid[:, :-1]]
    down = (z[1:] / z[:-1])[valid[1:] & valid[:-1]]
    return np.concatenate([across, 1.0 / across, down, 1.0 / down])
