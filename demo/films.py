"""For two eyes, and in motion: what is made of a photo, and of a film, and their depth."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from demo.contact_sheet import Panel, Row, Section
from demo.measured import Scene
from demo.network import Network
from demo.shell import heading, must, say, warn
from depthsmith.types import ByteArray

_FRAMES, _FPS = 36, 24
_WINDOW = 360, 512  # height, width
_FORMATS = {"sbs": "jpg", "anaglyph": "jpg", "vr180": "jpg", "wiggle": "gif"}


def run_films(network: Network, scene: Scene, folder: Path) -> Section:
    """The motorcycle for two eyes; a film of it, its depth, and both for two eyes."""
    heading("6. For two eyes")
    photo, near = folder / "motorcycle.png", folder / "motorcycle_near_png16.png"
    made = {form: folder / f"motorcycle_{form}.{suffix}" for form, suffix in _FORMATS.items()}
    for form, path in made.items():
        must("stereo", photo, "--depth", near, "-f", form, "-o", path)

    heading("7. Films")
    film, depth = _pan(scene, folder)
    say(
        f"{film.name} pans over the photo, {depth.name} over its measured depth. What follows "
        "makes of them a film that headsets play, tagged as such."
    )
    pair = folder / "pan_LRF_Full_SBS.mp4"
    must("stereo", film, "--depth", depth, "-o", pair)
    print()
    say("And the depth film of a network, with a measure of how steady it is.")
    made_depth = folder / "pan_depth.mp4"
    must(
        "video", film, "--model", network.file, "--resolution", "98", "-o", made_depth,
        "--report",
    )  # fmt: skip
    if network.warning:
        warn(network.warning)
    rows = (
        Row(
            (
                Panel("for red-cyan glasses", _picture(made["anaglyph"])),
                Panel("side by side", _picture(made["sbs"])),
                Panel("half a sphere for each eye", _picture(made["vr180"])),
            )
        ),
        Row(
            (
                Panel("a frame of a film, side by side", _frame(pair)),
                Panel("its depth", _frame(depth)),
            )
        ),
    )
    return Section("For two eyes: measured depth, filled from the background", rows)


def _pan(scene: Scene, folder: Path) -> tuple[Path, Path]:
    """Films of a window that moves over the photo, and over its near map."""
    film, depth = folder / "pan.mp4", folder / "pan_measured.mkv"
    near = np.rint(np.nan_to_num(scene.near.values) * 255).astype(np.uint8)
    _write(film, scene.photo.rgb, "libx264", "yuv420p")
    _write(depth, near[..., None].repeat(3, axis=2), "ffv1", "gray")
    return film, depth


def _write(path: Path, picture: ByteArray, codec: str, pixels: str) -> None:
    height, width = _WINDOW
    with av.open(str(path), "w") as output:
        stream = output.add_stream(codec, rate=_FPS)
        stream.height, stream.width, stream.pix_fmt = height, width, pixels
        for number in range(_FRAMES):
            left = round((picture.shape[1] - width) * (0.5 - 0.5 * np.cos(number / _FRAMES * 3)))
            window = np.ascontiguousarray(picture[60 : 60 + height, left : left + width])
            output.mux(stream.encode(av.VideoFrame.from_ndarray(window, format="rgb24")))
        output.mux(stream.encode(None))


def _picture(path: Path) -> ByteArray:
    return np.asarray(Image.open(path).convert("RGB"))


def _frame(path: Path) -> ByteArray:
    with av.open(str(path)) as film:
        frames: list[NDArray[np.uint8]] = [
            frame.to_ndarray(format="rgb24")
            for number, frame in enumerate(film.decode(video=0))
            if number == _FRAMES // 2
        ]
    return frames[0]
