"""A model hub on the loopback interface: as much of one as ``huggingface_hub`` asks for.

::

    with FakeHub() as hub:
        hub.add("owner/name", {"config.json": b"{}", "model.safetensors": data})
        monkeypatch.setenv("HF_ENDPOINT", hub.url)

As on the hub, large files are answered with a redirect to another host, where no token may be
sent. Every request is kept in `FakeHub.requests`; `FakeHub.fail` makes it misbehave. From a
shell, to try the command line against it::

    python tests/fake_hub.py owner/name FOLDER [LICENSE]
"""

from __future__ import annotations

import hashlib
import json
import re
import socket
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

Mode = Literal["status", "cut", "corrupt", "hang", "html"]


@dataclass(frozen=True)
class Request:
    """One request as it came in."""

    method: str
    path: str
    headers: Mapping[str, str]

    @property
    def token(self) -> str | None:
        return self.headers.get("authorization")


@dataclass
class _File:
    data: bytes
    large: bool

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @property
    def git_sha1(self) -> str:
        """As ``git hash-object`` gives it."""
        return hashlib.sha1(b"blob %d\0" % len(self.data) + self.data).hexdigest()

    @property
    def etag(self) -> str:
        return self.sha256 if self.large else self.git_sha1


@dataclass
class _Repository:
    files: dict[str, _File]
    card: dict[str, Any]
    tags: list[str]
    commit: str
    token: str | None
    gated: bool
    announced: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass
class _Fault:
    pattern: re.Pattern[str]
    mode: Mode
    status: int
    headers: Mapping[str, str]
    after: int
    times: int


class FakeHub:
    """The server, running between ``__enter__`` and ``__exit__``.

    Attributes:
        url: what ``HF_ENDPOINT`` has to be.
        requests: everything that was asked, in order.
    """

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self._repositories: dict[str, _Repository] = {}
        self._faults: list[_Fault] = []
        self._stop = threading.Event()
        hub = self

        class Handler(_Handler):
            fake = hub

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        # The same socket under another name stands for the storage host.
        self.storage = f"http://localhost:{self._server.server_port}"

    def __enter__(self) -> FakeHub:
        serve = self._server.serve_forever
        threading.Thread(target=serve, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._server.shutdown()
        self._server.server_close()

    def add(
        self,
        repository: str,
        files: Mapping[str, bytes],
        *,
        license: str | list[str] | None = "apache-2.0",
        card: Mapping[str, Any] | None = None,
        tags: list[str] | None = None,
        token: str | None = None,
        gated: bool = False,
    ) -> str:
        """Put a repository on the hub, or a new commit on it; returns the commit.

        Args:
            license: in the card's front matter and in the tags, as the hub shows it.
            card: more front matter.
            tags: instead of the tags that follow from ``license``.
            token: needed to see the repository (a private one).
            gated: visible, but its files need access that nobody has.
        """
        front = dict(card or {}) | ({"license": license} if license else {})
        if tags is None:
            ids = [license] if isinstance(license, str) else license or []
            tags = [f"license:{id}" for id in ids]
        content = {
            name: _File(data, name.endswith((".safetensors", ".pth")))
            for name, data in files.items()
        }
        seed = repository + "".join(f"{n}{f.sha256}" for n, f in sorted(content.items()))
        commit = hashlib.sha1(seed.encode()).hexdigest()
        self._repositories[repository] = _Repository(content, front, tags, commit, token, gated)
        return commit

    def announce(self, repository: str, name: str, **changes: Any) -> None:
        """Let the hub's listing say something else of a file (``size``, ``lfs``, ``blobId``)."""
        self._repositories[repository].announced[name] = changes

    def fail(
        self,
        pattern: str,
        mode: Mode = "status",
        *,
        status: int = 500,
        headers: Mapping[str, str] | None = None,
        after: int = 0,
        times: int = 1 << 30,
    ) -> None:
        """Misbehave on requests whose ``METHOD path`` matches ``pattern``.

        Args:
            mode: ``status`` answers with that status; ``cut`` closes the connection after
                that many bytes of the body; ``corrupt`` flips the byte there; ``hang`` says
                nothing; ``html`` answers with a login page.
            times: how often.
        """
        self._faults.append(_Fault(re.compile(pattern), mode, status, headers or {}, after, times))

    def behave(self) -> None:
        """Forget all faults."""
        self._faults.clear()

    def asked_for(self, part: str) -> list[Request]:
        """Requests whose path contains ``part``."""
        return [r for r in self.requests if part in r.path]


class _Handler(BaseHTTPRequestHandler):
    fake: FakeHub
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        path = unquote(urlsplit(self.path).path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.fake.requests.append(Request(self.command, self.path, headers))
        fault = self._fault(f"{self.command} {self.path}")
        if fault and fault.mode == "hang":
            self.fake._stop.wait(60)
            self.close_connection = True
            return
        if fault and fault.mode == "status":
            self._error(fault.status, headers=fault.headers)
            return
        if fault and fault.mode == "html":
            self._send(b"<!DOCTYPE html><title>Log in</title>", {"Content-Type": "text/html"})
            return
        if path == "/":
            self._send(b"a hub", {})
        elif match := re.fullmatch(r"/api/models/([^/]+/[^/]+)(?:/revision/(.+))?", path):
            self._model(match[1], match[2] or "main")
        elif match := re.fullmatch(r"/api/models/([^/]+/[^/]+)/tree/(.+)", path):
            self._tree(match[1], match[2])
        elif match := re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
            self._file(match[1], match[2], match[3], fault)
        elif match := re.fullmatch(r"/storage/([0-9a-f]{64})", path):
            self._storage(match[1], fault)
        else:
            self._error(404)

    def _fault(self, line: str) -> _Fault | None:
        for fault in self.fake._faults:
            if fault.times > 0 and fault.pattern.search(line):
                fault.times -= 1
                return fault
        return None

    def _repository(self, name: str, revision: str) -> _Repository | None:
        """The repository, or None with the hub's own error sent."""
        repository = self.fake._repositories.get(name)
        authorization = self.headers.get("Authorization", "")
        if repository is None or (
            repository.token and authorization != f"Bearer {repository.token}"
        ):
            # The hub does not tell strangers what exists.
            code = 404 if authorization else 401
            self._error(code, "RepoNotFound" if code == 404 else "", "Repository not found")
            return None
        if revision not in ("main", repository.commit):
            self._error(404, "RevisionNotFound", f"Invalid rev id: {revision}")
            return None
        return repository

    def _model(self, name: str, revision: str) -> None:
        repository = self._repository(name, revision)
        if repository is None:
            return
        siblings = []
        for file_name, file in repository.files.items():
            entry: dict[str, Any] = {"rfilename": file_name, "blobId": file.git_sha1}
            entry["size"] = len(file.data)
            if file.large:
                entry["lfs"] = {
                    "sha256": file.sha256, "size": len(file.data), "pointerSize": 134
                }  # fmt: skip
            siblings.append(entry | repository.announced.get(file_name, {}))
        document = {
            "id": name,
            "modelId": name,
            "sha": repository.commit,
            "private": False,
            "gated": "manual" if repository.gated else False,
            "tags": repository.tags,
            "cardData": repository.card,
            "siblings": siblings,
        }
        self._send(json.dumps(document).encode(), {"Content-Type": "application/json"})

    def _tree(self, name: str, revision: str) -> None:
        repository = self._repository(name, revision)
        if repository is None:
            return
        entries: list[dict[str, Any]] = []
        for path, file in repository.files.items():
            entry = {"type": "file", "path": path, "size": len(file.data), "oid": file.git_sha1}
            if file.large:
                entry["lfs"] = {"oid": file.sha256, "size": len(file.data), "pointerSize": 134}
            entries.append(entry)
        self._send(json.dumps(entries).encode(), {"Content-Type": "application/json"})

    def _file(self, name: str, revision: str, file_name: str, fault: _Fault | None) -> None:
        repository = self._repository(name, revision)
        if repository is None:
            return
        commit = {"X-Repo-Commit": repository.commit}
        if repository.gated:
            self._error(403, "GatedRepo", f"Access to model {name} is restricted")
            return
        file = repository.files.get(file_name)
        if file is None:
            self._error(404, "EntryNotFound", "Entry not found", headers=commit)
            return
        if file.large:
            self._send(
                b"",
                commit
                | {
                    "Location": f"{self.fake.storage}/storage/{file.sha256}",
                    "X-Linked-Etag": f'"{file.etag}"',
                    "X-Linked-Size": str(len(file.data)),
                },
                status=302,
            )
            return
        self._body(file, commit, fault)

    def _storage(self, sha256: str, fault: _Fault | None) -> None:
        for repository in self.fake._repositories.values():
            for file in repository.files.values():
                if file.large and file.sha256 == sha256:
                    self._body(file, {}, fault)
                    return
        self._error(404)

    def _body(self, file: _File, headers: dict[str, str], fault: _Fault | None) -> None:
        data, start, status = file.data, 0, 200
        headers = headers | {"ETag": f'"{file.etag}"', "Accept-Ranges": "bytes"}
        if match := re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", "")):
            start, status = int(match[1]), 206
            headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
        if fault and fault.mode == "corrupt":
            at = fault.after
            data = data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]
        cut = fault.after if fault and fault.mode == "cut" else None
        self._send(data[start:], headers, status=status, cut=cut)

    def _error(
        self,
        status: int,
        code: str = "",
        message: str = "",
        *,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        message = message or HTTPStatus(status).phrase
        extra = dict(headers or {}) | {"X-Error-Message": message}
        if code:
            extra["X-Error-Code"] = code
        self._send(json.dumps({"error": message}).encode(), extra, status=status)

    def _send(
        self,
        body: bytes,
        headers: Mapping[str, str],
        *,
        status: int = 200,
        cut: int | None = None,
    ) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "HEAD":
            return
        self.wfile.write(body if cut is None else body[:cut])
        if cut is not None:
            self.wfile.flush()
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)


def main() -> None:
    repository, folder = sys.argv[1], Path(sys.argv[2])
    license = sys.argv[3] if len(sys.argv) > 3 else "apache-2.0"
    with FakeHub() as hub:
        files = {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}
        hub.add(repository, files, license=license)
        print(f"export HF_ENDPOINT={hub.url} HF_HUB_DISABLE_XET=1", flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
