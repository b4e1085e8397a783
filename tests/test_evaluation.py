"""Whole evaluations against numbers worked out here with NumPy, and files of every format."""

from __future__ import annotations

import csv
import io
import struct
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import cv2
import numpy as np
import OpenEXR
import pytest
import skimage.data
import torch
from numpy.typing import NDArray
from PIL import Image

import depthsmith
from depthsmith.contract import Contract, InputSpec, OutputSpec, SizeRule
from depthsmith.depth.truth_grid import check_crop, crop_mask, resize_to_truth
from depthsmith.errors import (
    DatasetError,
    DepthsmithError,
    InputError,
    ModelError,
    UsageError,
)
from depthsmith.evaluation import (
    Evaluation,
    FilePredictions,
    ModelPredictions,
    evaluate,
    open_dataset,
)
from depthsmith.evaluation.report import (
    MEASURES,
    accuracy_line,
    document,
    rows,
    warnings,
    write_csv,
)
from depthsmith.evaluation.sheet import WorstSheet
from depthsmith.media.depth_file import write_depth
from depthsmith.types import DepthKind, DepthMap, Size
from scenes import KINDS, make_scene, render
from tiny_onnx import mean_model

Values = NDArray[np.float64]
HEIGHT, WIDTH = 72, 96


def numpy_scores(
    predicted: Values, truth: Values, valid: NDArray[np.bool_], kind: str, cap_m: float
) -> dict[str, float]:
    """The protocol once more: least squares by ``lstsq``, then the definitions."""
    p, t = predicted[valid], truth[valid]
    if kind == "inverse_depth":
        a, b = np.linalg.lstsq(np.stack([p, np.ones_like(p)], 1), 1 / t, rcond=None)[0]
        aligned = a * p + b
        p = np.where(aligned > 0, 1 / np.where(aligned > 0, aligned, 1), cap_m)
    elif kind == "depth":
        a, b = np.linalg.lstsq(np.stack([p, np.ones_like(p)], 1), t, rcond=None)[0]
        p = a * p + b
    p = np.clip(p, 1e-3, cap_m)
    ratio = np.maximum(p / t, t / p)
    return {
        "abs_rel": float(np.mean(np.abs(p - t) / t)),
        "sq_rel": float(np.mean((p - t) ** 2 / t)),
        "rmse": float(np.sqrt(np.mean((p - t) ** 2))),
        "rmse_log": float(np.sqrt(np.mean((np.log(p) - np.log(t)) ** 2))),
        "log10": float(np.mean(np.abs(np.log10(p) - np.log10(t)))),
        "delta1": float(np.mean(ratio < 1.25)),
        "delta2": float(np.mean(ratio < 1.25**2)),
        "delta3": float(np.mean(ratio < 1.25**3)),
    }


def mean_of(scores: list[dict[str, float]]) -> dict[str, float]:
    return {name: float(np.mean([s[name] for s in scores])) for name in scores[0]}


def own_means(evaluation: Evaluation, names: dict[str, float]) -> dict[str, float]:
    return {name: getattr(evaluation.mean, name) for name in names}


def save_map(path: Path, values: Values, kind: DepthKind) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_depth(path, DepthMap(values.astype(np.float32), kind, Size(*values.shape)))


# --- the real scene with its own disparity


@pytest.fixture(scope="module")
def motorcycle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Middlebury's Motorcycle as published, a quarter of its size, from scikit-image."""
    root = tmp_path_factory.mktemp("middlebury") / "Motorcycle"
    root.mkdir()
    left, _, disparity = skimage.data.stereo_motorcycle()
    Image.fromarray(left).save(root / "im0.png")
    cv2.imwrite(str(root / "disp0.pfm"), disparity)
    (root / "calib.txt").write_text(
        "cam0=[994.978 0 311.193; 0 994.978 254.877; 0 0 1]\ndoffs=31.086\nbaseline=193.001\n"
    )
    return root.parent


def motorcycle_truth() -> tuple[Values, Values, NDArray[np.bool_]]:
    disparity = skimage.data.stereo_motorcycle()[2].astype(np.float64)
    known = np.isfinite(disparity)
    with np.errstate(invalid="ignore"):
        depth = np.where(known, 0.193001 * 994.978 / (disparity + 31.086), np.nan)
    return disparity, depth, known


@pytest.mark.parametrize("name", ["im0.pfm", "im0_depth.npy", "im0.exr", "im0.tiff"])
def test_motorcycle_with_its_own_disparity_is_perfect(
    motorcycle: Path, tmp_path: Path, name: str
) -> None:
    disparity, depth, known = motorcycle_truth()
    save_map(tmp_path / "Motorcycle" / name, disparity, DepthKind.INVERSE_DEPTH)
    result = evaluate(
        FilePredictions(tmp_path, DepthKind.INVERSE_DEPTH), open_dataset(motorcycle, "middlebury")
    )
    assert (result.failures, len(result.images)) == ((), 1)
    mean = result.mean
    assert mean.abs_rel == pytest.approx(0, abs=1e-6) and mean.delta1 == 1.0
    assert mean.rmse == pytest.approx(0, abs=1e-5) and mean.ordinal == 1.0
    assert (mean.edge_f, mean.pixels) == (1.0, int(known.sum()))
    # 1/z = (d + doffs) / (baseline * f)
    image = result.images[0]
    assert image.scale == pytest.approx(1 / (0.193001 * 994.978), rel=1e-5)
    assert image.shift == pytest.approx(31.086 / (0.193001 * 994.978), rel=1e-5)

    row = np.repeat((np.arange(500.0)[:, None] + 0.5) / 500, 741, axis=1)
    expected = numpy_scores(row, depth, known, "inverse_depth", float(depth[known].max()))
    for measure, value in expected.items():
        assert getattr(result.baseline, measure) == pytest.approx(value, rel=1e-5), measure
    # The documented low score, from numpy_scores above.
    assert result.baseline.abs_rel == pytest.approx(0.1409, abs=1e-4)
    assert result.baseline.delta1 == pytest.approx(0.7682, abs=1e-4)


# --- ten scenes through every format


@pytest.fixture(scope="module")
def scenes() -> list[tuple[NDArray[np.uint8], Values]]:
    """Photo and depth, infinite in the sky, of ten rendered scenes."""
    frames = [
        render(*make_scene(KINDS[k % len(KINDS)], k, HEIGHT, WIDTH), smooth_edges=False)
        for k in range(10)
    ]
    return [(frame.rgb, frame.depth_m.astype(np.float64)) for frame in frames]


def noisy(depth: Values, kind: DepthKind, seed: int) -> Values:
    """A prediction of ``kind`` with planted errors, scale and shift; finite everywhere."""
    rng = np.random.default_rng(seed)
    z = np.where(np.isfinite(depth), depth, 200.0)
    blotches = cv2.GaussianBlur(rng.normal(0, 1, depth.shape), (0, 0), 4)
    z = z * np.exp(0.12 * blotches / blotches.std())
    return {
        DepthKind.INVERSE_DEPTH: 37.0 / z + 4.0,
        DepthKind.DEPTH: 0.21 * z + 1.5,
        DepthKind.DEPTH_M: z,
    }[kind]


Writer = Callable[[Path, Values], None]


def _png(units: float) -> Writer:
    def write(path: Path, depth: Values) -> None:
        levels = np.where(np.isfinite(depth), np.rint(depth * units), 0)
        assert levels.max() <= 65535
        cv2.imwrite(str(path.with_suffix(".png")), levels.astype(np.uint16))

    return write


def _exr(path: Path, depth: Values) -> None:
    OpenEXR.File({}, {"Z": depth.astype(np.float32)}).write(str(path.with_suffix(".exr")))


def _pfm(path: Path, depth: Values) -> None:
    cv2.imwrite(str(path.with_suffix(".pfm")), depth.astype(np.float32))


def _npz(path: Path, depth: Values) -> None:
    np.savez(path.with_suffix(".npz"), depth=depth, mask=np.isfinite(depth))


def _dpt(path: Path, depth: Values) -> None:
    head = struct.pack("<fii", 202021.25, depth.shape[1], depth.shape[0])
    path.with_suffix(".dpt").write_bytes(head + depth.astype("<f4").tobytes())


def _own(path: Path, depth: Values) -> None:
    save_map(path.with_suffix(".tiff"), depth, DepthKind.DEPTH_M)


# Writer, --depth-scale, the layout, and how coarse its numbers are in metres.
FORMATS: dict[str, tuple[Writer, float | None, str, float]] = {
    "npy": (lambda path, depth: np.save(path.with_suffix(".npy"), depth), None, "pairs", 0.0),
    "npz": (_npz, None, "pairs", 0.0),
    "exr": (_exr, None, "pairs", 0.0),
    "pfm": (_pfm, None, "pairs", 0.0),
    "dpt": (_dpt, None, "pairs", 0.0),
    "own tiff": (_own, None, "pairs", 0.0),
    "png mm": (_png(1000), None, "pairs", 0.001),
    "png 1/500 m": (_png(500), 500, "pairs", 0.002),
    "png of kitti": (_png(256), None, "kitti", 1 / 256),
}
CAP_M = 60.0


@pytest.mark.parametrize("kind", [DepthKind.INVERSE_DEPTH, DepthKind.DEPTH, DepthKind.DEPTH_M])
@pytest.mark.parametrize("format", FORMATS)
def test_ten_scenes_score_the_same_through_every_format(
    scenes: list[tuple[NDArray[np.uint8], Values]], tmp_path: Path, kind: DepthKind, format: str
) -> None:
    write, units, layout, step_m = FORMATS[format]
    (tmp_path / "data/depth").mkdir(parents=True)
    (tmp_path / "data/rgb").mkdir()
    exact: list[dict[str, float]] = []  # of the depth before it was rounded for the file
    rounded: list[dict[str, float]] = []
    pixels = 0
    for k, (rgb, truth) in enumerate(scenes):
        depth = np.where(truth < 65, truth, np.inf)  # what 16 bits of millimetres hold
        prediction = noisy(truth, kind, k).astype(np.float32).astype(np.float64)
        Image.fromarray(rgb).save(tmp_path / f"data/rgb/{k}.png")
        write(tmp_path / f"data/depth/{k}", depth)
        save_map(tmp_path / f"predictions/{k}_depth.npz", prediction, kind)
        exact.append(numpy_scores(prediction, depth, depth <= CAP_M, kind.value, CAP_M))
        if step_m:
            depth = np.rint(depth / step_m) * step_m
        rounded.append(numpy_scores(prediction, depth, depth <= CAP_M, kind.value, CAP_M))
        pixels += np.count_nonzero(depth <= CAP_M)
    dataset = open_dataset(tmp_path / "data", layout, units_per_metre=units)
    result = evaluate(FilePredictions(tmp_path / "predictions"), dataset, cap_m=CAP_M, crop="none")
    assert (len(result.images), result.failures, result.kind) == (10, (), kind)
    expected = mean_of(rounded)
    assert 0.01 < expected["abs_rel"] < 1 and 0.2 < expected["delta1"] < 1
    assert own_means(result, expected) == pytest.approx(expected, rel=1e-5)
    assert result.mean.pixels == pixels
    # Rounding moves no depth by more than half a step, and none here is nearer than 0.3 m.
    assert min(float(truth.min()) for _, truth in scenes) > 0.3
    share = step_m / 2 / 0.3
    assert expected["abs_rel"] == pytest.approx(mean_of(exact)["abs_rel"], abs=2 * share + 1e-9)
    assert result.baseline.abs_rel is not None and result.mean.abs_rel is not None
    assert result.baseline.abs_rel > result.mean.abs_rel


# --- sizes, crops, masks


def make_pair(
    root: Path, depth: Values, *, size: tuple[int, int] | None = None, name: str = "a"
) -> None:
    height, width = size or depth.shape
    (root / "data").mkdir(exist_ok=True)
    cv2.imwrite(str(root / f"data/{name}.png"), np.full((height, width, 3), 90, np.uint8))
    np.save(root / f"data/{name}.npy", depth.astype(np.float32))


def run_files(root: Path, kind: DepthKind | None = None, **options: object) -> Evaluation:
    predictions = FilePredictions(root / "predictions", kind)
    return evaluate(predictions, open_dataset(root / "data"), **options)  # type: ignore[arg-type]


@pytest.fixture
def ramp() -> Values:
    rng = np.random.default_rng(3)
    return rng.uniform(1, 9, (30, 40))


def test_only_crop_mask_and_cap_count(tmp_path: Path, ramp: Values) -> None:
    make_pair(tmp_path, ramp)
    mask = np.random.default_rng(1).random(ramp.shape) < 0.6
    cv2.imwrite(str(tmp_path / "data/a_mask.png"), mask.astype(np.uint8))
    prediction = ramp * np.random.default_rng(2).lognormal(0, 0.2, ramp.shape)
    valid = np.zeros(ramp.shape, bool)
    valid[5:25, 8:33] = True
    valid &= mask & (ramp <= 7)
    prediction[~valid] = np.nan  # nobody may look there
    save_map(tmp_path / "predictions/a.npy", prediction, DepthKind.DEPTH_M)
    result = run_files(tmp_path, DepthKind.DEPTH_M, crop="5,25,8,33", cap_m=7.0)
    expected = numpy_scores(prediction, ramp, valid, "depth_m", 7.0)
    assert own_means(result, expected) == pytest.approx(expected, rel=1e-6)
    assert result.mean.pixels == valid.sum()
    assert result.protocol == "not aligned, up to 7 m, crop 5,25,8,33"


def test_crops_of_the_literature() -> None:
    def bounds(size: Size, crop: str) -> tuple[int, int, int, int]:
        r, c = np.nonzero(crop_mask(size, crop))
        return int(r.min()), int(r.max()) + 1, int(c.min()), int(c.max()) + 1

    # "eval_mask[45:471, 41:601]" of BTS and its successors
    assert bounds(Size(480, 640), "nyu") == (45, 471, 41, 601)
    # What int() makes of the shares in Monodepth2's evaluate_depth.py; the comment there gives
    # "-3" as the bottom and 1180 as the right of 370x1224.
    assert bounds(Size(370, 1224), "garg") == (151, 370 - 3, 43, 1180)
    assert bounds(Size(375, 1242), "garg") == (153, 371, 44, 1197)
    assert bounds(Size(375, 1242), "eigen") == (124, 342, 44, 1197)
    assert crop_mask(Size(3, 4), "none").all()
    assert bounds(Size(30, 40), " 5, 25,8,33") == (5, 25, 8, 33)
    for crop in ("5,25,8", "a,b,c,d", "25,5,8,33", "gargl", "-1,5,8,33", ""):
        with pytest.raises(UsageError, match="is none of none, eigen, garg, nyu, nor T,B,L,R"):
            check_crop(crop)
    with pytest.raises(DatasetError, match="does not lie inside of the truth, 40x20"):
        crop_mask(Size(20, 40), "5,25,8,33")


def test_eigen_on_nyu_is_that_of_nyu(tmp_path: Path, ramp: Values) -> None:
    make_pair(tmp_path, ramp)
    save_map(tmp_path / "predictions/a.npy", ramp, DepthKind.DEPTH_M)
    predictions = FilePredictions(tmp_path / "predictions", DepthKind.DEPTH_M)
    dataset = open_dataset(tmp_path / "data", "nyu", units_per_metre=1)
    result = evaluate(predictions, dataset, crop="eigen")
    assert (result.crop, result.cap_m) == ("nyu", 10.0)
    assert evaluate(predictions, dataset, crop="none", cap_m=np.inf).cap_m is None


@pytest.mark.parametrize("size", [(60, 80), (15, 20), (31, 41), (30, 40)])
def test_a_prediction_is_resized_as_torch_does(size: tuple[int, int]) -> None:
    values = np.random.default_rng(0).normal(size=(30, 40)).astype(np.float32)
    expected = torch.nn.functional.interpolate(
        torch.from_numpy(values)[None, None], size, mode="bilinear", align_corners=False
    )[0, 0]
    np.testing.assert_allclose(resize_to_truth(values, Size(*size)), expected, atol=2e-5)


def test_truth_of_another_size(tmp_path: Path) -> None:
    """A linear ramp of inverse depth at half and double size is the same ramp inside."""

    def ramp(height: int, width: int) -> Values:
        return 0.1 + (np.arange(height)[:, None] + 0.5) / height + np.zeros((1, width))

    for k, size in enumerate([(20, 30), (80, 120), (41, 61)]):
        make_pair(tmp_path, 1 / ramp(*size), size=(40, 60), name=str(k))
        save_map(tmp_path / f"predictions/{k}.npy", ramp(40, 60), DepthKind.INVERSE_DEPTH)
    result = run_files(tmp_path, DepthKind.INVERSE_DEPTH, crop="2,18,0,30")
    assert result.mean.abs_rel == pytest.approx(0, abs=1e-5) and not result.failures


@pytest.mark.parametrize("size", [(40, 30), (30, 43), (24, 40)])
def test_truth_of_another_shape_is_refused(
    tmp_path: Path, ramp: Values, size: tuple[int, int]
) -> None:
    make_pair(tmp_path, ramp)
    save_map(tmp_path / "predictions/a.npy", np.ones(size), DepthKind.DEPTH_M)
    result = run_files(tmp_path, DepthKind.DEPTH_M)
    assert result.images == ()
    assert "their shapes differ, so one is cropped or turned" in str(result.failures[0].error)


def test_sparse_truth(tmp_path: Path, ramp: Values) -> None:
    """Points of a lidar: 3 percent, no two of them neighbours."""
    points = np.zeros(ramp.shape, bool)
    points[::5, ::6] = True
    make_pair(tmp_path, np.where(points, ramp, 0))
    prediction = np.where(points, 1.1 * ramp, 77.0)
    save_map(tmp_path / "predictions/a.npy", prediction, DepthKind.DEPTH_M)
    result = run_files(tmp_path, DepthKind.DEPTH_M, cap_m=20.0)
    assert result.mean.abs_rel == pytest.approx(0.1, rel=1e-5)
    assert (result.mean.pixels, result.mean.edge_f) == (int(points.sum()), None)
    assert result.mean.ordinal == 1.0
    assert "edge F-score" not in [row[0] for row in rows(result)]


def test_without_a_cap_metres_are_not_clipped(tmp_path: Path, ramp: Values) -> None:
    """Farther than the farthest truth is an error as large as it is."""
    make_pair(tmp_path, ramp)
    save_map(tmp_path / "predictions/a.npy", 3 * ramp, DepthKind.DEPTH_M)
    assert run_files(tmp_path, DepthKind.DEPTH_M).mean.abs_rel == pytest.approx(2.0, rel=1e-6)
    capped = run_files(tmp_path, DepthKind.DEPTH_M, cap_m=10.0).mean.abs_rel
    expected = np.mean(np.abs(np.minimum(3 * ramp, 10) - ramp) / ramp)
    assert capped == pytest.approx(expected, rel=1e-6)


# --- what cannot be scored


def test_each_failure_is_named_and_no_mean_is_nan(tmp_path: Path, ramp: Values) -> None:
    bad = {
        "all-invalid": (np.full(ramp.shape, np.nan), ramp, "no pixel has a usable truth"),
        "beyond-cap": (ramp + 100, ramp, "no pixel has a usable truth"),
        "mm-as-m": (ramp * 1000, ramp, "--depth-scale 1000"),
        "nan": (ramp, np.where(ramp > 8, np.nan, ramp), "NaN or infinite at"),
        "shape": (ramp, ramp.T, "shapes differ"),
    }
    for name, (truth, prediction, _) in bad.items():
        make_pair(tmp_path, truth, name=name)
        save_map(tmp_path / f"predictions/{name}.npy", prediction, DepthKind.DEPTH_M)
    make_pair(tmp_path, ramp, name="no-prediction")
    make_pair(tmp_path, ramp, name="good")
    save_map(tmp_path / "predictions/good.npy", 1.2 * ramp, DepthKind.DEPTH_M)
    make_pair(tmp_path, ramp, name="no-truth")
    (tmp_path / "data/no-truth.npy").unlink()
    make_pair(tmp_path, ramp, name="torn")
    data = (tmp_path / "data/torn.npy").read_bytes()
    (tmp_path / "data/torn.npy").write_bytes(data[:200])

    seen: list[str] = []
    head = io.BytesIO()  # of a map that no memory holds
    shape = {"descr": "<f4", "fortran_order": False, "shape": (10**7, 10**7)}
    np.lib.format.write_array_header_1_0(head, shape)
    make_pair(tmp_path, ramp, name="endless")
    (tmp_path / "data/endless.npy").write_bytes(head.getvalue())
    result = run_files(tmp_path, DepthKind.DEPTH_M, cap_m=50.0, advance=seen.append)
    assert [image.name for image in result.images] == ["good"]
    reasons = {failure.name: str(failure.error) for failure in result.failures}
    for name, (_, _, text) in bad.items():
        assert text in reasons[name], name
    assert "holds no no-prediction_depth.png" in reasons["no-prediction"]
    assert "no depth file goes with no-truth.png" in reasons["no-truth.png"]
    assert "torn.npy is damaged" in reasons["torn"]
    assert "endless.npy does not fit into memory" in reasons["endless"]
    assert len(reasons) == len(bad) + 4
    assert all("\n" not in text for text in reasons.values())
    assert result.mean.abs_rel == pytest.approx(0.2, rel=1e-5)
    assert len(seen) == 9 and seen[-1] == ""
    everything = document(result)
    assert (everything["scored"], everything["not_scored"]) == (1, len(reasons))

    write_csv(tmp_path / "scores.csv", result)
    with (tmp_path / "scores.csv").open(newline="") as file:
        lines = {line["name"]: line for line in csv.DictReader(file)}
    assert len(lines) == 1 + len(reasons)
    assert float(lines["good"]["abs_rel"]) == result.mean.abs_rel
    assert lines["nan"]["abs_rel"] == "" and lines["nan"]["reason"] == reasons["nan"]
    assert {name for name, line in lines.items() if line["scored"] == "False"} == set(reasons)


def test_when_nothing_can_be_scored_there_is_no_mean(tmp_path: Path, ramp: Values) -> None:
    make_pair(tmp_path, np.zeros(ramp.shape))
    save_map(tmp_path / "predictions/a.npy", ramp, DepthKind.DEPTH_M)
    result = run_files(tmp_path, DepthKind.DEPTH_M)
    with pytest.raises(DatasetError, match="no picture could be scored"):
        result.mean  # noqa: B018
    assert document(result)["mean"] is None


def test_which_file_is_the_prediction(tmp_path: Path, ramp: Values) -> None:
    for name in ("a", "b"):
        (tmp_path / "data/s").mkdir(parents=True, exist_ok=True)
        make_pair(tmp_path, ramp, name=f"s/{name}")
    save_map(tmp_path / "predictions/s/a_depth.npz", ramp, DepthKind.DEPTH_M)
    save_map(tmp_path / "predictions/b.npz", ramp, DepthKind.DEPTH_M)
    assert len(run_files(tmp_path).images) == 2
    save_map(tmp_path / "predictions/b.exr", ramp, DepthKind.DEPTH_M)
    assert "are both predictions for s/b" in str(run_files(tmp_path).failures[0].error)
    (tmp_path / "predictions/b.exr").unlink()
    save_map(tmp_path / "predictions/b.npz", ramp, DepthKind.DEPTH)
    assert "is depth, the first one depth_m" in str(run_files(tmp_path).failures[0].error)
    save_map(tmp_path / "predictions/b.npy", ramp, DepthKind.DEPTH)
    (tmp_path / "predictions/b.npz").unlink()
    assert "does not say what its values mean" in str(run_files(tmp_path).failures[0].error)
    with pytest.raises(InputError, match=r"the folder .*none of the predictions does not exist"):
        FilePredictions(tmp_path / "none")


def test_options_that_contradict(tmp_path: Path, ramp: Values) -> None:
    make_pair(tmp_path, ramp)
    save_map(tmp_path / "predictions/a.npy", ramp, DepthKind.DEPTH)
    with pytest.raises(UsageError, match="--align none compares with metres"):
        run_files(tmp_path, DepthKind.DEPTH, align="none")
    with pytest.raises(UsageError, match="--cap-m 0 must be positive"):
        run_files(tmp_path, DepthKind.DEPTH, cap_m=0.0)
    with pytest.raises(UsageError, match="--crop all is none of"):
        run_files(tmp_path, DepthKind.DEPTH, crop="all")


@pytest.mark.parametrize(
    ("align", "expected"), [("scale", 0.0), ("median", 0.0), ("scale-shift", 0.0), (None, 0.5)]
)
def test_alignment_by_option(
    tmp_path: Path, ramp: Values, align: str | None, expected: float
) -> None:
    make_pair(tmp_path, ramp)
    save_map(tmp_path / "predictions/a.npy", 1.5 * ramp, DepthKind.DEPTH_M)
    result = run_files(tmp_path, DepthKind.DEPTH_M, align=align, cap_m=30.0)
    assert result.mean.abs_rel == pytest.approx(expected, abs=1e-6)
    assert result.align == (align or "none")


def test_doubts_are_said(tmp_path: Path, ramp: Values) -> None:
    make_pair(tmp_path, ramp)
    save_map(tmp_path / "predictions/a.npy", ramp, DepthKind.DEPTH_M)
    turned = warnings(run_files(tmp_path, DepthKind.INVERSE_DEPTH))
    assert "in 1 of 1 photos the alignment turns near and far around" in turned[0]
    assert warnings(run_files(tmp_path, DepthKind.DEPTH_M)) == ()
    rows_only = np.repeat(np.arange(30.0)[:, None], 40, axis=1)
    save_map(tmp_path / "predictions/a.npy", rows_only, DepthKind.INVERSE_DEPTH)
    result = run_files(tmp_path, DepthKind.INVERSE_DEPTH)
    assert any("no better than the row baseline" in text for text in warnings(result))
    assert result.mean.abs_rel == pytest.approx(result.baseline.abs_rel, rel=1e-6)


# --- networks


def network(path: Path, kind: DepthKind, **options: object) -> depthsmith.Predictor:
    """The mean of the colours, 0 to 255, without resampling up to 56 pixels."""
    contract = Contract(
        model="mean",
        input=InputSpec("pixel_values", "float32", "NCHW", "none"),
        size=SizeRule(None, None),
        outputs=(OutputSpec.depth("predicted_depth", kind),),
        preprocessing="da2",
    )
    mean_model(path, contract=contract, **options)  # type: ignore[arg-type]
    return depthsmith.load(path, provider="cpu", fit="letterbox", resolution=56)


def gray_photos(root: Path, count: int = 3, side: int = 56) -> list[NDArray[np.uint8]]:
    """Photos whose gray value is 20 to 250."""
    (root / "rgb").mkdir(parents=True)
    (root / "depth").mkdir()
    photos = []
    for k in range(count):
        gray = np.random.default_rng(k).integers(20, 250, (side, side), dtype=np.uint8)
        Image.fromarray(np.repeat(gray[..., None], 3, axis=2)).save(root / f"rgb/{k}.png")
        photos.append(gray)
    return photos


def test_a_network_of_inverse_depth(tmp_path: Path) -> None:
    for k, gray in enumerate(gray_photos(tmp_path / "data")):
        np.save(tmp_path / f"data/depth/{k}.npy", (1 / (gray * 0.01 + 0.05)).astype(np.float32))
    predictor = network(tmp_path / "m.onnx", DepthKind.INVERSE_DEPTH)
    result = evaluate(ModelPredictions(predictor), open_dataset(tmp_path / "data"))
    assert (result.model, result.kind) == ("mean", DepthKind.INVERSE_DEPTH)
    assert result.mean.abs_rel == pytest.approx(0, abs=1e-5) and result.mean.delta1 == 1.0
    assert result.images[0].scale == pytest.approx(0.01, rel=1e-4)
    assert result.protocol == "scale-shift in inverse depth, no cap, no crop"


def test_a_network_of_metres_is_not_aligned(tmp_path: Path) -> None:
    for k, gray in enumerate(gray_photos(tmp_path / "data")):
        np.save(tmp_path / f"data/depth/{k}.npy", (gray / 1.25).astype(np.float32))
    predictor = network(tmp_path / "m.onnx", DepthKind.DEPTH_M)
    result = evaluate(ModelPredictions(predictor), open_dataset(tmp_path / "data"), cap_m=1000.0)
    assert result.mean.abs_rel == pytest.approx(0.25, rel=1e-5)


def test_canonical_depth_takes_the_focal_length_of_the_data_set(tmp_path: Path) -> None:
    """Metres are value * focal / 300; KITTI's selection says the focal length: 150."""
    stem = "2011_09_26_drive_0002_sync_{}_0000000005_image_02"
    gray = np.random.default_rng(0).integers(20, 100, (56, 56), dtype=np.uint8)
    (tmp_path / "data/image").mkdir(parents=True)
    (tmp_path / "data/groundtruth_depth").mkdir()
    (tmp_path / "data/intrinsics").mkdir()
    photo = tmp_path / f"data/image/{stem.format('image')}.png"
    Image.fromarray(np.repeat(gray[..., None], 3, axis=2)).save(photo)
    truth = tmp_path / f"data/groundtruth_depth/{stem.format('groundtruth_depth')}.png"
    cv2.imwrite(str(truth), gray.astype(np.uint16) * 128)  # half the value in metres
    intrinsics = tmp_path / f"data/intrinsics/{stem.format('image')}.txt"
    intrinsics.write_text("150 0 28 0 150 28 0 0 1")
    predictor = network(tmp_path / "m.onnx", DepthKind.CANONICAL)
    dataset = open_dataset(tmp_path / "data")
    result = evaluate(ModelPredictions(predictor), dataset)
    assert result.align == "none"
    assert result.mean.abs_rel == pytest.approx(0, abs=1e-6)
    said = evaluate(ModelPredictions(predictor, focal_px=165.0), dataset)
    assert said.mean.abs_rel == pytest.approx(0.1, rel=1e-5)

    intrinsics.unlink()
    none = evaluate(ModelPredictions(predictor), open_dataset(tmp_path / "data"))
    assert "give --focal-px, or align with --align scale" in str(none.failures[0].error)
    scaled = evaluate(ModelPredictions(predictor), open_dataset(tmp_path / "data"), align="scale")
    assert scaled.mean.abs_rel == pytest.approx(0, abs=1e-6)
    assert scaled.images[0].scale == pytest.approx(0.5, rel=1e-6)


def test_a_network_that_fails_stops_at_once(tmp_path: Path) -> None:
    for k, gray in enumerate(gray_photos(tmp_path / "data")):
        np.save(tmp_path / f"data/depth/{k}.npy", gray.astype(np.float32) / 10)
    predictor = network(tmp_path / "m.onnx", DepthKind.DEPTH, frozen=(28, 28))
    with pytest.raises(ModelError, match="does not follow its input"):
        evaluate(ModelPredictions(predictor), open_dataset(tmp_path / "data"))


# --- point pairs


def make_da2k(root: Path) -> None:
    gray = np.repeat(np.arange(56, dtype=np.uint8)[:, None] + 20, 56, axis=1)
    gray[30:40, 30:40] = 5
    (root / "images").mkdir(parents=True)
    Image.fromarray(np.repeat(gray[..., None], 3, axis=2)).save(root / "images/a.png")
    (root / "annotations.json").write_text(
        '{"images/a.png": ['
        '{"point1": [50, 10], "point2": [5, 10], "closer_point": "point1"},'
        '{"point1": [2, 40], "point2": [35, 35], "closer_point": "point1"},'
        '{"point1": [35, 35], "point2": [0, 50], "closer_point": "point1"}]}'
    )


def test_point_pairs_by_hand(tmp_path: Path) -> None:
    """The network is right on two of three; the row on the first and the third."""
    make_da2k(tmp_path / "data")
    predictor = network(tmp_path / "m.onnx", DepthKind.INVERSE_DEPTH)
    result = evaluate(ModelPredictions(predictor), open_dataset(tmp_path / "data"))
    assert result.mean == replace(result.mean, ordinal=2 / 3, abs_rel=None, pixels=0)
    assert result.baseline.ordinal == 2 / 3
    assert (result.align, result.protocol) == (None, "order of point pairs")
    assert [row[0] for row in rows(result)] == ["ordinal"]
    # The other way round with files, at half the size of the photo.
    small = np.arange(28.0, 0, -1)[:, None] + np.zeros((1, 28))
    save_map(tmp_path / "predictions/images/a.npz", small, DepthKind.DEPTH)
    files = evaluate(FilePredictions(tmp_path / "predictions"), open_dataset(tmp_path / "data"))
    assert files.mean.ordinal == 2 / 3
    sheet = WorstSheet()
    evaluate(ModelPredictions(predictor), open_dataset(tmp_path / "data"), observe=sheet.observe)
    picture = sheet.draw(result)
    green, red = (picture == (60, 200, 60)).all(axis=2), (picture == (230, 40, 40)).all(axis=2)
    assert green.sum() > red.sum() > 50


# --- reports


@pytest.fixture
def scored(tmp_path: Path, ramp: Values) -> tuple[Evaluation, WorstSheet]:
    sheet = WorstSheet(count=2)
    for k, factor in enumerate((1.1, 2.0, 1.3)):
        depth = ramp.copy()
        depth[:, 20:] = 0
        make_pair(tmp_path, depth, name=str(k))
        prediction = ramp.copy()
        prediction[:, :10] *= factor
        save_map(tmp_path / f"predictions/{k}.npy", prediction, DepthKind.DEPTH_M)
    result = run_files(tmp_path, DepthKind.DEPTH_M, cap_m=20.0, observe=sheet.observe)
    return result, sheet


def test_the_sheet_shows_the_worst(scored: tuple[Evaluation, WorstSheet], tmp_path: Path) -> None:
    result, sheet = scored
    assert [image.scores.abs_rel for image in result.images] == pytest.approx([0.05, 0.5, 0.15])
    kept = sorted(sheet._heap, reverse=True)
    assert [entry.row.caption.split()[0] for entry in kept] == ["1", "2"]
    photo, truth, _, error = kept[0].row.pictures
    assert photo.shape == truth.shape == error.shape == (240, 320, 3)
    assert (photo == 90).all()
    gray = (60, 60, 60)
    assert (error[:, 162:] == gray).all() and (truth[:, 162:] == gray).all()
    # Left: twice too far, full red. Middle: right, white.
    np.testing.assert_array_equal(error[:, :78], np.broadcast_to((178, 24, 43), (240, 78, 3)))
    assert (error[:, 82:158] == 255).all()
    sheet.write(tmp_path / "sheet.png", result)
    with Image.open(tmp_path / "sheet.png") as image:
        assert image.size[0] == 2 * 12 + 4 * 320 + 3 * 6
    with pytest.raises(UsageError, match=r"cannot be written as 'sheet\.gif'"):
        sheet.write(tmp_path / "sheet.gif", result)


def test_the_row_baseline_is_in_every_report(
    scored: tuple[Evaluation, WorstSheet], tmp_path: Path
) -> None:
    result, sheet = scored
    base = result.baseline
    for (name, model, row, better), measure in zip(rows(result), MEASURES, strict=True):
        assert name == MEASURES[measure][0] and better in ("lower", "higher")
        assert float(model) == pytest.approx(getattr(result.mean, measure), abs=6e-5)
        assert float(row) == pytest.approx(getattr(base, measure), abs=6e-5)
    everything = document(result)
    assert everything["row_baseline"] == asdict(base)
    assert everything["images"][1]["row_baseline"] == asdict(result.images[1].baseline)
    line = accuracy_line(result)
    assert line["row_baseline"]["abs_rel"] == pytest.approx(base.abs_rel, rel=1e-4)
    assert (line["images"], line["dataset"], line["folder"]) == (3, "pairs", "data")
    assert line["abs_rel"] == pytest.approx(result.mean.abs_rel, rel=1e-4)
    write_csv(tmp_path / "a.csv", result)
    with (tmp_path / "a.csv").open(newline="") as file:
        for line, image in zip(csv.DictReader(file), result.images, strict=True):
            assert float(line["baseline_abs_rel"]) == image.baseline.abs_rel
    assert "(row 0." in sheet._heap[0].row.caption


def test_errors_are_ours(tmp_path: Path) -> None:
    with pytest.raises(DepthsmithError):
        open_dataset(tmp_path / "nothing")
