"""Between the meanings of depth: near, inverse depth, depth, metres.

What can be had from what:

===============  ====  =============  =====  ========================
from             near  inverse depth  depth  metres
===============  ====  =============  =====  ========================
inverse_depth    yes   itself         no     no
depth            yes   1/z            same   no
canonical_depth  yes   1/z            yes    with the focal length
depth_m          yes   1/z            yes    itself
near             same  yes            no     no
===============  ====  =============  =====  ========================

Inverse depth has an unknown scale *and shift*: ``1/z = a * value + b``. Without ``b`` no depth
follows, not even up to a scale; a guessed ``b`` bends flat walls. So this is refused.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from depthsmith.errors import UsageError
from depthsmith.types import BoolArray, DepthKind, DepthMap, FloatArray, Placement, Size

Target = Literal["near", "inverse-depth", "depth", "depth-m", "raw"]
Span = Literal["exact", "robust"] | tuple[float, float]

CANONICAL_FOCAL_PX = 300.0
"""Focal length at which `DepthKind.CANONICAL` is metres."""

ROBUST_PERCENTILES = (2.0, 98.0)
"""As upstream's ``visualize_depth`` (``depth_anything_3/utils/visualize.py``)."""


def convert(
    depth: DepthMap,
    target: Target,
    *,
    span: Span = "exact",
    network_focal_px: float | None = None,
) -> DepthMap:
    """The same depth with another meaning.

    Args:
        depth: of any kind.
        target: ``raw`` leaves it as it is; the others are described at their functions.
        span: for ``near``, see `to_near`.
        network_focal_px: for ``depth-m`` from canonical depth, see `to_metres`.

    Raises:
        UsageError: if ``target`` cannot be had from what ``depth`` is (see the table above), or
            is none.
    """
    if target not in get_args(Target):
        raise UsageError(f"depth is given as {', '.join(get_args(Target))}, not {target!r}")
    if target == "near":
        return to_near(depth, span)
    if target == "inverse-depth":
        return to_inverse_depth(depth)
    if target == "depth":
        return to_depth(depth)
    if target == "depth-m":
        return to_metres(depth, network_focal_px)
    return depth


def to_near(depth: DepthMap, span: Span = "exact") -> DepthMap:
    """Scale to [0, 1], 1 is nearest.

    Linear in inverse depth. For kinds that are depth, 1/z is taken first: that is what the
    inverse-depth networks give, what depth ControlNets were trained on, and what upstream
    shows for DA3; the negative of z would spend most of the range on the background.

    Sky becomes 0 and does not count for the range, nor do invalid values (not finite, or a
    depth that is not positive), which become 0 too. A constant map becomes 0.

    Args:
        depth: of any kind. A map that is `DepthKind.NEAR` already is returned as it is.
        span: what becomes 0 and 1: ``exact``, the least and largest value (as upstream's
            V2); ``robust``, the 2nd and 98th percentile, the rest is clipped; or two numbers
            in the unit of the inverse depth, the same for several pictures.

    Raises:
        UsageError: if the two numbers do not ascend.
    """
    if depth.kind is DepthKind.NEAR:
        return depth
    inverse, valid = _inverse(depth)
    counted = valid if depth.sky is None else valid & ~depth.sky
    notes = list(depth.notes)
    invalid = int((~valid).sum())
    if invalid:
        notes.append(f"{invalid} invalid values shown as far")
    low, high = near_span(depth, span) if isinstance(span, str) else span
    if not (high > low or isinstance(span, str)):
        raise UsageError(f"the range {low:g} to {high:g} is empty")
    if not high > low:
        near = np.zeros_like(inverse)
        notes.append("the depth is constant; shown as far" if counted.any() else "no valid depth")
    else:
        near = np.clip((inverse - np.float32(low)) / np.float32(high - low), 0, 1)
        near[~counted] = 0
    return replace(depth, values=near, kind=DepthKind.NEAR, notes=tuple(notes))


def near_span(depth: DepthMap, span: Literal["exact", "robust"] = "exact") -> tuple[float, float]:
    """The inverse depths that become 0 and 1; (0, 0) without any valid value.

    Raises:
        UsageError: for an unknown name.
    """
    if span not in ("exact", "robust"):
        raise UsageError(f"the range is 'exact' or 'robust', not {span!r}")
    inverse, valid = _inverse(depth)
    counted = valid if depth.sky is None else valid & ~depth.sky
    values = inverse[counted if counted.any() else valid]
    if not values.size:
        return 0.0, 0.0
    if span == "robust":
        low, high = np.percentile(values, ROBUST_PERCENTILES)
        if high > low:  # else nearly all of the map is flat
            return float(low), float(high)
    return float(values.min()), float(values.max())


def to_inverse_depth(depth: DepthMap) -> DepthMap:
    """1/z, larger is nearer; NaN where z is not positive.

    From metres it is 1/m; otherwise scale, and from `DepthKind.NEAR` also shift, are unknown.
    """
    if depth.kind is DepthKind.INVERSE_DEPTH:
        return depth
    inverse, valid = _inverse(depth)
    inverse[~valid] = np.nan
    return replace(depth, values=inverse, kind=DepthKind.INVERSE_DEPTH)


def to_depth(depth: DepthMap) -> DepthMap:
    """z up to an unknown scale, larger is farther.

    Raises:
        UsageError: for inverse depth and near, whose shift is unknown.
    """
    if depth.kind.larger_is_nearer:
        raise UsageError(
            f"{_name(depth)} gives inverse depth with an unknown shift, which has no depth; "
            "use --as near or inverse-depth, or a model that gives depth (da3-*, da2-metric-*)"
        )
    return replace(depth, kind=DepthKind.DEPTH)


def to_metres(depth: DepthMap, network_focal_px: float | None = None) -> DepthMap:
    """Metres.

    Args:
        depth: in metres already, or canonical.
        network_focal_px: for canonical depth, the focal length in pixels *of the network's
            input* (see `focal_at_network`): ``metres = network_focal_px * value / 300``.

    Raises:
        UsageError: if the kind has no metres, or the focal length is missing or not positive.
    """
    if depth.kind is DepthKind.DEPTH_M:
        return depth
    if depth.kind is not DepthKind.CANONICAL:
        raise UsageError(
            f"{_name(depth)} gives {depth.kind.value}, which has no metres; "
            "use da3metric-large or a da2-metric model"
        )
    if network_focal_px is None:
        raise UsageError(
            f"{_name(depth)} needs the focal length for metres; "
            "give --focal-px or --fov (the photo's EXIF has none)"
        )
    if not (math.isfinite(network_focal_px) and network_focal_px > 0):
        raise UsageError(f"the focal length is {network_focal_px:g} px; it must be positive")
    metres = depth.values * np.float32(network_focal_px / CANONICAL_FOCAL_PX)
    note = f"metres at a focal length of {network_focal_px:.4g} px of the network's input"
    return replace(depth, values=metres, kind=DepthKind.DEPTH_M, notes=(*depth.notes, note))


def focal_at_network(focal_px: float, placement: Placement) -> float:
    """Focal length in pixels of the network's input.

    Where the two sides are scaled differently, their mean, as upstream's
    ``apply_metric_scaling`` takes the mean of fx and fy.

    Args:
        focal_px: in pixels of the photo.
        placement: of the photo in the network's input.
    """
    vertical = placement.content.height / placement.source.height
    horizontal = placement.content.width / placement.source.width
    return focal_px * (vertical + horizontal) / 2


def fov_to_focal_px(
    fov_deg: float, size: Size, side: Literal["width", "height", "diagonal"] = "width"
) -> float:
    """Focal length in pixels of a pinhole camera: ``extent / 2 / tan(fov / 2)``.

    Args:
        fov_deg: field of view in degrees.
        size: of the photo.
        side: along which the field of view is meant.

    Raises:
        UsageError: unless the field of view lies between 0 and 180 degrees.
    """
    if not 0 < fov_deg < 180:
        raise UsageError(
            f"the field of view is {fov_deg:g}; it must lie between 0 and 180 degrees"
        )
    extent = {"width": size.width, "height": size.height, "diagonal": math.hypot(*size)}[side]
    return extent / 2 / math.tan(math.radians(fov_deg) / 2)


def _inverse(depth: DepthMap) -> tuple[FloatArray, BoolArray]:
    """Inverse depth up to scale and shift, and where it is valid; 0 where it is not."""
    values = depth.values
    valid: BoolArray = np.isfinite(values)
    if depth.kind.larger_is_nearer:
        return np.where(valid, values, np.float32(0)), valid
    # Below this the inverse is not finite in float32.
    valid &= values > 1e-30
    inverse: FloatArray = np.divide(np.float32(1), values, out=np.zeros_like(values), where=valid)
    return inverse, valid


def _name(depth: DepthMap) -> str:
    return depth.model or "this model"
