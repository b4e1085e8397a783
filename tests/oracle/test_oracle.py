"""The oracle against the upstream code in float64, and its parts against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from depthsmith import oracle
from depthsmith.oracle import functions as f
from networks import make, relative_error
from tolerances import FLOAT64


@pytest.mark.parametrize(
    ("name", "positions", "size"),
    [
        ("da2-small", "transformers", (252, 336)),
        ("da2-small.pth", "official", (252, 336)),
        ("da2-small.pth", "official", (518, 392)),
        ("da2-metric-indoor-small", "transformers", (182, 140)),
        ("da1-small", "transformers", (182, 140)),
        ("da3-small", "official", (294, 518)),
        ("da3-base", "official", (140, 196)),
        ("da3mono-large", "official", (140, 196)),
    ],
)
def test_against_upstream(name, positions, size, tmp_path):
    network = make(name, tmp_path)
    image = torch.randn(
        1, 3, *size, dtype=torch.float64, generator=torch.Generator().manual_seed(1)
    )
    expected = network.double().run_upstream(image)
    checkpoint = network.checkpoint
    found = oracle.predict(
        checkpoint.arch, checkpoint.tensors, image[0].numpy(), position_embedding=positions
    )
    assert found.keys() == expected.keys()
    for key, values in found.items():
        assert relative_error(values, expected[key][0]) <= FLOAT64, key


def test_swiglu_block_against_dinov2_giant():
    """The giant's block, at a width that fits a test, against DA3's own modules."""
    import upstream

    upstream.install_torchvision_stand_in()
    from depth_anything_3.model.dinov2.vision_transformer import DinoVisionTransformer

    from depthsmith.catalog import Architecture, mlp_dim
    from depthsmith.checkpoint.layouts import to_our_names
    from depthsmith.oracle import backbone
    from depthsmith.oracle.parameters import Parameters

    vit = DinoVisionTransformer(
        img_size=518, patch_size=14, embed_dim=96, depth=6, num_heads=3, mlp_ratio=4,
        ffn_layer="swiglufused", alt_start=3, qknorm_start=3, rope_start=3, cat_token=True,
    )  # fmt: skip
    vit = upstream.randomize(vit, 0).double()
    arch = Architecture(
        "da3", 96, 6, 3, mlp_dim(96, swiglu=True), True, (2, 3, 4, 5), "dual_dpt", 16,
        (8, 8, 8, 8), alt_start=3,
    )  # fmt: skip
    stored = {f"backbone.pretrained.{k}": v.numpy() for k, v in vit.state_dict().items()}
    tensors = to_our_names(stored, "da3")
    image = torch.randn(3, 98, 126, dtype=torch.float64)
    with torch.inference_mode():
        outputs, _ = vit.get_intermediate_layers(image[None, None], [2, 3, 4, 5])
    p = Parameters(tensors).below("backbone")
    found = backbone.features(p, arch, image.numpy(), position_embedding="official")
    for ours, (theirs, _) in zip(found, outputs, strict=True):
        assert relative_error(ours, theirs[0, 0].numpy()) <= FLOAT64


def test_erf_against_the_standard_library():
    x = np.concatenate([np.linspace(-7, 7, 4001), [0.46875, np.nextafter(0.46875, 1), 1e-300]])
    expected = np.array([math.erf(v) for v in x])
    np.testing.assert_allclose(f.erf(x), expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize(("kernel", "stride"), [(1, 1), (3, 1), (3, 2)])
def test_conv2d_against_torch(kernel, stride):
    x, w = torch.randn(5, 13, 10).double(), torch.randn(4, 5, kernel, kernel).double()
    b = torch.randn(4).double()
    expected = F.conv2d(x[None], w, b, stride=stride, padding=kernel // 2)[0]
    found = f.conv2d(x.numpy(), w.numpy(), b.numpy(), stride=stride)
    np.testing.assert_allclose(found, expected.numpy(), atol=1e-12)


def test_conv_transpose2d_against_torch():
    x, w, b = torch.randn(5, 3, 4).double(), torch.randn(5, 6, 4, 4).double(), torch.randn(6)
    expected = F.conv_transpose2d(x[None], w, b.double(), stride=4)[0]
    np.testing.assert_allclose(
        f.conv_transpose2d(x.numpy(), w.numpy(), b.double().numpy()), expected.numpy(), atol=1e-12
    )


@pytest.mark.parametrize(
    ("source", "target"), [((7, 5), (14, 9)), ((1, 4), (3, 1)), ((9, 9), (4, 4))]
)
def test_upsample_against_torch(source, target):
    x = torch.randn(3, *source).double()
    expected = F.interpolate(x[None], size=target, mode="bilinear", align_corners=True)[0]
    np.testing.assert_allclose(f.upsample(x.numpy(), *target), expected.numpy(), atol=1e-12)


def test_bicubic_against_torch():
    x = torch.randn(37, 37, 4).double()
    scales = ((18 + 0.1) / 37, (50 + 0.1) / 37)
    expected = F.interpolate(x.permute(2, 0, 1)[None], scale_factor=scales, mode="bicubic")[0]
    found = f.resample_bicubic(x.numpy(), 18, 50, 1 / scales[0], 1 / scales[1])
    np.testing.assert_allclose(found, expected.permute(1, 2, 0).numpy(), atol=1e-12)


def test_refuses_sizes_that_are_no_multiple_of_14():
    with pytest.raises(ValueError, match="multiples of 14"):
        oracle.predict(None, {}, np.zeros((3, 20, 28)))  # type: ignore[arg-type]
