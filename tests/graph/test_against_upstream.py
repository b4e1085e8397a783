"""Graphs in ONNX Runtime against the upstream PyTorch code, both in float32."""

from __future__ import annotations

import pytest
import torch

import upstream
from depthsmith.catalog import Architecture, mlp_dim
from depthsmith.checkpoint.layouts import expected_shapes, is_unused, to_our_names
from depthsmith.checkpoint.load import Checkpoint
from depthsmith.types import Size
from networks import Network, make, relative_error
from tolerances import FLOAT32

V2_SIZES = [(518, 518), (462, 462), (392, 686), (252, 336), (1036, 518)]
DA3_SIZES = [(518, 518), (294, 518), (504, 336)]


def _assert_equal(network, session, sizes, batch=1):
    (image_input,) = session.get_inputs()
    names = [o.name for o in session.get_outputs()]
    for i, (height, width) in enumerate(sizes):
        generator = torch.Generator().manual_seed(i)
        image = torch.randn(batch, 3, height, width, generator=generator)
        expected = network.run_upstream(image)
        for name, values in zip(
            names, session.run(None, {image_input.name: image.numpy()}), strict=True
        ):
            assert values.shape == (batch, height, width)
            assert relative_error(values, expected[name]) <= FLOAT32, (name, height, width)


@pytest.fixture(scope="module")
def v2_small(tmp_path_factory):
    return make("da2-small", tmp_path_factory.mktemp("v2"))


@pytest.fixture(scope="module")
def v2_original(tmp_path_factory):
    return make("da2-small.pth", tmp_path_factory.mktemp("pth"))


def test_v2_small_dynamic_against_transformers(v2_small, tmp_path):
    session = v2_small.session(tmp_path, position_embedding="transformers")
    _assert_equal(v2_small, session, V2_SIZES)
    _assert_equal(v2_small, session, [(252, 336)], batch=3)


def test_v2_small_dynamic_against_the_official_code(v2_original, tmp_path):
    session = v2_original.session(tmp_path)
    _assert_equal(v2_original, session, V2_SIZES)
    _assert_equal(v2_original, session, [(252, 336)], batch=3)


@pytest.mark.parametrize("size", [Size(518, 518), Size(294, 518)])
@pytest.mark.parametrize("attention", ["portable", "fused"])
def test_v2_small_fixed(v2_original, tmp_path, size, attention):
    session = v2_original.session(tmp_path, size=size, attention=attention)
    _assert_equal(v2_original, session, [size])


@pytest.mark.parametrize(
    "name", ["da2-metric-indoor-small", "da2-metric-outdoor-small", "da1-small"]
)
def test_v2_metric_and_v1(name, tmp_path):
    network = make(name, tmp_path)
    assert network.checkpoint.name == name
    session = network.session(tmp_path, position_embedding="transformers", attention="fused")
    _assert_equal(network, session, [(518, 518), (252, 336)])


@pytest.mark.parametrize("name", ["da3-small", "da3-base"])
def test_da3_main_series(name, tmp_path):
    network = make(name, tmp_path)
    session = network.session(tmp_path, confidence=True)
    assert [o.name for o in session.get_outputs()] == ["depth", "confidence"]
    _assert_equal(network, session, DA3_SIZES)
    _assert_equal(network, session, [(140, 196)], batch=3)
    for attention in ("portable", "fused"):
        fixed = network.session(tmp_path, size=Size(294, 518), attention=attention)
        assert [o.name for o in fixed.get_outputs()] == ["depth"]
        _assert_equal(network, fixed, [(294, 518)])


@pytest.mark.parametrize("name", ["da3mono-large", "da3metric-large"])
def test_da3_mono_and_metric(name, tmp_path):
    network = make(name, tmp_path)
    assert network.checkpoint.name == name
    session = network.session(tmp_path, attention="fused")
    assert [o.name for o in session.get_outputs()] == ["depth", "sky"]
    _assert_equal(network, session, [(252, 336), (196, 98)] if "metric" in name else DA3_SIZES[1:])


@pytest.mark.parametrize("size", [None, Size(98, 126)])
@pytest.mark.parametrize("attention", ["portable", "fused"])
def test_da3_giant_in_small(tmp_path, size, attention):
    """What only the largest have (SwiGLU, two maps of as many channels), in a small network."""
    upstream.install_torchvision_stand_in()
    from depth_anything_3.model.dinov2.vision_transformer import DinoVisionTransformer
    from depth_anything_3.model.dualdpt import DualDPT

    layers, channels = (2, 3, 4, 5), (16, 16, 24, 24)
    model = torch.nn.Module()
    model.backbone = torch.nn.Module()
    model.backbone.pretrained = DinoVisionTransformer(
        img_size=518, patch_size=14, embed_dim=128, depth=6, num_heads=2, mlp_ratio=4,
        ffn_layer="swiglufused", alt_start=3, qknorm_start=3, rope_start=3, cat_token=True,
    )  # fmt: skip
    model.head = DualDPT(256, features=32, out_channels=channels)
    upstream.randomize(model, 0)
    model.backbone.forward = lambda x: model.backbone.pretrained.get_intermediate_layers(x, layers)

    arch = Architecture(
        "da3", 128, 6, 2, mlp_dim(128, swiglu=True), True, layers, "dual_dpt", 32, channels,
        alt_start=3,
    )  # fmt: skip
    stored = {f"model.{k}": v.numpy() for k, v in model.state_dict().items()}
    kept = {k: v for k, v in stored.items() if not is_unused(k, "da3")}
    tensors = to_our_names(kept, "da3")
    assert {k: v.shape for k, v in tensors.items()} == expected_shapes(arch)
    network = Network(model, Checkpoint(arch, None, tensors, (), tmp_path, ""))
    session = network.session(tmp_path, size=size, attention=attention, confidence=True)
    _assert_equal(network, session, [(98, 126)], batch=2)
