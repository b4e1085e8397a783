"""Layers as functions of float64 arrays. Images are (C, H, W), tokens (N, C)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def linear(x: Array, weight: Array, bias: Array) -> Array:
    """``nn.Linear``: (N, in) to (N, out)."""
    return x @ weight.T + bias


def layer_norm(x: Array, weight: Array, bias: Array, eps: float) -> Array:
    """``nn.LayerNorm`` over the last axis (biased variance)."""
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = np.mean(centred * centred, axis=-1, keepdims=True)
    return centred / np.sqrt(variance + eps) * weight + bias


def softmax(x: Array) -> Array:
    """Softmax over the last axis."""
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    e /= e.sum(axis=-1, keepdims=True)
    return e


def relu(x: Array) -> Array:
    return np.maximum(x, 0.0)


def sigmoid(x: Array) -> Array:
    return 0.5 * (1.0 + np.tanh(0.5 * x))


def gelu(x: Array) -> Array:
    """Exact GELU: x times the normal distribution function."""
    flat = np.ascontiguousarray(x).ravel()
    result = np.empty_like(flat)
    for start in range(0, flat.size, _CHUNK):
        part = flat[start : start + _CHUNK]
        result[start : start + _CHUNK] = 0.5 * part * (1.0 + erf(part * _SQRT_HALF))
    return result.reshape(x.shape)


_SQRT_HALF = 0.5**0.5
_CHUNK = 1 << 14  # values; many passes over a chunk that stays in the processor's cache


# W. J. Cody, "Rational Chebyshev approximation for the error function", Math. Comp. 23 (1969),
# and CALGO 715: numerators and denominators of three ranges, highest power first.
_SMALL_P = (1.85777706184603153e-1, 3.16112374387056560e0, 1.13864154151050156e2,
            3.77485237685302021e2, 3.20937758913846947e3)  # fmt: skip
_SMALL_Q = (1.0, 2.36012909523441209e1, 2.44024637934444173e2,
            1.28261652607737228e3, 2.84423683343917062e3)  # fmt: skip
_MIDDLE_P = (2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e0,
             6.61191906371416295e1, 2.98635138197400131e2, 8.81952221241769090e2,
             1.71204761263407058e3, 2.05107837782607147e3, 1.23033935479799725e3)  # fmt: skip
_MIDDLE_Q = (1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2,
             1.62138957456669019e3, 3.29079923573345963e3, 4.36261909014324716e3,
             3.43936767414372164e3, 1.23033935480374942e3)  # fmt: skip


def erf(x: Array) -> Array:
    """Error function, to about 1e-15 absolute."""
    t = np.minimum(np.abs(x), 6.0)  # erf(6) is 1 - 2e-17
    square = t * t
    large = 1.0 - np.exp(-square) * _polynomial(_MIDDLE_P, t) / _polynomial(_MIDDLE_Q, t)
    small = t * _polynomial(_SMALL_P, square) / _polynomial(_SMALL_Q, square)
    return np.copysign(np.where(t <= 0.46875, small, large), x)


def _polynomial(coefficients: tuple[float, ...], x: Array) -> Array:
    """Horner's rule, in place."""
    value = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        value *= x
        value += coefficient
    return value


def conv2d(x: Array, weight: Array, bias: Array | None = None, *, stride: int = 1) -> Array:
    """``nn.Conv2d`` with zero padding of half the kernel, as a sum over the kernel's taps."""
    outputs, inputs, kernel, _ = weight.shape
    pad = kernel // 2
    padded = np.pad(x, ((0, 0), (pad, pad), (pad, pad)))
    height, width = ((s - 1) // stride + 1 for s in x.shape[1:])
    result = np.zeros((outputs, height * width))
    for dy in range(kernel):
        for dx in range(kernel):
            tap = padded[:, dy : dy + x.shape[1] : stride, dx : dx + x.shape[2] : stride]
            result += weight[:, :, dy, dx] @ tap.reshape(inputs, -1)
    if bias is not None:
        result += bias[:, None]
    return result.reshape(outputs, height, width)


def conv_transpose2d(x: Array, weight: Array, bias: Array) -> Array:
    """``nn.ConvTranspose2d`` with stride equal to the kernel: each pixel becomes a block."""
    _, outputs, kernel, _ = weight.shape
    _, height, width = x.shape
    blocks = np.tensordot(weight, x, axes=(0, 0))  # (out, ky, kx, H, W)
    enlarged = blocks.transpose(0, 3, 1, 4, 2).reshape(outputs, height * kernel, width * kernel)
    return enlarged + bias[:, None, None]


def upsample(x: Array, height: int, width: int) -> Array:
    """``F.interpolate(mode="bilinear", align_corners=True)``."""
    low, high, part = _lerp(x.shape[1], height)
    x = x[:, low] * (1.0 - part[:, None]) + x[:, high] * part[:, None]
    low, high, part = _lerp(x.shape[2], width)
    return x[:, :, low] * (1.0 - part) + x[:, :, high] * part


def _lerp(inputs: int, outputs: int) -> tuple[NDArray[np.intp], NDArray[np.intp], Array]:
    place = np.arange(outputs) * ((inputs - 1) / max(outputs - 1, 1))
    low = place.astype(np.intp).clip(max=inputs - 1)
    return low, (low + 1).clip(max=inputs - 1), place - low


def resample_bicubic(x: Array, height: int, width: int, step_y: float, step_x: float) -> Array:
    """``F.interpolate(mode="bicubic")`` of (H, W, C), where one output pixel is ``step`` inputs.

    Half-pixel centres, Keys' kernel with a = -0.75, replicated edges.
    """
    for axis, (outputs, step) in enumerate(((height, step_y), (width, step_x))):
        centre = step * (np.arange(outputs) + 0.5) - 0.5
        base = np.floor(centre)
        total = 0.0
        for offset in (-1, 0, 1, 2):
            index = np.clip(base + offset, 0, x.shape[axis] - 1).astype(np.intp)
            weight = _keys(centre - base - offset)
            total = total + np.take(x, index, axis) * weight.reshape(-1, *[1] * (2 - axis))
        x = np.asarray(total)
    return x


def _keys(distance: Array) -> Array:
    d, a = np.abs(distance), -0.75
    inner = (a + 2) * d**3 - (a + 3) * d**2 + 1
    outer = a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a
    return np.where(d <= 1, inner, np.where(d < 2, outer, 0.0))
