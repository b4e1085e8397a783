"""One photo after the other: what fails is reported at the end and does not stop the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from depthsmith.cli import console


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
    from depthsmith.errors import DepthsmithError, InputError, ModelError, UsageError

    failures: list[DepthsmithError] = []
    try:
        with console.progress(photos[0].name, len(photos)) as advance:
            for number, next_photo in enumerate([*photos[1:], None]):
                try:
                    done = make(number)
                except ModelError:
                    raise  # every photo would fail in the same way
                except (InputError, UsageError) as error:
                    if len(photos) == 1:
                        raise
                    failures.append(error)
                else:
                    for text in done.notes:
                        console.note(f"{photos[number]}: {text}")
                    for file in done.files:
                        console.say(str(file))
                advance(next_photo.name if next_photo else "")
    finally:  # also when the rest is given up
        for failure in failures:
            console.error(str(failure))
    if not failures:
        return 0
    console.error(f"{len(failures)} of {len(photos)} photos failed")
    return failures[0].exit_code
