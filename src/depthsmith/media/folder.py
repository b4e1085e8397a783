"""Find the photos in folders."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from depthsmith.errors import ImageError

# fmt: off
PHOTO_SUFFIXES = frozenset({
    ".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".apng", ".webp", ".tif", ".tiff", ".bmp", ".dib",
    ".gif", ".heic", ".heif", ".hif", ".avif", ".jp2", ".j2k", ".ppm", ".pgm", ".pbm", ".pnm",
    ".tga", ".mpo", ".qoi",
})
# fmt: on


def find_photos(paths: Iterable[Path], recursive: bool = False) -> list[Path]:
    """The photos that ``paths`` name: files as given, folders by what they hold.

    Files keep their order and need no known suffix. Of a folder come the files with a suffix
    in `PHOTO_SUFFIXES`, sorted by name, hidden ones left out; with ``recursive`` also those of
    its folders (links to folders are not followed, hidden folders are left out). Each file
    comes once.

    Raises:
        ImageError: if a path does not exist or a folder holds no photo.
    """
    found: dict[Path, None] = {}
    for path in paths:
        if not path.is_dir():
            if not path.exists():
                raise ImageError(f"{path} does not exist")
            found[path] = None
            continue
        photos = _walk(path) if recursive else _photos_in(path)
        if not photos:
            hint = "" if recursive else "; look into its folders with --recursive"
            raise ImageError(f"{path} holds no photo{hint}")
        found.update(dict.fromkeys(photos))
    return list(found)


def _photos_in(folder: Path) -> list[Path]:
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise ImageError(f"cannot read the folder {folder}: {error.strerror}") from error
    # A broken link is no folder; reading it says what is wrong.
    return [e for e in entries if _is_photo(e.name) and not e.is_dir()]


def _walk(folder: Path) -> list[Path]:
    photos: list[Path] = []
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        photos += [Path(root, name) for name in sorted(names) if _is_photo(name)]
    return photos


def _is_photo(name: str) -> bool:
    return not name.startswith(".") and Path(name).suffix.lower() in PHOTO_SUFFIXES
