"""Photo files in, depth files out: what the command ``depth`` does with each."""

from __future__ import annotations

from dataclasses import dataclass, replace

from depthsmith.atomic import writing
from depthsmith.depth.colormap import colorize, side_by_side
from depthsmith.errors import UsageError
from depthsmith.media.depth_file import write_depth
from depthsmith.media.image_file import DEFAULT_MAX_PIXELS
from depthsmith.media.photo import read_photo
from depthsmith.media.rgb_file import write_rgb
from depthsmith.pipeline import Predictor, Wanted
from depthsmith.plan import Job, Plan

# Formats of whole numbers show; the others keep the numbers of the network.
_SHOWING = ("png16", "png8", None)


@dataclass(frozen=True)
class Look:
    """How a depth map is shown.

    Attributes:
        colormap: makes a colour picture; see `depthsmith.depth.colormap`.
        side_by_side: the photo beside it, also a picture; gray without ``colormap``.
    """

    colormap: str | None = None
    side_by_side: bool = False

    @property
    def picture(self) -> bool:
        """Whether the result is a colour picture and no depth file."""
        return self.colormap is not None or self.side_by_side


@dataclass(frozen=True)
class Reading:
    """How photos are read; see `depthsmith.media.photo.read_photo`."""

    max_pixels: int | None = DEFAULT_MAX_PIXELS
    allow_truncated: bool = False


def default_meaning(wanted: Wanted, given: bool, plan: Plan, look: Look) -> Wanted:
    """``wanted`` with the meaning that suits the files of ``plan``, unless one was ``given``.

    Near for PNG and pictures, the network's own for the formats of floating-point numbers.

    Raises:
        UsageError: if a picture is to show something else than near.
    """
    if not given:
        wanted = replace(wanted, as_="near" if plan.format in _SHOWING else "raw")
    if look.picture and wanted.as_ != "near":
        raise UsageError(f"a colour picture shows near; --as {wanted.as_} goes with depth files")
    return wanted


@dataclass(frozen=True)
class Maker:
    """Does the jobs of a plan.

    Raises:
        UsageError: if what is wanted cannot be had from this network.
    """

    plan: Plan
    predictor: Predictor
    wanted: Wanted
    look: Look = Look()
    reading: Reading = Reading()

    def __post_init__(self) -> None:
        self.predictor.check(self.wanted)

    def make(self, job: Job) -> tuple[str, ...]:
        """Do one ``job``; returns what a user may want to know, one clause each.

        Memory: at most 60 bytes per pixel of the photo (2 GB for 8192x4096), beside what the
        network itself takes.

        Raises:
            ImageError: if the photo cannot be read.
            UsageError: if metres need a focal length that neither option nor photo gives.
            ModelError, InputError: if the network fails.
            OutputError: if the file cannot be written.
        """
        photo = read_photo(
            job.photo,
            max_pixels=self.reading.max_pixels,
            allow_truncated=self.reading.allow_truncated,
        )
        depth = self.predictor.predict_photo(photo).as_wanted(self.wanted)
        if self.plan.folder is not None:
            with writing(job.target):
                job.target.parent.mkdir(parents=True, exist_ok=True)
        if not self.look.picture:
            return (*depth.notes, *write_depth(job.target, depth, self.plan.format))
        rgb = colorize(depth, self.look.colormap or "gray")
        if self.look.side_by_side:
            rgb = side_by_side(photo.rgb, rgb)
        write_rgb(job.target, rgb)
        return depth.notes
