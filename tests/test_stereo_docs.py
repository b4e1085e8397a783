"""docs/stereo.md against the program."""

from __future__ import annotations

import re
from pathlib import Path

from depthsmith.cli.stereo import LayoutChoice
from depthsmith.stereo import BORDERS, ENDINGS, EYE_ENDINGS, FILLS

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "stereo.md").read_text(encoding="utf-8")


def test_the_table_of_formats_is_that_of_the_program():
    rows = re.findall(r"^\| `([\w-]+)` \| .* \| (`.*`) \|", PAGE, re.M)
    said = {name: re.findall(r"`([^`]+)`", ending.split(" | ")[0]) for name, ending in rows}
    expected = {name: [ending] for name, ending in ENDINGS.items()}
    expected |= {"left-right": list(EYE_ENDINGS), "mpo": [".mpo"]}
    assert {name: ends for name, ends in said.items() if name in expected} == expected
    assert set(ENDINGS) == set(LayoutChoice.__args__)


def test_every_choice_is_explained():
    for name in (*BORDERS, *FILLS):
        assert f"`{name}`" in PAGE or f" {name}`" in PAGE


def test_pictures_are_small():
    named = set(re.findall(r"\(images/(\w+\.\w+)\)", PAGE))
    files = {path.name: path for path in (ROOT / "docs" / "images").glob("stereo_*")}
    assert named <= files.keys()
    assert all(path.stat().st_size <= 150_000 for path in files.values())
