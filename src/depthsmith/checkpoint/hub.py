"""Official weights from the hub: licence first, then the files, then their checksums."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from depthsmith.checkpoint import transfer
from depthsmith.checkpoint.cache import Record, Records, file_sha256, joint_sha256
from depthsmith.checkpoint.hub_errors import HubError
from depthsmith.checkpoint.license_gate import check_license
from depthsmith.checkpoint.safetensors_file import INDEX_SUFFIX, shards
from depthsmith.checkpoint.transfer import HubFile, Listing
from depthsmith.errors import CheckpointError, FetchError, UsageError

CONFIG = "config.json"
_COMMIT = re.compile(r"[0-9a-f]{40}")
_REPOSITORY = re.compile(r"(?!.{97})[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
_REVISION = re.compile(r"(?!.*\.\.)[\w][\w./-]*", re.ASCII)


@dataclass(frozen=True)
class Fetched:
    """Weights in the hub cache, and where they are from.

    Attributes:
        path: the weight file: ``model.safetensors``, the index of a sharded checkpoint (its
            shards lie beside it), or a ``.pth``.
        config: ``config.json`` beside it, or None where the repository has none.
        repository: hub id, ``owner/name``.
        revision: commit, 40 hex digits.
        file: name of the weight file in the repository.
        sha256: as `cache.weights_sha256`.
        license: the hub's word when the files were fetched; in answers of `cached`, None for
            files that another program fetched.
        license_consent: the licence that the caller allowed beyond the allow-list, or None.
        note: what the user should know, one clause; empty if nothing.
    """

    path: Path
    config: Path | None
    repository: str
    revision: str
    file: str
    sha256: str
    license: str | None
    license_consent: str | None = None
    note: str = ""


def fetch(
    repository: str,
    *,
    revision: str | None = None,
    allow_license: str | None = None,
    expected_license: str | None = None,
    progress: bool = False,
) -> Fetched:
    """Have the weights of a hub repository on disk, checked, and under an allowed licence.

    The hub is asked for licence, file names, sizes and checksums first; where the licence is
    refused no file is requested. Cached files are not fetched again, and large ones that did
    not change are not hashed again. With no network, a complete cached copy is used under
    the licence that was recorded when it was fetched.

    Args:
        repository: hub id, ``owner/name``.
        revision: branch, tag or commit; ``main`` by default.
        allow_license: licence id that the user consents to, for one outside of the allow-list.
        expected_license: the catalogue's; stands in where the hub cannot be asked and
            nothing was recorded.
        progress: show bars on stderr, if that is a terminal.

    Raises:
        UsageError: if ``repository`` or ``revision`` cannot be one.
        LicenseError: if the licence is not allowed.
        FetchError: if the files cannot be had, or are not what the hub announced.
    """
    revision = revision or "main"
    _check_names(repository, revision)
    gate = _Gate(repository, allow_license, expected_license)
    why, listing = "HF_HUB_OFFLINE is set", None
    if not transfer.offline():
        try:
            listing = transfer.ask(repository, revision)
        except HubError as error:
            why = str(error)
            if not error.passing:
                hint = ""
                if _snapshot(repository, revision):
                    hint = "; set HF_HUB_OFFLINE=1 to use the cached copy"
                raise FetchError(f"{why}{hint}") from None
    if listing is None:
        return _from_cache(repository, revision, gate, why)
    license, consent = gate.check(listing.license)
    paths = _download(repository, listing, progress)
    digests = {name: file_sha256(path) for name, path in paths.items()}
    record = Record(license, digests)
    Records.load(repository).save(revision, listing.commit, record)
    fetched = _fetched(repository, listing.commit, record)
    return replace(fetched, license_consent=consent)


def cached(repository: str, *, revision: str | None = None) -> Fetched | None:
    """What of ``repository`` is on disk and complete, without network; None if nothing is.

    Nothing is hashed or asked: ``sha256`` is the announced one, ``license`` the recorded one
    (None for what another program fetched), and the licence gate is not passed. Use `fetch`
    for weights that are to be used.
    """
    _check_names(repository, revision or "main")
    found = _snapshot(repository, revision or "main")
    if found is None:
        return None
    commit, names = found
    record = Records.load(repository).snapshots.get(commit)
    return _fetched(repository, commit, record, names)


def hub_reachable(timeout_s: float = 3.0) -> bool:
    """Whether the hub answers within ``timeout_s`` seconds (never, when offline is asked for)."""
    return transfer.reachable(timeout_s)


@dataclass(frozen=True)
class _Gate:
    repository: str
    allow_license: str | None
    expected_license: str | None

    def check(self, license: str | None, unasked: str = "") -> tuple[str, str | None]:
        return check_license(
            license,
            unasked=unasked,
            repository=self.repository,
            allow_license=self.allow_license,
            expected_license=self.expected_license,
        )


def _check_names(repository: str, revision: str) -> None:
    if not _REPOSITORY.fullmatch(repository) or ".." in repository or "--" in repository:
        raise UsageError(f"{repository!r} is not a hub id; they look like owner/name")
    if not _REVISION.fullmatch(revision):
        raise UsageError(f"{revision!r} is not a branch, tag or commit")


def _choose(names: Iterable[str]) -> str | None:
    """The weight file among ``names``, or None."""
    top = sorted(name for name in names if "/" not in name and "\\" not in name)
    for name in ("model.safetensors", f"model.safetensors{INDEX_SUFFIX}"):
        if name in top:
            return name
    for suffix in (".safetensors", ".pth"):
        found = [name for name in top if name.endswith(suffix)]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _download(repository: str, listing: Listing, progress: bool) -> dict[str, Path]:
    """Checked files by name, weight file first."""
    main = _choose(listing.files)
    if main is None:
        names = ", ".join(sorted(listing.files)[:8]) or "nothing"
        raise FetchError(
            f"{repository} has no model.safetensors and no single .pth file (it has {names}); "
            "download the weights you mean and name the file: `export --weights FILE`"
        )
    paths: dict[str, Path] = {}

    def get(name: str) -> None:
        if name not in listing.files:
            raise FetchError(f"{repository} lists the shard {name} but does not have it")
        file = listing.files[name]
        _check_space(repository, listing.commit, file)
        try:
            path = transfer.download(repository, listing.commit, name, progress=progress)
        except HubError as error:
            if not error.passing:
                raise FetchError(str(error)) from None
            raise FetchError(
                f"{repository}/{name} did not arrive: {error}; run the same command again, or "
                f"{_by_hand(repository)}"
            ) from None
        _check_file(repository, path, file)
        paths[name] = path

    if CONFIG in listing.files:
        get(CONFIG)
    get(main)
    if main.endswith(INDEX_SUFFIX):
        try:
            parts = [shard.name for shard in shards(paths[main])]
        except CheckpointError as error:
            raise FetchError(f"{repository}: {error}") from error
        for name in parts:
            get(name)
    return paths


def _check_file(repository: str, path: Path, file: HubFile) -> None:
    """Size and checksum against the hub's; a file that differs is removed."""
    size = path.stat().st_size
    problem = None
    if file.size is not None and size != file.size:
        problem = f"it has {size} bytes, the hub announces {file.size}"
    elif file.sha256 is not None:
        if file_sha256(path) != file.sha256:
            problem = "its SHA-256 is not the one the hub announces"
    elif file.git_sha1 is not None:
        content = path.read_bytes()
        # Git's id of a file: SHA-1 over a short header and the content.
        if hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest() != file.git_sha1:
            problem = "its git checksum is not the one the hub announces"
    else:
        problem = "the hub announces no checksum for it"
    if problem:
        transfer.discard(path)
        raise FetchError(
            f"{repository}/{file.name} is not usable: {problem}; "
            "it was removed, run the same command to fetch it again"
        )


def _check_space(repository: str, commit: str, file: HubFile) -> None:
    folder = transfer.snapshot_folder(repository, commit)
    if file.size is None or (folder / file.name).exists():
        return
    existing = next((p for p in (folder, *folder.parents) if p.exists()), None)
    if existing is not None and shutil.disk_usage(existing).free < file.size:
        raise FetchError(
            f"{repository}/{file.name} needs {file.size / 1e9:.1f} GB and {existing} has "
            f"{shutil.disk_usage(existing).free / 1e9:.1f} GB left; "
            "free some, or set HF_HOME to another disk"
        )


def _from_cache(repository: str, revision: str, gate: _Gate, why: str) -> Fetched:
    found = _snapshot(repository, revision)
    if found is None:
        raise FetchError(f"{why}, and {repository} is not cached; {_by_hand(repository)}")
    commit, names = found
    record = Records.load(repository).snapshots.get(commit)
    # Without a record of ours, another program fetched it and the catalogue has to do.
    license, consent = gate.check(record.license if record else gate.expected_license, why)
    folder = transfer.snapshot_folder(repository, commit)
    for name in names:
        path = folder / name
        announced = record.files.get(name) if record else transfer.announced_by_name(path)
        if announced is not None and file_sha256(path) != announced:
            transfer.discard(path)
            raise FetchError(
                f"{path} is damaged (its SHA-256 has changed) and was removed; {why}: "
                f"{_by_hand(repository)}"
            )
    record = record or Record(license, {name: file_sha256(folder / name) for name in names})
    fetched = _fetched(repository, commit, record, names)
    return replace(fetched, license_consent=consent, note=f"{why}; using the cached copy")


def _snapshot(repository: str, revision: str) -> tuple[str, list[str]] | None:
    """Commit and file names (weight file first) of the newest complete cached snapshot."""
    records = Records.load(repository)
    ref = transfer.repository_folder(repository) / "refs" / revision
    commits = [revision] if _COMMIT.fullmatch(revision) else [records.revisions.get(revision, "")]
    if ref.is_file():
        commits.append(ref.read_text(encoding="utf-8", errors="replace").strip())
    for commit in commits:
        if not _COMMIT.fullmatch(commit):
            continue
        names = _complete(transfer.snapshot_folder(repository, commit))
        record = records.snapshots.get(commit)
        if names and (record is None or record.files.keys() <= set(names)):
            return commit, names
    return None


def _complete(folder: Path) -> list[str]:
    """Names of the weight file, its shards and the config; empty if something is missing."""
    present = {p.name for p in folder.iterdir() if p.is_file()} if folder.is_dir() else set()
    main = _choose(present)
    if main is None:
        return []
    names = [main]
    if main.endswith(INDEX_SUFFIX):
        try:
            names += [shard.name for shard in shards(folder / main)]
        except CheckpointError:
            return []
    if CONFIG in present:
        names.append(CONFIG)
    return names if present.issuperset(names) else []


def _fetched(
    repository: str, commit: str, record: Record | None, names: list[str] | None = None
) -> Fetched:
    folder = transfer.snapshot_folder(repository, commit)
    names = list(record.files) if record and names is None else names or []
    main = next(name for name in names if name != CONFIG)

    def digest(name: str) -> str:
        recorded = record.files.get(name) if record else None
        path = folder / name
        return recorded or transfer.announced_by_name(path) or file_sha256(path)

    parts = [n for n in names if n not in (main, CONFIG)]
    return Fetched(
        path=folder / main,
        config=folder / CONFIG if CONFIG in names else None,
        repository=repository,
        revision=commit,
        file=main,
        sha256=joint_sha256([digest(n) for n in sorted(parts)]) if parts else digest(main),
        license=record.license if record else None,
    )


def _by_hand(repository: str) -> str:
    folder = repository.split("/")[1]
    return (
        f"download model.safetensors and config.json of {transfer.endpoint()}/{repository} "
        f"elsewhere, put them in a folder {folder} and name it: "
        f"`export --weights {folder}` or `depth --model {folder}`"
    )
