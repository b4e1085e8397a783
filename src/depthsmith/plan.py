"""Which file becomes which: decided, and refused, before any work starts."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence, Sized
from dataclasses import dataclass
from pathlib import Path

from depthsmith.atomic import writing
from depthsmith.errors import OutputError, UsageError
from depthsmith.media.depth_file import SUFFIXES, DepthFormat, format_of, is_own_output
from depthsmith.media.folder import find_photos

PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")
"""Of colour pictures, in the place of depth files."""


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
        format: of every target; None for colour pictures, whose suffix tells.
        folder: that the targets go into; None where it is there already.
        notes: what was left out and why, one clause each.
    """

    jobs: tuple[Job, ...]
    format: DepthFormat | None
    folder: Path | None = None
    notes: tuple[str, ...] = ()


def plan(
    inputs: Sequence[Path],
    *,
    output: str | Path | None = None,
    format: str | None = None,
    picture: bool = False,
    recursive: bool = False,
    skip_existing: bool = False,
) -> Plan:
    """Decide where the depth map of each photo goes.

    Without ``output`` it goes beside the photo, as ``NAME_depth.png`` (colour pictures
    ``NAME_depth_color.png``; see `targets_of`); with a folder, into that, under the same name
    and, for photos found in a folder, the same folders below; with a file name, there. What
    depthsmith itself wrote into a folder of photos is left out.

    Args:
        inputs: photos and folders of photos.
        output: a file or a folder. What has no suffix, or ends with a slash, is a folder.
        format: a depth format; by default that of ``output``'s suffix, else ``png16``.
        picture: make colour pictures, not depth files.
        recursive: look into the folders of folders.
        skip_existing: leave out photos whose target exists.

    Raises:
        ImageError: if an input does not exist or a folder holds no photo.
        UsageError: if ``output`` and ``format`` contradict each other, one file is named for
            several photos, two photos would become the same file, or a target is an input.
        OutputError: if the folder of the named file does not exist.
    """
    folders = [path for path in inputs if path.is_dir()]
    photos = find_photos(inputs, recursive)
    named = {path for path in inputs if not path.is_dir()}
    own = [path for path in photos if path not in named and is_own_output(path)]
    photos = [path for path in photos if path not in set(own)]
    notes = [f"left out {counted(own, 'picture')} made by depthsmith itself"] if own else []

    file, folder = file_or_folder(output)
    if file and (len(photos) > 1 or folders):
        raise one_for_many(file, counted(photos, "picture"))
    suffix, chosen = _picture(file, format) if picture else _format(file, format)
    if file:
        check_folder_of(file)
    ending = f"_depth_color{suffix}" if picture else f"_depth{suffix}"
    targets = [file] if file else targets_of(photos, folder, folders, ending)
    jobs = [Job(photo, target) for photo, target in zip(photos, targets, strict=True)]
    refuse_collisions([(job.photo, job.target) for job in jobs])
    if skip_existing:
        there = [job.photo for job in jobs if job.target.exists()]
        if there:
            notes.append(f"skipped {counted(there, 'picture')}, done already")
        jobs = [job for job in jobs if not job.target.exists()]
    return Plan(tuple(jobs), chosen, folder, tuple(notes))


def file_or_folder(output: str | Path | None) -> tuple[Path | None, Path | None]:
    """What ``-o`` names: what has no suffix, or ends with a slash, is a folder."""
    if output is None:
        return None, None
    path = Path(output)
    with writing(path):  # raises for a name that is too long
        is_folder = str(output).endswith(("/", os.sep)) or path.is_dir() or not path.suffix
    return (None, path) if is_folder else (path, None)


def _format(file: Path | None, format: str | None) -> tuple[str, DepthFormat]:
    if file is None:
        suffix = SUFFIXES.get(format, ".png") if format else ".png"  # type: ignore[call-overload]
        return suffix, format_of(Path(f"depth{suffix}"), format)
    return file.suffix, format_of(file, format)


def _picture(file: Path | None, format: str | None) -> tuple[str, None]:
    if format not in (None, "png8"):
        raise UsageError(f"--format {format} is for depth; a colour picture is 8-bit")
    suffix = file.suffix if file else PICTURE_SUFFIXES[0]
    if suffix.lower() not in PICTURE_SUFFIXES:
        raise UsageError(
            f"a colour picture cannot be written as {file}; use {', '.join(PICTURE_SUFFIXES)}"
        )
    return suffix, None


def one_for_many(file: Path, inputs: str) -> UsageError:
    """The error of one file for several inputs."""
    return UsageError(f"-o {file} names one file for {inputs}; name a folder: -o {file.stem}/")


def check_folder_of(file: Path) -> None:
    """Raise an `OutputError` if the folder that ``file`` is to be written in is not there, or if
    it is a pipe or a device, which a file would replace.
    """
    if file.exists() and not (file.is_file() or file.is_dir()):
        raise OutputError(f"cannot write {file}: it is no regular file")
    if not file.parent.is_dir():
        why = "is not a folder" if file.parent.exists() else "does not exist"
        raise OutputError(f"cannot write {file}: {file.parent} {why}")


def counted(items: Sized, what: str) -> str:
    """``1 film`` or ``3 films``."""
    return f"{len(items)} {what}" if len(items) == 1 else f"{len(items)} {what}s"


def targets_of(
    sources: Sequence[Path], output: Path | None, folders: Sequence[Path], ending: str
) -> list[Path]:
    """Where what becomes of each source goes: beside it, or into ``output`` as it lies in
    ``folders``.

    Under the source's name without its suffix, and ``ending``; with its suffix where two would
    have the same name (``a.jpg`` and ``a.png``).
    """
    short = [_target(source, source.stem, output, folders, ending) for source in sources]
    times = Counter(_key(target) for target in short)
    return [
        _target(source, source.name, output, folders, ending)
        if times[_key(target)] > 1
        else target
        for source, target in zip(sources, short, strict=True)
    ]


def _target(
    source: Path, stem: str, output: Path | None, folders: Sequence[Path], ending: str
) -> Path:
    name = f"{stem}{ending}"
    if output is None:
        return source.with_name(name)
    for folder in folders:
        if source.is_relative_to(folder):
            return output / source.relative_to(folder).with_name(name)
    return output / name


def refuse_collisions(jobs: Sequence[tuple[Path, Path]]) -> None:
    """Two sources for one target, or a target that is itself an input.

    Names are compared without case: on most systems of users they are the same file.

    Args:
        jobs: sources and their targets.

    Raises:
        UsageError: for the first of them.
    """
    by_target: dict[str, Path] = {}
    sources = {_key(source) for source, _ in jobs}
    for source, target in jobs:
        key = _key(target)
        if key in sources:
            raise UsageError(f"{target} is an input and would be overwritten; use another -o")
        if key in by_target:
            raise UsageError(
                f"{by_target[key]} and {source} would both become {target}; "
                "run them one after the other, each with its own -o"
            )
        by_target[key] = source


def _key(path: Path) -> str:
    return os.path.realpath(path).casefold()
