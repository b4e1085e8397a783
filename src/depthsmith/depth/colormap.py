"""Near maps in colour, for looking at."""

from __future__ import annotations

from typing import Literal, get_args

import cv2
import numpy as np

from depthsmith.errors import UsageError
from depthsmith.types import ByteArray, DepthKind, DepthMap

Colormap = Literal[
    "gray", "inferno", "magma", "plasma", "viridis", "turbo", "jet", "bone", "spectral"
]
COLORMAPS: tuple[str, ...] = get_args(Colormap)

# The eleven-class diverging scheme "Spectral" of ColorBrewer, near end first, as upstream
# shows depth. Copyright 2002 Cynthia Brewer, Mark Harrower and The Pennsylvania State
# University, Apache-2.0; https://colorbrewer2.org
_SPECTRAL = (
    (158, 1, 66), (213, 62, 79), (244, 109, 67), (253, 174, 97), (254, 224, 139),
    (255, 255, 191), (230, 245, 152), (171, 221, 164), (102, 194, 165), (50, 136, 189),
    (94, 79, 162),
)  # fmt: skip


def colorize(near: DepthMap, colormap: str = "inferno") -> ByteArray:
    """Colours of a near map: 256 steps, for looking at, not for measuring.

    Args:
        near: `DepthKind.NEAR`; what is not finite is shown as far.
        colormap: one of `COLORMAPS`; OpenCV's, or ``spectral`` as upstream (near is red).

    Returns:
        ``(H, W, 3)`` RGB uint8.

    Raises:
        UsageError: for an unknown name, or depth of another kind.
    """
    if near.kind is not DepthKind.NEAR:
        raise UsageError(f"a colour map shows near, not {near.kind.value}; use to_near")
    levels = np.rint(np.clip(np.nan_to_num(near.values), 0, 1) * 255).astype(np.uint8)
    return color_table(colormap)[levels]


def color_table(colormap: str) -> ByteArray:
    """The 256 colours of a map, far first: ``(256, 3)`` RGB uint8.

    Raises:
        UsageError: for an unknown name.
    """
    ramp = np.arange(256, dtype=np.uint8)
    if colormap == "gray":
        return np.repeat(ramp[:, None], 3, axis=1)
    if colormap == "spectral":
        stops = np.linspace(0, 255, len(_SPECTRAL))
        far_first = np.asarray(_SPECTRAL, np.float64)[::-1]
        channels = [np.interp(ramp, stops, far_first[:, c]) for c in range(3)]
        return np.rint(np.stack(channels, axis=1)).astype(np.uint8)
    if colormap not in COLORMAPS:
        raise UsageError(f"no colour map is called {colormap!r}; there are {', '.join(COLORMAPS)}")
    number = getattr(cv2, f"COLORMAP_{colormap.upper()}")
    table: ByteArray = cv2.applyColorMap(ramp[:, None], number)[:, 0, ::-1]
    return np.ascontiguousarray(table)


def side_by_side(rgb: ByteArray, other: ByteArray) -> ByteArray:
    """Two pictures of one size next to each other.

    Returns:
        ``(H, 2 * W, 3)`` uint8.
    """
    if rgb.shape != other.shape:
        raise ValueError(f"pictures of two sizes: {rgb.shape} and {other.shape}")
    return np.concatenate([rgb, other], axis=1)
