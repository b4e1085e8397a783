"""The photos that a model did worst on: photo, truth, prediction and error side by side."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from depthsmith.depth.colormap import color_table, colorize
from depthsmith.depth.convert import to_near
from depthsmith.errors import ImageError
from depthsmith.evaluation.run import Evaluation, Shown, point_pairs
from depthsmith.media.rgb_file import write_rgb
from depthsmith.media.sheet import SheetRow, draw_sheet
from depthsmith.types import BoolArray, ByteArray, DepthKind, DepthMap, FloatArray, Size

TILE_WIDTH_PX = 320
FULL_COLOR_FACTOR = 1.5
"""The error that has full colour: this many times too far or too near."""

_UNKNOWN = (60, 60, 60)
_COLORMAP = "inferno"
_PERCENTILES = (2.0, 98.0)
_NEAR, _FAR = np.array([33, 102, 172]), np.array([178, 24, 43])  # ends of ColorBrewer's RdBu
_TIP_PX = 9.0
_RIGHT, _WRONG = (60, 200, 60), (230, 40, 40)


@dataclass(order=True)
class _Entry:
    badness: float
    number: int
    row: SheetRow = field(compare=False)


@dataclass
class WorstSheet:
    """Keeps the worst photos of an evaluation that it observes; see `evaluate`.

    Memory: the tiles of ``count`` photos.

    Args:
        count: how many photos to keep.
    """

    count: int = 8
    _heap: list[_Entry] = field(default_factory=list)
    _seen: int = 0
    _has_truth: bool = True

    def observe(self, shown: Shown) -> None:
        """Take in one photo that was scored."""
        self._seen += 1
        scores = shown.image.scores
        bad = scores.abs_rel if scores.abs_rel is not None else 1.0 - (scores.ordinal or 0.0)
        if len(self._heap) == self.count and bad <= self._heap[0].badness:
            return
        self._has_truth = shown.truth_m is not None
        entry = _Entry(bad, -self._seen, _row(shown))
        if len(self._heap) < self.count:
            heapq.heappush(self._heap, entry)
        else:
            heapq.heapreplace(self._heap, entry)

    def draw(self, evaluation: Evaluation) -> ByteArray:
        """The sheet, the worst photo first.

        Returns:
            ``(H, W, 3)`` uint8 RGB.
        """
        rows = [entry.row for entry in sorted(self._heap, reverse=True)]
        titles: Sequence[str] = ("photo", "truth", "prediction", "error")
        footer = (
            f"error: blue is too near, red too far, full colour at {FULL_COLOR_FACTOR:g} times; "
            "gray is not measured, or does not count"
        )
        if not self._has_truth:
            titles = ("photo", "prediction")
            footer = "from the nearer to the farther point; red pairs are in the wrong order"
        total = len(evaluation.images)
        heading = (
            f"{evaluation.model}: the worst {len(rows)} of {total} photos of {evaluation.layout} "
            f"({evaluation.protocol})"
        )
        return draw_sheet(heading, titles, rows, footer=footer)

    def write(self, path: Path, evaluation: Evaluation) -> None:
        """Write the sheet as PNG, JPEG or WebP.

        Raises:
            UsageError: for another suffix.
            OutputError: if the file cannot be written.
        """
        write_rgb(path, self.draw(evaluation))


def _row(shown: Shown) -> SheetRow:
    scores, base = shown.image.scores, shown.image.baseline
    if shown.truth_m is None or shown.valid is None:
        caption = f"{shown.sample.name}   ordinal {scores.ordinal:.3f} (row {base.ordinal:.3f})"
        return SheetRow(caption, _pair_tiles(shown))
    caption = (
        f"{shown.sample.name}   AbsRel {scores.abs_rel:.3f} (row {base.abs_rel:.3f})   "
        f"delta 1 {scores.delta1:.3f} (row {base.delta1:.3f})"
    )
    size = _tile_size(shown.prediction.shape)
    truth, valid = _sampled(shown.truth_m, shown.valid, size)
    everywhere = np.ones(shown.prediction.shape, np.bool_)
    predicted, _ = _sampled(shown.prediction, everywhere, size)
    span = _span(shown.truth_m[shown.valid])
    error = np.log(_sampled(shown.prediction, shown.valid, size)[0] / truth)
    return SheetRow(
        caption,
        (
            _photo_tile(shown, size),
            _depth_tile(truth, valid, span),
            _depth_tile(predicted, np.ones(size, np.bool_), span),
            _error_tile(error, valid),
        ),
    )


def _tile_size(shape: tuple[int, ...]) -> Size:
    height, width = shape
    return Size(max(1, round(height * TILE_WIDTH_PX / width)), TILE_WIDTH_PX)


def _photo_tile(shown: Shown, size: Size) -> ByteArray:
    try:
        rgb = shown.sample.read_photo().rgb
    except ImageError:  # depth files can be scored without it
        return np.full((*size, 3), _UNKNOWN, np.uint8)
    return _resized(rgb, size)


def _resized(rgb: ByteArray, size: Size) -> ByteArray:
    smaller = rgb.shape[1] > size.width
    how = cv2.INTER_AREA if smaller else cv2.INTER_LINEAR
    tile: ByteArray = cv2.resize(rgb, (size.width, size.height), interpolation=how)
    return tile


def _sampled(
    values: NDArray[Any], valid: BoolArray, size: Size
) -> tuple[NDArray[np.float64], BoolArray]:
    """One of the valid pixels that fall onto each pixel of a tile, and where there is one.

    So that sparse truth can still be seen, as resizing would not let it.
    """
    shape = Size(*values.shape)
    small = Size(min(size.height, shape.height), min(size.width, shape.width))
    rows, columns = np.nonzero(valid)
    target = rows * small.height // shape.height, columns * small.width // shape.width
    tile, there = np.ones(small), np.zeros(small, np.bool_)
    tile[target] = values[rows, columns]
    there[target] = True
    if small != size:
        enlarge = (size.width, size.height)
        tile = cv2.resize(tile, enlarge, interpolation=cv2.INTER_NEAREST)
        there = cv2.resize(there.view(np.uint8), enlarge, interpolation=cv2.INTER_NEAREST) > 0
    return tile, there


def _span(truth_m: NDArray[Any]) -> tuple[float, float]:
    """The inverse depths that the colours reach from and to, those of the truth."""
    far, near = np.percentile(1.0 / truth_m.astype(np.float64), _PERCENTILES)
    return (float(far), float(near)) if near > far else (0.9 * float(far), 1.1 * float(far))


def _depth_tile(depth_m: NDArray[Any], valid: BoolArray, span: tuple[float, float]) -> ByteArray:
    values: FloatArray = depth_m.astype(np.float32)
    depth = DepthMap(values, DepthKind.DEPTH_M, Size(*values.shape))
    tile = colorize(to_near(depth, span), _COLORMAP)
    tile[~valid] = _UNKNOWN
    return tile


def _error_tile(log_error: NDArray[np.float64], valid: BoolArray) -> ByteArray:
    """White where right, red where too far, blue where too near."""
    share = np.clip(log_error / np.log(FULL_COLOR_FACTOR), -1, 1)[..., None]
    color = np.where(share > 0, _FAR, _NEAR)
    tile = np.rint(255 + (color - 255) * np.abs(share)).astype(np.uint8)
    tile[~valid] = _UNKNOWN
    return tile


def _pair_tiles(shown: Shown) -> tuple[ByteArray, ...]:
    size = _tile_size(shown.prediction.shape)
    depth = DepthMap(
        shown.prediction.astype(np.float32), shown.kind, Size(*shown.prediction.shape)
    )
    gray = color_table("gray")[np.rint(to_near(depth).values * 255).astype(np.uint8)]
    tiles = _photo_tile(shown, size), _resized(gray, size)
    scale = size.width / shown.prediction.shape[1]
    nearness = shown.prediction if shown.kind.larger_is_nearer else -shown.prediction
    for pair in point_pairs(shown.sample):
        right = nearness[pair.nearer] > nearness[pair.farther]
        color = _RIGHT if right else _WRONG
        ends = [(round(c * scale), round(r * scale)) for r, c in (pair.nearer, pair.farther)]
        tip = _TIP_PX / max(math.dist(*ends), _TIP_PX)
        for tile in tiles:
            cv2.arrowedLine(tile, ends[0], ends[1], color, 2, cv2.LINE_AA, tipLength=tip)
    return tiles
