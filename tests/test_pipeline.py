"""A photo through a network whose answer is known in closed form.

The fake network gives the mean over colour of what it is fed, so that what comes back tells
exactly how the photo was resized, padded, normalised, laid out, and restored.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from skimage import data
from torch.nn import functional as F  # noqa: N812 - upstream's own name for it

from depthsmith.contract import (
    IMAGENET_MEAN,
    IMAGENET_STD,
    Contract,
    InputSpec,
    OutputSpec,
    SizeRule,
)
from depthsmith.errors import ImageError, InputError, ModelError, UsageError
from depthsmith.pipeline import Predictor
from depthsmith.runtime import FakeSession, open_session
from depthsmith.types import DepthKind, Photo, Size
from tiny_onnx import mean_model
from upstream import install_torchvision_stand_in

DA2 = Contract(
    model="da2-small",
    input=InputSpec("pixel_values", "float32", "NCHW", "imagenet"),
    size=SizeRule(None, None),
    outputs=(OutputSpec.depth("predicted_depth", DepthKind.INVERSE_DEPTH),),
    preprocessing="da2",
)
MONO = replace(
    DA2,
    model="da3mono-large",
    outputs=(OutputSpec.depth("depth", DepthKind.DEPTH), OutputSpec("sky", "sky")),
    preprocessing="da3",
)

Array = NDArray[np.float32]


def fed(rgb: NDArray[np.uint8], normalization: str) -> NDArray[np.float64]:
    """What the network sees of each pixel, averaged over colour."""
    values = rgb.astype(np.float64)
    if normalization == "zero_one":
        values = values / 255
    elif normalization == "imagenet":
        values = (values / 255 - IMAGENET_MEAN) / IMAGENET_STD
    mean: NDArray[np.float64] = values.mean(axis=2)
    return mean


def noise(height: int, width: int, seed: int = 0) -> NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


@pytest.mark.parametrize("layout", ["NCHW", "NHWC", "NSCHW"])
@pytest.mark.parametrize(
    ("dtype", "normalization"),
    [
        ("float32", "imagenet"),
        ("float32", "zero_one"),
        ("float32", "none"),
        ("float16", "imagenet"),
        ("uint8", "none"),
    ],
)
@pytest.mark.parametrize("fixed", [False, True])
def test_layouts_dtypes_and_normalisations(
    tmp_path: Path, layout: str, dtype: str, normalization: str, fixed: bool
) -> None:
    """A real file of each signature, at the photo's own size: nothing is resampled."""
    path = mean_model(
        tmp_path / "m.onnx",
        layout=layout,
        dtype=dtype,
        height=28 if fixed else "h",
        width=42 if fixed else "w",
        output_rank=4,
    )
    predictor = Predictor(
        open_session(path, provider="cpu"),
        fit=None if fixed else "letterbox",
        resolution=None if fixed else 28,
        kind="depth",
        normalization=normalization.replace("_", "-"),
    )
    photo = noise(28, 42)
    depth = predictor.predict(photo)
    assert depth.kind is DepthKind.DEPTH
    assert depth.source_size == Size(28, 42)
    expected = fed(photo, normalization)
    tolerance = 2e-3 if dtype == "float16" else 2e-6
    scale = np.abs(expected).max()
    assert np.abs(depth.values - expected).max() <= tolerance * scale


@pytest.mark.parametrize("size", [(480, 640), (427, 641), (33, 500), (1, 1), (7, 3)])
@pytest.mark.parametrize("method", ["official", "letterbox", "stretch"])
@pytest.mark.parametrize("family", ["da1", "da2", "da3"])
def test_a_plain_photo_stays_plain_at_every_size(
    size: tuple[int, int], method: str, family: str
) -> None:
    """Neither padding nor interpolation adds anything of its own."""
    session = FakeSession(replace(DA2, preprocessing=family))  # type: ignore[arg-type]
    predictor = Predictor(session, fit=method, resolution=112)  # type: ignore[arg-type]
    photo = np.full((*size, 3), (200, 30, 90), np.uint8)
    depth = predictor.predict(photo)
    assert depth.size == Size(*size)
    np.testing.assert_allclose(depth.values, fed(photo, "imagenet"), atol=1e-5)
    height, width = session.batches[0][2:]
    assert height % 14 == 0 and width % 14 == 0


def test_padding_never_comes_back() -> None:
    """A network that answers 1000 on padding, which is exactly 0 once normalised."""
    contract = replace(DA2, size=SizeRule(140, 140))

    def compute(images: Array) -> dict[str, Array]:
        padding = np.abs(images).max(axis=1) < 1e-6
        return {"depth": np.where(padding, 1000, images.mean(axis=1)).astype(np.float32)}

    predictor = Predictor(FakeSession(contract, compute))
    assert predictor.fit == "letterbox"
    for size in ((60, 200), (200, 60), (140, 140)):
        depth = predictor.predict(noise(*size))
        assert depth.size == Size(*size)
        assert np.abs(depth.values).max() < 3


@pytest.mark.parametrize("name", ["coffee", "rocket"])
def test_a_real_photo_as_upstream_prepares_and_restores_it(name: str) -> None:
    """Against ``DepthAnythingV2.infer_image`` with the same mean in the place of its network."""
    install_torchvision_stand_in()
    from depth_anything_v2.dpt import DepthAnythingV2

    photo = getattr(data, name)()[:-1, :-2]  # 399x598 and 426x638
    image, size = DepthAnythingV2.image2tensor(None, photo[..., ::-1])
    # In float32 torch rounds the sampling positions, to 2e-5 of the range on these photos.
    mean = image.mean(dim=1, keepdim=True).double()
    expected = F.interpolate(mean, size, mode="bilinear", align_corners=True)[0, 0].numpy()
    found = Predictor(FakeSession(DA2)).predict(photo).values
    assert np.abs(found - expected).max() <= 2e-6 * np.ptp(expected)


def test_sky_is_pushed_to_the_far_end_of_the_rest() -> None:
    """DA3's rule: at least 0.3 is sky, and gets the 0.99 quantile of what is not."""
    ramp = np.linspace(1, 2, 100 * 98, dtype=np.float32).reshape(98, 100)[:, :98]

    def compute(images: Array) -> dict[str, Array]:
        sky = np.zeros((1, 98, 98), np.float32)
        sky[:, :20] = 0.3
        sky[:, 20:30] = 0.299
        depth = ramp[None].copy()
        depth[:, :20] = 7777  # a network's depth of sky means nothing
        return {"depth": depth, "sky": sky}

    depth = Predictor(FakeSession(MONO, compute), fit="stretch", resolution=98).predict(
        noise(98, 98)
    )
    assert depth.sky is not None
    assert depth.sky[:20].all() and not depth.sky[20:].any()
    np.testing.assert_allclose(depth.values[20:], ramp[20:], rtol=1e-6)
    np.testing.assert_allclose(depth.values[:20], np.quantile(ramp[20:], 0.99), rtol=1e-6)


@pytest.mark.parametrize("sky_value", [0.0, 1.0])
def test_all_sky_or_none_leaves_depth_alone(sky_value: float) -> None:
    def compute(images: Array) -> dict[str, Array]:
        sky = np.full(images[:, 0].shape, sky_value, np.float32)
        return {"depth": images.mean(axis=1), "sky": sky}

    photo = noise(98, 98)
    depth = Predictor(FakeSession(MONO, compute), fit="stretch", resolution=98).predict(photo)
    assert depth.sky is not None
    assert depth.sky.all() == bool(sky_value)
    np.testing.assert_allclose(depth.values, fed(photo, "imagenet"), atol=1e-5)


def test_confidence_comes_along(tmp_path: Path) -> None:
    path = mean_model(tmp_path / "m.onnx", names=("image", "depth"), confidence=1.5)
    predictor = Predictor(
        open_session(path, provider="cpu"), kind="depth", family="da3", resolution=98
    )
    depth = predictor.predict(noise(98, 98))
    assert depth.confidence is not None
    np.testing.assert_allclose(depth.confidence, depth.values + 1.5, atol=1e-5)


def test_many_photos_are_as_each_alone_and_share_batches() -> None:
    session = FakeSession(DA2)
    predictor = Predictor(session, resolution=56)
    photos = [noise(60, 80, 1), noise(60, 80, 2), noise(60, 80, 3), noise(90, 60, 4)]
    alone = [predictor.predict(photo).values for photo in photos]
    session.batches.clear()
    together = list(predictor.predict_many(photos, batch_size=2))
    assert [shape[0] for shape in session.batches] == [2, 1, 1]
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other.values)


def test_many_photos_are_read_when_their_turn_comes() -> None:
    predictor = Predictor(FakeSession(DA2), resolution=56)
    seen = []

    def photos() -> object:
        for i in range(4):
            seen.append(i)
            yield noise(28, 28, i)

    answers = predictor.predict_many(photos())  # type: ignore[arg-type]
    next(answers)
    assert len(seen) <= 2


def test_a_fixed_batch_is_filled_up() -> None:
    session = FakeSession(replace(DA2, size=SizeRule(28, 28, batch=3)))
    photo = noise(28, 28)
    depth = Predictor(session).predict(photo)
    assert session.batches == [(3, 3, 28, 28)]
    np.testing.assert_allclose(depth.values, fed(photo, "imagenet"), atol=1e-5)


def test_a_frozen_output_is_an_error(tmp_path: Path) -> None:
    path = mean_model(tmp_path / "m.onnx", frozen=(98, 98))
    predictor = Predictor(open_session(path, provider="cpu"), kind="inverse-depth", resolution=98)
    assert predictor.predict(noise(98, 98)).size == Size(98, 98)
    with pytest.raises(ModelError, match=r"is \(1, 98, 98\) for an input of 98x196.*follow"):
        predictor.predict(noise(98, 196))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite_are_an_error(value: float) -> None:
    def compute(images: Array) -> dict[str, Array]:
        depth = images.mean(axis=1)
        depth[0, 3, 4] = value
        return {"depth": depth}

    with pytest.raises(ModelError, match="1 of 3136 values of 'predicted_depth' are not finite"):
        Predictor(FakeSession(DA2, compute), resolution=56).predict(noise(56, 56))


def test_what_is_not_known_is_asked_for(tmp_path: Path) -> None:
    bare = open_session(mean_model(tmp_path / "m.onnx", names=("x", "y")), provider="cpu")
    with pytest.raises(ModelError, match=r"m\.onnx does not say .*--kind.*--normalization"):
        Predictor(bare)
    with pytest.raises(ModelError, match="--normalization imagenet, zero-one or none"):
        Predictor(bare, kind="depth")
    with pytest.raises(ModelError, match=r"--family da1, da2 or da3.*--fit letterbox"):
        Predictor(bare, kind="depth", normalization="none")
    assert Predictor(bare, kind="depth", normalization="none", family="da3").fit == "official"
    assert Predictor(bare, kind="depth", normalization="none", fit="stretch").fit == "stretch"
    with pytest.raises(UsageError, match="--kind near is not one of inverse-depth"):
        Predictor(bare, kind="near")


def test_a_carried_contract_cannot_be_contradicted() -> None:
    session = FakeSession(DA2)
    with pytest.raises(UsageError, match="da2-small says itself"):
        Predictor(session, kind="depth")
    with pytest.raises(UsageError, match="da2-small says itself"):
        Predictor(session, family="da3")
    assert Predictor(session, kind="inverse-depth", family="da2").contract == DA2


def test_images_in_every_form(tmp_path: Path) -> None:
    from PIL import Image

    rgb = noise(56, 84)
    path = tmp_path / "photo.png"
    Image.fromarray(rgb).save(path)
    predictor = Predictor(FakeSession(DA2), resolution=56)
    expected = predictor.predict(Photo(rgb)).values
    for image in (rgb, path, str(path), path.read_bytes(), Image.open(path)):
        np.testing.assert_array_equal(predictor.predict(image).values, expected)
    with pytest.raises(ImageError):
        predictor.predict(tmp_path / "none.png")


def test_notes_of_reading_arrive() -> None:
    photo = Photo(noise(56, 56), notes=("first of 3 pages",))
    assert Predictor(FakeSession(DA2), resolution=56).predict(photo).notes == ("first of 3 pages",)


CANONICAL = replace(
    MONO, outputs=(OutputSpec.depth("depth", DepthKind.CANONICAL),), model="da3metric-large"
)


def test_metres_take_the_focal_length_at_the_network() -> None:
    """``metres = focal * value / 300``, the focal length scaled as the photo is."""
    predictor = Predictor(FakeSession(CANONICAL), resolution=56)
    photo = noise(112, 112)  # halved
    raw = predictor.predict(photo)
    assert raw.kind is DepthKind.CANONICAL
    metres = predictor.predict(photo, as_="depth-m", focal_px=600)
    assert (metres.kind, metres.unit) == (DepthKind.DEPTH_M, "m")
    np.testing.assert_allclose(metres.values, raw.values * 300 / 300, rtol=1e-6)
    by_angle = predictor.predict(photo, as_="depth-m", fov_deg=90)
    np.testing.assert_allclose(by_angle.values, raw.values * 28 / 300, rtol=1e-6)


def test_focal_length_of_exif_is_used_where_none_is_given() -> None:
    predictor = Predictor(FakeSession(CANONICAL), resolution=112)
    photo = Photo(noise(112, 112), focal_35mm=43.2666)  # the diagonal of 35 mm film
    raw = predictor.predict(photo)
    diagonal_px = 112 * 2**0.5
    metres = predictor.predict(photo, as_="depth-m")
    np.testing.assert_allclose(metres.values, raw.values * diagonal_px / 300, rtol=1e-5)
    given = predictor.predict(photo, as_="depth-m", focal_px=300)
    np.testing.assert_allclose(given.values, raw.values, rtol=1e-6)


def test_no_metres_without_a_focal_length_or_from_relative_depth() -> None:
    with pytest.raises(UsageError, match="--focal-px or --fov"):
        Predictor(FakeSession(CANONICAL), resolution=56).predict(noise(56, 56), as_="depth-m")
    with pytest.raises(UsageError, match="which has no metres"):
        Predictor(FakeSession(DA2), resolution=56).predict(
            noise(56, 56), as_="depth-m", focal_px=500
        )
    with pytest.raises(UsageError, match="give one"):
        Predictor(FakeSession(DA2)).predict(noise(56, 56), focal_px=500, fov_deg=60)


def test_names_that_are_none_are_not_taken_for_the_default() -> None:
    predictor = Predictor(FakeSession(DA2), resolution=56)
    with pytest.raises(UsageError, match="depth-m, raw, not 'depth_m'"):
        predictor.predict(noise(56, 56), as_="depth_m")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="letterbox, stretch, not 'crop'"):
        Predictor(FakeSession(DA2), fit="crop")  # type: ignore[arg-type]


def test_an_input_that_no_memory_holds_is_named() -> None:
    """OpenCV says so by an exception of its own, NumPy by ``MemoryError``."""
    huge = Predictor(FakeSession(DA2), fit="stretch", resolution=14 * 10**6)
    with pytest.raises(InputError, match="not enough memory for the 42x56 photo"):
        huge.predict(noise(56, 42))
