"""``depth`` with a whole V2-Small: by name from a hub, and from a file that torch traced."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from PIL import Image
from skimage import data
from torch.nn import functional as F  # noqa: N812 - upstream's own name for it

from depthsmith.catalog import MODELS
from depthsmith.contract import Contract
from depthsmith.media.depth_file import read_depth
from depthsmith.types import DepthKind, DepthMap
from fake_hub import FakeHub
from upstream import install_torchvision_stand_in, save_transformers, transformers_model

COMMAND = Path(sys.executable).with_name("depthsmith")


@pytest.fixture(scope="module")
def network() -> torch.nn.Module:
    torch.set_num_threads(2)
    return transformers_model("small", seed=3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("networks")
    # Square, so that the position grid is the learned one, on which upstream's two codes agree.
    Image.fromarray(data.astronaut()).save(folder / "photo.png")
    return folder


@pytest.fixture(scope="module")
def expected(network: torch.nn.Module) -> NDArray[np.float32]:
    """``infer_image`` of the official code around the Transformers network."""
    install_torchvision_stand_in()
    from depth_anything_v2.dpt import DepthAnythingV2

    image, size = DepthAnythingV2.image2tensor(None, data.astronaut()[..., ::-1])
    with torch.inference_mode():
        depth = network(pixel_values=image.float()).predicted_depth[:, None]
        restored = F.interpolate(depth, size, mode="bilinear", align_corners=True)
    return restored[0, 0].numpy()  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def environment(folder: Path, network: torch.nn.Module) -> Iterator[dict[str, str]]:
    """A machine with an empty cache, whose hub has the network as da2-small."""
    weights = save_transformers(network, folder / "weights")
    with FakeHub() as hub:
        files = {p.name: p.read_bytes() for p in weights.iterdir()}
        hub.add(MODELS["da2-small"].repository, files)
        yield {
            **os.environ,
            "XDG_CACHE_HOME": str(folder / "cache"),
            "HF_HOME": str(folder / "hf"),
            "HF_ENDPOINT": hub.url,
        }


def depth(
    folder: Path, environment: dict[str, str], *arguments: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, "depth", "photo.png", "--as", "raw", "--provider", "cpu", *arguments],
        cwd=folder, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip


def relative_error(found: NDArray[np.float32], expected: NDArray[np.float32]) -> float:
    return float(np.abs(found - expected).max() / np.ptp(expected))


@pytest.fixture(scope="module")
def named(folder: Path, environment: dict[str, str]) -> DepthMap:
    """By the name ``auto``, which is da2-small here."""
    done = depth(folder, environment, "-o", "named.exr")
    assert "using da2-small" in done.stderr and "building da2-small" in done.stderr
    return read_depth(folder / "named.exr")


def test_by_name_as_upstream_end_to_end(
    folder: Path, environment: dict[str, str], named: DepthMap, expected: NDArray[np.float32]
) -> None:
    assert (named.kind, named.model) == (DepthKind.INVERSE_DEPTH, "da2-small")
    assert relative_error(named.values, expected) <= 1e-4

    again = depth(folder, environment, "-o", "again.exr", "--model", "da2-small")
    assert again.stderr == ""
    np.testing.assert_array_equal(read_depth(folder / "again.exr").values, named.values)


@pytest.mark.usefixtures("named")
def test_the_file_in_the_cache_carries_its_contract(folder: Path) -> None:
    (file,) = (folder / "cache/depthsmith/models").glob("*.onnx")
    done = subprocess.run(
        [COMMAND, "inspect", "--json", file], capture_output=True, text=True, check=True
    )
    document = json.loads(done.stdout)
    contract = Contract.from_json(json.dumps(document["contract"]))
    assert contract.source is not None and contract.verification is not None
    assert contract.source.repository == MODELS["da2-small"].repository
    assert contract.source.license == "apache-2.0"
    assert contract.size.fixed is None


@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")
def test_a_file_traced_by_torch_gives_the_same(
    folder: Path,
    environment: dict[str, str],
    network: torch.nn.Module,
    named: DepthMap,
    expected: NDArray[np.float32],
) -> None:
    traced = folder / "traced.onnx"
    torch.onnx.export(
        network, (torch.zeros(1, 3, 518, 518),), traced, dynamo=False, opset_version=18,
        input_names=["pixel_values"], output_names=["predicted_depth"],
        dynamic_axes={"pixel_values": {0: "batch"}, "predicted_depth": {0: "batch"}},
    )  # fmt: skip
    options = ["--model", "traced.onnx", "--kind", "inverse-depth", "--fit", "official"]
    depth(folder, environment, "-o", "traced.npy", *options)
    found = np.load(folder / "traced.npy")
    assert relative_error(found, expected) <= 1e-4
    assert relative_error(found, named.values) <= 1e-4
