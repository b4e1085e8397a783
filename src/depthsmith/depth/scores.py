"""All measures of one picture in one record, their mean over a set, and the baseline."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthsmith.depth import metrics
from depthsmith.depth.align import Aligned, Alignment, align
from depthsmith.depth.boundary import edge_score
from depthsmith.depth.ordinal import PointPair, ordinal_accuracy, sample_pairs
from depthsmith.errors import DatasetError
from depthsmith.types import BoolArray, DepthKind, FloatArray


@dataclass(frozen=True)
class Scores:
    """Measures of one picture, or their means over a set. Never NaN.

    What cannot be measured is None: all pixel measures without dense or sparse truth (DA-2K
    has point pairs alone), edges where the truth has none.

    Attributes:
        abs_rel, sq_rel, rmse, rmse_log, log10, silog: 0 is perfect
            (`depthsmith.depth.metrics`). sq_rel and rmse are in metres.
        delta1, delta2, delta3: 0 to 1, 1 is perfect.
        ordinal: 0 to 1, 1 is perfect (`depthsmith.depth.ordinal`).
        edge_precision, edge_recall, edge_f: 0 to 1 (`depthsmith.depth.boundary`).
        pixels: valid pixels; over a set, of all pictures together.
    """

    abs_rel: float | None = None
    sq_rel: float | None = None
    rmse: float | None = None
    rmse_log: float | None = None
    log10: float | None = None
    silog: float | None = None
    delta1: float | None = None
    delta2: float | None = None
    delta3: float | None = None
    ordinal: float | None = None
    edge_precision: float | None = None
    edge_recall: float | None = None
    edge_f: float | None = None
    pixels: int = 0

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if value is not None and not math.isfinite(value):
                raise ValueError(f"Scores.{name} is {value}")

    def measured(self) -> dict[str, float]:
        """The measures that there are, by name, without ``pixels``."""
        values = asdict(self)
        del values["pixels"]
        return {name: value for name, value in values.items() if value is not None}


def score(
    prediction: NDArray[Any],
    truth_m: NDArray[Any],
    valid: BoolArray,
    *,
    kind: DepthKind,
    how: Alignment | None = None,
    cap_m: float | None = None,
) -> tuple[Scores, Aligned]:
    """Align one prediction and take all measures of it.

    The ordinal measure looks at the prediction itself, not at what the alignment made of
    it: a fit with a negative scale would hide that near and far are exchanged. Its point
    pairs are drawn from the truth, the same for every prediction (`sample_pairs`).

    Args:
        prediction: ``(H, W)``, values of ``kind``.
        truth_m: ``(H, W)``, metres.
        valid: ``(H, W)`` bool, from `depthsmith.depth.align.valid_pixels`.
        how, cap_m: as `depthsmith.depth.align.align`.

    Raises:
        DatasetError, InputError, UsageError: as `depthsmith.depth.align.align`.
    """
    aligned = align(prediction, truth_m, valid, kind=kind, how=how, cap_m=cap_m)
    p = aligned.depth_m
    edges = edge_score(p, truth_m, valid)
    point_pairs = sample_pairs(truth_m, valid)
    scores = Scores(
        abs_rel=metrics.abs_rel(p, truth_m, valid),
        sq_rel=metrics.sq_rel(p, truth_m, valid),
        rmse=metrics.rmse(p, truth_m, valid),
        rmse_log=metrics.rmse_log(p, truth_m, valid),
        log10=metrics.log10(p, truth_m, valid),
        silog=metrics.silog(p, truth_m, valid),
        delta1=metrics.delta(p, truth_m, valid),
        delta2=metrics.delta(p, truth_m, valid, power=2),
        delta3=metrics.delta(p, truth_m, valid, power=3),
        ordinal=ordinal_accuracy(prediction, point_pairs, kind=kind) if point_pairs else None,
        edge_precision=edges.precision if edges else None,
        edge_recall=edges.recall if edges else None,
        edge_f=edges.f_score if edges else None,
        pixels=int(np.count_nonzero(valid)),
    )
    return scores, aligned


def score_pairs(
    prediction: NDArray[Any], point_pairs: Sequence[PointPair], *, kind: DepthKind
) -> Scores:
    """Scores of a picture that has annotated point pairs and no depth (DA-2K, DIW)."""
    return Scores(ordinal=ordinal_accuracy(prediction, point_pairs, kind=kind))


def mean_scores(scores: Sequence[Scores]) -> Scores:
    """Mean of each measure over the pictures that have it, each picture counting the same.

    That is how the protocols average (Monodepth2's ``mean_errors``), also for RMSE.

    Raises:
        DatasetError: if there are no pictures.
    """
    if not scores:
        raise DatasetError("no picture could be scored, so there is no mean")
    means: dict[str, Any] = {"pixels": sum(s.pixels for s in scores)}
    for field in fields(Scores):
        if field.name != "pixels":
            values = [v for s in scores if (v := getattr(s, field.name)) is not None]
            means[field.name] = float(np.mean(values)) if values else None
    return Scores(**means)


def row_baseline(height: int, width: int) -> FloatArray:
    """The prediction that looks at nothing but the row: lower is nearer.

    Inverse depth (`DepthKind.INVERSE_DEPTH`) from 0 at the top edge to 1 at the bottom edge,
    which is exact for a level camera over flat ground up to scale and shift. A model that
    does not beat it has seen nothing. ``(height, width)`` float32.
    """
    rows = (np.arange(height, dtype=np.float32) + 0.5) / height
    return np.repeat(rows[:, None], width, axis=1)
