"""``make demo``: weights to a verified ONNX file to depth, then all that is made of depth."""

from __future__ import annotations

import argparse
import importlib.util
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from demo.contact_sheet import write_sheet
from demo.films import run_films
from demo.measured import run_measured
from demo.network import run_network
from demo.scores import run_scores
from demo.shell import heading, say
from depthsmith import __version__
from depthsmith.cli.console import megabytes

OUTPUT = Path(__file__).parent / "output"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="demo", description=__doc__)
    parser.add_argument("--output", type=Path, default=OUTPUT, help="folder for the files")
    folder: Path = _short(parser.parse_args(arguments).output)
    start = time.monotonic()
    torch = "installed, but not used" if importlib.util.find_spec("torch") else "not installed"
    say(f"This is depthsmith {__version__}. PyTorch is {torch} here.")
    if folder == _short(OUTPUT):
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)

    network, first = run_network(folder)
    scene, second = run_measured(folder)
    third = run_scores(network, scene, folder)
    sections = [first, second, third, run_films(network, scene, folder)]

    sheet = folder / "contact_sheet.jpg"
    footer = (
        "Photos from scikit-image: coffee (Rachel Michetti, CC0); "
        "motorcycle with its depth (Scharstein et al., Middlebury 2014 stereo)."
    )
    write_sheet(sheet, f"depthsmith {__version__}", sections, footer)
    heading("Files")
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        print(f"{megabytes(path):>9}  {path}")
    print(f"\nDone in {time.monotonic() - start:.0f} s. Worth opening: {sheet}")


def _short(path: Path) -> Path:
    """As seen from here, if it lies below."""
    absolute = path.resolve()
    return absolute.relative_to(Path.cwd()) if absolute.is_relative_to(Path.cwd()) else absolute


if __name__ == "__main__":
    main()
