"""``depthsmith pull``: weights from the hub, licence first."""

from __future__ import annotations

from typing import Annotated

import typer

from depthsmith.cli import console
from depthsmith.cli.options import AllowLicense


def pull(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A model (see `depthsmith models`).")
    ],
    allow_license: AllowLicense = None,
) -> None:
    """Download the weights of a model, its licence first.

    Prints the path of the weight file. The hub is asked for the licence before anything is
    downloaded. HF_ENDPOINT names a mirror, HF_HUB_OFFLINE=1 forbids the network.
    """
    from depthsmith.model_store import pull as pull_model

    fetched = pull_model(name, allow_license=allow_license, progress=True)
    if fetched.note:
        console.note(fetched.note)
    console.note(f"{fetched.repository} is licensed under {fetched.license}")
    console.say(str(fetched.path))
