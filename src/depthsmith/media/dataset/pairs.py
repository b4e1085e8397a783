"""Photos beside depth files: the layout of everything that has no layout of its own.

A file's part is told by, in this order:

- a folder on its way: ``rgb``, ``image(s)``, ``img``, ``photo(s)``, ``color``, ``colour``;
  ``depth(s)``, ``gt``, ``truth``, ``ground_truth``; ``mask(s)``, ``valid``;
- the end of its name: ``_depth``, ``_gt``; ``_mask``, ``_valid``; ``_rgb``, ``_image``;
- its suffix: ``.npy .npz .exr .pfm .dpt`` is depth, a picture is a photo.

Files belong together if their paths are the same without that folder, that ending and the
suffix: ``rgb/a/1.jpg`` and ``depth/a/1.png``; ``a/rgb/1.jpg`` and ``a/depth/1.exr``;
``a/1.jpg``, ``a/1_depth.png`` and ``a/1_mask.png``; ``1.jpg`` and ``1.npy``.
"""

from __future__ import annotations

from functools import partial
from pathlib import PurePosixPath
from typing import Literal

from depthsmith.errors import DatasetError
from depthsmith.media.dataset.sample import Dataset, Missing, Sample
from depthsmith.media.dataset.tree import Tree, is_photo
from depthsmith.media.dataset.truth_file import FLOAT_SUFFIXES, TRUTH_SUFFIXES, read_truth
from depthsmith.media.photo import read_photo

Part = Literal["photo", "depth", "mask"]

_FOLDERS: dict[Part, tuple[str, ...]] = {
    "photo": ("rgb", "image", "images", "img", "imgs", "photo", "photos", "color", "colour"),
    "depth": (
        "depth", "depths", "gt", "gts", "truth", "ground_truth", "groundtruth", "depth_gt",
        "gt_depth",
    ),
    "mask": ("mask", "masks", "valid", "depth_mask", "depth_masks"),
}  # fmt: skip
_ENDINGS: tuple[tuple[str, Part], ...] = (
    ("_depth_mask", "mask"),
    ("_mask", "mask"),
    ("_valid", "mask"),
    ("_depth", "depth"),
    ("_gt", "depth"),
    ("_rgb", "photo"),
    ("_image", "photo"),
)
_MASK_SUFFIXES = (".png", ".bmp", ".tif", ".tiff", ".npy")


def read_pairs(tree: Tree, units_per_metre: float | None) -> Dataset:
    """The photos with depth of ``tree``, as told above.

    Raises:
        DatasetError: if no photo has depth, or two files claim one place.
    """
    files: dict[Part, dict[str, PurePosixPath]] = {"photo": {}, "depth": {}, "mask": {}}
    for file in tree.files:
        part, key = place(file)
        if part is None:
            continue
        if key in files[part]:
            raise DatasetError(
                f"{files[part][key]} and {file} in {tree.root} are both the {part} of {key}; "
                "move one away"
            )
        files[part][key] = file
    photos, depths, masks = files["photo"], files["depth"], files["mask"]
    both = photos.keys() & depths.keys()
    if not both:
        raise DatasetError(_nothing(tree, photos, depths))
    samples = tuple(
        Sample(
            name=str(photos[key].with_suffix("")),
            read_photo=partial(read_photo, tree.path(photos[key])),
            read_truth=partial(
                read_truth,
                tree.path(depths[key]),
                units_per_metre=units_per_metre,
                mask=tree.path(masks[key]) if key in masks else None,
            ),
        )
        for key in sorted(both)
    )
    alone = [(f, "depth file") for key, f in photos.items() if key not in both]
    alone += [(f, "photo") for key, f in depths.items() if key not in both]
    missing = tuple(Missing(str(f), f"no {partner} goes with {f}") for f, partner in sorted(alone))
    return Dataset("pairs", tree.root, samples, missing)


def place(file: PurePosixPath) -> tuple[Part | None, str]:
    """Which part ``file`` plays, None for none, and the key that its partners share."""
    suffix = file.suffix.lower()
    part, folders = _by_folder(file.parent.parts)
    stem = file.stem
    for ending, meaning in _ENDINGS:
        if stem.lower().endswith(ending) and len(stem) > len(ending):
            if part in (None, meaning):
                part, stem = meaning, stem[: -len(ending)]
            break
    if part is None:
        part = "depth" if suffix in FLOAT_SUFFIXES else "photo"
    fits = {
        "photo": is_photo(file),
        "depth": suffix in TRUTH_SUFFIXES,
        "mask": suffix in _MASK_SUFFIXES,
    }[part]
    return (part if fits else None), "/".join((*folders, stem))


def _by_folder(folders: tuple[str, ...]) -> tuple[Part | None, tuple[str, ...]]:
    """The part that a folder tells, the innermost first, and the folders without it."""
    for i in reversed(range(len(folders))):
        for part, names in _FOLDERS.items():
            if folders[i].lower() in names:
                return part, folders[:i] + folders[i + 1 :]
    return None, folders


def _nothing(
    tree: Tree, photos: dict[str, PurePosixPath], depths: dict[str, PurePosixPath]
) -> str:
    if photos and depths:
        photo, depth = next(iter(photos.values())), next(iter(depths.values()))
        return (
            f"no photo in {tree.root} has a depth file of its name: the first are {photo} and "
            f"{depth}; their names must be the same, as in rgb/1.jpg and depth/1.png"
        )
    lacking = "photo" if depths else "depth file"
    return (
        f"{tree.root} holds no {lacking}; put photos into rgb/ and their depth, under the same "
        "names, into depth/, or say which data set it is with --layout"
    )
