"""Options that were given and would change nothing: who gave one meant something by it.

What only allows something, or holds in case of something, may stand anywhere:
``--allow-truncated``, ``--recursive``, ``--skip-existing``, ``--threads``, ``--progress``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import typer

from depthsmith.contract import Contract
from depthsmith.errors import UsageError
from depthsmith.types import DepthKind

FOCAL = ("focal_px", "fov")

Idle = dict[str, str]
"""Names of parameters of the command that have no effect, and why: a clause about the option."""


def because(reason: str, names: Iterable[str]) -> Idle:
    """All of ``names``, for one reason."""
    return dict.fromkeys(names, reason)


def of_scale(as_: str) -> Idle:
    """What has no effect on depth of that meaning, as far as it is known before a network is
    loaded.
    """
    idle = because("is for --as near", ["robust"]) if as_ != "near" else {}
    return idle if as_ == "depth-m" else idle | because("is for --as depth-m", FOCAL)


def of_metres(contract: Contract) -> Idle:
    """What has no effect on metres of that network."""
    if contract.kind is DepthKind.CANONICAL:
        return {}
    return because(f"changes nothing: {contract.model} gives metres without it", FOCAL)


def of_batches(contract: Contract) -> Idle:
    """What has no effect on films by that network."""
    if contract.size.batch is None:
        return {}
    return because(
        f"is for files that take any number of pictures; {contract.model} takes "
        f"{contract.size.batch}",
        ["batch"],
    )


def refuse_idle(command: typer.Context, idle: Mapping[str, str]) -> None:
    """Make sure that none of these options was given to the command that runs.

    Raises:
        UsageError: for the first that was, also if it was given its default.
    """
    for parameter in command.command.params:
        name = parameter.name or ""
        source = command.get_parameter_source(name)
        if name in idle and source is not None and source.name == "COMMANDLINE":
            raise UsageError(f"{parameter.opts[0]} {idle[name]}; leave it out")
