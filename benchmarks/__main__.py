"""``python -m benchmarks``: measure, and write RESULTS.md."""

from __future__ import annotations

import sys
import tempfile
from enum import Enum
from pathlib import Path
from typing import Annotated, Optional

import typer

from benchmarks import environments, film, giant, latency, making, photo, stereo
from benchmarks.report import Watch, measured, save


class Name(str, Enum):
    """A benchmark."""

    MAKING = "making"
    LATENCY = "latency"
    PHOTO = "photo"
    STEREO = "stereo"
    FILM = "film"
    GIANT = "giant"
    ENVIRONMENTS = "environments"


_RUN = {
    Name.MAKING: making.run,
    Name.LATENCY: latency.run,
    Name.PHOTO: photo.run,
    Name.STEREO: stereo.run,
    Name.FILM: film.run,
    Name.GIANT: giant.run,
    Name.ENVIRONMENTS: environments.run,
}
_DEFAULT = [name for name in Name if name is not Name.ENVIRONMENTS]


def main(
    names: Annotated[
        Optional[list[Name]],  # noqa: UP045
        typer.Argument(
            help="Which; all but environments by default, which downloads for minutes. What is "
            "not measured stays in RESULTS.md as it was."
        ),
    ] = None,
    rounds: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option("--rounds", min=1, help="How often; by default what each needs."),
    ] = None,
    work: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--work", help="Folder for files in between; temporary by default."),
    ] = None,
) -> None:
    """Measure depthsmith beside the traced route; write benchmarks/RESULTS.md."""
    with tempfile.TemporaryDirectory(prefix="depthsmith-bench-") as temporary:
        folder = Path(temporary) if work is None else work.resolve()
        folder.mkdir(parents=True, exist_ok=True)
        for name in names or _DEFAULT:
            print(f"{name.value} ...", file=sys.stderr, flush=True)
            watch = Watch()
            section = measured(_RUN[name](folder, rounds), watch)
            save(name.value, section, [n.value for n in Name])
            for row in section.rows:
                print(f"  {row.what}: {row.ratio or row.ours}", flush=True)


if __name__ == "__main__":
    typer.run(main)
