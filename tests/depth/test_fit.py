"""Fitting and restoring, against the upstream code and PyTorch."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import cv2
import numpy as np
import pytest
import torch
from skimage import data
from torch.nn import functional

from depthsmith.contract import InputSpec, SizeRule
from depthsmith.depth.fit import fit, fit_by_area, official_size, restore, restore_mask, to_input
from depthsmith.errors import ModelError, UsageError
from depthsmith.types import Placement, Size
from upstream import install_torchvision_stand_in

install_torchvision_stand_in()

from depth_anything_3.utils.io.input_processor import InputProcessor  # noqa: E402
from depth_anything_v2.util.transform import (  # noqa: E402
    NormalizeImage,
    PrepareForNet,
    Resize,
)

ANY = SizeRule(None, None)
IMAGENET = InputSpec("image", "float32", "NCHW", "imagenet")
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
PHOTOS = {
    "astronaut": data.astronaut(),  # 512x512
    "coffee": data.coffee()[:, :597],  # 400x597
    "chelsea": data.chelsea()[7:, 2:],  # 293x449
    "rocket": data.rocket(),  # 427x640
    "tall": np.ascontiguousarray(data.rocket()[:, 200:331]),  # 427x131
    "tiny": np.ascontiguousarray(data.coffee()[200:219, 200:223]),
    "large": np.tile(data.coffee(), (3, 3, 1))[:1111, :1777],
}
ODD_SIZES = [
    Size(h, w)
    for h in (1, 7, 37, 240, 518, 720, 1080, 2160)
    for w in (1, 30, 504, 519, 1920, 4001)
]


def upstream_v2(rgb: np.ndarray, resolution: int) -> np.ndarray:
    """``DepthAnythingV2.image2tensor`` step by step, without its device."""
    sample = {"image": rgb / 255.0}
    for step in (
        Resize(resolution, resolution, False, True, 14, "lower_bound", cv2.INTER_CUBIC),
        NormalizeImage(MEAN, STD),
        PrepareForNet(),
    ):
        sample = step(sample)
    return sample["image"]


def upstream_da3(rgb: np.ndarray, resolution: int) -> np.ndarray:
    tensor, _, _ = InputProcessor()([rgb], process_res=resolution, num_workers=1)
    return tensor.numpy()


@pytest.mark.parametrize("resolution", [None, 252, 520])
@pytest.mark.parametrize("name", PHOTOS)
def test_official_v2_is_upstream(name: str, resolution: int | None) -> None:
    rgb = PHOTOS[name]
    for preprocessing in ("da1", "da2"):
        fitted = fit(
            rgb, method="official", preprocessing=preprocessing, rule=ANY, resolution=resolution
        )
        ours = to_input([fitted.pixels], IMAGENET)[0]
        theirs = upstream_v2(rgb, resolution or 518)
        assert ours.shape == theirs.shape
        # The pixels are kept in float32: half a step of that, over the smallest std.
        assert np.abs(ours - theirs).max() <= 1e-6
        assert fitted.placement.align_corners == (preprocessing == "da2")
    # Cubic overshoot is kept, as upstream keeps it.
    if name == "rocket":
        assert fitted.pixels.min() < -1


@pytest.mark.parametrize("resolution", [None, 252, 700])
@pytest.mark.parametrize("name", PHOTOS)
def test_official_da3_is_upstream(name: str, resolution: int | None) -> None:
    rgb = PHOTOS[name]
    fitted = fit(rgb, method="official", preprocessing="da3", rule=ANY, resolution=resolution)
    ours = to_input([fitted.pixels], IMAGENET)[0]
    theirs = upstream_da3(rgb, resolution or 504)[0]
    assert ours.shape == theirs.shape
    assert np.abs(ours - theirs).max() <= 1e-6
    assert fitted.pixels.dtype == np.uint8


def test_official_sizes_are_upstreams() -> None:
    for source in ODD_SIZES:
        long_side, short_side = max(source), min(source)
        resize = Resize(518, 518, False, True, 14, "lower_bound")
        width, height = resize.get_size(source.width, source.height)
        size = official_size(source, "da2")
        if long_side <= 4 * short_side:
            assert size == (height, width), source
        else:
            assert size.height * size.width <= 4 * 518**2, source
            assert min(size) >= 14
            assert size.height % 14 == size.width % 14 == 0
        processor = InputProcessor()
        bounded = processor._resize_image(
            processor._load_image(np.zeros((*source, 3), np.uint8)), 504, "upper_bound_resize"
        )
        theirs = processor._make_divisible_by_resize(bounded, 14).size
        size = official_size(source, "da3")
        # Upstream makes sides of 1 pixel of strips longer than 504:7, which no network takes.
        assert size == tuple(max(side, 14) for side in theirs[::-1]), source


def test_extreme_shapes_stay_affordable() -> None:
    """The longest input has four times the tokens of a square one, whatever the picture."""
    for source in (Size(1, 20), Size(20, 1), Size(100, 2000), Size(1, 30000), Size(30000, 2)):
        rgb = np.zeros((*source, 3), np.uint8)
        for method in ("official", "letterbox", "stretch"):
            for preprocessing in ("da1", "da2", "da3"):
                placement = fit(
                    rgb, method=method, preprocessing=preprocessing, rule=ANY
                ).placement
                height, width = placement.network
                assert height % 14 == width % 14 == 0, (source, method)
                assert min(placement.content) >= 1
                # Padding may double the short side of a strip of one or two patches.
                squares = 8 if method == "letterbox" else 4
                assert height * width <= squares * 518**2, (source, method)
                assert restore(np.zeros(placement.network), placement).shape == source
    assert official_size(Size(100, 2000), "da2") == (224, 4620)  # 20.6:1


def test_official_needs_a_file_that_takes_its_size() -> None:
    rgb = PHOTOS["coffee"]
    with pytest.raises(UsageError, match=r"518x770.*letterbox"):
        fit(rgb, method="official", preprocessing="da2", rule=SizeRule(518, 518))
    fitted = fit(rgb, method="official", preprocessing="da2", rule=SizeRule(518, 770))
    assert fitted.placement.network == (518, 770)
    with pytest.raises(UsageError, match="not known how"):
        fit(rgb, method="official", preprocessing=None, rule=ANY)
    with pytest.raises(UsageError, match="fixed size 518x518"):
        fit(rgb, method="letterbox", preprocessing="da2", rule=SizeRule(518, 518), resolution=252)
    with pytest.raises(UsageError, match="at least 14"):
        fit(rgb, method="official", preprocessing="da2", rule=ANY, resolution=13)


@pytest.mark.parametrize(
    "rule", [SizeRule(518, 518), SizeRule(294, 518), SizeRule(518, None), ANY]
)
@pytest.mark.parametrize("name", ["coffee", "tall", "tiny", "large"])
def test_letterbox(name: str, rule: SizeRule) -> None:
    rgb = PHOTOS[name]
    fitted = fit(rgb, method="letterbox", preprocessing="da2", rule=rule)
    place = fitted.placement
    assert rule.accepts(place.network)
    # The aspect ratio is kept to half a pixel.
    scale = max(place.content.height / rgb.shape[0], place.content.width / rgb.shape[1])
    assert abs(place.content.height - scale * rgb.shape[0]) <= 1
    assert abs(place.content.width - scale * rgb.shape[1]) <= 1
    # Centred, and the padding is zero to the network.
    assert abs(2 * place.top + place.content.height - place.network.height) <= 1
    assert abs(2 * place.left + place.content.width - place.network.width) <= 1
    padding = np.ones(place.network, bool)
    padding[place.rows, place.columns] = False
    assert np.abs(to_input([fitted.pixels], IMAGENET)[0][:, padding]).max(initial=0) < 1e-6
    if rule.fixed:
        touched = place.content.height == 518 or place.content.width == 518
        assert touched or place.content.height == 294
    # The picture inside is the picture: area or cubic, as OpenCV makes it.
    grows = place.content.height > rgb.shape[0]
    inside = cv2.resize(
        rgb,
        (place.content.width, place.content.height),
        interpolation=cv2.INTER_CUBIC if grows else cv2.INTER_AREA,
    )
    assert np.array_equal(fitted.pixels[place.rows, place.columns], inside)


def test_stretch_is_the_seeds_example() -> None:
    rgb = PHOTOS["coffee"]
    fitted = fit(rgb, method="stretch", preprocessing="da3", rule=SizeRule(518, 518))
    resized = cv2.resize(rgb, (518, 518), interpolation=cv2.INTER_CUBIC)
    x = resized.astype(np.float32) / 255.0
    x = (x - np.array(MEAN, np.float32)) / np.array(STD, np.float32)
    x = np.transpose(x, (2, 0, 1))[None, ...]
    assert np.abs(to_input([fitted.pixels], IMAGENET) - x).max() <= 1e-6
    depth = np.random.default_rng(0).random((518, 518), np.float32)
    back = cv2.resize(depth, (rgb.shape[1], rgb.shape[0]))
    assert np.array_equal(restore(depth, fitted.placement), back)
    assert fit(
        rgb, method="stretch", preprocessing="da3", rule=ANY, resolution=250
    ).placement.network == (252, 252)


def test_to_input_layouts() -> None:
    pixels = [PHOTOS["tiny"], PHOTOS["tiny"][::-1]]
    reference = to_input(pixels, IMAGENET)
    assert reference.shape == (2, 3, 19, 23)
    nhwc = to_input(pixels, InputSpec("x", "float32", "NHWC", "imagenet"))
    assert np.array_equal(nhwc.transpose(0, 3, 1, 2), reference)
    views = to_input(pixels, InputSpec("x", "float32", "NSCHW", "imagenet"))
    assert np.array_equal(views[:, 0], reference)
    half = to_input(pixels, InputSpec("x", "float16", "NCHW", "imagenet"))
    assert half.dtype == np.float16
    assert np.array_equal(half, reference.astype(np.float16))
    unit = to_input(pixels, InputSpec("x", "float32", "NHWC", "zero_one"))
    assert np.allclose(unit * 255, pixels, atol=1e-4)
    folded = InputSpec("x", "uint8", "NHWC", "none")
    assert np.array_equal(to_input(pixels, folded), pixels)
    overshoot = np.array([[[-3.2, 254.5, 260.0]]], np.float32)
    assert to_input([overshoot], folded).tolist() == [[[[0, 254, 255]]]]
    with pytest.raises(UsageError, match="normalised"):
        to_input(pixels, InputSpec("x", "float32", "NHWC", None))
    with pytest.raises(UsageError, match="uint8"):
        to_input(pixels, InputSpec("x", "uint8", "NHWC", "imagenet"))


SIZES = [
    (Size(37, 53), Size(480, 641)),
    (Size(518, 770), Size(400, 597)),
    (Size(14, 518), Size(14, 518)),
    (Size(14, 14), Size(1, 1)),
    (Size(28, 28), Size(1, 91)),
    (Size(280, 154), Size(140, 77)),
    (Size(1, 14), Size(40, 3)),
]


@pytest.mark.parametrize("align_corners", [True, False])
@pytest.mark.parametrize(("network", "source"), SIZES)
def test_restore_is_torch_interpolate(network: Size, source: Size, align_corners: bool) -> None:
    values = np.random.default_rng(1).random(network).astype(np.float32) * 40
    placement = Placement(source, network, 0, 0, network, align_corners)
    theirs = functional.interpolate(
        torch.from_numpy(values).double()[None, None],
        tuple(source),
        mode="bilinear",
        align_corners=align_corners,
    )[0, 0].numpy()
    ours = restore(values, placement)
    assert ours.dtype == np.float32
    assert ours.shape == source
    # Float32 weights on positions up to 800 px: 800 * 2**-24 px, times the step per pixel.
    assert np.abs(ours - theirs).max() / np.ptp(values) <= 1e-5


def test_restore_of_a_smooth_map_is_exact() -> None:
    """A plane stays a plane, by closed form."""
    rows, columns = np.mgrid[0:37, 0:53].astype(np.float32)
    placement = Placement(Size(361, 521), Size(37, 53), 0, 0, Size(37, 53), align_corners=True)
    y, x = np.mgrid[0:361, 0:521]
    assert np.allclose(restore(rows + 3 * columns, placement), y / 10 + 3 * x / 10, atol=1e-4)


def test_restore_cuts_the_padding() -> None:
    fitted = fit(PHOTOS["tall"], method="letterbox", preprocessing="da2", rule=SizeRule(252, 252))
    place = fitted.placement
    values = np.full(place.network, np.nan, np.float32)
    values[place.rows, place.columns] = np.random.default_rng(0).random(place.content)
    restored = restore(values, place)
    assert np.isfinite(restored).all()
    with pytest.raises(ModelError, match="37, 37"):
        restore(np.zeros((37, 37)), place)


@pytest.mark.parametrize("align_corners", [True, False])
def test_mask_goes_back_with_its_map(align_corners: bool) -> None:
    """An edge of the mask comes back where the same edge of a ramp comes back."""
    network, source = Size(14, 140), Size(33, 611)
    placement = Placement(source, network, 0, 0, network, align_corners)
    ramp = np.tile(np.arange(140, dtype=np.float32), (14, 1))
    back = restore_mask(ramp >= 70, placement)
    expected = restore(ramp, placement) >= 69.5
    assert back.dtype == bool
    assert (back != expected).mean() <= 1 / 611
    assert np.array_equal(
        restore_mask(ramp >= 70, Placement(network, network, 0, 0, network)), ramp >= 70
    )


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
def test_memory_of_fitting_a_large_photo() -> None:
    """Upstream's float64 copy of 8192x4096 takes 805 MB; ours stays below 300 MB."""
    script = """
        import re
        from pathlib import Path
        import numpy as np
        from depthsmith.contract import SizeRule
        from depthsmith.depth.fit import fit, fit_by_area, restore
        def peak():
            status = Path("/proc/self/status").read_text()
            return int(re.search(r"VmHWM:\\s+(\\d+) kB", status)[1]) / 1024
        rgb = np.ones((4096, 8192, 3), np.uint8)
        before = peak()
        rule = SizeRule(None, None)
        fitted = fit(rgb, method="official", preprocessing="da2", rule=rule)
        middle = peak()
        restore(np.ones(fitted.placement.network), fitted.placement)
        print(middle - before, peak() - before)
    """
    run = [sys.executable, "-c", textwrap.dedent(script)]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    fitting, restoring = map(float, done.stdout.split())
    assert 4096 * 1036 * 24 / 2**20 <= fitting <= 300
    assert restoring <= 300  # the map itself is 128 MB


@pytest.mark.parametrize(("height", "width"), [(1080, 1920), (720, 1280), (721, 1281), (90, 160)])
def test_frames_are_fitted_by_area(height: int, width: int) -> None:
    """Against the integral over each pixel, in float64."""
    rgb = np.random.default_rng(3).integers(0, 256, (height, width, 3), dtype=np.uint8)
    rgb = cv2.blur(rgb, (5, 5))
    fitted = fit_by_area(rgb, "da3", SizeRule(None, None), 140)
    network = fitted.placement.network
    assert network == official_size(Size(height, width), "da3", 140)

    def shares(old: int, new: int) -> np.ndarray:
        edges = np.arange(new + 1) * old / new
        pixels = np.arange(old)
        ends = np.minimum(edges[1:, None], pixels + 1) - np.maximum(edges[:-1, None], pixels)
        return np.clip(ends, 0, 1) * new / old

    mean = np.einsum("ij,jkc->ikc", shares(height, network.height), rgb.astype(float))
    mean = np.einsum("ij,kjc->kic", shares(width, network.width), mean)
    difference = np.abs(fitted.pixels - mean)
    assert difference.max() < 3.0
    assert difference.mean() < 0.6  # rounding alone is 0.25
