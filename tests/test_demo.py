"""The demo's parts, quickly: its checkpoint, its choice of weights, and what follows a network.

The whole of it takes most of a minute (``make demo``). Left out here is the export itself, which
``tests/cli/test_export.py`` has.
"""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest
import skimage.data
from PIL import Image
from safetensors import safe_open

import upstream
from depthsmith.contract import Contract, InputSpec, OutputSpec, SizeRule
from depthsmith.types import DepthKind
from fake_hub import FakeHub
from tiny_onnx import mean_model

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def _from_the_root(monkeypatch):
    """As ``make demo`` runs it."""
    monkeypatch.syspath_prepend(ROOT)
    monkeypatch.chdir(ROOT)


@pytest.fixture
def hub(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_DISABLE_XET", "1")
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    with FakeHub() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        yield hub


def _shapes(file: Path) -> dict[str, list[int]]:
    with safe_open(file, "np") as tensors:
        return {name: tensors.get_slice(name).get_shape() for name in tensors.keys()}  # noqa: SIM118


def test_the_random_checkpoint_is_as_transformers_writes_one(tmp_path):
    from demo.random_weights import write_random_checkpoint
    from transformers import AutoConfig

    ours = write_random_checkpoint(tmp_path / "ours")
    model = upstream.transformers_model("small")
    theirs = upstream.save_transformers(model, tmp_path / "theirs")
    assert _shapes(ours / "model.safetensors") == _shapes(theirs / "model.safetensors")
    config = AutoConfig.from_pretrained(ours)
    for part in ("backbone_config", "neck_hidden_sizes", "fusion_hidden_size", "max_depth"):
        read, made = getattr(config, part), getattr(model.config, part)
        if part == "backbone_config":
            keys = ("hidden_size", "num_hidden_layers", "num_attention_heads", "out_features")
            read, made = ([getattr(c, key) for key in keys] for c in (read, made))
        assert read == made, part


def test_every_number_of_the_random_checkpoint_repeats(tmp_path):
    from demo.random_weights import write_random_checkpoint

    first, second = (write_random_checkpoint(tmp_path / name) for name in "ab")
    assert (first / "model.safetensors").read_bytes() == (
        second / "model.safetensors"
    ).read_bytes()


def test_weights_from_a_hub_in_reach(hub, capfd):
    from demo.network import MODEL, _fetch

    from depthsmith import MODELS

    hub.add(MODELS[MODEL].repository, {"config.json": b"{}", "model.safetensors": b"weights"})
    assert _fetch()
    out, _ = capfd.readouterr()
    assert hub.url in out and "Yes." in out and "$ depthsmith pull da2-small" in out


@pytest.mark.parametrize("license", ["cc-by-nc-4.0", None])
def test_weights_that_are_refused_are_done_without_and_it_is_said(hub, capfd, license):
    from demo.network import MODEL, _fetch

    from depthsmith import MODELS

    if license:  # else there is no such repository
        files = {"config.json": b"{}", "model.safetensors": b"weights"}
        hub.add(MODELS[MODEL].repository, files, license=license)
    assert not _fetch()
    out, err = capfd.readouterr()
    assert "without the official weights" in out
    assert (license or MODELS[MODEL].repository) in err
    assert not hub.asked_for("model.safetensors")


def test_no_hub_in_reach(hub, capfd, monkeypatch):
    from demo.network import _fetch

    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # discard; nobody listens
    assert not _fetch()
    out, err = capfd.readouterr()
    assert out.splitlines()[-1] == "No."
    assert err == ""


def test_the_network_on_photo_and_scores_and_the_sheet(tmp_path, capfd):
    from demo.contact_sheet import WIDTH, Section, write_sheet
    from demo.measured import run_measured
    from demo.network import MEANINGLESS, Network, photo_row
    from demo.scores import run_scores

    # Brightness for depth: a network with the contract of da2-small that takes no time.
    contract = Contract(
        model="da2-small",
        input=InputSpec("pixel_values", "float32", "NCHW", "imagenet"),
        size=SizeRule(None, None),
        outputs=(OutputSpec.depth("predicted_depth", DepthKind.INVERSE_DEPTH),),
        preprocessing="da2",
    )
    model = mean_model(tmp_path / "m.onnx", contract=contract)

    row = photo_row(model, tmp_path)
    scene, measured = run_measured(tmp_path)
    scores = run_scores(Network(model, MEANINGLESS), scene, tmp_path)
    out, err = capfd.readouterr()
    assert MEANINGLESS in out
    assert "AbsRel" in out
    assert "error" not in err

    near = cv2.imread(str(tmp_path / "coffee_near.png"), cv2.IMREAD_UNCHANGED)
    assert near.dtype == np.uint16 and near.shape == (400, 600)
    assert (near.min(), near.max()) == (0, 65535)
    control = cv2.imread(str(tmp_path / "coffee_controlnet.png"), cv2.IMREAD_UNCHANGED)
    assert np.abs(control - near / 257.0).max() <= 0.5

    sheet = tmp_path / "sheet.jpg"
    write_sheet(sheet, "title", [Section("network", (row,)), measured, scores], "footer")
    with Image.open(sheet) as image:
        assert image.width == WIDTH and image.height < 2 * WIDTH
    assert sheet.stat().st_size < 400_000


def test_measured_depth_is_that_of_the_calibration(tmp_path):
    """A PNG read with OpenCV against the formula of the data set, in whole millimetres."""
    from demo.measured import run_measured

    run_measured(tmp_path)
    disparity = skimage.data.stereo_motorcycle()[2].astype(np.float64)
    levels = cv2.imread(str(tmp_path / "motorcycle_png16.png"), cv2.IMREAD_UNCHANGED)
    known = np.isfinite(disparity)
    # Z = f b / (d + doffs); scikit-image's documentation of the pair has the numbers.
    millimetres = 994.978 * 193.001 / (disparity + 31.086)
    assert np.abs(levels[known] - millimetres[known]).max() < 0.501
    assert not levels[~known].any()
    header = Image.open(tmp_path / "motorcycle_png16.png").text["depthsmith"]
    assert json.loads(header)["scale"] == 0.001
