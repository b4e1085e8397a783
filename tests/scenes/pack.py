"""A scene as records, which is what compiled code reads.

Records of plain numbers, and few arrays: numba counts references to every array that
enters a function, which costs more than meeting a ray with a box.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scenes import masks, textures
from scenes.camera import Camera
from scenes.describe import Billboard, Scene, Solid

_RGB = ("r", "g", "b")
_XYZ = ("x", "y", "z")


def _floats(*names: str) -> list[tuple[str, str]]:
    return [(name, "f8") for name in names]


def _matrix(prefix: str) -> list[tuple[str, str]]:
    return _floats(*(f"{prefix}{row}{column}" for row in range(3) for column in range(3)))


SOLID = np.dtype(
    [
        ("shape", "i8"),
        ("outline", "i8"),  # number of the outline, -1 for none
        ("tile", "i8"),
        ("fit", "i8"),
        ("casts", "i8"),
        *_matrix("i"),  # world to the unit shape
        *_matrix("f"),  # and back
        *_floats("cx", "cy", "cz", "radius", "hx", "hy", "hz"),
        *_floats("tile_m", "tint_r", "tint_g", "tint_b", "gloss", "shift_u", "shift_v"),
    ],
    align=True,
)

SETTING = np.dtype(
    [
        ("near", "i8"),
        ("cloud_tile", "i8"),
        *_floats("light_x", "light_y", "light_z", "reach_m"),
        *_floats(*(f"{part}_{c}" for part in ("light", "above", "below") for c in _RGB)),
        *_floats(*(f"{part}_{c}" for part in ("zenith", "horizon", "fog") for c in _RGB)),
        *_floats("clouds", "fog_m"),
        *_matrix("l"),  # world to light: its last row points to the light
    ],
    align=True,
)

VIEW = np.dtype(
    [*_floats("focal_px", "cx", "cy"), *_matrix("r"), *_floats("x", "y", "z")], align=True
)


class Packed(NamedTuple):
    """What the kernels need.

    Attributes:
        solids: ``(N,)`` of `SOLID`.
        setting: ``(1,)`` of `SETTING`: light, sky and air.
        tiles: ``(T, texels, 3)`` uint8, texture pyramids.
        outlines: ``(M, 128, 128)`` uint8, of billboards.
    """

    solids: NDArray[np.void]
    setting: NDArray[np.void]
    tiles: NDArray[np.uint8]
    outlines: NDArray[np.uint8]


def pack(scene: Scene) -> Packed:
    """Records of a scene as it stands; for another time, pack ``scene.at(time_s)``."""
    tile_keys = {(s.material.texture, s.material.variant) for s in scene.solids}
    unique_tiles = sorted(tile_keys | {("clouds", scene.sky.variant)})
    unique_masks = sorted({_mask_key(s) for s in scene.solids})
    tile_of = {key: number for number, key in enumerate(unique_tiles)}
    mask_of = {key: number for number, key in enumerate(unique_masks)}

    solids = np.zeros(len(scene.solids), SOLID)
    for record, solid in zip(solids, scene.solids, strict=True):
        _fill_solid(record, solid, tile_of, mask_of)
    return Packed(
        solids=solids,
        setting=_setting(scene, tile_of[("clouds", scene.sky.variant)]),
        tiles=np.stack([textures.pyramid(*key) for key in unique_tiles]),
        outlines=np.stack([masks.outline(*key) for key in unique_masks]),
    )


def view_of(camera: Camera) -> NDArray[np.void]:
    """``(1,)`` of `VIEW`."""
    record = np.zeros(1, VIEW)
    record["focal_px"], record["cx"], record["cy"] = camera.focal_px, camera.cx, camera.cy
    _put_matrix(record[0], "r", camera.rotation)
    _put(record[0], _XYZ, camera.position_m)
    return record


def _mask_key(solid: Solid) -> tuple[str, int]:
    return (solid.mask, solid.mask_variant) if isinstance(solid, Billboard) else ("", 0)


def _fill_solid(
    record: np.void,
    solid: Solid,
    tile_of: dict[tuple[str, int], int],
    mask_of: dict[tuple[str, int], int],
) -> None:
    material = solid.material
    half = np.array(solid.half_m, np.float64)
    mask = _mask_key(solid)
    record["shape"] = solid.shape
    record["outline"] = mask_of[mask] if mask[0] else -1
    record["tile"] = tile_of[(material.texture, material.variant)]
    record["fit"] = material.fit
    record["casts"] = solid.casts_shadow
    _put_matrix(record, "i", solid.rotation.T / half[:, None])
    _put_matrix(record, "f", solid.rotation * half[None, :])
    _put(record, ("cx", "cy", "cz"), solid.centre_m)
    record["radius"] = solid.radius_m
    _put(record, ("hx", "hy", "hz"), half)
    record["tile_m"] = material.tile_m
    _put(record, ("tint_r", "tint_g", "tint_b"), material.tint)
    record["gloss"] = material.gloss
    _put(record, ("shift_u", "shift_v"), material.shift)


def _setting(scene: Scene, cloud_tile: int) -> NDArray[np.void]:
    light, sky, look = scene.light, scene.sky, scene.look
    setting = np.zeros(1, SETTING)
    record = setting[0]
    towards = np.array(light.towards, np.float64)
    if not light.near:
        towards /= np.linalg.norm(towards)
    across = np.eye(3) if light.near else _frame(towards)
    _put_matrix(record, "l", across)
    record["near"], record["reach_m"] = light.near, light.reach_m
    record["cloud_tile"], record["clouds"] = cloud_tile, sky.clouds
    record["fog_m"] = look.fog_m
    _put(record, ("light_x", "light_y", "light_z"), towards)
    for part, colour in (
        ("light", light.colour), ("above", light.above), ("below", light.below),
        ("zenith", sky.zenith), ("horizon", sky.horizon), ("fog", look.fog_colour),
    ):  # fmt: skip
        _put(record, tuple(f"{part}_{c}" for c in _RGB), colour)
    return setting


def _frame(towards: NDArray[np.float64]) -> NDArray[np.float64]:
    """Three unit rows at right angles, the last one given."""
    axis = np.eye(3)[np.argmin(np.abs(towards))]
    first = np.cross(axis, towards)
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(towards, first), towards])


def _put(record: np.void, names: tuple[str, ...], values: object) -> None:
    for name, value in zip(names, np.asarray(values), strict=True):
        record[name] = value


def _put_matrix(record: np.void, prefix: str, matrix: NDArray[np.float64]) -> None:
    _put(record, tuple(name for name, _ in _matrix(prefix)), matrix.ravel())
