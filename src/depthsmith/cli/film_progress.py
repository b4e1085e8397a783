"""How far a film is: a bar for people, lines of JSON for programs, both on standard error."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from depthsmith.cli import console
from depthsmith.cli.options import ProgressChoice

if TYPE_CHECKING:
    from depthsmith.depth.temporal.flicker import FlickerReport

_JSON_PERIOD_S = 0.5
_PLAIN_PERIOD_S = 30.0


class Told(Protocol):
    """Is told how many frames are written, of how many."""

    def __call__(self, done: int, total: int | None) -> None: ...


class Speed:
    """Frames per second, and the seconds left."""

    def __init__(self) -> None:
        self._first: tuple[float, int] | None = None

    def update(self, done: int, total: int | None) -> tuple[float, float | None]:
        now = time.monotonic()
        if self._first is None:
            self._first = (now, done)
            return 0.0, None
        since, before = self._first
        fps = (done - before) / max(now - since, 1e-9)
        left = max(0.0, total - done) / fps if total is not None and fps > 0 else None
        return fps, left


class Reporter:
    """Speaks of films while they are made, in one of the ways.

    Args:
        way: ``json``: a line for each event; ``auto``: a bar on a terminal, else a line twice
            a minute; ``none``.
    """

    def __init__(self, way: ProgressChoice) -> None:
        self.way = way
        console.speak_to_programs(way == "json")

    def note(self, text: str, film: Path | None = None) -> None:
        if self.way == "json":
            self.event("note", text=text, **({"film": str(film)} if film else {}))
        else:
            console.note(f"{film}: {text}" if film else text)

    def event(self, event: str, **values: object) -> None:
        """A line of JSON, if that is the way."""
        if self.way == "json":
            console.event(event, **values)

    def flicker(self, found: FlickerReport, film: Path) -> None:
        """How steady a film has become."""
        if self.way == "json":
            self.event("flicker", film=str(film), **flicker_values(found))
        else:
            for line in flicker_text(found).splitlines():
                console.remark(line)

    @contextlib.contextmanager
    def film(self, path: Path) -> Iterator[Told]:
        """While one film is made."""
        if self.way == "json":
            self.event("start", film=str(path))
            yield self._json(path)
        elif self.way == "none":
            yield lambda done, total: None
        elif sys.stderr.isatty():
            with _bar(path.name) as told:
                yield told
        else:
            yield _plain(path)

    def _json(self, path: Path) -> Told:
        speed, last = Speed(), [-_JSON_PERIOD_S]

        def told(done: int, total: int | None) -> None:
            fps, left = speed.update(done, total)
            now = time.monotonic()
            if now - last[0] >= _JSON_PERIOD_S:
                last[0] = now
                self.event(
                    "progress", film=str(path), frames=done, total=total, fps=round(fps, 2),
                    seconds_left=None if left is None else round(left, 1),
                )  # fmt: skip

        return told


def _plain(path: Path) -> Told:
    """Without a terminal: a line now and then, so that a log shows life."""
    speed, last = Speed(), [time.monotonic()]

    def told(done: int, total: int | None) -> None:
        fps, left = speed.update(done, total)
        now = time.monotonic()
        if now - last[0] >= _PLAIN_PERIOD_S:
            last[0] = now
            of = f" of {total}" if total else ""
            rest = f", {clock(left)} left" if left is not None else ""
            console.remark(f"{path.name}: frame {done}{of}, {fps:.2f} fps{rest}")

    return told


@contextlib.contextmanager
def _bar(name: str) -> Iterator[Told]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[speed]}", markup=False),
    )
    to_terminal = sys.stdout.isatty()
    console_ = Console(stderr=True)
    with Progress(*columns, console=console_, transient=True, redirect_stdout=to_terminal) as bar:
        task = bar.add_task(console.plain(name), total=None, speed="")
        speed = Speed()

        def told(done: int, total: int | None) -> None:
            fps, left = speed.update(done, total)
            rest = f", {clock(left)} left" if left is not None else ""
            bar.update(task, completed=done, total=total, speed=f"{fps:.2f} fps{rest}")

        yield told


def flicker_values(found: FlickerReport) -> dict[str, object]:
    """For JSON."""
    from dataclasses import asdict

    values = asdict(found)
    if _nothing_to_compare(found):
        values |= {"error": None, "pumping": None}
    nothing = {"error": None, "pumping": None, "worst": None}
    return values | {"shots": [asdict(s) | (nothing if s.frames < 2 else {}) for s in found.shots]}


def flicker_text(found: FlickerReport) -> str:
    """For people: a line for the film, and one for each shot if there are several."""
    if _nothing_to_compare(found):
        what = "1 frame" if found.frames == 1 else f"{found.frames} frames, each a shot of its own"
        return f"{what}: there is no next frame to compare it with"
    along = "along its motion" if found.compensated else "from frame to frame, motion included"
    lines = [
        f"{found.frames} frames: depth changes by {100 * found.error:.3f} % of its range {along}; "
        f"{100 * found.pumping:.3f} % is the whole map pumping"
    ]
    if len(found.shots) > 1:
        rows = [
            (str(shot.start), str(shot.frames), "-", "-", "-")
            if shot.frames < 2
            else (
                str(shot.start), str(shot.frames), f"{100 * shot.error:.3f} %",
                f"{100 * shot.pumping:.3f} %", f"{100 * shot.worst[0]:.3f} % at {shot.worst[1]}",
            )
            for shot in found.shots
        ]  # fmt: skip
        head = ("shot from frame", "frames", "error", "pumping", "worst")
        lines.append(console.table(head, rows))
    return "\n".join(lines)


def _nothing_to_compare(found: FlickerReport) -> bool:
    return all(shot.frames < 2 for shot in found.shots)


def clock(seconds: float) -> str:
    """``1:02:03`` or ``2:03``."""
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    tail = f"{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes}:{whole % 60:02d}"
    return f"{hours}:{tail}" if hours else tail
