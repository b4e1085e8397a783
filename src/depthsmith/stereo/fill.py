"""What comes to light behind the foreground, and nobody has seen.

Always the background beside it goes on, from one pixel beyond the edge (the pixel at the edge
is a mixture of both). ``smooth`` averages it, over more rows and columns the further it goes;
``repeat`` repeats it along the row.
"""

from __future__ import annotations

from dataclasses import dataclass

from depthsmith.errors import UsageError


@dataclass(frozen=True)
class Fill:
    """How holes are filled.

    Attributes:
        columns: pixels of the background averaged along the row, per pixel of distance.
        rows: averaged each way at the edge; None does not average over rows.
        rows_per_pixel: more of them per pixel of distance.
        same_px: rows whose shift differs by more show something else.
    """

    columns: float = 0.25
    rows: float | None = 3.0
    rows_per_pixel: float = 0.3
    same_px: float = 3.0


FILLS: dict[str, Fill] = {
    "smooth": Fill(),
    "repeat": Fill(columns=0.0, rows=None),
    # Names that other programs use. A soft shift blends over holes, an inverse warp draws the
    # picture out over them; these are the nearest to them that neither ghost nor bend.
    "soft_shift": Fill(),
    "inverse_warp": Fill(columns=0.0, rows=None),
}


def find_fill(name: str) -> Fill:
    """By name.

    Raises:
        UsageError: for an unknown one.
    """
    if name not in FILLS:
        raise UsageError(f"holes are filled by {', '.join(FILLS)}, not {name!r}")
    return FILLS[name]
