"""Stereo films that say what they are, in the way of their container.

==========================  ==============================  ===================================
views lie                   MP4, MOV: box ``st3d``          Matroska, WebM: ``StereoMode``
==========================  ==============================  ===================================
side by side                2; right eye first 4            1; right eye first 11
one above the other         1; right eye first nothing      3; right eye first 2
in alternate rows           nothing                         7; right eye first 6
==========================  ==============================  ===================================

A VR180 film has the projection too, equirectangular with a quarter of the sphere cut off on
either side: box ``sv3d``, element ``Projection``. Google, "Spherical Video V2 RFC"; IETF
RFC 9559. Neither knows half formats: there each view is squeezed, which the frame packing of
the coded pictures says (`depthsmith.media.film.frame_packing`). No container knows fisheye
pictures but as a mesh, which hardly any player draws; there the file's name says it.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

from depthsmith.atomic import writing
from depthsmith.errors import FilmError
from depthsmith.film import StereoLayout

TAGGED_SUFFIXES = (".mp4", ".m4v", ".mov", ".mkv", ".webm")
"""Of the containers that can say it."""

SOURCE = b"depthsmith"

_QUARTER = 0x3FFFFFFF
"""Of the sphere's width, as a fraction of 2**32 - 1: what cameras write, and sites accept."""


@dataclass(frozen=True)
class Tags:
    """What is written.

    Attributes:
        st3d: value of that box, or None for no box.
        stereo_mode: value of Matroska's element, or None for no element.
        equirectangular: the payload of box ``equi``, which is also Matroska's
            ``ProjectionPrivate``; None for flat pictures.
        across, down: by how much wider and higher the film is than one view is shown; views
            of a half format are stretched to the whole film, rows of an interlaced one are not.
    """

    st3d: int | None
    stereo_mode: int | None
    equirectangular: bytes | None
    across: int = 1
    down: int = 1


def tags_of(layout: StereoLayout) -> Tags:
    """What the containers can say of ``layout``."""
    right = layout.right_first
    st3d: int | None
    mode: int | None
    if layout.packing in ("sbs", "half-sbs"):
        st3d, mode = (4, 11) if right else (2, 1)
    elif layout.packing in ("tb", "half-tb"):
        st3d, mode = (None, 2) if right else (1, 3)
    elif layout.packing == "interlaced":
        st3d, mode = None, 6 if right else 7
    else:
        st3d = mode = None
    projection = None
    if layout.projection == "vr180":
        projection = struct.pack(">5I", 0, 0, 0, _QUARTER, _QUARTER)
    return Tags(
        st3d,
        mode,
        projection,
        across=2 if layout.packing == "sbs" else 1,
        down=2 if layout.packing in ("tb", "interlaced") else 1,
    )


def tag_file(path: Path, layout: StereoLayout) -> tuple[str, ...]:
    """Write into a finished film how its views lie. In place: nothing but the head changes.

    What was said before is replaced. Films that hold no views are left as they are.

    Args:
        path: of a film in one of the containers of `TAGGED_SUFFIXES`; others are left as they
            are.

    Returns:
        What the container cannot say, one clause each.

    Raises:
        FilmError: if the file is not what its suffix says, or is fragmented, or has no room.
        OutputError: if it cannot be written.
    """
    suffix = path.suffix.lower()
    if layout.packing in ("mono", "other") and layout.projection == "flat":
        return ()
    if suffix not in TAGGED_SUFFIXES:
        return (f"{suffix} files cannot say how the views lie",)
    tags = tags_of(layout)
    matroska = suffix in (".mkv", ".webm")
    said = tags.stereo_mode if matroska else tags.st3d
    notes = []
    if said is None and layout.packing not in ("mono", "other"):
        notes.append(f"{suffix} files cannot say that the views are {layout.packing}")
    if layout.projection == "fisheye180":
        notes.append("no container can say fisheye; the name of the file does")
    if said is None and tags.equirectangular is None:
        return tuple(notes)
    with writing(path), path.open("r+b") as file:
        try:
            if matroska:
                from depthsmith.media.film.matroska_tags import tag_matroska

                tag_matroska(file, tags)
            else:
                from depthsmith.media.film.mp4_tags import tag_mp4

                tag_mp4(file, tags)
        except (struct.error, ValueError, IndexError, OverflowError) as error:
            raise FilmError(f"cannot tag {path}: {error}") from error
    return tuple(notes)
