"""A picture and its depth map to a full side-by-side pair, without the network: one thread."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.report import Row, Section
from benchmarks.samples import Samples, in_turn

_NETWORK = (294, 518)
_SIZES = {"1080p": (1080, 1920), "4K": (2160, 3840)}
_AIM_MS = {"1080p": 50, "4K": 210}
_SEED_MS = {"1080p": 826, "4K": 4900}
_TEXT = """\
From a depth map of 518x294 and a picture to both eyes' views in one array: edges put on colour
edges, two warps, holes filled; disparity of 3 % of the width, memory kept from frame to frame,
one thread. The picture is Middlebury's motorcycle enlarged, whose thin parts leave 6 % of a
view open, more than most. Beside it a single backward lookup by OpenCV (`cv2.resize` of the
map, two `cv2.remap`), which bends what stands before a background and shows it twice. The
renderer that the project began with (`soft_shift`) took 826 ms and 4.9 s on such a machine; it
was measured once, elsewhere."""


def run(_work: Path, rounds: int | None) -> Section:
    import cv2

    threads = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        rows = [row for name in _SIZES for row in _rows(name, rounds or 25)]
    finally:
        cv2.setNumThreads(threads)
    return Section("A stereo pair, network free", _TEXT, "one backward lookup", tuple(rows))


def _rows(name: str, rounds: int) -> list[Row]:
    taken = in_turn(_actions(*_SIZES[name]), rounds=rounds)
    ours, other = (
        Samples(tuple(1000 * s for s in taken[key].values)) for key in ("ours", "other")
    )
    aim, met = _AIM_MS[name], ours.median <= _AIM_MS[name]
    frames = Samples(tuple(1000 / ms for ms in ours.values))
    return [
        Row.compare(f"{name}, beside a backward lookup", ours, other, "ms", digits=0),
        Row(f"{name}, full side-by-side", "", f"{aim} ms{'' if met else ' (missed)'}",
            ours.text(0, "ms"), ""),
        Row(f"{name}, frames a second", "", "", frames.text(1), ""),
        Row(f"{name}, beside soft_shift", f"{ours.median / _SEED_MS[name]:.3f}", "",
            ours.text(0, "ms"), f"{_SEED_MS[name]} ms"),
    ]  # fmt: skip


def _actions(height: int, width: int) -> dict[str, Callable[[], object]]:
    import cv2
    import numpy as np
    import skimage.data

    from depthsmith.stereo import (
        Scratch,
        StereoSettings,
        near_to_disparity,
        render_pair,
        side_by_side,
    )

    photo, _, known = skimage.data.stereo_motorcycle()
    disparity = np.where(np.isfinite(known), known, known[np.isfinite(known)].min())
    near = (disparity - disparity.min()) / np.ptp(disparity)
    near = cv2.resize(near, _NETWORK[::-1], interpolation=cv2.INTER_AREA).clip(0, 1)
    rgb = cv2.resize(photo, (width, height), interpolation=cv2.INTER_CUBIC)
    settings, scratch = StereoSettings(), Scratch()
    canvas = np.empty((height, 2 * width, 3), np.uint8)
    rows, columns = np.mgrid[:height, :width].astype(np.float32)

    def ours() -> object:
        shift = near_to_disparity(near, width, settings)
        pair = render_pair(rgb, shift, settings, scratch=scratch, canvas=canvas)
        return side_by_side(pair)

    def lookup(share: float, left: int) -> None:
        shift = near_to_disparity(near, width, settings) * np.float32(share)
        at = columns + cv2.resize(shift, (width, height))
        canvas[:, left : left + width] = cv2.remap(
            rgb, at, rows, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
        )

    def other() -> None:
        for share, left in ((-0.5, 0), (0.5, width)):
            lookup(share, left)

    return {"ours": partial(ours), "other": partial(other)}
