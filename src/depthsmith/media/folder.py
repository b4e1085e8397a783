"""Find the photos and films in folders."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from depthsmith.errors import FilmError, ImageError, InputError

# fmt: off
PHOTO_SUFFIXES = frozenset({
    ".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".apng", ".webp", ".tif", ".tiff", ".bmp", ".dib",
    ".gif", ".heic", ".heif", ".hif", ".avif", ".jp2", ".j2k", ".ppm", ".pgm", ".pbm", ".pnm",
    ".tga", ".mpo", ".qoi",
})
FILM_SUFFIXES = frozenset({
    ".mp4", ".m4v", ".mov", ".qt", ".mkv", ".webm", ".avi", ".divx", ".ts", ".mts", ".m2ts",
    ".mpg", ".mpeg", ".m2v", ".vob", ".wmv", ".asf", ".flv", ".f4v", ".3gp", ".3g2", ".ogv",
    ".mxf", ".y4m", ".dv", ".nut", ".hevc", ".h264", ".ivf",
})
# fmt: on


def is_film(path: Path) -> bool:
    """Whether a file holds a film: by its content, whatever it is called.

    Animated GIF and PNG files are films. Of what cannot be read the suffix tells what it was
    meant to be.
    """
    from depthsmith.media.film.open_file import holds_film
    from depthsmith.media.image_file import is_animation

    if path.is_file():  # opening a pipe would wait for its writer
        moving = is_animation(path)
        if moving is not None:
            return moving
        if holds_film(path):
            return True
    return path.suffix.lower() in FILM_SUFFIXES


def split_by_kind(paths: Iterable[Path], recursive: bool = False) -> tuple[list[Path], list[Path]]:
    """Which of ``paths`` are, or hold, photos, and which films; a folder may be both.

    Files go by their content, those of folders by their suffix. What is neither is among the
    photos, where its reading says what is wrong.
    """
    photos: list[Path] = []
    films: list[Path] = []
    for path in paths:
        if not path.is_dir():
            (films if is_film(path) else photos).append(path)
            continue
        files = _walk(path) if recursive else _files_in(path, ImageError)
        has_films = any(_is_one(file, FILM_SUFFIXES) for file in files)
        if has_films:
            films.append(path)
        if not has_films or any(_is_one(file, PHOTO_SUFFIXES) for file in files):
            photos.append(path)
    return photos, films


def find_photos(paths: Iterable[Path], recursive: bool = False) -> list[Path]:
    """The photos that ``paths`` name: files as given, folders by what they hold.

    Files keep their order and need no known suffix. Of a folder come the files with a suffix
    in `PHOTO_SUFFIXES`, sorted by name, hidden ones left out; with ``recursive`` also those of
    its folders (links to folders are not followed, hidden folders are left out). Each file
    comes once.

    Raises:
        ImageError: if a path does not exist or a folder holds no photo.
    """
    return _find(paths, PHOTO_SUFFIXES, "photo", recursive, ImageError)


def find_films(paths: Iterable[Path], recursive: bool = False) -> list[Path]:
    """The films that ``paths`` name, as `find_photos` finds photos, by `FILM_SUFFIXES`.

    Raises:
        FilmError: if a path does not exist or a folder holds no film.
    """
    return _find(paths, FILM_SUFFIXES, "film", recursive, FilmError)


def _find(
    paths: Iterable[Path],
    suffixes: frozenset[str],
    what: str,
    recursive: bool,
    error: type[InputError],
) -> list[Path]:
    found: dict[Path, None] = {}
    for path in paths:
        if not path.is_dir():
            if not path.exists():
                raise error(f"{path} does not exist")
            found[path] = None
            continue
        names = _walk(path) if recursive else _files_in(path, error)
        chosen = [p for p in names if _is_one(p, suffixes)]
        if not chosen:
            hint = "" if recursive else "; look into its folders with --recursive"
            raise error(f"{path} holds no {what}{hint}")
        found.update(dict.fromkeys(chosen))
    return list(found)


def _files_in(folder: Path, error_type: type[InputError]) -> list[Path]:
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise error_type(f"cannot read the folder {folder}: {error.strerror}") from error
    # A broken link is no folder; reading it says what is wrong.
    return [entry for entry in entries if not entry.is_dir()]


def _walk(folder: Path) -> list[Path]:
    files: list[Path] = []
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        files += [Path(root, name) for name in sorted(names)]
    return files


def _is_one(path: Path, suffixes: frozenset[str]) -> bool:
    return not path.name.startswith(".") and path.suffix.lower() in suffixes
