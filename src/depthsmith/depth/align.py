"""Bring a prediction to metres, as the protocol of its kind wants, so that it can be scored.

Relative predictions are aligned with the truth before they are compared: inverse depth in
inverse-depth space, depth in depth space (Ranftl et al. 2020, arXiv:1907.01341, and
the evaluation code published with it). Metric predictions are not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from depthsmith.errors import DatasetError, InputError, UsageError
from depthsmith.types import BoolArray, DepthKind

Alignment = Literal["none", "scale", "scale-shift", "median"]

# One more than what is fitted.
_LEAST_PIXELS: dict[Alignment, int] = {"none": 1, "scale": 2, "median": 2, "scale-shift": 3}

MIN_DEPTH_M = 1e-3
"""Nearest depth that an aligned prediction can have (``MIN_DEPTH`` of Monodepth2)."""


@dataclass(frozen=True, eq=False)
class Aligned:
    """A prediction in metres.

    Attributes:
        depth_m: ``(H, W)`` float64, between `MIN_DEPTH_M` and the cap, everywhere finite.
        scale, shift: what the prediction's values were multiplied by and what was added,
            in ``inverse_space`` or else in depth. 1 and 0 without alignment.
        inverse_space: whether that was done to inverse depth.
        clipped: valid pixels that had to be brought between the limits.
    """

    depth_m: NDArray[np.float64]
    scale: float
    shift: float
    inverse_space: bool
    clipped: int

    @property
    def reversed(self) -> bool:
        """Whether the fit turned near and far around: the polarity is probably wrong."""
        return self.scale < 0


def default_alignment(kind: DepthKind) -> Alignment:
    """``scale-shift`` for relative kinds, ``none`` for metric ones."""
    return "none" if kind in (DepthKind.DEPTH_M, DepthKind.CANONICAL) else "scale-shift"


def valid_pixels(
    truth_m: NDArray[Any], mask: BoolArray | None = None, *, cap_m: float = math.inf
) -> BoolArray:
    """Pixels that count: inside ``mask``, and a truth that is finite, positive, at most ``cap_m``.

    Zero and NaN are how sparse ground truth says "not measured".

    Args:
        truth_m: ``(H, W)``, metres.
        mask: ``(H, W)`` bool, or None for all.

    Raises:
        DatasetError: if the sizes differ, the mask is not bool, or no pixel is left.
    """
    if mask is not None and mask.dtype != np.bool_:
        raise DatasetError(f"the mask must be bool, not {mask.dtype}")
    if mask is not None and mask.shape != truth_m.shape:
        raise DatasetError(
            f"the mask is {_size(mask)}, the truth {_size(truth_m)}; they must have one size"
        )
    valid: BoolArray = np.isfinite(truth_m) & (truth_m > 0) & (truth_m <= cap_m)
    if mask is not None:
        valid &= mask
    if not valid.any():
        limit = "" if math.isinf(cap_m) else f" up to {cap_m:g} m"
        raise DatasetError(
            f"no pixel has a usable truth (finite, positive{limit}, inside the mask); "
            "look at the scale of the file and its mask"
        )
    return valid


def align(
    prediction: NDArray[Any],
    truth_m: NDArray[Any],
    valid: BoolArray,
    *,
    kind: DepthKind,
    how: Alignment | None = None,
    cap_m: float | None = None,
) -> Aligned:
    """Fit the prediction to the truth over the valid pixels and give it in metres.

    ``scale`` and ``scale-shift`` are least squares, unweighted: in inverse depth for
    `DepthKind.INVERSE_DEPTH` and `DepthKind.NEAR`, else in depth. ``median`` multiplies
    depth by the ratio of medians (Zhou et al. 2017, arXiv:1704.07813).

    A flat prediction has no least-squares scale; it is given scale 0.

    Args:
        prediction: ``(H, W)``, values of ``kind``, finite at every valid pixel.
        truth_m: ``(H, W)``, metres.
        valid: ``(H, W)`` bool, from `valid_pixels`.
        how: None for `default_alignment`.
        cap_m: farthest depth that the result can have; None for the farthest valid truth.

    Raises:
        DatasetError: if the sizes differ, or ``valid`` has so few pixels that any prediction
            would fit.
        InputError: if the prediction is not finite at a valid pixel, or zero everywhere.
        UsageError: for ``none`` with a kind that is not metric, and for canonical depth
            with ``none`` (convert it to metres first).
    """
    how = default_alignment(kind) if how is None else how
    predicted, truth = _checked(prediction, truth_m, valid)
    if how == "none" and kind is DepthKind.CANONICAL:
        raise UsageError("canonical depth has no unit; convert it to metres with a focal length")
    if how == "none" and kind is not DepthKind.DEPTH_M:
        raise UsageError(
            f"{kind.value} has no unit, so it must be aligned before it is compared with metres; "
            "use scale-shift, scale or median"
        )
    if predicted.size < _LEAST_PIXELS[how]:
        raise DatasetError(
            f"{predicted.size} pixels have a usable truth; {how} would fit any prediction to "
            f"them, it takes at least {_LEAST_PIXELS[how]}"
        )
    inverse = kind.larger_is_nearer
    target = 1.0 / truth if inverse else truth
    scale, shift = 1.0, 0.0
    if how == "scale-shift":
        scale, shift = fit_scale_shift(predicted, target)
    elif how == "scale":
        scale = fit_scale(predicted, target)
    elif how == "median":
        scale = _median_scale(predicted, truth, inverse)

    cap_m = float(truth.max()) if cap_m is None else cap_m
    with np.errstate(invalid="ignore", over="ignore"):
        values = np.asarray(prediction, np.float64) * scale + shift
        if inverse:  # not above 0 means beyond all distance
            metres = np.divide(1.0, values, out=np.full_like(values, np.inf), where=values > 0)
        else:
            metres = values
        limited = np.clip(np.nan_to_num(metres, nan=cap_m), MIN_DEPTH_M, cap_m)
    moved = ~(np.abs(limited - metres) <= 1e-6 * limited)  # more than rounding; NaN counts
    clipped = int(np.count_nonzero(moved & valid))
    return Aligned(limited, scale, shift, inverse, clipped)


def fit_scale_shift(prediction: NDArray[Any], target: NDArray[Any]) -> tuple[float, float]:
    """``a, b`` that minimise the sum of ``(a * prediction + b - target)²``.

    Both of one size, finite, not empty. For a flat prediction ``0, mean of target``.
    """
    p, q = prediction.astype(np.float64).ravel(), target.astype(np.float64).ravel()
    p_mean, q_mean = float(p.mean()), float(q.mean())
    centred = p - p_mean  # without this a large common offset would cost all digits
    spread = float(centred @ centred)
    if spread <= (1e-12 * abs(p_mean)) ** 2 * p.size:
        return 0.0, q_mean
    scale = float(centred @ (q - q_mean)) / spread
    return scale, q_mean - scale * p_mean


def fit_scale(prediction: NDArray[Any], target: NDArray[Any]) -> float:
    """``a`` that minimises the sum of ``(a * prediction - target)²``.

    Raises:
        InputError: if the prediction is zero everywhere.
    """
    p, q = prediction.astype(np.float64).ravel(), target.astype(np.float64).ravel()
    power = float(p @ p)
    if power == 0.0:
        raise InputError("the prediction is zero everywhere, so no scale fits it to the truth")
    return float(p @ q) / power


def _median_scale(predicted: NDArray[Any], truth: NDArray[Any], inverse: bool) -> float:
    """The factor, for inverse depth the one that its inverse is divided by."""
    middle = float(np.median(predicted))
    if middle <= 0:
        raise InputError(
            f"the prediction's median is {middle:g}; a ratio of medians needs it positive"
        )
    if inverse:
        depth = np.divide(
            1.0, predicted, out=np.full(predicted.shape, np.inf), where=predicted > 0
        )
        return float(np.median(depth) / np.median(truth))
    return float(np.median(truth) / middle)


def _checked(prediction: NDArray[Any], truth_m: NDArray[Any], valid: BoolArray) -> tuple[Any, Any]:
    """Prediction and truth at the valid pixels, float64."""
    if not prediction.shape == truth_m.shape == valid.shape:
        raise DatasetError(
            f"prediction is {_size(prediction)}, truth {_size(truth_m)}, mask {_size(valid)}; "
            "resize the prediction to the truth first"
        )
    if valid.dtype != np.bool_:
        raise DatasetError(f"the mask must be bool, not {valid.dtype}")
    if not valid.any():
        raise DatasetError("no pixel has a usable truth")
    predicted = prediction[valid].astype(np.float64)
    bad = int(np.count_nonzero(~np.isfinite(predicted)))
    if bad:
        raise InputError(f"the prediction is NaN or infinite at {bad} of {predicted.size} pixels")
    return predicted, truth_m[valid].astype(np.float64)


def _size(array: NDArray[Any]) -> str:
    return "x".join(str(n) for n in array.shape)
