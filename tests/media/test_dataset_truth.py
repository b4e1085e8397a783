"""Measured depth from the files of other programs."""

from __future__ import annotations

import struct
from pathlib import Path

import cv2
import numpy as np
import OpenEXR
import pytest
import tifffile
from numpy.typing import NDArray
from PIL import Image

from depthsmith.errors import DatasetError, DepthsmithError, ImageError
from depthsmith.media.dataset.truth_file import read_dpt, read_mask, read_truth
from depthsmith.media.depth_file import write_depth
from depthsmith.types import DepthKind, DepthMap, Size

Values = NDArray[np.float32]


@pytest.fixture
def depth_m() -> Values:
    """Depth with holes: 0, as in most files."""
    rng = np.random.default_rng(0)
    values = rng.uniform(0.5, 60.0, (12, 17)).astype(np.float32)
    values[3:5, 2:9] = 0
    return values


def write_dpt(path: Path, depth: Values) -> None:
    """As the data set's ``depth_write``."""
    head = struct.pack("<fii", 202021.25, depth.shape[1], depth.shape[0])
    path.write_bytes(head + depth.astype("<f4").tobytes())


@pytest.mark.parametrize("units", [256.0, 1000.0, 5000.0])
def test_16_bit_png_in_any_scale(tmp_path: Path, depth_m: Values, units: float) -> None:
    path = tmp_path / "d.png"
    depth = np.minimum(depth_m, 65535 / units)
    cv2.imwrite(str(path), np.rint(depth * units).astype(np.uint16))
    truth = read_truth(path, units_per_metre=units)
    assert truth.depth_m.dtype == np.float32
    assert np.abs(truth.depth_m - depth).max() <= 0.5 / units + 1e-5


def test_whole_numbers_are_millimetres_unless_said(tmp_path: Path, depth_m: Values) -> None:
    cv2.imwrite(str(tmp_path / "d.png"), np.rint(depth_m * 1000).astype(np.uint16))
    tifffile.imwrite(tmp_path / "d.tif", np.rint(depth_m * 1000).astype(np.uint16))
    np.save(tmp_path / "d.npy", np.rint(depth_m * 1000).astype(np.int32))
    for name in ("d.png", "d.tif", "d.npy"):
        assert np.abs(read_truth(tmp_path / name).depth_m - depth_m).max() <= 0.00051


def test_floats_are_metres(tmp_path: Path, depth_m: Values) -> None:
    cv2.imwrite(str(tmp_path / "d.pfm"), depth_m)
    np.save(tmp_path / "d.npy", depth_m[..., None])  # DIODE's have an axis more
    np.savez(tmp_path / "d.npz", depth_m)
    OpenEXR.File({}, {"Z": depth_m}).write(str(tmp_path / "d.exr"))
    tifffile.imwrite(tmp_path / "d.tiff", depth_m)
    write_dpt(tmp_path / "d.dpt", depth_m)
    for path in sorted(tmp_path.iterdir()):
        np.testing.assert_array_equal(read_truth(path).depth_m, depth_m, err_msg=path.name)
        in_mm = read_truth(path, units_per_metre=0.1).depth_m
        np.testing.assert_allclose(in_mm, depth_m * 10, rtol=1e-6)


def test_our_own_files_say_their_scale(tmp_path: Path, depth_m: Values) -> None:
    depth = DepthMap(depth_m * 5, DepthKind.DEPTH_M, Size(*depth_m.shape))
    for name in ("d.png", "d.exr", "d.npz", "d.tiff"):
        path = tmp_path / name
        write_depth(path, depth)
        step = 0.005 if name == "d.png" else 0.0  # 300 m do not fit into millimetres
        read = np.nan_to_num(read_truth(path).depth_m)
        assert np.abs(read - depth.values).max() <= step / 2 + 1e-5
        with pytest.raises(DatasetError, match="says its scale itself; leave --depth-scale out"):
            read_truth(path, units_per_metre=1000)
    write_depth(tmp_path / "n.png", DepthMap(depth_m / 60, DepthKind.NEAR, depth.size))
    with pytest.raises(ImageError, match="holds near, not depth_m"):
        read_truth(tmp_path / "n.png")


def test_masks_of_every_sort(tmp_path: Path, depth_m: Values) -> None:
    np.save(tmp_path / "d.npy", depth_m)
    mask = np.random.default_rng(1).random(depth_m.shape) < 0.5
    levels = mask.astype(np.uint8) * 255
    cv2.imwrite(str(tmp_path / "gray.png"), levels)
    cv2.imwrite(str(tmp_path / "color.png"), np.stack([levels, 0 * levels, levels], 2))
    cv2.imwrite(str(tmp_path / "one.png"), levels // 255)
    cv2.imwrite(str(tmp_path / "deep.png"), levels.astype(np.uint16))
    Image.fromarray(levels).convert("1").save(tmp_path / "bits.bmp")
    Image.fromarray(levels).convert("P").save(tmp_path / "palette.png")
    rgba = np.dstack([levels, levels, levels, np.full_like(levels, 255)])
    Image.fromarray(rgba).save(tmp_path / "alpha.png")
    np.save(tmp_path / "float.npy", np.where(mask, 1.0, np.nan)[..., None])
    np.save(tmp_path / "bool.npy", mask)
    for path in sorted(tmp_path.iterdir()):
        if path.name != "d.npy":
            np.testing.assert_array_equal(read_mask(path), mask, err_msg=path.name)
    np.savez(tmp_path / "d.npz", depth=depth_m, mask=np.eye(*depth_m.shape))
    both = read_truth(tmp_path / "d.npz", mask=tmp_path / "gray.png").mask
    np.testing.assert_array_equal(both, mask & np.eye(*depth_m.shape, dtype=bool))
    cv2.imwrite(str(tmp_path / "small.png"), levels[:-1])
    with pytest.raises(DatasetError, match=r"mask of .* is 17x11, the depth 17x12"):
        read_truth(tmp_path / "d.npy", mask=tmp_path / "small.png")


@pytest.mark.parametrize("factor", [1000.0, 1e-3])
def test_a_wrong_scale_is_seen(tmp_path: Path, depth_m: Values, factor: float) -> None:
    path = tmp_path / "d.npy"
    np.save(path, depth_m * factor if factor > 1 else depth_m * factor * 0.1)
    with pytest.raises(DatasetError, match=r"median depth .*d\.npy would be .*--depth-scale"):
        read_truth(path)
    if factor > 1:
        np.testing.assert_allclose(
            read_truth(path, units_per_metre=1000).depth_m, depth_m, rtol=1e-6
        )


def test_nothing_measured_is_not_a_wrong_scale(tmp_path: Path) -> None:
    np.save(tmp_path / "d.npy", np.full((4, 5), np.nan, np.float32))
    assert not np.isfinite(read_truth(tmp_path / "d.npy").depth_m).any()


def test_8_bits_must_be_explained(tmp_path: Path) -> None:
    levels = np.full((4, 5), 200, np.uint8)
    cv2.imwrite(str(tmp_path / "d.png"), levels)
    with pytest.raises(DatasetError, match="8 bits and does not say its scale"):
        read_truth(tmp_path / "d.png")
    assert read_truth(tmp_path / "d.png", units_per_metre=10).depth_m[0, 0] == 20


@pytest.mark.parametrize("name", ["d.dpt", "d.npy", "d.npz", "d.png", "d.exr", "d.pfm"])
@pytest.mark.parametrize("content", ["nothing", "text", "half", "missing"])
def test_broken_files_are_one_clear_line(
    tmp_path: Path, depth_m: Values, name: str, content: str
) -> None:
    path = tmp_path / name
    if name == "d.dpt":
        write_dpt(path, depth_m)
    else:
        write_depth(path, DepthMap(depth_m, DepthKind.DEPTH_M, Size(*depth_m.shape)))
    data = path.read_bytes()
    path.write_bytes({"nothing": b"", "text": b"no depth\n"}.get(content, data[: len(data) // 2]))
    if content == "missing":
        path.unlink()
    with pytest.raises(DepthsmithError) as caught:
        read_truth(path)
    assert isinstance(caught.value, (ImageError, DatasetError))
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_a_picture_in_colours_is_no_depth(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "d.png"), np.zeros((4, 5, 3), np.uint8))
    with pytest.raises(ImageError, match="picture in colours"):
        read_truth(tmp_path / "d.png")


def test_dpt_of_absurd_size(tmp_path: Path) -> None:
    path = tmp_path / "d.dpt"
    path.write_bytes(struct.pack("<fii", 202021.25, 2**30, 2**30) + b"\0" * 64)
    with pytest.raises(DatasetError, match="damaged: 76 bytes"):
        read_dpt(path)
