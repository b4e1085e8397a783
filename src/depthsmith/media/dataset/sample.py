"""What a data set is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from depthsmith.types import BoolArray, FloatArray, Photo, Size

Point = tuple[int, int]
PointPairs = tuple[tuple[Point, Point], ...]
"""Pairs of pixels ``(row, column)`` from 0; the first of each is the nearer one."""


@dataclass(frozen=True, eq=False)
class Truth:
    """The measured depth of one photo.

    Attributes:
        depth_m: ``(H, W)`` float32, metres; not finite or not positive where not measured.
            Its size may differ from the photo's, its aspect ratio may not.
        mask: ``(H, W)`` bool, True where it counts; None for everywhere.
        focal_px: focal length in pixels of the *photo*, mean of both axes; None if not known.
    """

    depth_m: FloatArray
    mask: BoolArray | None = None
    focal_px: float | None = None

    @property
    def size(self) -> Size:
        return Size(*self.depth_m.shape)


@dataclass(frozen=True, eq=False)
class Sample:
    """One photo and what is known of its depth, read when asked for.

    Attributes:
        name: path of the photo below the data set's folder, ``/`` between its parts, without
            suffix.
        read_photo: may raise `ImageError`.
        read_truth: may raise `DatasetError` or `ImageError`; None where there are point
            pairs instead.
        pairs: annotated pairs of points.
    """

    name: str
    read_photo: Callable[[], Photo]
    read_truth: Callable[[], Truth] | None = None
    pairs: PointPairs = ()


@dataclass(frozen=True)
class Missing:
    """A file that lacks its partner: a photo without depth, or the other way round."""

    name: str
    why: str


@dataclass(frozen=True, eq=False)
class Dataset:
    """Photos with depth, and how their data set is evaluated.

    Attributes:
        layout: one of `LAYOUTS`.
        folder: where it lies.
        samples: in the order of their names.
        missing: files without a partner.
        cap_m: largest depth that its protocol counts; None for all.
        crop: what its protocol cuts off; see `depthsmith.depth.truth_grid.crop_mask`.
        notes: what a user may want to know, one clause each.
    """

    layout: str
    folder: Path
    samples: tuple[Sample, ...]
    missing: tuple[Missing, ...] = ()
    cap_m: float | None = None
    crop: str = "none"
    notes: tuple[str, ...] = ()
