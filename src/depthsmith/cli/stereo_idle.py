"""Which options of ``depthsmith stereo`` change nothing of what is made."""

from __future__ import annotations

from dataclasses import dataclass

from depthsmith.cli.idle import FOCAL, Idle, because
from depthsmith.stereo import SPHERES
from depthsmith.types import DepthKind
from depthsmith.video.stereo_painter import DEEP_FORMATS

_OF_STEADYING = ("stabilize", "live", "every", "batch")
_OF_NETWORKS = (
    "model", "provider", "fit", "resolution", "kind", "normalization", "family", "allow_license",
    *_OF_STEADYING,
)  # fmt: skip
_OF_WRITING = ("codec", "crf", "preset", "bitrate", "hardware", "no_tracks", "resume", "strict")
_OF_FILMS = ("hdr", *_OF_STEADYING, "start", "duration", "segment", *_OF_WRITING)
_OF_VIEWS = (
    "strength", "max_disparity", "eye_distance_mm", "convergence", "eyes", "swap", "border",
    "fill", "align",
)  # fmt: skip
_OF_SPHERES = ("flat_fov", "vr_side")
_NOT_TO_SCALE = (
    "changes no film but vr180 and fisheye180 without --flat-fov: only photos are true to scale"
)


@dataclass(frozen=True)
class Context:
    """What options can have an effect on.

    Attributes:
        photos, films: whether there are any.
        shown: the format, or what is previewed.
        preview: whether it is a preview.
        stills: of frames, not of seconds.
        depth: whether depth was made before.
        sheet: whether there is a contact sheet.
        flat_fov: whether the field of view in a sphere was given.
    """

    photos: bool
    films: bool
    shown: str
    preview: bool
    stills: bool
    depth: bool
    sheet: bool
    flat_fov: bool

    @property
    def fov_counts(self) -> bool:
        """Whether the size in a sphere follows from the focal length."""
        return self.shown in SPHERES and not self.flat_fov

    def idle(self) -> Idle:
        """What has no effect, as far as it is known before a network is loaded."""
        shown = self.shown
        idle: Idle = {}
        if self.preview and self.films:
            idle |= because("is for whole films, not for previews", ("contact_sheet",))
            if self.stills:
                names = (*_OF_STEADYING, *_OF_WRITING)
                idle |= because("changes no preview of frames (--preview-of 10s)", names)
        else:
            idle |= because("is for previews of films (--preview)", ("preview_of",))
        if shown not in DEEP_FORMATS:
            idle |= because(f"is for formats that can be HDR; {shown} cannot", ("hdr",))
        if shown not in SPHERES:
            idle |= because("is for --format vr180 and fisheye180", _OF_SPHERES)
        if shown == "wiggle":
            idle |= because("changes no wiggle: each eye has its turn", ("swap",))
        if shown == "rgbd" and not self.sheet:
            idle |= because("changes no rgbd picture, which has no two views", _OF_VIEWS)
            idle |= because("changes no rgbd picture, which is not to scale", FOCAL)
        if self.depth:
            idle |= because("is of the network, which --depth replaces", _OF_NETWORKS)
        else:
            idle |= because("says what --depth means, which is missing", ("depth_polarity",))
        if not self.films:
            idle |= because("is for films", _OF_FILMS)
        if not self.photos:
            idle |= because("is for photos; films are what -o ends with", ("file_type",))
            idle |= because("is for photos", ("max_pixels",))
            if not self.fov_counts:
                idle |= because(_NOT_TO_SCALE, FOCAL)
        return idle

    def idle_of_network(self, kind: DepthKind | None) -> Idle:
        """What has no effect on photos whose depth comes from a network of that kind."""
        if kind in (DepthKind.DEPTH_M, DepthKind.CANONICAL) or self.fov_counts:
            return {}
        return because("is for models that give metres, and for vr180 and fisheye180", FOCAL)
