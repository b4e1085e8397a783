"""Sky, which has no depth: found by the network's sky head, put behind everything else."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthsmith.types import BoolArray, FloatArray

SKY_THRESHOLD = 0.3
"""From this value of the sky output on a pixel is sky (``utils/alignment.py``)."""

_QUANTILE = 0.99
_FEW = 10
"""So few pixels of either sort decide nothing."""


def is_sky(values: NDArray[Any]) -> BoolArray:
    """Where the sky output ``values`` says sky."""
    return np.asarray(values >= SKY_THRESHOLD)


def push_sky_away(depth: FloatArray, sky: BoolArray) -> FloatArray:
    """Depth (larger is farther) with the sky as far as the farthest of the rest.

    As ``DepthAnything3Net._process_mono_sky_estimation``: sky gets the 0.99 quantile of what
    is not sky, unless there are at most 10 pixels of either. Upstream estimates the quantile
    of more than 100000 pixels from a random sample; here it is exact.

    Args:
        depth: ``(h, w)`` at the network's size, without padding.
        sky: ``(h, w)``.
    """
    count = int(sky.sum())
    if count <= _FEW or sky.size - count <= _FEW:
        return depth
    far = np.quantile(depth[~sky], _QUANTILE)
    return np.where(sky, far, depth).astype(np.float32)
