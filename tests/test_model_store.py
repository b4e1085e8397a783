"""Names of models: fetched, built once, found again, and refused without consent."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from depthsmith import model_store
from depthsmith.atomic import atomic_path
from depthsmith.catalog import MODELS, ModelCard
from depthsmith.contract import Source
from depthsmith.depth.sizes import Frames
from depthsmith.errors import (
    CheckpointError,
    FetchError,
    LicenseError,
    ModelError,
    UsageError,
    VerificationError,
)
from depthsmith.model_store import resolve
from depthsmith.types import Size
from fake_hub import FakeHub
from tiny_onnx import mean_model


@dataclass
class Builds:
    """Builds a tiny file in the place of a network, and keeps what it was asked for."""

    calls: list[tuple[Path, ModelCard | None, Source, str]] = field(default_factory=list)
    frames: list[Frames | None] = field(default_factory=list)
    failure: Exception | None = None

    def __call__(
        self,
        weights: Path,
        target: Path,
        *,
        card: ModelCard | None,
        source: Source,
        attention: str,
        frames: Frames | None,
    ) -> None:
        self.calls.append((weights, card, source, attention))
        self.frames.append(frames)
        with atomic_path(target) as part:
            mean_model(part)
            if self.failure:
                raise self.failure


@pytest.fixture
def builds() -> Builds:
    return Builds()


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    with FakeHub() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        yield hub


def publish(hub: FakeHub, name: str, license: str = "apache-2.0", fill: float = 0.0) -> None:
    weights = save({"w": np.full(100, fill, np.float32)})
    hub.add(
        MODELS[name].repository,
        {"model.safetensors": weights, "config.json": b"{}"},
        license=license,
    )


def cached_models(tmp_path: Path) -> list[str]:
    folder = tmp_path / "cache" / "depthsmith" / "models"
    return sorted(p.name for p in folder.iterdir()) if folder.exists() else []


def test_a_name_is_fetched_and_built_once(hub: FakeHub, builds: Builds, tmp_path: Path) -> None:
    publish(hub, "da2-small")
    first = resolve("da2-small", provider="cpu", build=builds)
    ((weights, card, source, attention),) = builds.calls
    assert weights.name == "model.safetensors"
    assert card == MODELS["da2-small"]
    assert (source.repository, source.license) == (MODELS["da2-small"].repository, "apache-2.0")
    assert attention == "fused"
    asked = len(hub.requests)
    again = resolve("DA2_Small", provider="cpu", build=builds)
    assert (again, len(builds.calls), len(hub.requests)) == (first, 1, asked)
    assert cached_models(tmp_path) == [first.name]
    assert first.name.startswith("da2_small-")


def test_compiling_providers_get_standard_operations(hub: FakeHub, builds: Builds) -> None:
    publish(hub, "da2-small")
    fused = resolve("da2-small", provider="cuda", build=builds)
    portable = resolve("da2-small", provider="tensorrt", build=builds)
    assert [call[3] for call in builds.calls] == ["fused", "portable"]
    assert fused != portable


def test_films_get_a_file_of_their_aspect_ratio(hub: FakeHub, builds: Builds) -> None:
    publish(hub, "da2-small")

    def file(frames: Frames | None) -> Path:
        return resolve("da2-small", provider="cpu", build=builds, frames=frames)

    photos = file(None)
    hd = file(Frames(Size(1080, 1920)))
    assert file(Frames(Size(2160, 3840))) == hd
    others = [Frames(Size(1080, 1920), 294), Frames(Size(1920, 1080)), Frames(Size(1080, 1922))]
    assert len({photos, hd, *map(file, others)}) == 5
    assert builds.frames == [None, Frames(Size(1080, 1920)), *others]


def test_other_weights_make_another_file(hub: FakeHub, builds: Builds) -> None:
    publish(hub, "da2-small")
    first = resolve("da2-small", provider="cpu", build=builds)
    publish(hub, "da2-small", fill=1.0)
    model_store.pull("da2-small")
    second = resolve("da2-small", provider="cpu", build=builds)
    assert first != second and len(builds.calls) == 2


def test_a_failed_build_leaves_nothing(hub: FakeHub, builds: Builds, tmp_path: Path) -> None:
    publish(hub, "da2-small")
    builds.failure = VerificationError("not what the network computes")
    with pytest.raises(VerificationError):
        resolve("da2-small", provider="cpu", build=builds)
    assert cached_models(tmp_path) == []


def test_consent_is_asked_for_each_time(hub: FakeHub, builds: Builds) -> None:
    publish(hub, "da2-large", "cc-by-nc-4.0")
    with pytest.raises(LicenseError, match=r"cc-by-nc-4\.0"):
        resolve("da2-large", provider="cpu", build=builds)
    assert hub.asked_for("resolve") == [] and builds.calls == []
    resolve("da2-large", provider="cpu", allow_license="cc-by-nc-4.0", build=builds)
    assert builds.calls[0][2].license_consent == "cc-by-nc-4.0"
    with pytest.raises(LicenseError):
        resolve("da2-large", provider="cpu", build=builds)


def test_auto_takes_the_best_permissive_model_here(hub: FakeHub, builds: Builds) -> None:
    publish(hub, "da2-large", "cc-by-nc-4.0")
    publish(hub, "da1-small")
    publish(hub, "da3-base")
    model_store.pull("da2-large", allow_license="cc-by-nc-4.0")
    model_store.pull("da1-small")
    said: list[str] = []
    resolve("auto", provider="cpu", build=builds, announce=said.append)
    assert said == [
        "using da1-small, the best model here", "building da1-small for its first use"
    ]  # fmt: skip
    model_store.pull("da3-base")
    resolve("auto", provider="cpu", build=builds, announce=said.append)
    assert said[2] == "using da3-base, the best model here"


def test_auto_fetches_da2_small_where_nothing_is(hub: FakeHub, builds: Builds) -> None:
    publish(hub, "da2-small")
    said: list[str] = []
    resolve("auto", provider="cpu", build=builds, announce=said.append)
    assert said[0] == "no model is here; using da2-small"


def test_auto_says_how_to_get_one(
    hub: FakeHub, builds: Builds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(
        FetchError, match=r"could not be fetched: .*`depth --model Depth-Anything-V2"
    ) as caught:
        resolve("auto", provider="cpu", build=builds)
    assert "\n" not in str(caught.value)
    shown = "".join(traceback.format_exception(caught.value))
    assert shown.count("Traceback") == 1, "the message has the reason; its causes say no more"


def test_every_permissive_model_has_a_place_in_the_order() -> None:
    permissive = {m.card.name for m in model_store.known_models() if m.permissive}
    assert set(model_store._PREFERENCE) == permissive


def test_files_are_taken_as_they_are(tmp_path: Path, builds: Builds) -> None:
    path = mean_model(tmp_path / "da2-small.onnx")
    assert resolve(path, build=builds) == path
    assert resolve(str(path), build=builds) == path
    with pytest.raises(ModelError, match="there is no file"):
        resolve("none.onnx", build=builds)
    with pytest.raises(CheckpointError, match="no weights"):
        resolve("none.safetensors", build=builds)
    with pytest.raises(UsageError, match="no model is called 'da9-huge'"):
        resolve("da9-huge", build=builds)
    assert builds.calls == []


def test_what_was_used_longest_ago_makes_room(
    hub: FakeHub, builds: Builds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(hub, "da2-small")

    def file(side: int) -> Path:
        return resolve("da2-small", build=builds, frames=Frames(Size(side, side), side))

    first = file(70)
    (first.with_name(f"{first.stem}-1234.onnx.data")).write_bytes(b"its weights")
    (tmp_path / "cache" / "depthsmith" / "models" / ".x.part.onnx").write_bytes(b"of a killed run")
    second = file(84)
    for path in first.parent.iterdir():
        os.utime(path, (1, 1))
    assert file(70) == first
    data = first.with_name(f"{first.stem}-1234.onnx.data")
    assert first.stat().st_mtime == 1, "a film that goes on knows its model by this time"
    largest = sum(path.stat().st_size for path in (first, data, second))
    monkeypatch.setattr("depthsmith.checkpoint.cache.MOST_BUILT_BYTES", largest)
    third = file(98)
    assert cached_models(tmp_path) == sorted([first.name, data.name, third.name])
    monkeypatch.setattr("depthsmith.checkpoint.cache.MOST_BUILT_BYTES", 0)
    fourth = file(112)
    assert cached_models(tmp_path) == [fourth.name], "the new one always stays"


def test_another_config_is_another_network(tmp_path: Path, hub: FakeHub, builds: Builds) -> None:
    """The same weights as relative depth and as metres: neither is taken for the other."""
    folders = [tmp_path / "relative", tmp_path / "metric"]
    for folder in folders:
        folder.mkdir()
        (folder / "model.safetensors").write_bytes(save({"w": np.zeros(100, np.float32)}))
        (folder / "config.json").write_text(folder.name)
    first, second, again = (resolve(f, build=builds) for f in (*folders, folders[0]))
    assert first == again != second
    assert len(builds.calls) == 2
