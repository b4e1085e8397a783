"""How far predicted metres are from true metres: the field's measures, one function each.

Every function takes ``prediction_m`` and ``truth_m`` (both ``(H, W)``, metres) and ``valid``
(``(H, W)`` bool, see `depthsmith.depth.align.valid_pixels`), and computes in float64 over the
valid pixels of one picture. Over a set, the measures of its pictures are averaged
(`depthsmith.depth.scores`).

Nothing is clipped or left out here. At a valid pixel both must be finite and positive:

Raises (all functions):
    DatasetError: if sizes differ, no pixel is valid, or the truth is not finite and positive.
    InputError: if the prediction is not finite and positive at a valid pixel.

Sources: Eigen, Puhrsch and Fergus 2014, arXiv:1406.2283, for all but log10 and
SILog, which name their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthsmith.errors import DatasetError, InputError
from depthsmith.types import BoolArray

_Values = NDArray[np.float64]


def abs_rel(prediction_m: NDArray[Any], truth_m: NDArray[Any], valid: BoolArray) -> float:
    """Mean of ``|p - t| / t``. 0 is perfect."""
    p, t = pairs(prediction_m, truth_m, valid)
    return float(np.mean(np.abs(p - t) / t))


def sq_rel(prediction_m: NDArray[Any], truth_m: NDArray[Any], valid: BoolArray) -> float:
    """Mean of ``(p - t)² / t``, metres. 0 is perfect."""
    p, t = pairs(prediction_m, truth_m, valid)
    return float(np.mean((p - t) ** 2 / t))


def rmse(prediction_m: NDArray[Any], truth_m: NDArray[Any], valid: BoolArray) -> float:
    """Root of the mean of ``(p - t)²``, metres. 0 is perfect."""
    p, t = pairs(prediction_m, truth_m, valid)
    return float(np.sqrt(np.mean((p - t) ** 2)))


def rmse_log(prediction_m: NDArray[Any], truth_m: NDArray[Any], valid: BoolArray) -> float:
    """Root of the mean of ``(ln p - ln t)²``. 0 is perfect."""
    p, t = pairs(prediction_m, truth_m, valid)
    return float(np.sqrt(np.mean(np.log(p / t) ** 2)))


def log10(prediction_m: NDArray[Any], truth_m: NDArray[Any], valid: BoolArray) -> float:
    """Mean of ``|log10 p - log10 t|`` (Saxena, Sun and Ng 2009, "Make3D"). 0 is perfect."""
    p, t = pairs(prediction_m, truth_m, valid)
    return float(np.mean(np.abs(np.log10(p / t))))


def silog(prediction_m: NDArray[Any], truth_m: NDArray[Any], valid: BoolArray) -> float:
    """100 times the standard deviation of ``ln p - ln t``. 0 is perfect up to a scale.

    KITTI's depth prediction benchmark (``evaluate_depth.cpp`` of its devkit; Uhrig et al.
    2017, arXiv:1708.06500), which lists it times 100.
    """
    p, t = pairs(prediction_m, truth_m, valid)
    return float(100.0 * np.std(np.log(p / t)))


def delta(
    prediction_m: NDArray[Any], truth_m: NDArray[Any], valid: BoolArray, *, power: int = 1
) -> float:
    """Share of pixels with ``max(p / t, t / p) < 1.25 ** power``, 0 to 1. 1 is perfect."""
    p, t = pairs(prediction_m, truth_m, valid)
    return float(np.mean(np.maximum(p / t, t / p) < 1.25**power))


def pairs(
    prediction_m: NDArray[Any], truth_m: NDArray[Any], valid: BoolArray
) -> tuple[_Values, _Values]:
    """The valid pixels of both, flat, float64, checked (see the top of this file)."""
    if not prediction_m.shape == truth_m.shape == valid.shape:
        raise DatasetError(
            f"prediction {prediction_m.shape}, truth {truth_m.shape} and mask {valid.shape} "
            "must have one size; resize the prediction to the truth first"
        )
    if valid.dtype != np.bool_:
        raise DatasetError(f"the mask must be bool, not {valid.dtype}")
    if not valid.any():
        raise DatasetError("no valid pixel to compare")
    p = prediction_m[valid].astype(np.float64)
    t = truth_m[valid].astype(np.float64)
    bad = int(np.count_nonzero(~(np.isfinite(t) & (t > 0))))
    if bad:
        raise DatasetError(
            f"the truth is not finite and positive at {bad} of {t.size} pixels of the mask"
        )
    bad = int(np.count_nonzero(~(np.isfinite(p) & (p > 0))))
    if bad:
        raise InputError(
            f"the prediction is not finite and positive at {bad} of {p.size} valid pixels"
        )
    return p, t
