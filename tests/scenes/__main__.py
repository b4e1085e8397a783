"""A contact sheet of all kinds of scene: ``PYTHONPATH=tests python -m scenes SHEET.png``."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import cv2
import numpy as np

from scenes.kinds import KINDS, make_scene
from scenes.render import render


def sheet(seeds: int, height: int, width: int) -> np.ndarray:
    """``(rows, columns, 3)`` uint8 RGB: per kind a row of pictures and a row of depths."""
    rows = []
    for kind in KINDS:
        pictures, depths = [], []
        for seed in range(seeds):
            scene, camera = make_scene(kind, seed, height, width)
            started = time.perf_counter()
            frame = render(scene, camera)
            took = time.perf_counter() - started
            print(f"{scene.name}: {len(scene.solids)} solids, {took:.2f} s", file=sys.stderr)
            near = np.where(frame.valid, 1.0 / frame.depth_m, 0.0)
            near = np.clip(near / np.percentile(near, 99.5), 0.0, 1.0)
            colours = cv2.applyColorMap(np.uint8(near * 255), cv2.COLORMAP_INFERNO)
            pictures.append(frame.rgb)
            depths.append(colours[..., ::-1])
        rows += [np.hstack(pictures), np.hstack(depths)]
    return np.vstack(rows)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    cv2.imwrite(str(target), sheet(5, 270, 400)[..., ::-1])
