"""Where the depth of a photo comes from: a network, or a file made before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from depthsmith.depth.convert import focal_at_network, to_inverse_depth, to_metres
from depthsmith.errors import ImageError, InputError
from depthsmith.media.depth_file import SUFFIXES
from depthsmith.media.depth_reading import read_depth, read_maps
from depthsmith.pipeline import Predictor
from depthsmith.types import DepthKind, DepthMap, Photo, Size

Polarity = Literal["near-bright", "far-bright"]

_SHAPES_APART = 0.02
"""By which the proportions of a photo and its depth map may differ."""


@dataclass(frozen=True, eq=False)
class Found:
    """The depth of a photo.

    Attributes:
        depth: of the photo's size or smaller.
        factor: by which it was enlarged to that size; None for not at all, or unknown.
    """

    depth: DepthMap
    factor: float | None = None


class Depth(Protocol):
    """Gives photos their depth."""

    def of(self, photo: Photo, focal_px: float | None) -> Found:
        """The depth of ``photo``; in metres, if it can be had and the focal length is known."""


@dataclass(frozen=True)
class NetworkDepth:
    """Depth by a network."""

    predictor: Predictor

    def of(self, photo: Photo, focal_px: float | None) -> Found:
        prediction = self.predictor.predict_photo(photo)
        depth, place = prediction.depth, prediction.placement
        if depth.kind is DepthKind.CANONICAL and focal_px is not None:
            depth = to_metres(depth, focal_at_network(focal_px, place))
        factors = (
            photo.size.width / place.content.width,
            photo.size.height / place.content.height,
        )
        return Found(depth, max(1.0, *factors))


@dataclass(frozen=True)
class FileDepth:
    """Depth files that were made before.

    Args:
        path: of a file; or of a folder, in which ``NAME_depth.*`` or ``NAME.*`` belongs to the
            photo ``NAME``, with its suffix (as where two differ in that only) or without.
        polarity: what files that do not say it themselves mean: larger is nearer, or farther.
    """

    path: Path
    polarity: Polarity | None = None

    def __post_init__(self) -> None:
        if not self.path.exists():
            raise InputError(f"the depth {self.path} does not exist")

    def of(self, photo: Photo, focal_px: float | None) -> Found:
        """The depth of ``photo``.

        Raises:
            InputError: if there is none for it.
            ImageError: if it cannot be read, does not say what it means, or has other
                proportions than the photo.
        """
        path = self._file(photo)
        depth = self._read(path)
        if not np.isfinite(to_inverse_depth(depth).values).any():
            raise ImageError(f"{path} holds no depth: no value of it is one")
        (height, width), (rows, columns) = photo.size, depth.size
        if abs(columns * height / (rows * width) - 1) > _SHAPES_APART:
            raise ImageError(
                f"the depth map {path} is {depth.size.wxh}, its photo {photo.size.wxh}: "
                "not the same proportions"
            )
        if rows > height or columns > width:
            depth = smaller(depth, Size(min(rows, height), min(columns, width)))
        return Found(depth)

    def _file(self, photo: Photo) -> Path:
        if not self.path.is_dir():
            return self.path
        own = photo.path or Path()
        stem = own.stem
        for name in (f"{own.name}_depth", f"{stem}_depth", stem):
            files = sorted(
                path
                for path in self.path.iterdir()
                if path.stem == name and path.suffix.lower() in (*SUFFIXES.values(), ".tif")
            )
            files = [path for path in files if not _same(path, photo.path)]
            if len(files) > 1:
                raise InputError(f"{files[0]} and {files[1]} are both depth for {stem}")
            if files:
                return files[0]
        raise InputError(f"{self.path} holds no {stem}_depth.png or other depth for {stem}")

    def _read(self, path: Path) -> DepthMap:
        maps, header = read_maps(path, None)
        if header:
            depth = read_depth(path)
            nearer = self.polarity in (None, "near-bright")
            if self.polarity is not None and nearer is not depth.kind.larger_is_nearer:
                raise ImageError(
                    f"{path} says that {depth.polarity.replace('_', ' ')}; leave out "
                    f"--depth-polarity {self.polarity}"
                )
            return depth
        whole = maps["depth"].dtype.kind in "bu"  # signed numbers have no brightest
        if self.polarity is None and not whole:
            raise ImageError(
                f"{path} does not say what its values mean; pass --depth-polarity near-bright or "
                "far-bright"
            )
        if self.polarity == "far-bright":
            return _far_bright(path, maps["depth"])
        # Pictures are near maps, as everywhere; numbers may be inverse depth of any scale.
        kind = DepthKind.NEAR if whole else DepthKind.INVERSE_DEPTH
        return _doubted(read_depth(path, kind), maps["depth"])


def _far_bright(path: Path, stored: NDArray[Any]) -> DepthMap:
    """Distance, or a picture of it.

    Sensors and data sets write 16 bits: millimetres or another unit, 0 where nothing was
    measured. They end long before white; pictures of depth are scaled to it.
    """
    distance = read_depth(path, DepthKind.DEPTH)
    if stored.dtype.kind not in "bu":
        return distance
    if stored.dtype.itemsize > 1 and stored.max() < np.iinfo(stored.dtype).max:
        note = "its depth is taken as distances, as it does not reach white; 0 is no value"
        return replace(distance, notes=(note,))
    near = read_depth(path, DepthKind.NEAR)
    return replace(near, values=np.float32(1) - near.values)


def _doubted(near: DepthMap, stored: NDArray[Any]) -> DepthMap:
    """The same, with a note where distances may have been taken as a picture of near."""
    if stored.dtype.kind != "u" or stored.dtype.itemsize == 1:
        return near
    white, most = int(np.iinfo(stored.dtype).max), int(stored.max())
    if most > white // 2:
        return near
    note = (
        f"its depth reaches {most} of {white} and is taken as near where it is bright; "
        "for distances pass --depth-polarity far-bright"
    )
    return replace(near, notes=(note,))


def smaller(depth: DepthMap, size: Size) -> DepthMap:
    """A map of a smaller size. Values are taken, not mixed: between the depths of an edge lies
    nothing.
    """

    def taken(values: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(
            cv2.resize(values, (size.width, size.height), interpolation=cv2.INTER_NEAREST_EXACT)
        )

    sky = None if depth.sky is None else taken(depth.sky.astype(np.uint8)).astype(np.bool_)
    return replace(depth, values=taken(depth.values), sky=sky, confidence=None)


def _same(path: Path, other: Path | None) -> bool:
    return other is not None and other.exists() and path.samefile(other)
