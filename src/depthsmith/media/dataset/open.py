"""Which layout a folder has, and the reader for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from depthsmith.errors import DatasetError, UsageError
from depthsmith.media.dataset import da2k, diode, eth3d, kitti, middlebury, nyu, sintel
from depthsmith.media.dataset.pairs import read_pairs
from depthsmith.media.dataset.sample import Dataset
from depthsmith.media.dataset.tree import Tree

Reader = Callable[[Tree, float | None], Dataset]

_READERS: dict[str, Reader] = {
    "pairs": read_pairs,
    "nyu": nyu.read_nyu,
    "kitti": kitti.read_kitti,
    "diode": diode.read_diode,
    "eth3d": eth3d.read_eth3d,
    "sintel": sintel.read_sintel,
    "middlebury": middlebury.read_middlebury,
    "da2k": da2k.read_da2k,
}
LAYOUTS: tuple[str, ...] = tuple(_READERS)

_SCALED = ("pairs", "nyu", "kitti", "diode", "eth3d", "sintel")

_EXPECTED = {
    "diode": "NAME_depth.npy",
    "eth3d": "ground_truth_depth/dslr_images/NAME.JPG",
    "sintel": "depth/SCENE/frame_0001.dpt",
    "middlebury": "SCENE/disp0.pfm",
    "da2k": da2k.ANNOTATIONS,
}


def open_dataset(
    folder: str | Path, layout: str | None = None, *, units_per_metre: float | None = None
) -> Dataset:
    """See what photos with depth ``folder`` holds; nothing is read yet.

    Args:
        folder: of the data set or a part of it.
        layout: one of `LAYOUTS`; None to recognise it by its files, which is noted.
        units_per_metre: how many units of the depth files make a metre, where the layout does
            not say or says otherwise.

    Raises:
        UsageError: for an unknown layout, or a scale for one that has none.
        DatasetError: if there is no such folder, or nothing in it can be scored.
    """
    if layout is not None and layout not in _READERS:
        raise UsageError(f"--layout {layout} is not one of {', '.join(LAYOUTS)}")
    if units_per_metre is not None and not 0 < units_per_metre < float("inf"):
        raise UsageError(f"--depth-scale {units_per_metre:g} must be positive")
    tree = Tree.of(Path(folder))
    chosen = layout or recognise(tree)
    if units_per_metre is not None and chosen not in _SCALED:
        raise UsageError(f"--depth-scale means nothing for {chosen}; leave it out")
    dataset = _READERS[chosen](tree, units_per_metre)
    if not dataset.samples:
        if dataset.missing:
            raise DatasetError(f"nothing in {folder} can be scored: {dataset.missing[0].why}")
        raise DatasetError(f"{folder} has not the layout of {chosen}: no {_EXPECTED[chosen]}")
    if layout is None:
        dataset = replace(dataset, notes=(f"read as --layout {chosen}", *dataset.notes))
    return dataset


def recognise(tree: Tree) -> str:
    """The layout that the files of ``tree`` have; ``pairs`` if no other."""
    signs = {
        "da2k": bool(tree.named(da2k.ANNOTATIONS)),
        "nyu": bool(tree.named(nyu.LABELLED))
        or any(f.name.startswith("sync_depth_") for f in tree.files),
        "kitti": any(kitti.is_kitti_truth(f) for f in tree.files),
        "diode": bool(tree.ending(diode.MASK)),
        "eth3d": any(eth3d.is_eth3d_truth(f) for f in tree.files),
        "sintel": bool(tree.ending(".dpt")) and bool(tree.ending(".cam")),
        "middlebury": bool(tree.named(middlebury.CALIBRATION))
        and bool(tree.named(*middlebury.DISPARITIES)),
    }
    return next((layout for layout, there in signs.items() if there), "pairs")
