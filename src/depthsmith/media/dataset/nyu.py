"""NYU Depth V2 (Silberman et al. 2012): the labelled file, or folders of pictures.

- ``nyu_depth_v2_labeled.mat`` with the raw depth, and ``splits.mat`` for the 654 test pictures;
- ``rgb_00045.jpg`` beside ``sync_depth_00045.png`` in millimetres, as the BTS code
  (arXiv:1907.10326) writes the same pictures;
- else any folder of pairs, in millimetres.

Evaluated up to 10 m inside the crop of Eigen et al. 2014.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthsmith.errors import DatasetError
from depthsmith.media.dataset.pairs import read_pairs
from depthsmith.media.dataset.sample import Dataset, Missing, Sample, Truth
from depthsmith.media.dataset.tree import Tree
from depthsmith.media.dataset.truth_file import MILLIMETRES, check_scale, read_truth
from depthsmith.media.photo import read_photo
from depthsmith.types import Photo

LABELLED = "nyu_depth_v2_labeled.mat"
CAP_M = 10.0

FOCAL_PX = (518.85790 + 519.46961) / 2
"""Of the colour camera at 640x480 (``camera_params.m`` of the data set's toolbox)."""

_DEPTH_PREFIX = "sync_depth_"
_HDF5 = threading.Lock()  # the library is not safe to use from two threads


def read_nyu(tree: Tree, units_per_metre: float | None) -> Dataset:
    """NYU Depth V2 in any of the forms above.

    Raises:
        DatasetError: if it holds no picture with depth, or the labelled file cannot be read.
    """
    labelled = tree.named(LABELLED)
    if labelled:
        dataset = _from_matlab(tree, tree.path(labelled[0]))
    elif any(f.name.startswith(_DEPTH_PREFIX) for f in tree.files):
        dataset = _from_folders(tree, units_per_metre or MILLIMETRES)
    else:
        dataset = read_pairs(tree, units_per_metre or MILLIMETRES)
    return replace(dataset, layout="nyu", cap_m=CAP_M, crop="nyu")


def _from_folders(tree: Tree, units_per_metre: float) -> Dataset:
    photos = tree.photos()
    samples: list[Sample] = []
    missing: list[Missing] = []
    taken = set()
    for depth in (f for f in tree.ending(".png") if f.name.startswith(_DEPTH_PREFIX)):
        key = depth.with_name(f"rgb_{depth.stem.removeprefix(_DEPTH_PREFIX)}")
        taken.add(key)
        if key not in photos:
            missing.append(Missing(str(depth), f"no photo {key}.jpg goes with {depth.name}"))
            continue
        samples.append(
            Sample(
                str(key),
                partial(read_photo, tree.path(photos[key])),
                partial(
                    read_truth,
                    tree.path(depth),
                    units_per_metre=units_per_metre,
                    focal_px=FOCAL_PX,
                ),
            )
        )
    for key, photo in photos.items():
        if photo.name.startswith("rgb_") and key not in taken:
            missing.append(Missing(str(photo), f"no depth file goes with {photo}"))
    return Dataset("nyu", tree.root, tuple(samples), tuple(missing))


def _from_matlab(tree: Tree, path: Path) -> Dataset:
    try:
        import h5py
    except ImportError:
        raise DatasetError(f"{path} is an HDF5 file; to read it, run `pip install h5py`") from None
    try:
        file = h5py.File(path, "r")
        images, depths = file["images"], file["rawDepths"]
    except (OSError, KeyError) as error:
        raise DatasetError(f"{path} is damaged ({' '.join(str(error).split())})") from error
    # MATLAB's axes are the other way round: (picture, channel, column, row).
    if images.ndim != 4 or depths.shape != (images.shape[0], *images.shape[2:]):
        raise DatasetError(f"{path} holds images {images.shape}, rawDepths {depths.shape}")
    splits = tree.named("splits.mat")
    numbers = list(range(1, images.shape[0] + 1))
    notes: tuple[str, ...] = ()
    if splits:
        numbers = _test_numbers(tree.path(splits[0]), images.shape[0])
    else:
        notes = (f"no splits.mat beside {LABELLED}: all {len(numbers)} pictures, not the test",)
    samples = tuple(
        Sample(f"{number:05d}", partial(_photo, images, number), partial(_truth, depths, number))
        for number in numbers
    )
    return Dataset("nyu", tree.root, samples, notes=notes)


def _photo(images: Any, number: int) -> Photo:
    return Photo(np.ascontiguousarray(_picture(images, number)))


def _truth(depths: Any, number: int) -> Truth:
    depth_m = np.ascontiguousarray(_picture(depths, number), np.float32)
    check_scale(depth_m, None, f"{LABELLED}, picture {number}")
    return Truth(depth_m, focal_px=FOCAL_PX)


def _picture(array: Any, number: int) -> NDArray[Any]:
    try:
        with _HDF5:
            picture: NDArray[Any] = array[number - 1].T
    except OSError as error:
        raise DatasetError(f"picture {number} of {LABELLED} is damaged") from error
    return picture


def _test_numbers(path: Path, count: int) -> list[int]:
    try:
        from scipy.io import loadmat
    except ImportError:
        raise DatasetError(
            f"{path} says which pictures are the test; to read it, run `pip install scipy`"
        ) from None
    try:
        numbers = sorted(int(n) for n in loadmat(path)["testNdxs"].ravel())
    except Exception as error:  # whatever the reader raises on damaged data
        raise DatasetError(f"{path} is damaged: it has no testNdxs") from error
    if not numbers or numbers[0] < 1 or numbers[-1] > count:
        raise DatasetError(f"{path} does not belong to {LABELLED} of {count} pictures")
    return numbers
