"""How large the network's input is for a photo: the families' own rules, and bounds on them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from depthsmith.contract import Preprocessing, SizeRule
from depthsmith.errors import UsageError
from depthsmith.types import PATCH_SIZE, Size

DEFAULT_RESOLUTION: dict[Preprocessing, int] = {"da1": 518, "da2": 518, "da3": 504}
"""Target side in pixels: of the shorter side for V1 and V2, of the longer one for DA3."""

SEED_SIDE = 518
"""Side of the square that ``stretch`` fills when a file has no size of its own."""

MAX_SQUARES = 4
"""V1 and V2 scale the *shorter* side, so a 20:1 strip would become 518x10360, whose attention
takes gigabytes. The input is at most this many times ``resolution`` squared; pictures up to
4:1 never reach it."""


@dataclass(frozen=True)
class Frames:
    """What a graph that takes the frames of one film only is built for.

    Attributes:
        size: of the frames.
        resolution: target side of the network's input, see `official_size`.
    """

    size: Size
    resolution: int | None = None

    @property
    def key(self) -> str:
        """Name of the size that `network` gives, without knowing the family."""
        divisor = math.gcd(*self.size)
        height, width = (side // divisor for side in self.size)
        return f"{height}to{width}" + (f"at{self.resolution}" if self.resolution else "")

    def network(self, preprocessing: Preprocessing) -> Size:
        """Size of the network's input."""
        return official_size(self.size, preprocessing, self.resolution)


def official_size(
    source: Size, preprocessing: Preprocessing, resolution: int | None = None
) -> Size:
    """Size of the network's input that the family's own code chooses.

    V1, V2 (``depth_anything_v2/util/transform.py``, ``lower_bound``): the shorter side becomes
    ``resolution``, both are rounded to multiples of 14, upwards where the shorter one would
    fall below. DA3 (``utils/io/input_processor.py``, ``upper_bound_resize``): the longer side
    becomes ``resolution``, then each side the nearest multiple of 14.

    Beyond upstream: no side is below 14, and pictures longer than 4:1 are bounded by
    `MAX_SQUARES`.

    Args:
        source: of the photo.
        preprocessing: of which family.
        resolution: target side in pixels; None for the family's own.

    Raises:
        UsageError: for a resolution below 14.
    """
    resolution = check_resolution(resolution) or DEFAULT_RESOLUTION[preprocessing]
    if preprocessing == "da3":
        bounded = da3_bounded_size(source, resolution)
        return Size(*(max(PATCH_SIZE, _nearest_multiple(side)) for side in bounded))
    limit = _scale_limit(source, resolution, PATCH_SIZE)
    scale_height, scale_width = resolution / source.height, resolution / source.width
    scale = max(scale_height, scale_width)
    if scale > limit:
        sides = (int(limit * side) // PATCH_SIZE * PATCH_SIZE for side in source)
        return Size(*(max(PATCH_SIZE, side) for side in sides))
    return Size(*(_lower_bound(scale * side, resolution) for side in source))


def da3_bounded_size(source: Size, resolution: int) -> Size:
    """DA3's first step: the longer side becomes ``resolution``, the aspect ratio stays."""
    longest = max(source)
    if longest == resolution:
        return source
    scale = resolution / longest
    return Size(*(max(1, round(side * scale)) for side in source))


def letterbox_size(
    source: Size, preprocessing: Preprocessing | None, rule: SizeRule, resolution: int | None
) -> tuple[Size, Size]:
    """Size of the network's input, and of the picture inside it with its aspect ratio kept.

    A fixed size is filled as far as the picture goes. Where a side is free, the picture gets
    the family's own scale and the side is the next multiple.
    """
    if rule.fixed is not None:
        network = rule.fixed
        scale = min(network.height / source.height, network.width / source.width)
        return network, Size(*(max(1, round(side * scale)) for side in source))
    if rule.height is not None:
        scale = rule.height / source.height
    elif rule.width is not None:
        scale = rule.width / source.width
    else:
        target = check_resolution(resolution) or DEFAULT_RESOLUTION[preprocessing or "da2"]
        longer_side = preprocessing == "da3"
        scale = target / (max(source) if longer_side else min(source))
        scale = min(scale, _scale_limit(source, target, rule.multiple_of))
    content = Size(*(max(1, round(side * scale)) for side in source))
    step = rule.multiple_of
    network = Size(*(math.ceil(side / step) * step for side in content))
    return network, content


def stretch_size(rule: SizeRule, resolution: int | None) -> Size:
    """The fixed size; free sides become ``resolution`` rounded up to a multiple."""
    target = check_resolution(resolution) or SEED_SIDE
    free = math.ceil(target / rule.multiple_of) * rule.multiple_of
    return Size(rule.height or free, rule.width or free)


def check_resolution(resolution: int | None) -> int | None:
    """``resolution`` if a network can be run at it.

    Raises:
        UsageError: if it is smaller than one patch.
    """
    if resolution is not None and resolution < PATCH_SIZE:
        raise UsageError(f"the resolution is {resolution}; it must be at least {PATCH_SIZE}")
    return resolution


def _scale_limit(source: Size, resolution: int, step: int) -> float:
    """Largest scale at which the input stays within `MAX_SQUARES`."""
    pixels = MAX_SQUARES * resolution**2
    by_area = math.sqrt(pixels / (source.height * source.width))
    # A side is never below one step, so the longer one is bounded on its own too.
    return min(by_area, pixels / step / max(source))


def _lower_bound(side: float, least: int) -> int:
    rounded = round(side / PATCH_SIZE) * PATCH_SIZE
    return rounded if rounded >= least else math.ceil(side / PATCH_SIZE) * PATCH_SIZE


def _nearest_multiple(side: int) -> int:
    """Nearest multiple of 14; the larger of two that are as near."""
    below = side // PATCH_SIZE * PATCH_SIZE
    above = below + PATCH_SIZE
    return above if above - side <= side - below else below
