"""A look at what a long job will give: a frame, key frames, or ten seconds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from depthsmith.atomic import writing
from depthsmith.errors import FilmError, OutputError, UsageError
from depthsmith.film import FilmFrame, FilmInfo, Span
from depthsmith.media.film.probe import probe
from depthsmith.media.film.read import FilmReader
from depthsmith.media.rgb_file import write_rgb
from depthsmith.media.wiggle_file import write_wiggle
from depthsmith.plan import PICTURE_SUFFIXES, refuse_collisions
from depthsmith.stereo_files import Found, NetworkDepth, StereoSheet
from depthsmith.stereo_files.depth import smaller
from depthsmith.stereo_files.views import Look, shrunk, views_of
from depthsmith.types import ByteArray, DepthKind, DepthMap, Photo, Size
from depthsmith.video.depth_frames import open_depth_film
from depthsmith.video.make import Made, Progress
from depthsmith.video.plan import FilmJob
from depthsmith.video.stereo_films import StereoFilms, find_depth

Part = Literal["frame", "keys", "10s"]
Glasses = Literal["anaglyph", "wiggle"]

KEY_FRAMES = 12
FRAME_PX = 960
"""Longer side of a preview, and of a film's frames in one."""

_TILE_PX = 480
_COLUMNS = 3
_SECONDS = 10.0
_AT = 1 / 3
"""Of a film: what comes first is often a title."""


def default_suffix(part: Part, glasses: Glasses) -> str:
    """Of the preview's file."""
    if part == "10s":
        return ".mp4"
    return ".jpg" if glasses == "anaglyph" else ".gif"


def check_suffix(path: Path, part: Part, glasses: Glasses) -> None:
    """Raise a `UsageError` if a preview cannot be written so."""
    known: tuple[str, ...] = PICTURE_SUFFIXES if glasses == "anaglyph" else (".gif", ".webp")
    known = (".mp4", ".mov", ".mkv") if part == "10s" else known
    if path.suffix.lower() not in known:
        raise UsageError(f"this preview is written as {', '.join(known)}, not {path.suffix}")


@dataclass(frozen=True)
class FilmPreviews:
    """Looks at films.

    Attributes:
        films: what would be made.
        look: the same for photos.
        part: a frame, key frames in one picture, or a film of ten seconds.
        glasses: for red-cyan ones, or to and fro.
    """

    films: StereoFilms
    look: Look
    part: Part = "frame"
    glasses: Glasses = "anaglyph"

    def make(self, job: FilmJob, progress: Progress) -> Made | None:
        """Write the preview of ``job``; what was made of a film of seconds, else None.

        Raises:
            as `StereoFilms.make`.
        """
        check_suffix(job.target, self.part, self.glasses)
        film = probe(job.film)
        spans = part_of(film, self.part, self.films.reading.spans)
        if self.part == "10s":
            small = replace(self.films.look, format=self.glasses, longest=FRAME_PX)
            reading = replace(self.films.reading, spans=spans)
            return replace(self.films, look=small, reading=reading).make(job, progress)
        if self.films.plan.folder is not None:
            with writing(job.target):
                job.target.parent.mkdir(parents=True, exist_ok=True)
        look = replace(self.look, format=self.glasses)
        longest = FRAME_PX if self.part == "frame" else _TILE_PX
        seen: list[tuple[ByteArray, ...]] = []
        for _, photo, found in self.stills(job, film, spans):
            picture = shrunk(photo, longest)
            seen.append(views_of(picture, _within(found, picture.size), look, None).pictures)
            progress(len(seen), len(spans))
        views = [_tiled(pictures) for pictures in zip(*seen, strict=True)]
        if self.glasses == "anaglyph":
            write_rgb(job.target, views[0])
        else:
            write_wiggle(job.target, views)
        return None

    def check_sheet(self, path: Path) -> None:
        """Refuse, before any work, a contact sheet that cannot be written.

        Raises:
            UsageError: if it is one of the other files.
            OutputError: if its folder does not exist.
        """
        if not path.parent.is_dir():
            raise OutputError(f"cannot write {path}: the folder {path.parent} does not exist")
        jobs = [(job.film, target) for job in self.films.plan.jobs for target in job.targets]
        refuse_collisions([*jobs, (Path("the contact sheet"), path)])

    def write_sheet(self, path: Path, frames: int) -> bool:
        """Some frames of each film with their depth and for red-cyan glasses, in one picture.

        Returns:
            Whether there was anything to show.
        """
        sheet = StereoSheet("frame")
        name = str(self.films.depth)
        for job in self.films.plan.jobs:
            film = probe(job.film)
            spans = part_of(film, "keys", self.films.reading.spans)[:: KEY_FRAMES // frames]
            if self.films.depth is None:
                name = self.films.loader.of(film.size).contract.model
            for at_s, photo, found in self.stills(job, film, spans):
                sheet.observe(photo, _within(found, photo.size), self.look, None, at_s)
        return sheet.write(path, name)

    def stills(
        self, job: FilmJob, film: FilmInfo, spans: Sequence[Span]
    ) -> Iterator[tuple[float, Photo, Found]]:
        """The first frame of each part: about when, in seconds; as a photo; its depth. Parts
        without one are left out.

        Raises:
            FilmError: if there is none at all.
        """
        seen = False
        for span in spans:
            frame = _first(film, span)
            if frame is not None:
                seen = True
                yield self._still(job, film, span, frame)
        if seen:
            return
        # The only frames of a very short film may be before all parts.
        whole = self.films.reading.spans[0] if self.films.reading.spans else Span()
        frame = _first(film, whole)
        if frame is None:
            raise FilmError(f"{film.path} has no frame to look at")
        yield self._still(job, film, whole, frame)

    def _still(
        self, job: FilmJob, film: FilmInfo, span: Span, frame: FilmFrame
    ) -> tuple[float, Photo, Found]:
        photo = Photo(frame.rgb, path=job.film)
        return span.start_s, photo, self._depth(job, film, span, photo)

    def _depth(self, job: FilmJob, film: FilmInfo, span: Span, photo: Photo) -> Found:
        films = self.films
        if films.depth is None:
            focal_px = films.working.focal_of(film)
            return NetworkDepth(films.loader.of(film.size)).of(photo, focal_px)
        path = find_depth(films.depth, job.film)
        near = next(open_depth_film(path).frames(spans=[span]))
        near = np.float32(1) - near if films.far_is_bright else near
        return Found(DepthMap(near, DepthKind.NEAR, photo.size))


def _first(film: FilmInfo, span: Span) -> FilmFrame | None:
    """The first frame in a part, if there is any."""
    try:
        return next(iter(FilmReader(film, spans=[span])))
    except FilmError:
        return None


def part_of(film: FilmInfo, part: Part, spans: Sequence[Span]) -> tuple[Span, ...]:
    """What of ``film`` is looked at, inside the first of ``spans`` if there are any."""
    first = spans[0] if spans else Span()
    end = first.end_s if first.end_s is not None else film.duration_s
    if end is None:  # who knows how long it is
        return (Span(first.start_s, first.start_s + _SECONDS),)
    length = end - first.start_s
    if part == "keys":
        step = length / KEY_FRAMES
        starts = (first.start_s + (n + 0.5) * step for n in range(KEY_FRAMES))
        return tuple(Span(start, start + step) for start in starts)
    at = first.start_s + _AT * length
    if part == "frame":
        return (Span(at, end),)
    start = max(first.start_s, min(at, end - _SECONDS))
    return (Span(start, min(end, start + _SECONDS)),)


def _within(found: Found, size: Size) -> Found:
    """Depth that is not larger than the picture."""
    depth = found.depth
    if depth.size.height <= size.height and depth.size.width <= size.width:
        return found
    return replace(found, depth=smaller(depth, size))


def _tiled(pictures: Sequence[ByteArray]) -> ByteArray:
    """Pictures of one size in rows; one alone stays as it is."""
    columns = min(_COLUMNS, len(pictures))
    blank = np.zeros_like(pictures[0])
    full = [*pictures, *[blank] * (-len(pictures) % columns)]
    rows = (np.concatenate(full[n : n + columns], axis=1) for n in range(0, len(full), columns))
    return np.concatenate(list(rows), axis=0)
