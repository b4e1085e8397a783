"""Does the jobs of a plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from depthsmith.atomic import writing
from depthsmith.media.image_file import DEFAULT_MAX_PIXELS
from depthsmith.media.mpo_file import write_mpo
from depthsmith.media.photo import read_photo
from depthsmith.media.rgb_file import write_rgbs
from depthsmith.media.wiggle_file import write_wiggle
from depthsmith.pipeline import RAW, Wanted
from depthsmith.stereo_files.depth import Depth, Found, smaller
from depthsmith.stereo_files.plan import StereoJob, StereoPlan
from depthsmith.stereo_files.views import WIGGLE_SIDE, Look, Views, shrunk, views_of
from depthsmith.types import DepthKind, Photo, StereoPair

Observe = Callable[[Photo, Found, Look, float | None], None]
"""Is shown each photo with its depth, the look and the focal length."""


def _look_away(photo: Photo, found: Found, look: Look, focal_px: float | None) -> None:
    pass


@dataclass(frozen=True)
class Maker:
    """Does the jobs of a plan.

    Attributes:
        plan: see `plan_stereo`.
        depth: gives the photos their depth.
        look: what is made; its format is that of the plan.
        wanted: what is known of the camera.
        longest: photos are shrunk to so many pixels first; None leaves them.
        max_pixels, allow_truncated: see `depthsmith.media.photo.read_photo`.
        observe: is shown each photo.
    """

    plan: StereoPlan
    depth: Depth
    look: Look
    wanted: Wanted = RAW
    longest: int | None = None
    max_pixels: int | None = DEFAULT_MAX_PIXELS
    allow_truncated: bool = False
    observe: Observe = _look_away

    def make(self, job: StereoJob) -> tuple[str, ...]:
        """Do one ``job``; returns what a user may want to know, one clause each.

        Raises:
            ImageError: if the photo or its depth cannot be read.
            UsageError: if the options do not go together with this photo.
            ModelError, InputError: if the network fails, or there is no depth.
            OutputError: if a file cannot be written.
        """
        look = replace(self.look, format=self.plan.format)
        photo = read_photo(
            job.photo, max_pixels=self.max_pixels, allow_truncated=self.allow_truncated
        )
        found = self.depth.of(photo, self.wanted.focal_of(photo))
        notes = self._idle(found, look)
        longest = self.longest
        if look.format == "wiggle" and longest is None and job.targets[0].suffix.lower() != ".mp4":
            longest = WIGGLE_SIDE
        photo, found, focal_px = _smaller(photo, found, self.wanted.focal_of(photo), longest)
        views = views_of(photo, found, look, focal_px)
        if self.plan.folder is not None:
            with writing(job.targets[0]):
                job.targets[0].parent.mkdir(parents=True, exist_ok=True)
        _write(job, look, views)
        self.observe(photo, found, look, focal_px)
        # A network's depth repeats the notes of its photo.
        return tuple(dict.fromkeys((*photo.notes, *found.depth.notes, *views.notes, *notes)))

    def _idle(self, found: Found, look: Look) -> tuple[str, ...]:
        """Of several depth files, some may be in metres."""
        given = self.wanted.focal_px is not None or self.wanted.fov_deg is not None
        fills = look.sphere and look.flat_fov_deg is None
        if not given or fills or found.depth.kind is DepthKind.DEPTH_M:
            return ()
        return ("its depth is not in metres, so the focal length changes nothing",)


def _smaller(
    photo: Photo, found: Found, focal_px: float | None, longest: int | None
) -> tuple[Photo, Found, float | None]:
    """The photo with all that belongs to it, shrunk."""
    if longest is None or max(photo.size) <= longest:
        return photo, found, focal_px
    small = shrunk(photo, longest)
    scale = small.size.width / photo.size.width
    depth = found.depth
    factor = None if found.factor is None else max(1.0, found.factor * scale)
    if depth.size.height > small.size.height or depth.size.width > small.size.width:
        depth = smaller(depth, small.size)
    return small, Found(depth, factor), None if focal_px is None else focal_px * scale


def _write(job: StereoJob, look: Look, views: Views) -> None:
    if look.format == "mpo":
        write_mpo(job.targets[0], StereoPair(*views.pictures))
    elif look.format == "wiggle":
        write_wiggle(job.targets[0], views.pictures)
    else:
        write_rgbs(job.targets, views.pictures)
