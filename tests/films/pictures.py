"""Frames that tell their number and which way is up."""

from __future__ import annotations

import itertools
import math

import numpy as np

BITS = 12
SMALLEST = (16, 2 * (BITS + 2))  # below this a picture has no bar code
COLORS = ((200, 40, 40), (40, 180, 60), (50, 60, 210), (210, 200, 50))


def draw_frame(number: int, size: tuple[int, int], *, flash: bool = False) -> np.ndarray:
    """A picture ``(H, W, 3)`` uint8 that tells its number and which way is up.

    The upper quarter is the bar code: white, black, then 12 bits, most significant first.
    Below are a red, a green, a blue and a yellow corner on a gray ramp, and a bar that moves.
    A flash turns everything but the code white.
    """
    height, width = size
    ramp = np.linspace(60, 190, width)[None, :] + np.linspace(-30, 30, height)[:, None]
    rgb = np.repeat(ramp[..., None], 3, axis=2).astype(np.uint8)
    top = height // 4 if height >= SMALLEST[0] and width >= SMALLEST[1] else 0
    middle, half = top + (height - top) // 2, width // 2
    patch = max((height - top) // 4, 1), max(width // 4, 1)
    left = (number * max(width // 24, 1)) % max(width - width // 8, 1)
    rgb[middle - patch[0] // 4 : middle + patch[0] // 4 + 1, left : left + max(width // 8, 1)] = (
        230
    )
    if width >= 4 and height >= 4:
        rgb[top : top + patch[0], : patch[1]] = COLORS[0]
        rgb[top : top + patch[0], -patch[1] :] = COLORS[1]
        rgb[-patch[0] :, : patch[1]] = COLORS[2]
        rgb[-patch[0] :, half : half + patch[1]] = COLORS[3]
    if flash:
        rgb[top:] = 255
    if top:
        bits = [1, 0, *((number >> bit) & 1 for bit in reversed(range(BITS)))]
        rgb[:top] = np.asarray(bits, np.uint8)[np.arange(width) * len(bits) // width][
            None, :, None
        ]
        rgb[:top] *= 255
    return rgb


def frame_number(rgb: np.ndarray) -> int:
    """Read the bar code of an upright picture, of whatever size and depth.

    Raises:
        ValueError: if there is none: the picture is turned, mirrored, damaged or foreign.
    """
    height, width = rgb.shape[:2]
    if height < SMALLEST[0] or width < SMALLEST[1]:
        raise ValueError(f"{height}x{width} is too small for a bar code")
    strip = rgb[height // 16 : max(height * 3 // 16, height // 16 + 1)].astype(np.float64)
    line = strip.mean(axis=0).reshape(width, -1).mean(axis=1)
    edges = np.linspace(0, width, BITS + 3)
    values = np.array(
        [
            line[
                round(low + 0.25 * (high - low)) : max(round(high - 0.25 * (high - low)), 1)
            ].mean()
            for low, high in itertools.pairwise(edges)
        ]
    )
    white, black = values[0], values[1]
    if white - black < 0.4 * (np.iinfo(rgb.dtype).max if rgb.dtype.kind == "u" else 1.0):
        raise ValueError(f"no bar code: {np.round(values)}")
    share = (values[2:] - black) / (white - black)
    if np.any((share > 0.3) & (share < 0.7)):
        raise ValueError(f"bar code is not clear: {np.round(share, 2)}")
    return int("".join("1" if value > 0.5 else "0" for value in share), 2)


def stored(upright: np.ndarray, turn_deg: int, flipped: bool) -> np.ndarray:
    """The picture to store, so that after a horizontal flip and a clockwise turn it is upright."""
    back = np.rot90(upright, k=turn_deg // 90)  # counterclockwise
    return np.ascontiguousarray(back[:, ::-1] if flipped else back)


def display_matrix(turn_deg: float, flipped: bool) -> list[int]:
    """ISO/IEC 14496-12 matrix ``a b u c d v x y w``: x' = a x + c y, y' = b x + d y, y down."""
    cos, sin = math.cos(math.radians(turn_deg)), math.sin(math.radians(turn_deg))
    mirror = -1.0 if flipped else 1.0
    a, b, c, d = mirror * cos, mirror * sin, -sin, cos
    return [
        round(a * 65536), round(b * 65536), 0,
        round(c * 65536), round(d * 65536), 0,
        0, 0, 1 << 30,
    ]  # fmt: skip
