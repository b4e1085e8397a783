"""Weights to a verified ONNX file to the depth of a photo."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import skimage.data
from PIL import Image

from demo.contact_sheet import Panel, Row, Section
from demo.random_weights import write_random_checkpoint
from demo.shell import depthsmith, heading, must, say, warn
from depthsmith import MODELS
from depthsmith.checkpoint.hub import cached, hub_reachable
from depthsmith.checkpoint.transfer import endpoint

MODEL = "da2-small"
HUB = "https://huggingface.co"
MEANINGLESS = (
    "The weights are RANDOM, so this depth means nothing; the trained ones could not be had."
)

_HUB_SECONDS = 4.0
_PHOTO_FILES = {
    "coffee_near.png": (),
    "coffee_controlnet.png": ("--format", "png8"),
    "coffee_raw.exr": (),
    "coffee_inferno.png": ("--colormap", "inferno"),
    "coffee_side_by_side.jpg": ("--side-by-side", "--colormap", "spectral"),
}


@dataclass(frozen=True)
class Network:
    """An exported file.

    Attributes:
        warning: what must be said wherever its depth is shown; empty if nothing.
    """

    file: Path
    warning: str


def run_network(folder: Path) -> tuple[Network, Section]:
    """Everything up to and including the network, on the photo of a cup of coffee."""
    heading(f"1. Weights: {MODEL}")
    official = _fetch()
    if official:
        source = ["--model", MODEL]
    else:
        weights = write_random_checkpoint(folder / "random_weights")
        say(
            f"{weights} now holds V2-Small in the layout of the official repository, with "
            "random numbers in the place of the trained ones."
        )
        warn(MEANINGLESS)
        source = ["--weights", str(weights)]

    heading("2. An ONNX file that is exact at every size, compared with a float64 reference")
    must("export", *source, "--size", "dynamic", "--out-dir", folder, "--model-card")
    model = folder / "da2_small_dynamic.onnx"
    network = Network(model, _warning(official))
    print()
    must("inspect", model)

    heading("3. The depth of a photo")
    row = photo_row(model, folder)
    if network.warning:
        warn(network.warning)
    title = f"A network: {MODEL}, exported by depthsmith and run on a photo"
    return network, Section(title, (row,), network.warning)


def photo_row(model: Path, folder: Path) -> Row:
    """Run the file on the photo, in every way that `_PHOTO_FILES` names."""
    photo = folder / "coffee.png"
    Image.fromarray(skimage.data.coffee()).save(photo)
    for name, options in _PHOTO_FILES.items():
        must("depth", photo, "--model", model, "-o", folder / name, *options)
    return Row(
        (
            _panel("the photo", photo),
            _panel("16-bit PNG, near is bright", folder / "coffee_near.png"),
            _panel("colour map inferno", folder / "coffee_inferno.png"),
        )
    )


def _fetch() -> bool:
    """Whether the official weights are here, or could be had. Says what it does."""
    say(f"Is {endpoint()} within reach? Waiting {_HUB_SECONDS:.0f} seconds at most.")
    if hub_reachable(_HUB_SECONDS):
        say("Yes.")
    elif cached(MODELS[MODEL].repository):
        say("No, but there are weights in the cache.")
    else:
        say("No.")
        return False
    status = depthsmith("pull", MODEL)
    if status:
        say("So the demo goes on without the official weights.")
    return status == 0


def _warning(official: bool) -> str:
    if not official:
        return MEANINGLESS
    if endpoint() != HUB:
        return f"The weights are what {endpoint()} calls {MODELS[MODEL].repository}."
    return ""


def _panel(label: str, path: Path) -> Panel:
    image = Image.open(path)
    pixels = np.asarray(image)
    if pixels.dtype == np.uint16:
        pixels = (pixels >> 8).astype(np.uint8)
    return Panel(label, np.asarray(Image.fromarray(pixels).convert("RGB")))
