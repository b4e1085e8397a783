"""Repeated measurements, taken in turn, and what is said about them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Samples:
    """Measurements of one thing, in the order they were taken; in one unit."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    def over(self, other: Samples) -> Samples:
        """The ratio to ``other``, measurement by measurement.

        What was measured right after each other had the same machine; so a machine that
        others use as well disturbs a ratio less than it disturbs the numbers.
        """
        pairs = zip(self.values, other.values, strict=True)
        return Samples(tuple(mine / theirs for mine, theirs in pairs))

    def text(self, digits: int = 2, unit: str = "") -> str:
        """``0.95 (0.93 to 0.99) s``: median, least and largest."""
        middle = f"{self.median:.{digits}f}"
        low, high = (f"{pick(self.values):.{digits}f}" for pick in (min, max))
        spread = f" ({low} to {high})" if low != high else ""
        return f"{middle}{spread}{unit and f' {unit}'}"


def in_turn(
    actions: Mapping[str, Callable[[], object]], *, rounds: int, warmup: int = 2
) -> dict[str, Samples]:
    """Seconds that each action takes: A B C, C B A, A B C, ... after ``warmup`` of each."""
    for _ in range(warmup):
        for action in actions.values():
            action()
    seconds: dict[str, list[float]] = {name: [] for name in actions}
    for i in range(rounds):
        names = list(actions)[:: 1 if i % 2 == 0 else -1]
        for name in names:
            start = time.perf_counter()
            actions[name]()
            seconds[name].append(time.perf_counter() - start)
    return {name: Samples(tuple(taken)) for name, taken in seconds.items()}
