"""A photo whose depth was measured, through everything that comes after a network.

Middlebury 2014 stereo, "Motorcycle", at a quarter of its size, from scikit-image. Calibration
as in the documentation of ``skimage.data.stereo_motorcycle``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import skimage.data
from PIL import Image

import depthsmith
from demo.contact_sheet import Panel, Row, Section
from demo.shell import heading, say
from depthsmith.cli.console import table
from depthsmith.depth.colormap import COLORMAPS, side_by_side
from depthsmith.media.depth_file import SUFFIXES
from depthsmith.media.rgb_file import write_rgb
from depthsmith.types import ByteArray

FOCAL_PX, BASELINE_M, OFFSET_PX = 994.978, 0.193001, 31.086


@dataclass(frozen=True, eq=False)
class Scene:
    """A photo and its measured depth.

    Attributes:
        photo: as a network would get it.
        depth: metres, NaN where nothing was measured.
        near: the same in [0, 1], 1 is nearest.
    """

    photo: depthsmith.Photo
    depth: depthsmith.DepthMap
    near: depthsmith.DepthMap


def motorcycle(folder: Path) -> Scene:
    """The scene, its photo also as a file in ``folder``."""
    left, _, disparity_px = skimage.data.stereo_motorcycle()
    path = folder / "motorcycle.png"
    Image.fromarray(left).save(path)
    photo = depthsmith.read_photo(path)
    with np.errstate(divide="ignore", invalid="ignore"):
        metres = FOCAL_PX * BASELINE_M / (disparity_px + OFFSET_PX)
    metres[~(np.isfinite(disparity_px) & (disparity_px > 0))] = np.nan
    depth = depthsmith.DepthMap(
        metres.astype(np.float32),
        depthsmith.DepthKind.DEPTH_M,
        photo.size,
        model="measured (Middlebury 2014)",
    )
    return Scene(photo, depth, depthsmith.to_near(depth))


def depth_files(scene: Scene, folder: Path) -> tuple[Row, ...]:
    """Every format of depth file, read back and compared."""
    say(
        "Metres in every format, read back and compared with what was written. A PNG keeps the "
        "size of a step in its header; npy and pfm keep numbers and forget what they mean."
    )
    rows = [("format", "file", "size", "error after reading")]
    pictures: dict[str, ByteArray] = {}
    for name, suffix in SUFFIXES.items():
        path = folder / f"motorcycle_{name}{suffix}"
        depthsmith.write_depth(path, scene.depth, name)
        back = depthsmith.read_depth(path, depthsmith.DepthKind.DEPTH_M)
        error_mm = 1000 * float(np.nanmax(np.abs(back.values - scene.depth.values)))
        if not np.array_equal(np.isfinite(back.values), np.isfinite(scene.depth.values)):
            raise SystemExit(f"{path}: other pixels are valid than were written")
        rows.append(
            (name, path.name, f"{path.stat().st_size / 1000:.0f} kB", f"{error_mm:.3g} mm")
        )
        pictures[name] = _enlarged(back)
    print(f"\n{table(rows[0], rows[1:])}", flush=True)
    panels = (
        Panel("2.35 to 2.85 m in a png8: 20 mm a step", pictures["png8"]),
        Panel("in a png16: 1 mm a step", pictures["png16"]),
        Panel("in an exr: float32", pictures["exr"]),
    )
    text = tuple((row[0], row[2], row[3]) for row in rows)
    return (Row(panels, text, share=0.72),)


def _enlarged(depth: depthsmith.DepthMap) -> ByteArray:
    """The rear wheel, with all colours spent on 2.35 to 2.85 metres."""
    near = depthsmith.to_near(depth, (1 / 2.85, 1 / 2.35))
    return depthsmith.colorize(near, "turbo")[225:395, 80:345]


def colour_maps(scene: Scene, folder: Path) -> tuple[Row, ...]:
    """Near maps for people and for ControlNet, and every colour map."""
    say("Near maps, which spread 1/z over [0, 1], and the colour maps for looking at them.")
    for name in ("png16", "png8"):
        depthsmith.write_depth(folder / f"motorcycle_near_{name}.png", scene.near, name)
    colored = {name: depthsmith.colorize(scene.near, name) for name in COLORMAPS}
    for name, rgb in colored.items():
        write_rgb(folder / f"motorcycle_{name}.png", rgb)
    large = (
        Panel("the photo", scene.photo.rgb),
        Panel("near map: 1 is nearest, black is not measured", colored["gray"]),
        Panel("colour map spectral", colored["spectral"]),
    )
    small = tuple(Panel(n, colored[n]) for n in COLORMAPS if n not in ("gray", "spectral"))
    return Row(large), Row(small)


def photo_beside_depth(scene: Scene, folder: Path) -> tuple[Row, ...]:
    """Side by side, as ``depthsmith depth --side-by-side`` makes it."""
    path = folder / "motorcycle_side_by_side.jpg"
    write_rgb(path, side_by_side(scene.photo.rgb, depthsmith.colorize(scene.near, "inferno")))
    return ()


# What is made of a photo and its depth, each in a step of its own.
STEPS: tuple[Callable[[Scene, Path], tuple[Row, ...]], ...] = (
    colour_maps,
    photo_beside_depth,
    depth_files,
)


def run_measured(folder: Path) -> tuple[Scene, Section]:
    """Every step, on the motorcycle."""
    heading("4. Measured depth through everything that comes after a network")
    scene = motorcycle(folder)
    values = scene.depth.values
    known = np.isfinite(values)
    extent = f"{values[known].min():.1f} to {values[known].max():.1f} m"
    say(
        f"The motorcycle of Middlebury 2014: measured at {known.mean():.0%} of {values.size} "
        f"pixels, {extent}."
    )
    rows = tuple(row for step in STEPS for row in step(scene, folder))
    title = f"Measured depth (Middlebury 2014, {extent}): what follows a network"
    return scene, Section(title, rows)
