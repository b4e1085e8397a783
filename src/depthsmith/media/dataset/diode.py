"""DIODE (Vasiljevic et al. 2019, arXiv:1908.00463): NPY in metres and a mask for each photo.

``NAME.png``, ``NAME_depth.npy`` of ``(768, 1024, 1)``, ``NAME_depth_mask.npy``.
"""

from __future__ import annotations

from functools import partial

from depthsmith.media.dataset.sample import Dataset, Missing, Sample
from depthsmith.media.dataset.tree import Tree
from depthsmith.media.dataset.truth_file import read_truth
from depthsmith.media.photo import read_photo

FOCAL_PX = (886.81 + 927.06) / 2
"""Of every photo, 1024x768 (``intrinsics.txt`` of the data set's development kit)."""

DEPTH, MASK = "_depth.npy", "_depth_mask.npy"


def read_diode(tree: Tree, units_per_metre: float | None) -> Dataset:
    """DIODE or a part of it."""
    photos = tree.photos()
    masks = set(tree.ending(MASK))
    samples: list[Sample] = []
    missing: list[Missing] = []
    taken = set()
    for depth in tree.ending(DEPTH):
        key = depth.with_name(depth.name.removesuffix(DEPTH))
        taken.add(key)
        mask = depth.with_name(key.name + MASK)
        if key not in photos:
            missing.append(Missing(str(depth), f"no photo {key}.png goes with {depth.name}"))
        elif mask not in masks:
            # Without it the blur at edges of the scanner would count.
            missing.append(Missing(str(depth), f"no mask {mask.name} goes with {depth}"))
        else:
            truth = partial(
                read_truth,
                tree.path(depth),
                units_per_metre=units_per_metre,
                mask=tree.path(mask),
                focal_px=FOCAL_PX,
            )
            samples.append(Sample(str(key), partial(read_photo, tree.path(photos[key])), truth))
    for key, photo in photos.items():
        if key not in taken:
            missing.append(Missing(str(photo), f"no depth {key.name}{DEPTH} goes with {photo}"))
    return Dataset("diode", tree.root, tuple(samples), tuple(missing))
