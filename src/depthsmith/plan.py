"""Which file becomes which: decided, and refused, before any work starts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from depthsmith.errors import UsageError
from depthsmith.media.folder import find_photos

FORMATS: dict[str, str] = {
    "png16": ".png",
    "png8": ".png",
    "npy": ".npy",
    "npz": ".npz",
    "exr": ".exr",
    "pfm": ".pfm",
    "tiff": ".tiff",
}
"""What ``--format`` takes -> suffix of the file."""

_BY_SUFFIX = {".tif": "tiff"} | {suffix: name for name, suffix in reversed(FORMATS.items())}


@dataclass(frozen=True)
class Job:
    """One photo and the file that it becomes."""

    photo: Path
    target: Path


@dataclass(frozen=True)
class Plan:
    """What is to be done.

    Attributes:
        jobs: in the order of the arguments, folders sorted by name.
        format: of every target.
        notes: what was left out and why, one clause each.
    """

    jobs: tuple[Job, ...]
    format: str
    notes: tuple[str, ...] = ()


def plan(
    inputs: Sequence[Path],
    *,
    output: str | Path | None = None,
    format: str | None = None,
    recursive: bool = False,
    skip_existing: bool = False,
    is_own_output: Callable[[Path], bool] = lambda _: False,
) -> Plan:
    """Decide where the depth map of each photo goes.

    Without ``output`` it goes beside the photo, as ``NAME_depth.png``; with a folder, into
    that, under the same name and, for photos found in a folder, the same folders below; with
    a file name, there.

    Args:
        inputs: photos and folders of photos.
        output: a file or a folder. What has no suffix, or ends with a slash, is a folder.
        format: one of `FORMATS`; by default that of ``output``'s suffix, else ``png16``.
        recursive: look into the folders of folders.
        skip_existing: leave out photos whose target exists.
        is_own_output: whether a file found in a folder is a depth map of ours.

    Raises:
        ImageError: if an input does not exist or a folder holds no photo.
        UsageError: if ``output`` and ``format`` contradict each other, one file is named for
            several photos, two photos would become the same file, or a target is an input.
    """
    folders = [path for path in inputs if path.is_dir()]
    photos = find_photos(inputs, recursive)
    named = {path for path in inputs if not path.is_dir()}
    own = [path for path in photos if path not in named and is_own_output(path)]
    photos = [path for path in photos if path not in set(own)]
    notes = [f"left out {_count(own)} made by depthsmith itself"] if own else []

    file, folder = _file_or_folder(output)
    if file and (len(photos) > 1 or folders):
        raise UsageError(
            f"-o {file} names one file for {_count(photos)}; name a folder: -o {file.stem}/"
        )
    format = _format(file, format)
    suffix = FORMATS[format]
    jobs = [Job(photo, file or _target(photo, folder, folders, suffix)) for photo in photos]
    _refuse_collisions(jobs)
    if skip_existing:
        there = [job.photo for job in jobs if job.target.exists()]
        if there:
            notes.append(f"skipped {_count(there)}, done already")
        jobs = [job for job in jobs if not job.target.exists()]
    return Plan(tuple(jobs), format, tuple(notes))


def _file_or_folder(output: str | Path | None) -> tuple[Path | None, Path | None]:
    if output is None:
        return None, None
    path = Path(output)
    is_folder = str(output).endswith(("/", os.sep)) or path.is_dir() or not path.suffix
    return (None, path) if is_folder else (path, None)


def _format(output: Path | None, format: str | None) -> str:
    if format is not None and format not in FORMATS:
        raise UsageError(f"--format {format} is not one of {', '.join(FORMATS)}")
    if output is None:
        return format or "png16"
    told = _BY_SUFFIX.get(output.suffix.lower())
    if told is None:
        known = ", ".join(dict.fromkeys(FORMATS.values()))
        raise UsageError(f"no depth format is called {output.suffix} ({output}); use {known}")
    if format is not None and FORMATS[format] != FORMATS[told]:
        raise UsageError(f"--format {format} contradicts the name {output}")
    return format or told


def _target(photo: Path, output: Path | None, folders: Iterable[Path], suffix: str) -> Path:
    name = f"{photo.stem}_depth{suffix}"
    if output is None:
        return photo.with_name(name)
    for folder in folders:
        if photo.is_relative_to(folder):
            return output / photo.relative_to(folder).with_name(name)
    return output / name


def _refuse_collisions(jobs: Sequence[Job]) -> None:
    """Two photos for one target, or a target that is itself an input.

    Names are compared without case: on most systems of users they are the same file.
    """
    by_target: dict[str, Path] = {}
    photos = {_key(job.photo): job.photo for job in jobs}
    for job in jobs:
        key = _key(job.target)
        if key in photos:
            raise UsageError(f"{job.target} is an input and would be overwritten; use another -o")
        if key in by_target:
            raise UsageError(
                f"{by_target[key]} and {job.photo} would both become {job.target}; "
                "run them one after the other, each with its own -o"
            )
        by_target[key] = job.photo


def _key(path: Path) -> str:
    return os.path.realpath(path).casefold()


def _count(photos: Sequence[Path]) -> str:
    return "1 picture" if len(photos) == 1 else f"{len(photos)} pictures"
