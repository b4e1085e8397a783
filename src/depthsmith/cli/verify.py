"""``depthsmith verify``: what a depth ONNX file really does."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Optional

import typer

from depthsmith.cli import console
from depthsmith.cli.options import Json, Kind, Normalization, Provider, Reference, Vendor


def verify(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An ONNX file.")],
    weights: Annotated[
        Optional[Path],  # noqa: UP045 - typer evaluates it on Python 3.10 too
        typer.Option("--weights", metavar="PATH", help="Compare with these weights as well."),
    ] = None,
    model: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--model", "-m", metavar="NAME", help="The model that the weights are for."),
    ] = None,
    position_embedding: Annotated[
        Optional[Literal["official", "transformers"]],  # noqa: UP045
        typer.Option(
            "--position-embedding",
            help="How positions should be resampled, where the file does not say; "
            "whichever fits better by default.",
        ),
    ] = None,
    reference: Reference = "oracle",
    vendor: Vendor = None,
    provider: Provider = "cpu",
    kind: Kind = None,
    normalization: Normalization = None,
    json_: Json = False,
) -> int:
    """Check what a depth ONNX file really does.

    Runs it at several sizes: does the output follow the input, is it finite, not flat,
    repeatable, the same in a batch, the same as on the CPU? With --weights also: is it what
    the network computes? The exit code is 5 when a check fails.
    """
    from depthsmith.errors import ExitCode
    from depthsmith.verify.path import verify_path

    with console.steps(file.name) as progress:
        report = verify_path(
            file,
            weights=weights,
            model=model,
            position_embedding=position_embedding,
            reference="torch" if vendor else reference,
            vendor=vendor,
            provider=provider,
            kind=kind,
            normalization=normalization,
            progress=progress,
        )
    if json_:
        console.say_json(report.to_dict())
    else:
        console.say(console.report_text(report))
    return int(ExitCode.OK if report.passed else ExitCode.VERIFICATION)
