"""One photo after the other: what fails is reported at the end and does not stop the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from depthsmith.cli import console
from depthsmith.cli.failures import Failures


@dataclass(frozen=True)
class Done:
    """What became of a photo: files, and notes for the user."""

    files: tuple[Path, ...]
    notes: tuple[str, ...] = ()


def run_photos(photos: Sequence[Path], make: Callable[[int], Done]) -> int:
    """Every photo; prints what was written.

    Args:
        photos: that are worked on.
        make: does the one of that number.

    Returns:
        The exit code of the first that failed, or 0.

    Raises:
        DepthsmithError: if a photo failed that is the only one, or in a way in which all would.
    """
    with (
        Failures("photos", len(photos)) as failures,
        console.progress(photos[0].name, len(photos)) as advance,
    ):
        for number, next_photo in enumerate([*photos[1:], None]):
            with failures.one(str(photos[number])):
                done = make(number)
                for text in done.notes:
                    console.note(f"{photos[number]}: {text}")
                for file in done.files:
                    console.say(str(file))
            advance(next_photo.name if next_photo else "")
    return failures.status()
