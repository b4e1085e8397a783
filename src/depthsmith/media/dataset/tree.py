"""All files below a folder, listed once for every reader."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from depthsmith.errors import DatasetError
from depthsmith.media.folder import PHOTO_SUFFIXES


@dataclass(frozen=True, eq=False)
class Tree:
    """The files of a data set.

    Attributes:
        root: the folder.
        files: below it, sorted, hidden ones and folders left out.
    """

    root: Path
    files: tuple[PurePosixPath, ...]

    @classmethod
    def of(cls, root: Path) -> Tree:
        """Look into ``root`` and its folders, links to folders included.

        Raises:
            DatasetError: if it is no folder, or holds no file.
        """
        if not root.exists():
            raise DatasetError(f"the folder {root} does not exist")
        if not root.is_dir():
            raise DatasetError(f"{root} is a file; --data names the folder of the data set")
        files = tuple(sorted(_walk(root)))
        if not files:
            raise DatasetError(f"the folder {root} holds no file")
        return cls(root, files)

    def path(self, file: PurePosixPath) -> Path:
        return self.root / file

    def named(self, *names: str) -> list[PurePosixPath]:
        """The files that are called one of ``names``."""
        return [f for f in self.files if f.name in names]

    def ending(self, *ends: str) -> list[PurePosixPath]:
        """The files whose names end with one of ``ends``."""
        return [f for f in self.files if f.name.endswith(ends)]

    def photos(self) -> dict[PurePosixPath, PurePosixPath]:
        """Path without suffix -> photo. Of several the last by name."""
        return {f.with_suffix(""): f for f in self.files if is_photo(f)}


def is_photo(file: PurePosixPath) -> bool:
    """Whether the name is that of a picture; 16-bit depth has such a name too."""
    return file.suffix.lower() in PHOTO_SUFFIXES


def _walk(root: Path) -> Iterator[PurePosixPath]:
    seen: set[str] = set()
    for folder, folders, names in os.walk(root, followlinks=True):
        real = os.path.realpath(folder)
        if real in seen:  # a link that leads back
            folders.clear()
            continue
        seen.add(real)
        folders[:] = [name for name in folders if not name.startswith(".")]
        below = PurePosixPath(Path(folder).relative_to(root).as_posix())
        yield from (below / name for name in names if not name.startswith("."))
