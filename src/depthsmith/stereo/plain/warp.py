"""`compiled.warp` in numpy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from depthsmith.stereo.plain.arrays import Index, IntArray, Shorts, ranges, shifts
from depthsmith.types import FloatArray, PixelArray

_UNSET = -(1 << 30)
OPEN = -(1 << 15)


def draw(
    rgb: PixelArray, disparity: FloatArray, share: float, mixed: float, wide: PixelArray,
    moved: Shorts, spans: IntArray, counts: IntArray, out: PixelArray, left: int, top: int,
    bottom: int,
) -> None:  # fmt: skip
    """As `compiled.draw`."""
    height, width = disparity.shape
    mirrored = share < 0
    _check(disparity, share)
    shift = shifts(disparity, share)
    pixels = rgb.reshape(height, width, 3).astype(np.int64)
    if mirrored:
        shift, pixels = shift[:, ::-1], pixels[:, ::-1]
    seen, hole = _scatter(pixels, shift, int(mixed * 256.0))
    drawn = seen != _UNSET
    x = np.where(drawn, seen >> 9, 0)
    part = np.where(drawn, seen & 511, 256)[..., None]
    rows = np.arange(height)[:, None]
    before = pixels[rows, np.maximum(x - 1, 0)]
    colours = (before * (256 - part) + pixels[rows, x] * part + 128) >> 8
    ahead = np.where(drawn, -shift[rows, x] >> 8, OPEN)
    moved[:] = ahead[:, ::-1] if mirrored else ahead
    codes = np.where(drawn, -1, _codes(hole, mirrored))
    if mirrored:
        codes, colours, drawn = (a[:, ::-1] for a in (codes, colours, drawn))
    view = out[:, left : left + 3 * width].reshape(height, width, 3)
    view[drawn] = colours[drawn]
    out[:, left : left + 3 * width] = view.reshape(height, -1)
    _list(codes, spans, counts)


def _scatter(pixels: Index, shift: Index, least: int) -> tuple[Index, Index]:
    """What is seen: 512 times a column, and 256 less the part that is of the column before;
    and holes: -1 less the column at which the background begins.

    Of samples that meet in one pixel the one with the largest logical column is seen, of
    holes the one with the smallest; so the order of writing does not matter.
    """
    height, width = shift.shape
    column = np.arange(width, dtype=np.int64)[None]
    at = (column << 8) - shift
    gap = np.diff(at, axis=1, prepend=at[:, :1])
    same = (gap >= 0) & (gap <= 512)
    opens = gap > 512
    same[:, 0] = opens[:, 0] = False
    dropped = opens & _mixed(pixels, shift, least)
    after_dropped = np.zeros_like(dropped)
    after_dropped[:, 1:] = dropped[:, :-1]

    seen = np.full((height, width), _UNSET, np.int64)
    last = np.concatenate([at[:, :1], at[:, :-1]], axis=1)
    drawn = same & ~after_dropped
    for more in (1, 2):
        j = (last >> 8) + more
        inside = drawn & (j <= at >> 8)
        rest = (at - (j << 8)).astype(np.float32) * np.float32(256.0)
        weight = rest / np.where(gap == 0, 1, gap).astype(np.float32) + np.float32(0.5)
        _see(seen, inside, j, (column << 9) + 256 - weight.astype(np.int64))
    # Surfaces reach half a pixel beyond their first and last samples.
    begins = ~same & ~dropped
    j, pure = at >> 8, np.broadcast_to((column << 9) + 256, at.shape)
    _see(seen, begins & (j >= (at + 127) >> 8), j, pure)
    ends = np.ones_like(same)
    ends[:, :-1] = ~same[:, 1:]
    j = (at + 128) >> 8
    _see(seen, ends & ~dropped & (j > at >> 8), j, pure)

    # Holes: by row, first and last column, anchor; the largest anchors first.
    hole = np.full((height, width), _UNSET, np.int64)
    rows, x = np.nonzero(opens | (same & after_dropped))
    reaches = opens[rows, x] & ~after_dropped[rows, x]
    first = (last[rows, x] + np.where(reaches, 128, 0)) // 256 + 1
    whole = dropped[rows, x] | same[rows, x]
    final = np.where(whole, at[rows, x] >> 8, ((at[rows, x] + 127) >> 8) - 1)
    anchor = x + dropped[rows, x]
    edge = (at[:, 0] + 127) >> 8
    every = np.arange(height)
    rows = np.concatenate([every, rows])
    first = np.concatenate([np.zeros(height, np.int64), first]).clip(0)
    final = np.concatenate([edge - 1, final]).clip(None, width - 1)
    anchor = np.concatenate([np.zeros(height, np.int64), anchor])
    order = np.argsort(-anchor, kind="stable")
    row_of, column_of, which = ranges(rows[order], first[order], final[order])
    hole[row_of, column_of] = -(anchor[order][which] + 1)
    return seen, hole


def _check(disparity: FloatArray, share: float) -> None:
    if disparity.shape[1] > 32_000 or not (np.abs(disparity) * abs(share) < 16_000).all():
        raise ValueError(
            "a picture wider than 32000 pixels, or a shift that is 16000 or not a number"
        )


def _codes(hole: Index, mirrored: bool) -> Index:
    """Where the background begins, and on which side, in columns of the picture."""
    width = hole.shape[1]
    anchor = -hole - 1
    if mirrored:
        return np.where(hole == _UNSET, 0, 2 * (width - 1 - anchor) + 1)
    return np.where(hole == _UNSET, 2 * (width - 1) + 1, 2 * anchor)


def _mixed(pixels: Index, shift: Index, least: int) -> NDArray[np.bool_]:
    beyond = np.concatenate([pixels[:, 1:], pixels[:, -1:]], axis=1)
    before = np.concatenate([pixels[:, :1], pixels[:, :1], pixels[:, :-2]], axis=1)
    before = before[:, : pixels.shape[1]]
    whole = before - beyond
    along = (whole * (pixels - beyond)).sum(axis=2)
    mixed: NDArray[np.bool_] = along * 256 > least * (whole * whole).sum(axis=2)
    mixed[:, :-1] &= np.diff(shift, axis=1) <= 256
    mixed[:, -1] = False
    return mixed


def _see(seen: Index, where: NDArray[np.bool_], j: Index, value: Index) -> None:
    """Write in ascending order, so that the last write to a pixel is the largest."""
    where = where & (j >= 0) & (j < seen.shape[1])
    rows, columns = np.nonzero(where)
    mine = np.full_like(seen, _UNSET)
    mine[rows, j[rows, columns]] = value[rows, columns]
    np.maximum(seen, mine, out=seen)


def _list(codes: Index, spans: IntArray, counts: IntArray) -> None:
    """Neighbours of one code are one hole; -1 is none."""
    open_ = codes >= 0
    edge = np.full((codes.shape[0], 1), -1)
    begins = open_ & (codes != np.concatenate([edge, codes[:, :-1]], axis=1))
    ends = open_ & (codes != np.concatenate([codes[:, 1:], edge], axis=1))
    counts[:, 0] = begins.sum(axis=1)
    counts[:, 1] = open_.sum(axis=1)
    for y in np.flatnonzero(counts[:, 0]):
        first = np.flatnonzero(begins[y])
        spans[y, : counts[y, 0], 0] = first
        spans[y, : counts[y, 0], 1] = np.flatnonzero(ends[y])
        spans[y, : counts[y, 0], 2] = codes[y, first]
