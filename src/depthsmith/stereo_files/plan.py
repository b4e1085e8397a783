"""Which photo becomes which 3D picture: decided, and refused, before any work starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from depthsmith.errors import OutputError, UsageError
from depthsmith.media.depth_file import is_own_output
from depthsmith.media.folder import find_photos
from depthsmith.media.wiggle_file import WIGGLE_SUFFIXES
from depthsmith.plan import (
    PICTURE_SUFFIXES,
    check_folder_of,
    counted,
    file_or_folder,
    one_for_many,
    refuse_collisions,
    targets_of,
)
from depthsmith.stereo.names import ENDINGS, EYE_ENDINGS

FORMATS: tuple[str, ...] = tuple(ENDINGS)

_LOSSLESS = ("interlaced", "rgbd")
"""Whose pictures JPEG would mix up: neighbouring rows, or numbers."""
_PREVIEW = "_preview"


@dataclass(frozen=True)
class StereoJob:
    """One photo and what it becomes: one file, or one for each eye."""

    photo: Path
    targets: tuple[Path, ...]


@dataclass(frozen=True)
class StereoPlan:
    """What is to be done.

    Attributes:
        jobs: in the order of the arguments, folders sorted by name.
        format: one of `FORMATS`.
        folder: that the targets go into; None where it is there already.
        notes: what was left out and why, one clause each.
    """

    jobs: tuple[StereoJob, ...]
    format: str
    folder: Path | None = None
    notes: tuple[str, ...] = ()


def plan_stereo(
    inputs: Sequence[Path],
    *,
    output: str | Path | None = None,
    format: str | None = None,
    file_type: str | None = None,
    preview: bool = False,
    recursive: bool = False,
    skip_existing: bool = False,
) -> StereoPlan:
    """Decide where the 3D picture of each photo goes.

    Without ``output`` it goes beside the photo, under the photo's name and the ending by which
    players know the format; with a folder, into that; with a file name, there (``left-right``:
    NAME_left and NAME_right). What depthsmith itself wrote into a folder of photos is left out.

    Args:
        inputs: photos and folders of photos.
        output: a file or a folder. What has no suffix, or ends with a slash, is a folder.
        format: one of `FORMATS`; None for what the suffix of ``output`` says (``.mpo``; ``.gif``
            and ``.mp4`` are wiggles), else ``sbs``.
        file_type: suffix without dot; None for that of ``output``, else ``jpg``, or what suits
            the format better.
        preview: only of the first photo, with an ending of its own.
        recursive: look into the folders of folders.
        skip_existing: leave out photos whose targets exist.

    Raises:
        ImageError: if an input does not exist or a folder holds no photo.
        UsageError: if ``output``, ``format`` and ``file_type`` contradict each other, one file
            is named for several photos, two photos would become the same file, or a target is
            an input.
        OutputError: if the folder of the named file does not exist.
    """
    folders = [path for path in inputs if path.is_dir()]
    named = {path for path in inputs if not path.is_dir()}
    found = find_photos(inputs, recursive)
    own = {path for path in found if path not in named and is_own_output(path)}
    photos = [path for path in found if path not in own]
    notes = [f"left out {counted(own, 'picture')} made by depthsmith itself"] if own else []
    if preview:
        photos = photos[:1]

    file, folder = file_or_folder(output)
    if file and (len(photos) > 1 or (folders and not preview)):
        raise one_for_many(file, counted(photos, "picture"))
    if file:
        check_folder_of(file)
    chosen = format or format_of(file, file_type)
    suffix = _suffix(chosen, file, file_type)
    ending = _PREVIEW if preview else ENDINGS[chosen]
    jobs = []
    targets = [file] if file else targets_of(photos, folder, folders, f"{ending}{suffix}")
    for photo, target in zip(photos, targets, strict=True):
        eyes = EYE_ENDINGS if chosen == "left-right" else ("",)
        jobs.append(
            StereoJob(photo, tuple(target.with_name(f"{target.stem}{e}{suffix}") for e in eyes))
        )
    refuse_collisions([(job.photo, target) for job in jobs for target in job.targets])
    if skip_existing:
        done = [job for job in jobs if all(target.exists() for target in job.targets)]
        if done:
            notes.append(f"skipped {counted(done, 'picture')}, done already")
        jobs = [job for job in jobs if job not in done]
    return StereoPlan(tuple(jobs), chosen, folder, tuple(notes))


def check_beside(plan: StereoPlan, sheet: Path | None, depth: Path | None) -> None:
    """Refuse a contact sheet or a depth map that is one of the plan's files as well.

    Raises:
        UsageError: if one is, or a contact sheet cannot be of that kind.
        OutputError: if the folder of the contact sheet does not exist.
    """
    if sheet is not None:
        if sheet.suffix.lower() not in PICTURE_SUFFIXES:
            kinds = ", ".join(PICTURE_SUFFIXES)
            raise UsageError(f"a contact sheet cannot be written as {sheet.name!r}; use {kinds}")
        if not sheet.parent.is_dir():
            raise OutputError(f"cannot write {sheet}: the folder {sheet.parent} does not exist")
    jobs = [(job.photo, target) for job in plan.jobs for target in job.targets]
    if sheet is not None:
        jobs.append((Path("the contact sheet"), sheet))
    refuse_collisions(jobs)
    if depth is None or not depth.exists():
        return
    for _, target in jobs:
        if target.exists() and target.samefile(depth):
            raise UsageError(f"{target} is an input and would be overwritten; use another -o")


def suffixes_of(format: str) -> tuple[str, ...]:
    """In which kinds of file a format can be written; the first is the default."""
    if format == "mpo":
        return (".mpo",)
    if format == "wiggle":
        return WIGGLE_SUFFIXES
    lossless = format in _LOSSLESS
    return (".png", ".webp") if lossless else (".jpg", *(PICTURE_SUFFIXES))


def format_of(file: Path | None, file_type: str | None) -> str:
    """What a file's suffix says, or the type of file that is asked for; else ``sbs``."""
    suffix = file.suffix if file else f".{file_type}"
    if suffix.lower() == ".mpo":
        return "mpo"
    return "wiggle" if suffix.lower() in (".gif", ".mp4") else "sbs"


def _suffix(format: str, file: Path | None, file_type: str | None) -> str:
    if format not in FORMATS:
        raise UsageError(f"the format is one of {', '.join(FORMATS)}, not {format!r}")
    known = suffixes_of(format)
    if file and file_type and file.suffix.lower() != f".{file_type}":
        raise UsageError(f"{file} is no {file_type} file; leave out --file-type")
    suffix = file.suffix if file else f".{file_type}" if file_type else known[0]
    if suffix.lower() not in known:
        types = ", ".join(dict.fromkeys(known))
        raise UsageError(f"{format} is written as {types}, not {suffix}")
    return suffix
