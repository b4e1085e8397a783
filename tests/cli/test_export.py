"""``depthsmith export``: the seeds' commands, names of files, and what is refused."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import signal
import sys
import zipfile

import numpy as np
import onnxruntime as ort
import pytest
import torch

import upstream
from depthsmith.catalog import MODELS
from depthsmith.cli import entry
from depthsmith.contract import Contract
from depthsmith.errors import ExitCode
from fake_hub import FakeHub
from processes import held


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """What ``--src-root`` names: weights alone, as the first exporter had them."""
    root = tmp_path_factory.mktemp("DA3")
    for name in ("small", "base"):
        folder = upstream.save_da3(upstream.da3(f"da3-{name}"), root / name.title(), f"da3-{name}")
        (folder / "config.json").unlink()
    return root


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return upstream.save_transformers(
        upstream.transformers_model("tiny"), tmp_path_factory.mktemp("tiny")
    )


def _one_line(capsys):
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("depthsmith: error: ") and err.count("\n") == 1, err
    return err


def test_the_first_exporters_commands(root, tmp_path, capsys):
    """``--variant both --validate --fold-preprocess``, at a size that a test can afford."""
    command = ["export", "--variant", "both", "--src-root", str(root), "--out-dir", str(tmp_path)]
    assert entry.run([*command, "--size", "70", "--validate", "--fold-preprocess"]) == 0
    out, _ = capsys.readouterr()
    for name in ("da3_small", "da3_base"):
        session = ort.InferenceSession(tmp_path / f"{name}_70_uint8.onnx")
        (image,), (depth,) = session.get_inputs(), session.get_outputs()
        assert (image.name, image.type, image.shape) == (
            "image",
            "tensor(uint8)",
            ["batch", 70, 70, 3],
        )
        assert (depth.name, depth.type, depth.shape) == (
            "depth",
            "tensor(float)",
            ["batch", 70, 70],
        )
        values = session.run(["depth"], {"image": np.zeros((2, 70, 70, 3), np.uint8)})[0]
        assert values.shape == (2, 70, 70)
        contract = Contract.from_json((tmp_path / f"{name}_70_uint8.json").read_text())
        assert contract.model == name.replace("_", "-")
        assert contract.depth.polarity == "larger_is_farther"
        assert contract.source.license == "apache-2.0"
    assert "max abs" in out and "mean rel" in out and "(ONNX Runtime" in out
    assert out.count("wrote ") == 4


def test_unfolded_and_one_variant(root, tmp_path, capsys):
    command = ["export", "--variant", "small", "--src-root", str(root), "--out-dir", str(tmp_path)]
    assert (
        entry.run([*command, "--size", "70x84", "--no-validate", "--opset", "19", "--json"]) == 0
    )
    (result,) = json.loads(capsys.readouterr().out)
    assert result["report"] is None
    session = ort.InferenceSession(result["files"][0])
    assert session.get_inputs()[0].shape == ["batch", 3, 70, 84]
    assert result["files"][0].endswith("da3_small_70x84_opset19.onnx")


def test_model_card(tiny, tmp_path):
    assert entry.run(["export", "--weights", str(tiny), "--size", "70", "-o",
                      str(tmp_path / "x.onnx"), "--model-card"]) == 0  # fmt: skip
    card = (tmp_path / "x_README.md").read_text()
    front = card.split("---")[1]
    assert "pipeline_tag: depth-estimation" in front and "license: unknown" in front
    assert "pixel_values     float32  [batch,3,70,70]" in card
    assert "| photo | 70x70 | predicted_depth | oracle |" in card
    assert "@article{depth_anything_v2" in card


def test_from_the_hub_with_licence_and_revision(tmp_path, monkeypatch, capsys):
    """The whole way: licence asked, weights fetched and checked, file built, origin recorded."""
    weights = upstream.save_transformers(upstream.transformers_model("small"), tmp_path / "w")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    files = {f.name: f.read_bytes() for f in weights.iterdir()}
    with FakeHub() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        hub.add(MODELS["da2-small"].repository, files)
        command = ["export", "--model", "da2-small", "--size", "70", "--out-dir", str(tmp_path)]
        assert entry.run(command) == 0
    source = Contract.from_json((tmp_path / "da2_small_70.json").read_text()).source
    assert source.repository == "depth-anything/Depth-Anything-V2-Small-hf"
    assert len(source.revision) == 40
    assert source.license == "apache-2.0" and source.license_consent is None


@pytest.mark.parametrize("name", ["da2-base", "da2-large", "da3-large", "da3-giant"])
def test_licence_refused_before_anything_is_downloaded(name, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    with FakeHub() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        hub.add(MODELS[name].repository, {"model.safetensors": b"x" * 100}, license="cc-by-nc-4.0")
        command = ["export", "--model", name, "--out-dir", str(tmp_path / "out")]
        assert entry.run(command) == ExitCode.LICENSE
        assert "cc-by-nc-4.0" in _one_line(capsys)
        assert hub.asked_for("resolve") == [] and hub.asked_for("storage") == []
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "code", "text"),
    [
        (["--size", "500"], ExitCode.USAGE, "near 500 are 490 and 504"),
        (["--size", "0"], ExitCode.USAGE, "near 0 are 14 and 28"),
        (["--size", "294x515"], ExitCode.USAGE, "near 515 are 504 and 518"),
        (["--size", "huge"], ExitCode.USAGE, "not N, HxW or dynamic"),
        (["--opset", "5"], ExitCode.USAGE, "use 18 (the default) to 24"),
        (["--opset", "99"], ExitCode.USAGE, "use 18 (the default) to 24"),
        (["--confidence"], ExitCode.USAGE, "only DA3's main series"),
        (["-o", "x.pb"], ExitCode.USAGE, "does not end in .onnx"),
        (["--variant", "small"], ExitCode.USAGE, "--variant goes with --src-root"),
        (["--src-root", "."], ExitCode.USAGE, "--src-root goes with --variant"),
        (["--model", "da9-small"], ExitCode.USAGE, "no model is called 'da9-small'; did you mean"),
        (["--device", "cuda", "--size", "70"], ExitCode.PROVIDER, "depthsmith[gpu]"),
    ],
)
def test_refused_options(tiny, tmp_path, monkeypatch, capsys, options, code, text):
    monkeypatch.chdir(tmp_path)
    assert entry.run(["export", "--weights", str(tiny), *options]) == code
    assert text in _one_line(capsys)
    assert not list(tmp_path.iterdir())


def test_the_contract_beside_it_overwrites_nothing_else(tiny, tmp_path, capsys):
    """The contract of ``config.onnx`` is ``config.json``; here that is the weights' own."""
    folder = shutil.copytree(tiny, tmp_path / "weights")
    before = (folder / "config.json").read_bytes()
    command = ["export", "--weights", str(folder), "--size", "56", "-o"]
    assert entry.run([*command, str(folder / "config.onnx")]) == ExitCode.OUTPUT
    assert "config.json is not a contract of depthsmith" in _one_line(capsys)
    assert (folder / "config.json").read_bytes() == before
    assert not (folder / "config.onnx").exists()
    for _ in range(2):  # what is ours is replaced
        assert entry.run([*command, str(folder / "a.onnx"), "--no-validate"]) == ExitCode.OK


@pytest.mark.skipif(sys.platform != "linux", reason="names are text elsewhere")
def test_names_that_are_not_text(tiny, tmp_path, capsys):
    target = os.fsdecode(bytes(tmp_path) + b"/a\xff.onnx")
    assert entry.run(["export", "--weights", str(tiny), "-o", target]) == ExitCode.OUTPUT
    assert "is not text" in _one_line(capsys)
    assert not list(tmp_path.iterdir())


def test_nothing_named(capsys):
    assert entry.run(["export"]) == ExitCode.USAGE
    assert "--model NAME" in _one_line(capsys)


def test_folder_without_the_variant(tmp_path, capsys):
    command = ["export", "--variant", "both", "--src-root", str(tmp_path)]
    assert entry.run(command) == ExitCode.USAGE
    assert "holds no folder Small" in _one_line(capsys)


class _Hostile:
    def __reduce__(self):
        return (exec, ("open('canary', 'w')",))


def test_weights_that_are_refused(tiny, tmp_path, monkeypatch, capsys):
    """Truncated, hostile, not weights: one line, exit code 3, and no file."""
    out = tmp_path / "out"
    monkeypatch.chdir(tmp_path)
    truncated = tmp_path / "truncated"
    shutil.copytree(tiny, truncated)
    data = (truncated / "model.safetensors").read_bytes()
    (truncated / "model.safetensors").write_bytes(data[: len(data) // 2])
    torch.save({"a": _Hostile()}, tmp_path / "zip.pth")
    (tmp_path / "plain.pth").write_bytes(pickle.dumps(_Hostile()))
    with zipfile.ZipFile(tmp_path / "empty.pth", "w"):
        pass
    for name in ("truncated", "zip.pth", "plain.pth", "empty.pth"):
        command = ["export", "--weights", str(tmp_path / name), "--out-dir", str(out)]
        assert entry.run(command) == ExitCode.BAD_INPUT, name
        _one_line(capsys)
    assert not out.exists()
    assert not (tmp_path / "canary").exists()


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such signals")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_interrupted_by_the_user(tiny, tmp_path, name):
    """Ctrl-C, kill, a closed terminal: status 130, no traceback, no file, nothing left over."""
    command = ["export", "--weights", tiny, "--size", "70", "--out-dir", tmp_path]
    with held("depthsmith.build._write", 1, *command) as process:
        assert list(tmp_path.glob(".*.part.onnx"))
        process.send_signal(getattr(signal, name))
        _, err = process.communicate()
    assert (process.returncode, err) == (130, "depthsmith: interrupted\n")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such signals")
def test_ignored_signals_stay_ignored(tiny, tmp_path):
    """`nohup` ignores a closed terminal, and shells Ctrl-C for what runs in the background."""
    command = ["export", "--weights", tiny, "--size", "70", "--out-dir", tmp_path]
    with held("depthsmith.build._write", 1, *command, signals=signal.SIG_IGN) as process:
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGINT)
        process.communicate("\n")
    assert process.returncode == 0
    assert list(tmp_path.glob("*.onnx"))


def test_torch_reference_needs_the_same_positions(tiny, tmp_path, capsys):
    command = ["export", "--weights", str(tiny), "--out-dir", str(tmp_path / "out")]
    assert entry.run([*command, "--size", "70", "--reference", "torch"]) == ExitCode.USAGE
    assert "add --position-embedding transformers" in _one_line(capsys)
    assert not (tmp_path / "out").exists()
