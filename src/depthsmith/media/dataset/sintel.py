"""MPI Sintel (Butler et al. 2012): films with rendered depth.

``depth/SCENE/frame_0001.dpt`` with ``final/SCENE/frame_0001.png`` (``clean`` where there is no
``final``) and ``camdata_left/SCENE/frame_0001.cam``, anywhere below the folder. Evaluated up to
72 m, as in Ranftl et al. 2020 (arXiv:1907.01341).
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from depthsmith.media.dataset.camera import sintel_focal_px
from depthsmith.media.dataset.sample import Dataset, Missing, Sample, Truth
from depthsmith.media.dataset.tree import Tree
from depthsmith.media.dataset.truth_file import read_truth
from depthsmith.media.photo import read_photo

CAP_M = 72.0

_PASSES = ("final", "clean")


def read_sintel(tree: Tree, units_per_metre: float | None) -> Dataset:
    """Sintel's frames with their depth."""
    frames = {(*f.parts[-3:-1], f.stem): f for f in tree.ending(".png") if len(f.parts) >= 3}
    chosen = next((p for p in _PASSES if any(key[0] == p for key in frames)), _PASSES[0])
    cameras = {(f.parent.name, f.stem): f for f in tree.ending(".cam")}
    samples: list[Sample] = []
    missing: list[Missing] = []
    for depth in tree.ending(".dpt"):
        scene = depth.parent.name
        frame = frames.get((chosen, scene, depth.stem))
        if frame is None:
            missing.append(Missing(str(depth), f"no frame in {chosen}/ goes with {depth}"))
            continue
        camera = cameras.get((scene, depth.stem))
        samples.append(
            Sample(
                str(frame.with_suffix("")),
                partial(read_photo, tree.path(frame)),
                partial(
                    _truth,
                    tree.path(depth),
                    units_per_metre,
                    None if camera is None else tree.path(camera),
                ),
            )
        )
    notes = (f"frames of the {chosen} pass",)
    return Dataset("sintel", tree.root, tuple(samples), tuple(missing), CAP_M, notes=notes)


def _truth(depth: Path, units_per_metre: float | None, camera: Path | None) -> Truth:
    focal_px = None if camera is None else sintel_focal_px(camera)
    return read_truth(depth, units_per_metre=units_per_metre, focal_px=focal_px)
