"""What the loops in numpy share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthsmith.types import FloatArray

Shorts = NDArray[np.int16]
IntArray = NDArray[np.int32]
Index = NDArray[np.int64]


def shifts(disparity: FloatArray, share: float) -> Index:
    """In 1/256 pixel, towards smaller logical columns."""
    scale = np.float32(abs(share) * 256.0)
    moved: Index = np.floor(disparity * scale + np.float32(0.5)).astype(np.int64)
    return moved


def ranges(rows: Any, first: Any, last: Any) -> tuple[Index, Index, Index]:
    """Every pixel of some spans, in their order: its row, its column, the number of its span."""
    lengths = np.maximum(last - first + 1, 0)
    which = np.repeat(np.arange(lengths.size), lengths)
    begins = np.cumsum(lengths) - lengths
    columns = first[which] + np.arange(which.size) - begins[which]
    return rows[which], columns, which
