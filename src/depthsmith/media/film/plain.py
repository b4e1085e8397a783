"""What `compiled` does, in numpy: the same pictures, ten to thirty times slower."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Planes = NDArray[Any]


def yuv_to_rgb(
    y: Planes, u: Planes, v: Planes, factors: Planes, halve: Planes, out: Planes
) -> None:
    """See `compiled.yuv_to_rgb`."""
    h, w = out.shape[0], out.shape[1] // 3
    f = factors.astype(np.float32)
    light = (y[:, :w].astype(np.float32) - f[0]) * f[1] + np.float32(0.5)
    cb, cr = (_finer(plane, h, w, halve) - f[2] for plane in (u, v))
    pixels = out.reshape(h, w, 3)
    for k in range(3):
        value = light + f[4 + 2 * k] * cb + f[5 + 2 * k] * cr
        pixels[..., k] = np.clip(value, 0, f[3]).astype(np.int32)


def _finer(plane: Planes, h: int, w: int, halve: Planes) -> Planes:
    across, down, central = (bool(flag) for flag in halve)
    near, far = np.float32(0.75), np.float32(0.25)
    c = plane[:, : (w + 1) // 2 if across else w].astype(np.float32)
    if down:
        above, below = np.concatenate([c[:1], c[:-1]]), np.concatenate([c[1:], c[-1:]])
        c = np.stack([near * c + far * above, near * c + far * below], axis=1)
        c = c.reshape(-1, c.shape[-1])[:h]
    if across:
        left, right = np.hstack([c[:, :1], c[:, :-1]]), np.hstack([c[:, 1:], c[:, -1:]])
        if central:
            pair = near * c + far * left, near * c + far * right
        else:
            pair = c, np.float32(0.5) * (c + right)
        c = np.stack(pair, axis=2).reshape(len(c), -1)[:, :w]
    return c


def light_to_rgb(
    deep: Planes, decode: Planes, system: Planes, tone: Planes, gamut: Planes, encode: Planes,
    luma: Planes, out: Planes,
) -> None:  # fmt: skip
    """See `compiled.light_to_rgb`."""
    rgb = decode[deep]
    if len(system) > 1:
        rgb = rgb * _by_root(system, rgb @ luma)[:, None]
    if len(tone) > 1:
        rgb = rgb * _by_root(tone, rgb.max(axis=1))[:, None]
    out[:] = _by_root(encode, rgb @ gamut.T)


def _by_root(table: Planes, light: Planes) -> Planes:
    root = np.sqrt(np.clip(light, np.float32(0), np.float32(1)))
    return table[(root * np.float32(len(table) - 1) + np.float32(0.5)).astype(np.int32)]
