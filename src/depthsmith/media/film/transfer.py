"""Transfer functions, primaries and tone mapping: from a film's light to an sRGB screen.

Sources: ITU-R BT.2100 (PQ, HLG), BT.2390 (the roll-off), BT.2408 (203 cd/m2 is white),
BT.1886 (the screen's power), IEC 61966-2-1 (sRGB), ITU-T H.273 (code points).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthsmith.film import ColorTags

Table = NDArray[Any]

WHITE_CD_M2 = 203.0
HLG_PEAK_CD_M2 = 1000.0
PQ_PEAK_CD_M2 = 10000.0
PQ, HLG, LINEAR = 16, 18, 8
_STEPS = 1 << 14
# x and y of red, green, blue and white; by H.273 code.
_BT709 = ((0.64, 0.33), (0.30, 0.60), (0.15, 0.06), (0.3127, 0.3290))
_PRIMARIES = {
    9: ((0.708, 0.292), (0.170, 0.797), (0.131, 0.046), (0.3127, 0.3290)),  # BT.2020
    11: ((0.680, 0.320), (0.265, 0.690), (0.150, 0.060), (0.314, 0.351)),  # DCI-P3
    12: ((0.680, 0.320), (0.265, 0.690), (0.150, 0.060), (0.3127, 0.3290)),  # Display P3
}


@dataclass(frozen=True, eq=False)
class Light:
    """Tables for `compiled.light_to_rgb`; its arguments have the same names."""

    decode: Table
    system: Table
    tone: Table
    gamut: Table
    encode: Table
    luma: Table


def pq_to_light(code: Table) -> Table:
    """PQ's EOTF: code 0..1 to cd/m2."""
    m1, m2, c1, c2, c3 = 2610 / 16384, 2523 / 32, 3424 / 4096, 2413 / 128, 2392 / 128
    power = np.clip(code, 0.0, 1.0) ** (1 / m2)
    light = np.maximum(power - c1, 0) / (c2 - c3 * power)
    return np.asarray(PQ_PEAK_CD_M2 * light ** (1 / m1))


def light_to_pq(light: Table) -> Table:
    """The inverse of `pq_to_light`."""
    m1, m2, c1, c2, c3 = 2610 / 16384, 2523 / 32, 3424 / 4096, 2413 / 128, 2392 / 128
    power = np.clip(np.asarray(light) / PQ_PEAK_CD_M2, 0.0, 1.0) ** m1
    return np.asarray(((c1 + c2 * power) / (1 + c3 * power)) ** m2)


def hlg_to_scene(code: Table) -> Table:
    """HLG's inverse OETF: code 0..1 to scene light 0..1."""
    a, b, c = 0.17883277, 0.28466892, 0.55991073
    return np.where(code <= 0.5, code**2 / 3, (np.exp((code - c) / a) + b) / 12)


def srgb_encode(light: Table) -> Table:
    """Linear 0..1 to sRGB code 0..1."""
    return np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)


def roll_off(light: Table, peak: float) -> Table:
    """BT.2390's EETF from a source of ``peak`` cd/m2 to a screen of 203, both from black."""
    if peak <= WHITE_CD_M2:
        return light
    top = float(light_to_pq(np.asarray(peak)))
    e = np.minimum(light_to_pq(light) / top, 1.0)
    most = float(light_to_pq(np.asarray(WHITE_CD_M2))) / top
    knee = 1.5 * most - 0.5
    t = np.clip((e - knee) / (1 - knee), 0, 1)
    spline = (
        (2 * t**3 - 3 * t**2 + 1) * knee + (t**3 - 2 * t**2 + t) * (1 - knee)
        + (-2 * t**3 + 3 * t**2) * most
    )  # fmt: skip
    return pq_to_light(np.where(e < knee, e, spline) * top)


def gamut_matrix(primaries: int) -> Table:
    """``(3, 3)``, linear RGB of these primaries to linear RGB of BT.709; white stays white."""
    if primaries not in _PRIMARIES:
        return np.eye(3)
    return np.asarray(np.linalg.solve(_to_xyz(_BT709), _to_xyz(_PRIMARIES[primaries])))


def _to_xyz(primaries: tuple[tuple[float, float], ...]) -> Table:
    columns = np.array([[x / y, 1.0, (1 - x - y) / y] for x, y in primaries[:3]]).T
    # Whites are equated: a film's white is to be the screen's, not a tint of it.
    x, y = _BT709[3]
    white = np.linalg.solve(columns, np.array([x / y, 1.0, (1 - x - y) / y]))
    return np.asarray(columns * white)


def needs_light(tags: ColorTags) -> bool:
    """Whether pictures with these tags are not near enough to sRGB to be shown as they are."""
    return tags.hdr or tags.transfer == LINEAR or tags.primaries in _PRIMARIES


def light_for(tags: ColorTags) -> Light:
    """Tables for these tags."""
    peak = HLG_PEAK_CD_M2
    if tags.transfer == PQ:
        peak = _declared_peak(tags) or HLG_PEAK_CD_M2
    return _light(tags.primaries, tags.transfer, peak)


def _declared_peak(tags: ColorTags) -> float | None:
    """The brightest pixel, else the mastering screen's peak, where they are credible."""
    peaks = []
    if tags.content_light:
        peaks.append(float(tags.content_light[0]))
    if tags.mastering and "L(" in tags.mastering:
        peaks.append(float(tags.mastering.split("L(")[1].split(",")[0]) / 10000)
    return next((min(peak, PQ_PEAK_CD_M2) for peak in peaks if peak >= WHITE_CD_M2), None)


@lru_cache(maxsize=8)
def _light(primaries: int, transfer: int, peak: float) -> Light:
    code = np.arange(65536) / 65535
    roots = np.linspace(0, 1, _STEPS + 1)
    light = roots**2  # (n,) of the source's peak
    none = np.ones(1)
    if transfer == PQ:
        decode, system, top = pq_to_light(code) / PQ_PEAK_CD_M2, none, PQ_PEAK_CD_M2
    elif transfer == HLG:
        # BT.2100's OOTF for 1000 cd/m2: a gamma of 1.2 on luminance.
        decode, system, top = hlg_to_scene(code), light**0.2, HLG_PEAK_CD_M2
    else:
        decode, system, top = (code if transfer == LINEAR else code**2.4), none, WHITE_CD_M2
    tone = none
    if transfer in (PQ, HLG):
        tone = np.divide(
            roll_off(light * top, peak), light * top, out=np.ones_like(light), where=light > 0
        )
    encoded = light ** (1 / 2.4)
    if transfer in (PQ, HLG, LINEAR):
        encoded = srgb_encode(light)
    gamut = gamut_matrix(primaries) * (top / WHITE_CD_M2)
    luma = np.array([0.2627, 0.6780, 0.0593])
    return Light(
        _single(decode), _single(system), _single(tone), _single(gamut),
        np.rint(255 * encoded).astype(np.uint8), _single(luma),
    )  # fmt: skip


def _single(table: Table) -> Table:
    return np.ascontiguousarray(table, np.float32)
