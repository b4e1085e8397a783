"""Choosing solids per tile must not change the picture: against a look at every solid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from scenes import KINDS, make_scene
from scenes.compiled import compiled
from scenes.cull import ray
from scenes.intersect import first_hit
from scenes.pack import pack, view_of
from scenes.shade import radiance
from scenes.trace import TAPS, trace

SIZE = (75, 110)  # not a multiple of the tile


@compiled
def look_at_everything(world: Any, views: Any, depth: Any, key: Any) -> None:
    view = views[0]
    ids = np.arange(world.solids.shape[0])
    casters = np.flatnonzero(world.solids["casts"])
    for row in range(key.shape[0]):
        for column in range(key.shape[1]):
            dx, dy, dz = ray(view, column + 0.5, row + 0.5)
            t, solid, face = first_hit(
                world.solids, world.outlines, ids, len(ids),
                view.x, view.y, view.z, dx, dy, dz, 1e-6,
            )  # fmt: skip
            depth[row, column] = t
            key[row, column] = -1
            if solid >= 0:
                lit = radiance(
                    world, solid, face, casters, len(casters),
                    view.x, view.y, view.z, dx, dy, dz, t, 1 / view.focal_px, TAPS,
                )[3]  # fmt: skip
                key[row, column] = (solid << 5) | (face << 1) | lit


@pytest.mark.parametrize("kind", KINDS)
def test_tiles_leave_nothing_out(kind: str) -> None:
    for seed in range(3):
        scene, camera = make_scene(kind, seed, *SIZE)
        camera = camera.turned(20.0 * seed - 25, 5.0 * seed - 10, 9.0 * seed)
        world, views = pack(scene), view_of(camera)
        depth, expected_depth = np.empty(SIZE), np.empty(SIZE)
        key, expected_key = np.empty(SIZE, np.int32), np.empty(SIZE, np.int32)
        picture, normal = np.empty((*SIZE, 3), np.float32), np.empty((*SIZE, 3), np.float32)
        trace(world, views, picture, depth, normal, key)
        look_at_everything(world, views, expected_depth, expected_key)
        np.testing.assert_array_equal(depth, expected_depth)
        np.testing.assert_array_equal(key, expected_key)
