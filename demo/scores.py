"""The network against the measured depth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

import depthsmith
from demo.contact_sheet import Panel, Row, Section
from demo.measured import Scene
from demo.network import Network
from demo.shell import heading, must, warn


def run_scores(network: Network, scene: Scene, folder: Path) -> Section:
    """Score the network with ``depthsmith eval``."""
    heading("5. The network, scored against the measured depth")
    data = folder / "measured"
    data.mkdir(exist_ok=True)
    Image.fromarray(scene.photo.rgb).save(data / "motorcycle.png")
    depthsmith.write_depth(data / "motorcycle_depth.exr", scene.depth)
    sheet = folder / "scores.png"
    must("eval", "--model", network.file, "--data", data, "--sheet", sheet)
    if network.warning:
        warn(network.warning)
    return Section(
        "The network, scored by depthsmith eval against the measured depth",
        (Row((Panel("", np.asarray(Image.open(sheet).convert("RGB"))),)),),
        network.warning,
    )
