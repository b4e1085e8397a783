"""The only module that talks to a hub, by way of ``huggingface_hub``.

That library reads its environment when it is imported; what may change while a program runs
(endpoint, cache folder, offline mode) is read here at each call and handed over.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from depthsmith.checkpoint.hub_errors import HubError, explain
from depthsmith.checkpoint.license_gate import stated_license

T = TypeVar("T")

_HUB = "https://huggingface.co"
_CONNECT_SECONDS = 4.0
_TRUE = {"1", "ON", "YES", "TRUE"}


@dataclass(frozen=True)
class HubFile:
    """One file of a repository, as the hub announces it.

    Attributes:
        size: in bytes.
        sha256: of the content, for files in large-file storage; None for others.
        git_sha1: git's id of the content, for files kept in git itself; None for others.
    """

    name: str
    size: int | None
    sha256: str | None
    git_sha1: str | None


@dataclass(frozen=True)
class Listing:
    """One revision of a repository: commit, licence, files."""

    commit: str
    license: str | None
    files: dict[str, HubFile]


def endpoint() -> str:
    """Address of the hub or mirror, without a slash at its end."""
    return (os.environ.get("HF_ENDPOINT") or _HUB).strip().rstrip("/")


def offline() -> bool:
    """Whether the user forbids the network."""
    names = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
    return any(os.environ.get(name, "").upper() in _TRUE for name in names)


def hub_cache() -> Path:
    """Folder of the hub library's cache, found as that library finds it."""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if os.environ.get(name):
            return _expand(os.environ[name])
    if os.environ.get("HF_HOME"):
        return _expand(os.environ["HF_HOME"]) / "hub"
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return _expand(base) / "huggingface" / "hub"


def _expand(path: str) -> Path:
    return Path(os.path.expandvars(path)).expanduser()


def reachable(timeout_s: float) -> bool:
    """Whether the hub's front door answers without an error within ``timeout_s`` seconds."""
    if offline():
        return False
    with _library(progress=False):
        try:
            session = _utils().get_session
            answer = _within(timeout_s, lambda: session().head(endpoint(), timeout=timeout_s))
        except Exception:  # whatever it is, the hub cannot be used
            return False
        return int(answer.status_code) < 400


def ask(repository: str, revision: str) -> Listing:
    """Ask the hub for commit, licence and files of a revision. Fetches no file.

    Raises:
        HubError: if there is no good answer.
    """
    read_s = _read_seconds()
    timeout: Any = (_CONNECT_SECONDS, read_s, read_s, read_s)  # connect, read, write, pool
    with _library(progress=False):
        try:
            info = _within(
                _CONNECT_SECONDS + 2 * read_s,
                lambda: _api().model_info(
                    repository, revision=revision, files_metadata=True, timeout=timeout
                ),
            )
        except Exception as error:
            raise explain(error, repository, revision, endpoint()) from error
    if not info.sha:
        raise HubError(f"{endpoint()} names no commit for {repository}", passing=False)
    files = {
        s.rfilename: HubFile(
            name=s.rfilename,
            size=s.lfs.size if s.lfs else s.size,
            sha256=s.lfs.sha256 if s.lfs else None,
            git_sha1=None if s.lfs else s.blob_id,
        )
        for s in info.siblings or ()
    }
    return Listing(str(info.sha), stated_license(info.card_data, info.tags), files)


def download(repository: str, commit: str, name: str, *, progress: bool) -> Path:
    """Path of the file in the hub library's cache, fetched if it is not there.

    Raises:
        HubError: if the file cannot be had.
    """
    cached = snapshot_folder(repository, commit) / name
    if cached.is_file():
        return cached
    with _library(progress=progress):
        import huggingface_hub

        api = _api()
        try:
            # hf_hub_download retries a failing first request for minutes. Asking once
            # before it turns a hub that is down into an answer now.
            url = huggingface_hub.hf_hub_url(
                repository, name, revision=commit, endpoint=endpoint()
            )
            _within(2 * _read_seconds(), lambda: api.get_hf_file_metadata(url=url))
            return Path(
                api.hf_hub_download(repository, name, revision=commit, cache_dir=hub_cache())
            )
        except Exception as error:
            raise explain(error, f"{repository}/{name}", commit, endpoint()) from error


def snapshot_folder(repository: str, commit: str) -> Path:
    """Where the hub library keeps the files of a commit."""
    return repository_folder(repository) / "snapshots" / commit


def repository_folder(repository: str) -> Path:
    return hub_cache() / f"models--{repository.replace('/', '--')}"


def announced_by_name(path: Path) -> str | None:
    """SHA-256 that the hub announced for a cached file, from the name of its blob.

    The library names blobs after the hub's ETag: SHA-256 in large-file storage. None where
    there are no links (Windows) or the file came from git.
    """
    with contextlib.suppress(OSError):
        name = path.readlink().name
        if len(name) == 64 and all(c in "0123456789abcdef" for c in name):
            return name
    return None


def discard(path: Path) -> None:
    """Remove a damaged file from the hub's cache: the link and all it leads to in there."""
    root = hub_cache().resolve()
    step: Path | None = path
    while step is not None and step.parent.resolve().is_relative_to(root):
        after = step.parent / step.readlink() if step.is_symlink() else None
        step.unlink(missing_ok=True)
        step = after


def _read_seconds() -> float:
    with contextlib.suppress(ValueError):
        return max(1.0, float(os.environ.get("HF_HUB_ETAG_TIMEOUT") or 10))
    return 10.0


def _within(seconds: float, call: Callable[[], T]) -> T:
    """Result of ``call``, or `TimeoutError` after ``seconds``.

    The library bounds each step of a request, but neither the look-up of a name nor a server
    that sends a byte now and then.
    """
    outcome: list[T] = []
    failure: list[BaseException] = []

    def work() -> None:
        try:
            outcome.append(call())
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    if failure:
        raise failure[0]
    if not outcome:
        raise TimeoutError(f"no answer within {seconds:.0f} s")
    return outcome[0]


def _api() -> Any:
    import huggingface_hub

    from depthsmith._version import __version__

    return huggingface_hub.HfApi(
        endpoint=endpoint(), library_name="depthsmith", library_version=__version__
    )


@contextlib.contextmanager
def _library(*, progress: bool) -> Iterator[None]:
    """``huggingface_hub``, silent but for progress bars if wanted (on stderr, on a terminal)."""
    _import_quietly()
    import warnings

    utils = _utils()
    bars, verbosity = not utils.are_progress_bars_disabled(), utils.logging.get_verbosity()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        utils.logging.set_verbosity_error()
        _show_bars(utils, progress)
        try:
            yield
        finally:
            _show_bars(utils, bars)
            utils.logging.set_verbosity(verbosity)


def _show_bars(utils: Any, wanted: bool) -> None:
    (utils.enable_progress_bars if wanted else utils.disable_progress_bars)()


def _utils() -> Any:
    return importlib.import_module("huggingface_hub.utils")


def _import_quietly() -> None:
    """Import the library with telemetry and its warning about links off.

    Both are read from the environment at import; the environment is left as it was.
    """
    if "huggingface_hub" in sys.modules:
        return
    wanted = {"HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_SYMLINKS_WARNING": "1"}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        import huggingface_hub
        import huggingface_hub.constants  # noqa: F401
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
