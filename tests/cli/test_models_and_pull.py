"""``models`` and ``pull`` against a hub on the loopback interface."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from depthsmith.catalog import MODELS
from depthsmith.cli import entry
from depthsmith.errors import ExitCode
from fake_hub import FakeHub

WEIGHTS = save({"a": np.zeros(1000, np.float32)})


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    with FakeHub() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        hub.add(
            MODELS["da2-small"].repository, {"model.safetensors": WEIGHTS, "config.json": b"{}"}
        )
        hub.add(
            MODELS["da2-large"].repository,
            {"model.safetensors": WEIGHTS},
            license="cc-by-nc-4.0",
        )
        yield hub


def listed(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, object]]:
    capsys.readouterr()
    assert entry.run(["models", "--json"]) == 0
    return {model["name"]: model for model in json.loads(capsys.readouterr().out)}


def test_pull_prints_the_path_and_models_knows_it(
    hub: FakeHub, capsys: pytest.CaptureFixture[str]
) -> None:
    assert listed(capsys)["da2-small"]["weights"] is None
    assert entry.run(["pull", "DA2_small"]) == 0
    out, err = capsys.readouterr()
    path = Path(out.strip())
    assert path.read_bytes() == WEIGHTS
    assert "apache-2.0" in err
    model = listed(capsys)["da2-small"]
    assert (model["weights"], model["size_bytes"]) == (str(path), len(WEIGHTS))

    assert entry.run(["models"]) == 0
    lines = capsys.readouterr().out.splitlines()
    row = next(line for line in lines if line.startswith("da2-small"))
    assert row.split() == [
        "da2-small", "apache-2.0", "inverse_depth", "0", "MB", MODELS["da2-small"].repository,
    ]  # fmt: skip


def test_a_refused_licence_downloads_nothing(
    hub: FakeHub, capsys: pytest.CaptureFixture[str]
) -> None:
    assert entry.run(["pull", "da2-large"]) == ExitCode.LICENSE
    out, err = capsys.readouterr()
    assert out == ""
    assert "cc-by-nc-4.0" in err and "--allow-license cc-by-nc-4.0" in err
    assert hub.asked_for("resolve") == [] and hub.asked_for("storage") == []
    assert entry.run(["pull", "da2-large", "--allow-license", "cc-by-nc-4.0"]) == 0


def test_models_lists_every_model_and_marks_the_restricted(
    hub: FakeHub, capsys: pytest.CaptureFixture[str]
) -> None:
    models = listed(capsys)
    assert set(models) == set(MODELS)
    assert models["da3-giant"]["permissive"] is False
    assert models["da3metric-large"]["kind"] == "canonical_depth"
    entry.run(["models"])
    assert "cc-by-nc-4.0 *" in capsys.readouterr().out
    assert hub.requests == []
