"""A real photo of odd size, from pixels to depth map, against upstream's own calls."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from skimage import data

import upstream
from depthsmith.build import build_file
from depthsmith.catalog import MODELS
from depthsmith.checkpoint.load import load_checkpoint
from depthsmith.graph.network import GraphOptions
from depthsmith.pipeline import Predictor
from depthsmith.runtime import open_session
from depthsmith.types import DepthKind
from networks import relative_error
from tolerances import END_TO_END


@pytest.fixture(scope="module")
def photo():
    return np.ascontiguousarray(data.coffee()[3:400, 7:598])  # (397, 591, 3)


def _predictor(folder, weights, model=None, **options):
    checkpoint = load_checkpoint(weights, model=MODELS[model] if model else None)
    build_file(checkpoint, GraphOptions(attention="fused"), folder / "x.onnx", check="none")
    return Predictor(open_session(folder / "x.onnx", provider="cpu"), **options)


def test_v2_against_infer_image(photo, tmp_path):
    """The official network, preprocessing and resize back in one call."""
    model = upstream.original_v2()
    torch.save(model.state_dict(), tmp_path / "v2.pth")
    predictor = _predictor(tmp_path, tmp_path / "v2.pth", "da2-small")
    expected = model.infer_image(photo[..., ::-1])
    depth = predictor.predict(photo)
    assert depth.kind is DepthKind.INVERSE_DEPTH
    assert relative_error(depth.values, expected) <= END_TO_END


def test_v2_at_another_resolution(photo, tmp_path):
    model = upstream.original_v2()
    torch.save(model.state_dict(), tmp_path / "v2.pth")
    predictor = _predictor(tmp_path, tmp_path / "v2.pth", "da2-small", resolution=266)
    expected = model.infer_image(photo[..., ::-1], 266)
    assert relative_error(predictor.predict(photo).values, expected) <= END_TO_END


def _da3_upstream(model, photo, resolution):
    """DA3's InputProcessor, network and sky handling; its depth stays at the network's size."""
    from addict import Dict
    from depth_anything_3.utils.io.input_processor import InputProcessor

    image, _, _ = InputProcessor()([photo], process_res=resolution, num_workers=1)
    maps = upstream.run_da3(model, image)
    output = Dict({name: torch.from_numpy(values) for name, values in maps.items()})
    return model._process_mono_sky_estimation(output).depth


def _restored(depth, photo):
    """No upstream call enlarges DA3's depth; torch's own interpolation stands for it."""
    size = photo.shape[:2]
    return F.interpolate(depth[:, None], size, mode="bilinear", align_corners=False)[0, 0].numpy()


def test_da3_small_against_its_input_processor(photo, tmp_path):
    model = upstream.da3("da3-small")
    predictor = _predictor(tmp_path, upstream.save_da3(model, tmp_path / "w", "da3-small"))
    depth = predictor.predict(photo)
    assert depth.kind is DepthKind.DEPTH
    expected = _restored(_da3_upstream(model, photo, 504), photo)
    assert relative_error(depth.values, expected) <= END_TO_END


def test_da3_metric_with_sky(photo, tmp_path):
    """Sky goes to the 0.99 quantile of the rest before the map is enlarged."""
    model = upstream.da3("da3metric-large")
    weights = upstream.save_da3(model, tmp_path / "w", "da3metric-large")
    # Small enough that upstream uses every pixel for the quantile and not a random sample.
    predictor = _predictor(tmp_path, weights, resolution=266)
    depth = predictor.predict(photo)
    assert depth.kind is DepthKind.CANONICAL
    small = _da3_upstream(model, photo, 266)
    assert depth.sky is not None and 0.02 < depth.sky.mean() < 0.98
    expected = _restored(small, photo)
    # Where sky meets the rest, which side a pixel of the enlarged map belongs to is rounding.
    close = np.abs(depth.values - expected) <= END_TO_END * np.ptp(expected)
    assert close[_away_from_edges(depth.sky)].all()
    assert close.mean() > 0.9


def _away_from_edges(sky):
    import cv2

    kernel = np.ones((7, 7), np.uint8)
    grown = cv2.dilate(sky.astype(np.uint8), kernel) != cv2.erode(sky.astype(np.uint8), kernel)
    return ~grown
