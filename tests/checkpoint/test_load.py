"""Weights in every official layout are found complete; anything else is refused by name."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file
from safetensors.torch import load_file as load_torch
from safetensors.torch import save_file as save_torch

import upstream
from depthsmith.catalog import MODELS, architecture
from depthsmith.checkpoint.layouts import expected_shapes
from depthsmith.checkpoint.load import load_checkpoint
from depthsmith.errors import CheckpointError


@pytest.fixture(scope="module")
def v2(tmp_path_factory):
    """V2-Small in hub layout."""
    return upstream.save_transformers(
        upstream.transformers_model("small"), tmp_path_factory.mktemp("v2")
    )


@pytest.fixture(scope="module")
def da3(tmp_path_factory):
    return upstream.save_da3(
        upstream.da3("da3-small"), tmp_path_factory.mktemp("da3"), "da3-small"
    )


@pytest.fixture
def tensors(v2):
    return load_file(v2 / "model.safetensors")


def _refused(tensors, folder, v2, match):
    save_file(tensors, folder / "model.safetensors")
    shutil.copy(v2 / "config.json", folder)
    with pytest.raises(CheckpointError, match=match) as caught:
        load_checkpoint(folder)
    assert "\n" not in str(caught.value)


def test_hub_layout(v2):
    checkpoint = load_checkpoint(v2)
    assert checkpoint.name == "da2-small"
    assert checkpoint.tensors.keys() == expected_shapes(MODELS["da2-small"].arch).keys()
    # The mask token and the topmost fusion's lateral unit (two convolutions).
    assert len(checkpoint.unused) == 5
    stored = load_file(v2 / "model.safetensors")
    key = "backbone.encoder.layer.3.attention.attention.key.weight"
    np.testing.assert_array_equal(
        checkpoint.tensors["backbone.blocks.3.attn.k.weight"], stored[key]
    )


def test_names_of_transformers_5_in_memory(v2, tmp_path):
    """What ``state_dict()`` gives, and what a plain ``save_file`` of it writes."""
    save_torch(upstream.transformers_model("small").state_dict(), tmp_path / "model.safetensors")
    shutil.copy(v2 / "config.json", tmp_path)
    assert load_checkpoint(tmp_path).tensors.keys() == load_checkpoint(v2).tensors.keys()


def test_original_pth_and_its_conversions(tmp_path):
    model = upstream.original_v2()
    state = model.state_dict()
    torch.save(state, tmp_path / "depth_anything_v2_vits.pth")
    card = MODELS["da2-small"]
    from_pth = load_checkpoint(tmp_path / "depth_anything_v2_vits.pth", model=card)
    qkv = state["pretrained.blocks.5.attn.qkv.weight"].numpy()
    np.testing.assert_array_equal(from_pth.tensors["backbone.blocks.5.attn.v.weight"], qkv[768:])
    for dtype in (torch.float16, torch.bfloat16):
        file = tmp_path / f"{dtype}.safetensors".replace("torch.", "v2_")
        save_torch({k: v.to(dtype).contiguous() for k, v in state.items()}, file)
        half = load_checkpoint(file, model=card)
        np.testing.assert_array_equal(
            half.tensors["head.projects.2.weight"].astype(np.float32),
            state["depth_head.projects.2.weight"].to(dtype).float().numpy(),
        )


def test_da3_by_shapes_alone_and_without_the_prefix(da3, tmp_path):
    stored = load_torch(da3 / "model.safetensors")
    save_torch(
        {k.removeprefix("model."): v for k, v in stored.items()}, tmp_path / "a.safetensors"
    )
    for path in (da3, tmp_path / "a.safetensors"):
        checkpoint = load_checkpoint(path)
        assert checkpoint.name == "da3-small"
        assert all("_aux" in k or "cam_" in k for k in checkpoint.unused)
        assert any("cam_dec" in k for k in checkpoint.unused)


def test_v1_and_metric_are_told_by_config(tmp_path):
    for version, max_depth, name in ((1, None, "da1-small"), (2, 80, "da2-metric-outdoor-small")):
        model = upstream.transformers_model("small", version=version, max_depth=max_depth)
        folder = upstream.save_transformers(model, tmp_path / name)
        assert load_checkpoint(folder).name == name


def test_swiglu_names_of_transformers(tmp_path):
    """The giant's feed-forward layer, in a small network."""
    from transformers import DepthAnythingConfig, DepthAnythingForDepthEstimation, Dinov2Config

    backbone = Dinov2Config(
        hidden_size=64, num_hidden_layers=4, num_attention_heads=1, image_size=518, patch_size=14,
        out_indices=[1, 2, 3, 4], reshape_hidden_states=False, use_swiglu_ffn=True,
    )  # fmt: skip
    config = DepthAnythingConfig(
        backbone_config=backbone, reassemble_hidden_size=64, neck_hidden_sizes=[8, 8, 8, 8],
        fusion_hidden_size=8, head_hidden_size=32,
    )  # fmt: skip
    model = upstream.randomize(DepthAnythingForDepthEstimation(config), 0)
    checkpoint = load_checkpoint(upstream.save_transformers(model, tmp_path))
    assert checkpoint.arch.swiglu
    assert checkpoint.arch.mlp_dim == 176
    assert checkpoint.card is None


def test_shapes_that_fit_several_models_ask(v2, tmp_path):
    shutil.copy(v2 / "model.safetensors", tmp_path)
    with pytest.raises(CheckpointError, match=r"da2-small, .*da1-small.*--model da2-small"):
        load_checkpoint(tmp_path)
    assert load_checkpoint(tmp_path, model=MODELS["da1-small"]).name == "da1-small"


def test_a_file_name_proves_nothing(v2, tmp_path):
    file = tmp_path / "depth_anything_v2_vitl.safetensors"
    shutil.copy(v2 / "model.safetensors", file)
    with pytest.raises(CheckpointError, match="not for da2-large"):
        load_checkpoint(file, model=MODELS["da2-large"])


def test_config_against_the_asked_model(v2):
    with pytest.raises(CheckpointError, match=r"config\.json describes .*, not da1-small"):
        load_checkpoint(v2, model=MODELS["da1-small"])


def test_unsupported_config(v2, tmp_path):
    shutil.copy(v2 / "model.safetensors", tmp_path)
    config = json.loads((v2 / "config.json").read_text())
    config["backbone_config"]["hidden_act"] = "relu"
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(CheckpointError, match="hidden_act = 'relu'"):
        load_checkpoint(tmp_path)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(CheckpointError, match="cannot be read as JSON"):
        load_checkpoint(tmp_path)


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("num_attention_heads", 0, "num_attention_heads = 0"),
        ("num_attention_heads", "2", "num_attention_heads = '2'"),
        ("num_attention_heads", 5, "attention heads"),
        ("num_hidden_layers", True, "num_hidden_layers = True"),
        ("out_features", ["stage1", "stage2", "stage3", "stage99"], "backbone layers"),
        ("out_features", ["stage6", "stage4", "stage3", "stage2"], "backbone layers"),
        ("out_features", "stage6", "backbone layers"),
        ("out_indices", [2, 3, 4], "backbone layers"),
        ("out_indices", [2, 3, 4, 7], "backbone layers"),
        ("out_indices", [0, 3, 4, 6], "backbone layers"),
        ("neck_hidden_sizes", [8, 16, 16], "neck_hidden_sizes"),
        ("fusion_hidden_size", -16, "fusion_hidden_size = -16"),
        ("depth_estimation_type", "absolute", "depth_estimation_type = 'absolute'"),
        ("max_depth", 0, "max_depth = 0"),
        ("max_depth", -5, "max_depth = -5"),
        ("max_depth", float("nan"), "max_depth = nan"),
    ],
)
def test_configurations_that_cannot_be(tmp_path, key, value, expected):
    """What Transformers refuses too, or would compute nonsense with."""
    model = upstream.transformers_model("tiny", max_depth=20)
    folder = upstream.save_transformers(model, tmp_path)
    config = json.loads((folder / "config.json").read_text())
    assert load_checkpoint(folder).arch.max_depth_m == 20
    part = config["backbone_config"] if key in config["backbone_config"] else config
    assert key in part
    part[key] = value
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(CheckpointError, match=expected) as caught:
        load_checkpoint(folder)
    assert "\n" not in str(caught.value)


def test_layers_counted_from_the_end_and_configurations_nested_beyond_reason(tmp_path):
    folder = upstream.save_transformers(upstream.transformers_model("tiny"), tmp_path)
    before = load_checkpoint(folder).arch
    config = json.loads((folder / "config.json").read_text())
    del config["backbone_config"]["out_features"]
    config["backbone_config"]["out_indices"] = [-5, -4, -3, -1]  # as Transformers counts
    (folder / "config.json").write_text(json.dumps(config))
    assert load_checkpoint(folder).arch == before
    (folder / "config.json").write_text("[" * 100_000)
    with pytest.raises(CheckpointError, match="cannot be read as JSON"):
        load_checkpoint(folder)


def test_da3_nested_is_not_supported(da3, tmp_path):
    shutil.copy(da3 / "model.safetensors", tmp_path)
    (tmp_path / "config.json").write_text('{"model_name": "da3nested-giant-large"}')
    with pytest.raises(CheckpointError, match="da3nested-giant-large"):
        load_checkpoint(tmp_path)


def test_missing_tensor(tensors, v2, tmp_path):
    del tensors["neck.convs.2.weight"]
    _refused(tensors, tmp_path, v2, r"missing: head\.scratch\.layer3_rn\.weight")


def test_renamed_tensor(tensors, v2, tmp_path):
    tensors["backbone.layernorm.wait"] = tensors.pop("backbone.layernorm.weight")
    _refused(tensors, tmp_path, v2, r"missing: backbone\.norm\.weight; unexpected: .*wait")


def test_wrong_shape(tensors, v2, tmp_path):
    tensors["head.conv1.weight"] = tensors["head.conv1.weight"][:, :-1].copy()
    _refused(
        tensors, tmp_path, v2, r"wrong shape: head\.scratch\.output_conv1\.weight is \(32, 63"
    )


def test_unexpected_tensor(tensors, v2, tmp_path):
    tensors["head.extra"] = np.zeros(3, np.float32)
    _refused(tensors, tmp_path, v2, r"unexpected: head\.extra")


def test_integers_are_no_weights(tensors, v2, tmp_path):
    tensors["head.conv3.bias"] = np.zeros(1, np.int32)
    _refused(tensors, tmp_path, v2, r"not floating point: head\.scratch\.output_conv2\.2\.bias")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_weights_that_are_not_finite(tensors, v2, tmp_path, value):
    tensors["head.conv2.weight"][3, 2, 1, 0] = value
    _refused(tensors, tmp_path, v2, r"NaN or Inf in head\.scratch\.output_conv2\.0\.weight")


def test_other_networks(tmp_path):
    save_file({"conv.weight": np.zeros(3, np.float32)}, tmp_path / "model.safetensors")
    with pytest.raises(CheckpointError, match=r"no Depth Anything weights .*'conv\.weight'"):
        load_checkpoint(tmp_path)


def test_folders_without_and_with_several_files(tmp_path):
    with pytest.raises(CheckpointError, match=r"holds no model\.safetensors"):
        load_checkpoint(tmp_path)
    for name in "ab":
        save_file({"x": np.zeros(1, np.float32)}, tmp_path / f"{name}.safetensors")
    with pytest.raises(CheckpointError, match=r"several weight files \(a\.safetensors, b\."):
        load_checkpoint(tmp_path)
    with pytest.raises(CheckpointError, match="no weights at"):
        load_checkpoint(tmp_path / "absent")


@pytest.fixture
def without_storage(monkeypatch):
    """Networks are built on the meta device, where a tensor has a shape and nothing else."""
    linspace = torch.linspace  # upstream reads its drop path rates from one
    monkeypatch.setattr(torch, "linspace", lambda *a, **k: linspace(*a, **{**k, "device": "cpu"}))
    with torch.device("meta"):
        yield


@pytest.mark.usefixtures("without_storage")
def test_catalogue_dimensions_are_the_official_ones():
    """Against what the upstream configurations build."""
    from depthsmith.checkpoint.layouts import is_unused, to_our_names

    upstream.install_torchvision_stand_in()
    from depth_anything_3.cfg import create_object, load_config
    from depth_anything_3.registry import MODEL_REGISTRY

    for name in ("da3-small", "da3-base", "da3-large", "da3mono-large"):
        model = create_object(load_config(MODEL_REGISTRY[name]))
        shapes = {
            f"model.{k}": np.broadcast_to(np.float32(0), tuple(v.shape))
            for k, v in model.state_dict().items()
            if not is_unused(f"model.{k}", "da3")
        }
        found = {k: v.shape for k, v in to_our_names(shapes, "da3").items()}
        assert found == expected_shapes(MODELS[name].arch), name


@pytest.mark.usefixtures("without_storage")
def test_giant_dimensions_against_the_official_backbone():
    upstream.install_torchvision_stand_in()
    from depth_anything_3.model.dinov2.dinov2 import DinoV2

    giant = DinoV2("vitg", [19, 27, 33, 39], alt_start=13, qknorm_start=13, rope_start=13)
    shapes = {k.removeprefix("pretrained."): tuple(v.shape) for k, v in giant.state_dict().items()}
    expected = expected_shapes(architecture("da3", "vitg"))
    assert shapes["blocks.7.mlp.w12.weight"] == expected["backbone.blocks.7.mlp.w12.weight"]
    ours = {k.removeprefix("backbone.") for k in expected if k.startswith("backbone.")}
    theirs = {k.replace(".qkv.", f".{p}.") for k in shapes for p in "qkv"}
    assert ours == theirs
