"""Write the table in docs/models.md from the catalogue: ``make docs``.

    python tools/model_table.py [--check]

``--check`` writes nothing and exits with 1 when the table is not what it should be.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

from depthsmith.catalog import ALLOWED_LICENSES, MODELS, ModelCard
from depthsmith.checkpoint.layouts import expected_shapes

TARGET = Path(__file__).parents[1] / "docs" / "models.md"
BEGIN, END = "<!-- table: begin, written by tools/model_table.py -->", "<!-- table: end -->"


def table() -> str:
    """One line a model, in the order of the catalogue."""
    lines = [
        "| name | weights on the hub | licence | depth output | other outputs | parameters |",
        "|---|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *map(_row, MODELS.values())])


def _row(card: ModelCard) -> str:
    license = card.license if card.license in ALLOWED_LICENSES else f"**{card.license}**"
    kind = card.kind.value
    if card.arch.max_depth_m is not None:
        kind += f", up to {card.arch.max_depth_m:g} m"
    others = {"dual_dpt": "`confidence` on request", "dpt_sky": "`sky`"}.get(card.arch.head, "")
    parameters = sum(math.prod(shape) for shape in expected_shapes(card.arch).values())
    return (
        f"| `{card.name}` | [{card.repository}](https://huggingface.co/{card.repository}) "
        f"| {license} | {kind} | {others} | {parameters / 1e6:.0f} M |"
    )


def page() -> str:
    """The page with the table as it should be.

    Raises:
        ValueError: if the page has no place for it.
    """
    head, rest = TARGET.read_text(encoding="utf-8").split(BEGIN)
    _, tail = rest.split(END)
    return f"{head}{BEGIN}\n\n{table()}\n\n{END}{tail}"


def main() -> int:
    text = page()
    if "--check" not in sys.argv[1:]:
        TARGET.write_text(text, encoding="utf-8")
        return 0
    if TARGET.read_text(encoding="utf-8") == text:
        return 0
    print(f"{TARGET} is not what the catalogue says; run `make docs`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
