"""Fetching, against a hub on the loopback interface and ``huggingface_hub`` itself."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from huggingface_hub import ModelCardData
from safetensors.numpy import save

from depthsmith.checkpoint.cache import file_sha256, weights_sha256
from depthsmith.checkpoint.hub import cached, fetch, hub_reachable
from depthsmith.checkpoint.license_gate import stated_license
from depthsmith.errors import CheckpointError, FetchError, LicenseError, UsageError
from fake_hub import FakeHub

NAME = "depth-anything/Depth-Anything-V2-Small-hf"
WEIGHTS = save({"a": np.arange(5000, dtype=np.float32)})
FILES = {"config.json": b'{"depth": 1}', "model.safetensors": WEIGHTS, "README.md": b"hello"}


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_ETAG_TIMEOUT", "1")
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HUB_OFFLINE", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with FakeHub() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        yield hub


def downloaded(tmp_path: Path) -> list[str]:
    """Files with content in the hub cache, by the name of link or blob."""
    return sorted(
        p.name for p in (tmp_path / "hf").rglob("*") if p.is_file() and "models--" in str(p)
        and ".locks" not in p.parts
    )  # fmt: skip


# The straight way.


def test_fetches_config_and_weights_once(hub: FakeHub) -> None:
    commit = hub.add(NAME, FILES)
    got = fetch(NAME)
    assert got.path.read_bytes() == WEIGHTS
    assert got.config is not None
    assert got.config.read_bytes() == FILES["config.json"]
    assert got.config.parent == got.path.parent
    assert (got.repository, got.revision, got.file) == (NAME, commit, "model.safetensors")
    assert got.sha256 == hashlib.sha256(WEIGHTS).hexdigest() == weights_sha256(got.path)
    assert (got.license, got.license_consent, got.note) == ("apache-2.0", None, "")
    assert not hub.asked_for("README"), "only what is needed"

    hub.requests.clear()
    assert cached(NAME) == got
    assert hub.requests == []
    assert fetch(NAME) == got
    assert [r.path.split("?")[0] for r in hub.requests] == [f"/api/models/{NAME}/revision/main"]


def test_licence_is_asked_before_anything_else(hub: FakeHub) -> None:
    hub.add(NAME, FILES)
    fetch(NAME)
    paths = [r.path for r in hub.requests]
    assert paths[0].startswith(f"/api/models/{NAME}")
    assert all("/resolve/" in path or "/storage/" in path for path in paths[1:])


def test_new_commit_is_fetched_and_old_one_stays(hub: FakeHub) -> None:
    old = hub.add(NAME, FILES)
    first = fetch(NAME)
    newer = save({"a": np.ones(7, np.float32)})
    new = hub.add(NAME, FILES | {"model.safetensors": newer})
    second = fetch(NAME)
    assert (first.revision, second.revision) == (old, new)
    assert second.path.read_bytes() == newer
    assert cached(NAME) == second
    assert cached(NAME, revision=old) == first
    assert cached(NAME, revision="v1") is None


def test_no_word_on_the_terminal(hub: FakeHub, capfd: pytest.CaptureFixture[str]) -> None:
    hub.add(NAME, FILES)
    fetch(NAME)
    hub.fail("/api/models", status=503)
    fetch(NAME)
    assert capfd.readouterr() == ("", "")


def test_no_telemetry_and_a_light_import(hub: FakeHub) -> None:
    """In a process of its own: the hub library's settings are read when it is imported."""
    hub.add(NAME, FILES)
    program = f"""
import os, sys
from depthsmith.checkpoint.hub import cached, fetch
cached({NAME!r})
assert "huggingface_hub" not in sys.modules, "imported before it is needed"
before = dict(os.environ)
fetch({NAME!r})
assert dict(os.environ) == before
from huggingface_hub import constants
assert constants.HF_HUB_DISABLE_TELEMETRY
assert constants.HF_HUB_DISABLE_SYMLINKS_WARNING
"""
    run = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "AI_AGENT": "x"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    kinds = {re.sub(r"^/(api/models|storage)?.*", r"\1", r.path) for r in hub.requests}
    assert kinds == {"api/models", "storage", ""}
    assert not [r for r in hub.requests if "agent" in r.path or "telemetry" in r.path]


# Licences.


@pytest.mark.parametrize("allow", [None, "mit", "cc-by-nc", "cc-by-nc-4.0+mit"])
def test_refused_before_a_file_is_requested(
    hub: FakeHub, tmp_path: Path, allow: str | None
) -> None:
    hub.add(NAME, FILES, license="cc-by-nc-4.0")
    with pytest.raises(LicenseError, match=r"under cc-by-nc-4\.0.*--allow-license cc-by-nc-4\.0$"):
        fetch(NAME, allow_license=allow)
    assert [r.method for r in hub.requests] == ["GET"]
    assert not hub.asked_for("/resolve/")
    assert downloaded(tmp_path) == []
    assert cached(NAME) is None


def test_consent_is_recorded_and_needed_each_time(hub: FakeHub) -> None:
    hub.add(NAME, FILES, license="cc-by-nc-4.0")
    got = fetch(NAME, allow_license="CC-BY-NC-4.0")
    assert (got.license, got.license_consent) == ("cc-by-nc-4.0", "cc-by-nc-4.0")
    with pytest.raises(LicenseError):
        fetch(NAME)
    hub.fail("/api/models", status=503)
    with pytest.raises(LicenseError):
        fetch(NAME)
    assert fetch(NAME, allow_license="cc-by-nc-4.0").license_consent == "cc-by-nc-4.0"


def test_the_hub_s_word_goes_before_the_catalogue_s(hub: FakeHub) -> None:
    hub.add(NAME, FILES, license="cc-by-nc-4.0")
    with pytest.raises(LicenseError, match="cc-by-nc"):
        fetch(NAME, expected_license="apache-2.0")


def test_no_stated_licence(hub: FakeHub) -> None:
    hub.add(NAME, FILES, license=None)
    with pytest.raises(LicenseError, match=r"states no licence .*--allow-license unknown$"):
        fetch(NAME)
    with pytest.raises(LicenseError, match=r"states no licence .*--allow-license apache-2\.0$"):
        fetch(NAME, expected_license="apache-2.0")
    assert not hub.asked_for("/resolve/")
    got = fetch(NAME, expected_license="apache-2.0", allow_license="apache-2.0")
    assert (got.license, got.license_consent) == ("apache-2.0", "apache-2.0")


def test_other_licence_by_its_name(hub: FakeHub) -> None:
    hub.add(NAME, FILES, license="other", card={"license_name": "Depth-Research-1"})
    with pytest.raises(LicenseError, match="--allow-license depth-research-1"):
        fetch(NAME, allow_license="other")
    assert fetch(NAME, allow_license="depth-research-1").license == "depth-research-1"


@pytest.mark.parametrize(
    ("card", "tags", "wanted"),
    [
        (ModelCardData(license="apache-2.0"), [], "apache-2.0"),
        (ModelCardData(license="Apache-2.0 "), ["license:mit"], "apache-2.0"),
        (ModelCardData(license="other"), [], "other"),
        (ModelCardData(license=["mit", "cc-by-nc-4.0"]), [], "cc-by-nc-4.0+mit"),
        (ModelCardData(), ["depth", "license:mit"], "mit"),
        (None, ["license:mit"], "mit"),
        (ModelCardData(), [], None),
        (None, None, None),
    ],
)
def test_licence_in_the_hub_s_answer(
    card: ModelCardData | None, tags: list[str] | None, wanted: str | None
) -> None:
    assert stated_license(card, tags) == wanted


# Files that are not what the hub announced.


@pytest.mark.parametrize(
    ("request_", "name"), [("GET /storage", "model.safetensors"), ("GET .*config", "config.json")]
)
def test_damaged_on_the_way(hub: FakeHub, tmp_path: Path, request_: str, name: str) -> None:
    hub.add(NAME, FILES)
    hub.fail(request_, "corrupt", after=5)
    with pytest.raises(FetchError, match=rf"{name} is not usable: .*announces; it was removed"):
        fetch(NAME)
    assert name not in downloaded(tmp_path)
    damaged = list((tmp_path / "hf").rglob("blobs/*"))
    assert len(damaged) == (1 if name == "model.safetensors" else 0), "the blob went as well"
    hub.behave()
    assert fetch(NAME).path.read_bytes() == WEIGHTS


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lfs": {"size": 4, "sha256": "0" * 64, "pointerSize": 1}}, r"bytes, .* announces 4"),
        ({"lfs": {"size": len(WEIGHTS), "sha256": "0" * 64, "pointerSize": 1}}, "SHA-256"),
        ({"lfs": None, "size": None, "blobId": None}, "announces no checksum"),
        ({"lfs": {"size": 1 << 60, "sha256": "0" * 64, "pointerSize": 1}}, "GB left; free some"),
    ],
)
def test_announcement_that_does_not_fit(
    hub: FakeHub, tmp_path: Path, change: dict[str, object], message: str
) -> None:
    hub.add(NAME, FILES)
    hub.announce(NAME, "model.safetensors", **change)
    with pytest.raises(FetchError, match=message):
        fetch(NAME)
    assert "model.safetensors" not in downloaded(tmp_path)


def test_damage_in_the_cache_is_noticed(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of a file so large that its digest is remembered, and dated back."""
    large = save({"a": np.zeros(3 << 20, np.float32)})
    hub.add(NAME, FILES | {"model.safetensors": large})
    path = fetch(NAME).path
    stat = path.stat()
    with path.open("r+b") as file:
        file.seek(1000)
        file.write(b"x")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(FetchError, match=r"is damaged .* was removed"):
        fetch(NAME)
    assert cached(NAME) is None
    monkeypatch.delenv("HF_HUB_OFFLINE")
    assert fetch(NAME).path.read_bytes() == large


# Which files.


def test_sharded(hub: FakeHub) -> None:
    parts = {
        "m-2.safetensors": save({"b": np.ones(3, np.float32)}),
        "m-1.safetensors": save({"a": np.ones(2, np.float32)}),
    }
    index = {"weight_map": {"b": "m-2.safetensors", "a": "m-1.safetensors"}}
    name = "model.safetensors.index.json"
    files = parts | {name: json.dumps(index).encode(), "config.json": b"{}"}
    hub.add(NAME, files)
    got = fetch(NAME)
    assert got.path.name == got.file == name
    for part, data in parts.items():
        assert (got.path.parent / part).read_bytes() == data
    assert got.sha256 == weights_sha256(got.path)
    assert cached(NAME) == got

    (got.path.parent / "m-1.safetensors").unlink()
    assert cached(NAME) is None

    files.pop("m-2.safetensors")
    hub.add(NAME, files)
    with pytest.raises(FetchError, match=r"lists the shard m-2\.safetensors"):
        fetch(NAME)

    hostile = json.dumps({"weight_map": {"a": "../../../x.safetensors"}}).encode()
    hub.add(NAME, files | {name: hostile})
    with pytest.raises(FetchError, match=r"must be .safetensors files beside it"):
        fetch(NAME)


def test_torch_file_where_there_is_no_other(hub: FakeHub) -> None:
    hub.add(NAME, {"depth_anything_v2_vits.pth": b"weights", "README.md": b""})
    got = fetch(NAME)
    assert (got.file, got.config) == ("depth_anything_v2_vits.pth", None)
    assert got.path.read_bytes() == b"weights"


@pytest.mark.parametrize(
    "files",
    [{"a.pth": b"a", "b.pth": b"b"}, {"model.ckpt": b"a"}, {"sub/model.safetensors": b"a"}, {}],
)
def test_no_weights_or_too_many(hub: FakeHub, files: dict[str, bytes]) -> None:
    hub.add(NAME, files)
    with pytest.raises(FetchError, match=r"no single .pth file .it has"):
        fetch(NAME)


# A hub in trouble.


def test_cut_connection_is_resumed(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library keeps what arrived in steps of 10 MiB."""
    monkeypatch.setattr("time.sleep", lambda _: None)  # it waits between attempts
    step = 10 << 20
    large = save({"a": np.arange(6 << 20, dtype=np.float32)})
    hub.add(NAME, FILES | {"model.safetensors": large})
    hub.fail("GET /storage", "cut", after=step + 6000, times=2)
    assert fetch(NAME).path.read_bytes() == large
    ranges = [r.headers.get("range") for r in hub.asked_for("/storage")]
    assert ranges == [None, f"bytes={step}-", f"bytes={2 * step}-"]


def test_connection_that_is_always_cut(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    hub.add(NAME, FILES)
    hub.fail("GET /storage", "cut", after=0)
    with pytest.raises(FetchError, match=r"did not arrive: .*cut the connection.*--weights"):
        fetch(NAME)
    assert "model.safetensors" not in downloaded(tmp_path)
    assert cached(NAME) is None


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (401, r"has no public .* \(401\)"),
        (403, r"refuses access to .* \(403: Forbidden\)"),
        (404, r"there is no .* \(404\)"),
        (418, "answers 418"),
    ],
)
def test_final_answers(hub: FakeHub, status: int, message: str) -> None:
    hub.add(NAME, FILES)
    hub.fail("/api/models", status=status)
    with pytest.raises(FetchError, match=message) as caught:
        fetch(NAME)
    assert "\n" not in str(caught.value)
    assert "HF_HUB_OFFLINE" not in str(caught.value)
    assert len(hub.requests) == 1, "not asked again"

    hub.behave()
    fetch(NAME)
    hub.fail("/api/models", status=status)
    with pytest.raises(FetchError, match="set HF_HUB_OFFLINE=1 to use the cached copy"):
        fetch(NAME)


@pytest.mark.parametrize(
    ("mode", "status", "message"),
    [
        ("status", 429, r"asked too often from here \(429\); try again in 7 s"),
        ("status", 500, r"has a fault of its own \(500\)"),
        ("status", 503, r"has a fault of its own \(503\)"),
        ("hang", 0, "no answer in time"),
        ("html", 0, "is not a model hub"),
    ],
)
def test_passing_trouble(hub: FakeHub, mode: str, status: int, message: str) -> None:
    """The cached copy is used, with a word about it; without one there is advice."""
    hub.add(NAME, FILES)
    hub.fail("/api/models", mode, status=status, headers={"Retry-After": "7"})  # type: ignore[arg-type]
    with pytest.raises(FetchError, match=f"{message}.*is not cached; .*--weights") as caught:
        fetch(NAME)
    assert "\n" not in str(caught.value)
    assert len(hub.requests) == 1, "not asked again"

    hub.behave()
    got = fetch(NAME)
    hub.fail("/api/models", mode, status=status, headers={"Retry-After": "7"})  # type: ignore[arg-type]
    again = fetch(NAME)
    assert re.search(f"{message}.*using the cached copy", again.note)
    assert (again.path, again.sha256, again.license) == (got.path, got.sha256, got.license)


def test_fails_at_the_first_file(hub: FakeHub) -> None:
    """The listing came, then the hub broke down: no minutes of attempts."""
    hub.add(NAME, FILES)
    hub.fail("/resolve/", status=500)
    with pytest.raises(FetchError, match=r"did not arrive: .*\(500\)"):
        fetch(NAME)
    assert len(hub.asked_for("/resolve/")) == 1


def test_gated(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.add(NAME, FILES, gated=True)
    with pytest.raises(FetchError, match=f"gated; ask for access at {hub.url}/{NAME} .then set"):
        fetch(NAME)
    monkeypatch.setenv("HF_TOKEN", "hf_x")
    with pytest.raises(FetchError, match=r"gated; ask for access .*the token in use has none"):
        fetch(NAME)


def test_private_and_the_token_stays_on_the_hub(
    hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.add(NAME, FILES, token="hf_secret")
    with pytest.raises(FetchError, match="set HF_TOKEN if it is private"):
        fetch(NAME)
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    hub.requests.clear()
    fetch(NAME)
    for request in hub.requests:
        wanted = None if "/storage/" in request.path else "Bearer hf_secret"
        assert request.token == wanted, request.path


def test_unknown_names(hub: FakeHub) -> None:
    hub.add(NAME, FILES)
    with pytest.raises(FetchError, match=r"has no public nobody/nothing \(401\); check the name"):
        fetch("nobody/nothing")
    with pytest.raises(FetchError, match="has no revision v9"):
        fetch(NAME, revision="v9")
    for repository in (
        "nothing",
        "a/b/c",
        "../x",
        "a/..",
        "a b/c",
        "https://x/y",
        "",
        "a/" + "b" * 95,
    ):
        with pytest.raises(UsageError, match="is not a hub id"):
            fetch(repository)
    for revision in ("../../x", "/x", "a b", "-x"):
        with pytest.raises(UsageError, match="is not a branch, tag or commit"):
            fetch(NAME, revision=revision)


@pytest.mark.parametrize(
    ("endpoint", "message"),
    [
        ("http://127.0.0.1:9", "cannot be reached .connection refused"),
        ("https://{host}", "cannot be reached .TLS: "),
        ("ftp://x", "could not be fetched from ftp://x"),
        ("nonsense", "could not be fetched from nonsense"),
    ],
)
def test_endpoint_that_is_none(
    hub: FakeHub, monkeypatch: pytest.MonkeyPatch, endpoint: str, message: str
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", endpoint.format(host=hub.url.removeprefix("http://")))
    with pytest.raises(FetchError, match=f"{message}.*is not cached; .*--weights") as caught:
        fetch(NAME)
    assert "\n" not in str(caught.value)
    assert not hub_reachable()


def test_cache_that_cannot_be_written(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.add(NAME, FILES)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "file"))
    with pytest.raises(FetchError, match=r"cannot be stored: .*set HF_HOME") as caught:
        fetch(NAME)
    assert "\n" not in str(caught.value)

    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert fetch(NAME).path.read_bytes() == WEIGHTS  # only our own memory is lost


# Offline.


def test_offline_asks_nobody(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.add(NAME, FILES)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(FetchError, match=r"HF_HUB_OFFLINE is set, and .* is not cached; .*put"):
        fetch(NAME)
    assert not hub_reachable()
    assert hub.requests == []
    monkeypatch.delenv("HF_HUB_OFFLINE")
    got = fetch(NAME)
    hub.requests.clear()
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    again = fetch(NAME)
    assert (again.path, again.config, again.sha256) == (got.path, got.config, got.sha256)
    assert (again.license, again.note) == (
        "apache-2.0",
        "HF_HUB_OFFLINE is set; using the cached copy",
    )
    assert hub.requests == []


def test_incomplete_copy_is_not_used(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.add(NAME, FILES)
    got = fetch(NAME)
    assert got.config is not None
    got.config.unlink()
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert cached(NAME) is None
    with pytest.raises(FetchError, match="is not cached"):
        fetch(NAME)


def test_copy_that_another_program_fetched(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its licence is not recorded; its checksum is the name that the library gave the blob."""
    import huggingface_hub

    commit = hub.add(NAME, FILES, license="mit")
    huggingface_hub.snapshot_download(
        NAME, endpoint=hub.url, cache_dir=tmp_path / "hf" / "hub", token=False,
        allow_patterns=["*.safetensors", "config.json"],
    )  # fmt: skip
    hub.requests.clear()
    found = cached(NAME)
    assert found is not None
    assert (found.revision, found.license) == (commit, None)
    assert found.sha256 == hashlib.sha256(WEIGHTS).hexdigest()

    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(LicenseError, match="no licence is recorded for the cached"):
        fetch(NAME)
    assert fetch(NAME, expected_license="apache-2.0").license == "apache-2.0"
    assert hub.requests == []

    blob = found.path.resolve()
    blob.write_bytes(b"x" + blob.read_bytes()[1:])
    with pytest.raises(FetchError, match="is damaged"):
        fetch(NAME, expected_license="apache-2.0")
    assert not blob.exists()


def test_copy_of_another_program_is_checked_online(hub: FakeHub, tmp_path: Path) -> None:
    import huggingface_hub

    hub.add(NAME, FILES, license="cc-by-nc-4.0")
    huggingface_hub.snapshot_download(
        NAME, endpoint=hub.url, cache_dir=tmp_path / "hf" / "hub", token=False
    )
    with pytest.raises(LicenseError):
        fetch(NAME)
    hub.requests.clear()
    assert fetch(NAME, allow_license="cc-by-nc-4.0").license == "cc-by-nc-4.0"
    assert len(hub.requests) == 1, "nothing is fetched again"


def test_cache_without_links(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Windows: the snapshot holds the files themselves."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_SYMLINKS", True)
    hub.add(NAME, FILES)
    hub.fail("GET /storage", "corrupt")
    with pytest.raises(FetchError, match="it was removed"):
        fetch(NAME)
    assert "model.safetensors" not in downloaded(tmp_path)
    hub.behave()
    got = fetch(NAME)
    assert not got.path.is_symlink()
    assert got.path.read_bytes() == WEIGHTS
    assert cached(NAME) == got


def test_hub_reachable(hub: FakeHub) -> None:
    assert hub_reachable(timeout_s=60)
    hub.fail("HEAD /", "hang")
    assert not hub_reachable(timeout_s=0.2)
    hub.behave()
    hub.fail("HEAD /", status=503)
    assert not hub_reachable(timeout_s=60)


def test_hub_cache_is_found_as_the_library_finds_it(tmp_path: Path) -> None:
    """Each in a process of its own, as the library reads its environment at import."""
    program = (
        "from depthsmith.checkpoint.transfer import hub_cache\n"
        "from huggingface_hub import constants\n"
        "assert str(hub_cache()) == constants.HF_HUB_CACHE, (hub_cache(), constants.HF_HUB_CACHE)"
    )
    base = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "HUGG", "XDG_"))}
    for change in (
        {},
        {"HF_HOME": "~/x"},
        {"HF_HUB_CACHE": "$HOME/y", "HF_HOME": "/z"},
        {"HUGGINGFACE_HUB_CACHE": "/w"},
        {"XDG_CACHE_HOME": str(tmp_path)},
    ):
        subprocess.run([sys.executable, "-c", program], env=base | change, check=True)


# The memory of digests.


def test_digest_of_a_large_file_is_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "large"
    content = bytes(9 << 20)
    path.write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    assert file_sha256(path) == digest
    (memory,) = (tmp_path / "cache").rglob("digests/*.json")
    planted = json.loads(memory.read_text()) | {"sha256": "planted"}
    memory.write_text(json.dumps(planted))
    assert file_sha256(path) == "planted", "it was hashed again"
    memory.write_text("{ damaged")
    assert file_sha256(path) == digest
    path.write_bytes(content[:-1] + b"x")
    assert file_sha256(path) != digest
    with pytest.raises(CheckpointError, match="cannot read"):
        file_sha256(tmp_path / "none")
