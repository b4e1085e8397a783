"""What is remembered between runs: digests of large files, and what was fetched from the hub.

Everything here may be deleted at any time; it is then computed or asked anew. A cache that
cannot be written costs time and nothing else.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from depthsmith.atomic import atomic_path
from depthsmith.checkpoint.safetensors_file import INDEX_SUFFIX, shards
from depthsmith.errors import CheckpointError, DepthsmithError

_CHUNK_BYTES = 4 << 20
_REMEMBERED_FROM_BYTES = 8 << 20
"""Smaller files are hashed each time: that takes milliseconds."""

MOST_BUILT_BYTES = 10 << 30
"""Of built files together."""


def cache_root() -> Path:
    """The user's cache folder of depthsmith (``~/.cache/depthsmith`` on Linux)."""
    import platformdirs

    return platformdirs.user_cache_path("depthsmith", appauthor=False)


def note_use(built: Path) -> None:
    """Remember that a built file is in use, with what lies beside it under its name.

    As the time of last access, which many systems do not keep by themselves.
    """
    for path in built.parent.glob(f"{glob.escape(built.stem)}*"):
        with contextlib.suppress(OSError):
            os.utime(path, ns=(time.time_ns(), path.stat().st_mtime_ns))


def make_room(built: Path) -> None:
    """Remove what was used longest ago from the folder of ``built``, but for that, until the rest
    is within `MOST_BUILT_BYTES`.

    What is in use goes on working: where an open file cannot be removed it stays.
    """
    with contextlib.suppress(OSError):
        files = [(path, path.stat()) for path in built.parent.iterdir()]
        files.sort(key=lambda file: max(file[1].st_atime, file[1].st_mtime), reverse=True)
        total = 0
        for path, stat in files:
            total += stat.st_size
            if total > MOST_BUILT_BYTES and not path.name.startswith(built.stem):
                with contextlib.suppress(OSError):
                    path.unlink()


def weights_sha256(path: Path) -> str:
    """SHA-256 of a weight file; of a sharded checkpoint, of its shards' digests in order.

    The digest of a large file is remembered with its path, size and times, so that 5 GB are
    not read at each start.

    Args:
        path: a weight file, or the ``*.index.json`` of a sharded checkpoint.

    Raises:
        CheckpointError: if a file cannot be read.
    """
    if path.name.endswith(INDEX_SUFFIX):
        return joint_sha256([file_sha256(shard) for shard in shards(path)])
    return file_sha256(path)


def joint_sha256(digests: Sequence[str]) -> str:
    """SHA-256 of several files: that of their hex digests, one after the other."""
    return hashlib.sha256("".join(digests).encode()).hexdigest()


def file_sha256(path: Path) -> str:
    """SHA-256 of one file, remembered where it is large.

    Raises:
        CheckpointError: if the file cannot be read.
    """
    try:
        path = path.resolve()
        stamp = _stamp(path)
        large = stamp["size"] >= _REMEMBERED_FROM_BYTES
        memory = cache_root() / "digests" / f"{hashlib.sha256(os.fsencode(path)).hexdigest()}.json"
        known = _load(memory) if large else {}
        if known.get("stamp") == stamp and isinstance(known.get("sha256"), str):
            return str(known["sha256"])
        digest = hashlib.sha256()
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                digest.update(chunk)
        # A file that changed meanwhile must not be remembered under its new stamp.
        if large and _stamp(path) == stamp:
            _save(memory, {"stamp": stamp, "sha256": digest.hexdigest()})
    except OSError as error:
        raise CheckpointError(f"cannot read {path}: {error.strerror or error}") from error
    return digest.hexdigest()


def _stamp(path: Path) -> dict[str, Any]:
    """Whatever changes when the file does; st_ctime also sees a file dated back."""
    stat = path.stat()
    return {
        "path": str(path),
        "size": stat.st_size,
        "mtime_ns": stat.st_mtime_ns,
        "ctime_ns": stat.st_ctime_ns,
    }


@dataclass(frozen=True)
class Record:
    """What is known about one fetched snapshot of a repository.

    Attributes:
        license: as the hub stated it when the weights were fetched.
        files: SHA-256 by file name, as announced by the hub and checked.
    """

    license: str
    files: Mapping[str, str]


@dataclass(frozen=True)
class Records:
    """Snapshots of one repository that were fetched and checked.

    Attributes:
        revisions: commit by the name it was asked for (``main``).
        snapshots: by commit.
    """

    repository: str
    revisions: Mapping[str, str] = field(default_factory=dict)
    snapshots: Mapping[str, Record] = field(default_factory=dict)

    @classmethod
    def load(cls, repository: str) -> Records:
        """What is remembered of ``repository``; empty if that is nothing, or unreadable."""
        document = _load(_records_file(repository))
        try:
            return cls(
                repository,
                {str(name): str(commit) for name, commit in document["revisions"].items()},
                {
                    str(commit): Record(str(entry["license"]), dict(entry["files"]))
                    for commit, entry in document["snapshots"].items()
                },
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            return cls(repository)

    def save(self, revision: str, commit: str, record: Record) -> None:
        """Remember one more snapshot."""
        merged = Records(
            self.repository,
            {**self.revisions, revision: commit},
            {**self.snapshots, commit: record},
        )
        _save(_records_file(self.repository), asdict(merged))


def _records_file(repository: str) -> Path:
    return cache_root() / "hub" / f"{repository.lower().replace('/', '--')}.json"


def _load(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}


def _save(path: Path, document: Mapping[str, Any]) -> None:
    with contextlib.suppress(OSError, DepthsmithError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(path) as part:
            part.write_text(json.dumps(document, indent=1), encoding="utf-8")
