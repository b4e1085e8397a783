"""The inner loops of colour conversion, compiled by numba. `plain` holds the same in numpy.

They run on the calling thread and release the interpreter.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthsmith.jit import compiled

Planes = NDArray[Any]


@compiled
def yuv_to_rgb(  # noqa: PLR0912
    y: Planes, u: Planes, v: Planes, factors: Planes, halve: Planes, out: Planes
) -> None:
    """Planar Y'CbCr to interleaved R'G'B'.

    Args:
        y, u, v: rows as they lie in memory, ``(h, at least w)``, unsigned integers.
        factors: ``(10,)`` float32: luma's offset and factor, chroma's offset, the largest
            output plus a half, then Cb and Cr to R, to G, to B.
        halve: int: whether chroma is halved across, whether down, whether it is sited in the
            middle between columns (JPEG) rather than on the even ones (MPEG-2 and later).
        out: ``(h, 3 * w)`` uint8 or uint16.
    """
    h, w = out.shape[0], out.shape[1] // 3
    across, down, central = halve[0] != 0, halve[1] != 0, halve[2] != 0
    ch, cw = ((h + 1) // 2 if down else h), ((w + 1) // 2 if across else w)
    offset, gain, middle, top = factors[0], factors[1], factors[2], factors[3]
    r_u, r_v, g_u = factors[4], factors[5], factors[6]
    g_v, b_u, b_v = factors[7], factors[8], factors[9]
    zero, half = np.float32(0), np.float32(0.5)
    near, far = np.float32(0.75), np.float32(0.25)
    row_u, row_v = np.empty(cw + 1, np.float32), np.empty(cw + 1, np.float32)
    fine_u, fine_v = np.empty(2 * cw + 1, np.float32), np.empty(2 * cw + 1, np.float32)
    for r in range(h):
        if down:
            a = r >> 1
            b = min(max(a + 1 if r & 1 else a - 1, 0), ch - 1)
            for x in range(cw):
                row_u[x] = near * np.float32(u[a, x]) + far * np.float32(u[b, x]) - middle
                row_v[x] = near * np.float32(v[a, x]) + far * np.float32(v[b, x]) - middle
        else:
            for x in range(cw):
                row_u[x] = np.float32(u[r, x]) - middle
                row_v[x] = np.float32(v[r, x]) - middle
        if across and central:
            fine_u[0], fine_v[0] = row_u[0], row_v[0]
            for x in range(cw - 1):
                fine_u[2 * x + 1] = near * row_u[x] + far * row_u[x + 1]
                fine_u[2 * x + 2] = far * row_u[x] + near * row_u[x + 1]
                fine_v[2 * x + 1] = near * row_v[x] + far * row_v[x + 1]
                fine_v[2 * x + 2] = far * row_v[x] + near * row_v[x + 1]
            fine_u[2 * cw - 1], fine_v[2 * cw - 1] = row_u[cw - 1], row_v[cw - 1]
        elif across:
            row_u[cw], row_v[cw] = row_u[cw - 1], row_v[cw - 1]
            for x in range(cw):
                fine_u[2 * x] = row_u[x]
                fine_u[2 * x + 1] = half * (row_u[x] + row_u[x + 1])
            for x in range(cw):
                fine_v[2 * x] = row_v[x]
                fine_v[2 * x + 1] = half * (row_v[x] + row_v[x + 1])
        else:
            for x in range(cw):
                fine_u[x] = row_u[x]
                fine_v[x] = row_v[x]
        line = out[r]
        for x in range(w):
            light = (np.float32(y[r, x]) - offset) * gain + half
            red = light + r_u * fine_u[x] + r_v * fine_v[x]
            green = light + g_u * fine_u[x] + g_v * fine_v[x]
            blue = light + b_u * fine_u[x] + b_v * fine_v[x]
            line[3 * x] = np.int32(min(max(red, zero), top))
            line[3 * x + 1] = np.int32(min(max(green, zero), top))
            line[3 * x + 2] = np.int32(min(max(blue, zero), top))


@compiled
def light_to_rgb(
    deep: Planes, decode: Planes, system: Planes, tone: Planes, gamut: Planes, encode: Planes,
    luma: Planes, out: Planes,
) -> None:  # fmt: skip
    """R'G'B' of any transfer and primaries to 8 bits of BT.709 primaries.

    Tables of light are spaced evenly in the square root of light, where 1 is the brightest
    that the source can show.

    Args:
        deep: ``(n, 3)`` uint16, full range.
        decode: ``(65536,)`` float32, code to light.
        system: factor by luminance, or of length 1 for none (HLG's OOTF).
        tone: factor by the largest component, or of length 1 for none.
        gamut: ``(3, 3)`` float32 from linear to linear, scaled to white at 1.
        encode: ``(m,)`` uint8 by the root of display light.
        luma: ``(3,)`` float32 weights of luminance.
        out: ``(n, 3)`` uint8.
    """
    zero, one, half = np.float32(0), np.float32(1), np.float32(0.5)
    system_last, tone_last = np.float32(len(system) - 1), np.float32(len(tone) - 1)
    encode_last = np.float32(len(encode) - 1)
    for i in range(deep.shape[0]):
        r, g, b = decode[deep[i, 0]], decode[deep[i, 1]], decode[deep[i, 2]]
        if len(system) > 1:
            light = luma[0] * r + luma[1] * g + luma[2] * b
            factor = system[np.int32(np.sqrt(min(light, one)) * system_last + half)]
            r, g, b = r * factor, g * factor, b * factor
        if len(tone) > 1:
            light = max(r, g, b)
            factor = tone[np.int32(np.sqrt(min(light, one)) * tone_last + half)]
            r, g, b = r * factor, g * factor, b * factor
        for k in range(3):
            value = gamut[k, 0] * r + gamut[k, 1] * g + gamut[k, 2] * b
            value = np.sqrt(min(max(value, zero), one))
            out[i, k] = encode[np.int32(value * encode_last + half)]
