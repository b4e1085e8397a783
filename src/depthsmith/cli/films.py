"""One film after the other: what fails is reported at the end and does not stop the rest."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from depthsmith.cli import console
from depthsmith.cli.failures import Failures
from depthsmith.cli.film_progress import Reporter, Told, clock

if TYPE_CHECKING:
    from depthsmith.film import Span
    from depthsmith.video.make import Made
    from depthsmith.video.plan import FilmJob

Make = Callable[["FilmJob", Told], "Made | None"]


def run_films(
    jobs: Sequence[FilmJob],
    make: Make,
    reporter: Reporter,
    measured: Sequence[Span] | None = None,
) -> int:
    """Every job; prints what was written.

    Args:
        make: does one; gives nothing for a preview.
        measured: measure how steady the results are, which are of these parts.

    Returns:
        The exit code of the first that failed, or 0.

    Raises:
        DepthsmithError: if a film failed that is the only one, or in a way in which all would.
    """
    with Failures("films", len(jobs)) as failures:
        for job in jobs:
            with failures.one(str(job.film)):
                _make_one(job, make, reporter, measured)
    return failures.status()


def _make_one(
    job: FilmJob, make: Make, reporter: Reporter, measured: Sequence[Span] | None
) -> None:
    begun = time.monotonic()
    with reporter.film(job.film) as told:
        try:
            made = make(job, told)
        except KeyboardInterrupt:
            reporter.note(_stopped(job.target), job.film)
            raise
    if made is None:
        console.say(str(job.target))
        return
    for text in made.notes:
        reporter.note(text, job.film)
    seconds = time.monotonic() - begun
    reporter.note(summary(made, seconds), job.film)
    written = made.written
    reporter.event(
        "done", film=str(job.film), output=str(written.path),
        outputs=[str(path) for path in written.paths], frames=written.frames, shots=made.shots,
        skipped=made.skipped, seconds=round(seconds, 2), resumed_at=made.resumed_at,
        copied=written.copied, converted=written.converted, dropped=written.dropped,
    )  # fmt: skip
    for path in written.paths:
        console.say(str(path))
    if measured is not None:
        from depthsmith.video.flicker import measure

        found = measure(written.path, job.film, spans=measured)
        reporter.flicker(found, job.film)


def _stopped(target: Path) -> str:
    from depthsmith.media.film.work import kept_frames
    from depthsmith.plan import counted

    if kept := kept_frames(target):
        return f"stopped; {counted(range(kept), 'frame')} kept, continue with --resume"
    return "stopped too early for anything to be kept"


def summary(made: Made, seconds: float) -> str:
    """One line about what was made."""
    from depthsmith.plan import counted

    written = made.written
    count = written.frames - made.resumed_at
    text = f"{counted(range(written.frames), 'frame')}, {float(written.duration):.2f} s of film"
    if not count:
        return f"{text}, finished before"
    if made.resumed_at:
        text += f", continued at frame {made.resumed_at}"
    text += f", in {clock(seconds)} ({count / max(seconds, 1e-9):.2f} fps)"
    if made.skipped:
        text += f"; {counted(range(made.skipped), 'damaged frame')} skipped"
    for what in ("copied", "converted", "dropped"):
        if getattr(written, what):
            text += f"; {what} {', '.join(getattr(written, what))}"
    return text
