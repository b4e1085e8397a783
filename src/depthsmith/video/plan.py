"""Which film becomes which file or folder: decided, and refused, before any work starts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from depthsmith.errors import UsageError
from depthsmith.media.film.marks import is_own_film
from depthsmith.media.folder import find_films
from depthsmith.plan import (
    check_folder_of,
    counted,
    file_or_folder,
    one_for_many,
    refuse_collisions,
    targets_of,
)

Format = Literal["mp4", "mov", "mkv", "png16", "exr", "npz"]

FILM_FORMATS: dict[str, Format] = {".mp4": "mp4", ".m4v": "mp4", ".mov": "mov", ".mkv": "mkv"}
"""By the suffix of ``-o``."""

SEQUENCES = ("png16", "exr", "npz")
"""Formats that are a folder of files."""


@dataclass(frozen=True)
class FilmJob:
    """One film and what it becomes: a file or folder, or a file for each eye."""

    film: Path
    targets: tuple[Path, ...]

    @property
    def target(self) -> Path:
        """The first of them, by which the work is known."""
        return self.targets[0]


@dataclass(frozen=True)
class FilmPlan:
    """What is to be done.

    Attributes:
        jobs: in the order of the arguments, folders sorted by name.
        format: of every target.
        folder: that the targets go into; None where it is there already.
        notes: what was left out and why, one clause each.
    """

    jobs: tuple[FilmJob, ...]
    format: Format
    folder: Path | None = None
    notes: tuple[str, ...] = ()


def plan_films(
    inputs: Sequence[Path],
    *,
    output: str | Path | None,
    format: Format | None,
    default: Format,
    ending: str,
    eyes: Sequence[str] = ("",),
    suffix: str | None = None,
    recursive: bool = False,
    skip_existing: bool = False,
    is_own: Callable[[Path], bool] = is_own_film,
) -> FilmPlan:
    """Decide where what becomes of each film goes.

    Without ``output`` it goes beside the film, as the film's name and ``ending``; with a
    folder, into that. A sequence of one film named without suffix is that folder itself.

    Args:
        inputs: films and folders of films.
        output: a file or a folder. What has no suffix, or ends with a slash, is a folder.
        format: None for that of ``output``'s suffix, else ``default``.
        ending: of names, before the suffix: ``_depth``.
        eyes: more of the ending, of each of several files: ``_left``, ``_right``. Also where
            ``output`` is a file.
        suffix: instead of what ``format`` says; ``output`` may then have any, for a preview.
        recursive, skip_existing: as in `depthsmith.plan.plan`.
        is_own: tells what depthsmith wrote; left out where it lies in a folder of films.

    Raises:
        FilmError: if an input does not exist or a folder holds no film.
        UsageError: if ``output`` and ``format`` contradict each other, one file is named for
            several films, two films would become the same file, or a target is an input.
        OutputError: if the folder of the named file does not exist.
    """
    folders = [path for path in inputs if path.is_dir()]
    films = find_films(inputs, recursive)
    named = {path for path in inputs if not path.is_dir()}
    own = {path for path in films if path not in named and is_own(path)}
    films = [path for path in films if path not in own]
    notes = [f"left out {counted(own, 'film')} made by depthsmith itself"] if own else []

    file, folder = file_or_folder(output)
    chosen = default if suffix else _format(file, format, default)
    if folder and chosen in SEQUENCES and len(films) == 1 and not folders:
        file, folder = folder, None  # the sequence's own folder
    if file and (len(films) > 1 or folders):
        raise one_for_many(file, counted(films, "film"))
    if file:
        check_folder_of(file)
    if suffix is None:
        suffix = "" if chosen in SEQUENCES else f".{chosen}"
    jobs = []
    targets = [file] if file else targets_of(films, folder, folders, f"{ending}{suffix}")
    for film, target in zip(films, targets, strict=True):
        names = (f"{target.stem}{eye}{target.suffix}" if eye else target.name for eye in eyes)
        jobs.append(FilmJob(film, tuple(target.with_name(name) for name in names)))
    refuse_collisions([(job.film, target) for job in jobs for target in job.targets])
    if skip_existing:
        there = [job for job in jobs if all(target.exists() for target in job.targets)]
        if there:
            notes.append(f"skipped {counted(there, 'film')}, done already")
        jobs = [job for job in jobs if job not in there]
    return FilmPlan(tuple(jobs), chosen, folder, tuple(notes))


def _format(file: Path | None, format: Format | None, default: Format) -> Format:
    if format not in (None, *get_args(Format)):
        raise UsageError(f"films are written as {', '.join(get_args(Format))}, not {format!r}")
    if file is None or not file.suffix:
        return format or default
    of_suffix = FILM_FORMATS.get(file.suffix.lower())
    if of_suffix is None:
        raise UsageError(
            f"a film cannot be written as {file}; use {', '.join(FILM_FORMATS)}, "
            "or --format png16, exr or npz and a folder"
        )
    if format and format != of_suffix:
        raise UsageError(f"-o {file} contradicts --format {format}; leave one out")
    return of_suffix
