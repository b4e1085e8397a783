"""Folders in the layouts of published data sets, written as their tools write them."""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import cv2
import h5py
import numpy as np
import pytest
import scipy.io
import skimage.data
from numpy.typing import NDArray

from depthsmith.errors import DatasetError, UsageError
from depthsmith.media.dataset import LAYOUTS, Dataset, open_dataset
from depthsmith.media.dataset.pairs import place

Depth = NDArray[np.float32]


def depth_of(seed: int, height: int = 24, width: int = 32) -> Depth:
    """Depth on a grid of 1/256 m and 1/1000 m at once: eighths of a metre."""
    rng = np.random.default_rng(seed)
    depth = rng.integers(8, 64, (height, width)).astype(np.float32) / 8
    depth[0] = 0
    return depth


def photo(path: Path, height: int = 24, width: int = 32, level: int = 90) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    cv2.imwrite(str(path), np.full((height, width, 3), level, np.uint8))


def png(path: Path, depth: Depth, units: float) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    cv2.imwrite(str(path), np.rint(depth * units).astype(np.uint16))


def npy(path: Path, values: NDArray[np.generic]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, values)


def names(dataset: Dataset) -> list[str]:
    return [sample.name for sample in dataset.samples]


def depth_in(dataset: Dataset, index: int = 0) -> Depth:
    read = dataset.samples[index].read_truth
    assert read is not None
    return read().depth_m


def focal_px(dataset: Dataset, index: int = 0) -> float | None:
    read = dataset.samples[index].read_truth
    assert read is not None
    return read().focal_px


# --- pairs


@pytest.mark.parametrize(
    ("photo_at", "depth_at", "mask_at"),
    [
        ("rgb/a/1.png", "depth/a/1.png", "mask/a/1.png"),
        ("a/Images/1.jpg", "a/GT/1.png", "a/valid/1.png"),
        ("images/1_rgb.png", "ground_truth/1_depth.png", "masks/1_mask.png"),
        ("x/1.jpg", "x/1_depth.png", "x/1_mask.png"),
        ("1.bmp", "1_gt.npy", "1_valid.npy"),
        ("1.png", "1.npy", "1_depth_mask.png"),
        ("photos/öä 1.png", "depths/öä 1.npy", "depth_masks/öä 1.png"),
    ],
)
def test_pairs_by_folder_and_name(
    tmp_path: Path, photo_at: str, depth_at: str, mask_at: str
) -> None:
    photo(tmp_path / photo_at)
    depth = depth_of(1)
    if depth_at.endswith("png"):
        png(tmp_path / depth_at, depth, 1000)
    else:
        npy(tmp_path / depth_at, depth)
    dataset = open_dataset(tmp_path)
    assert (dataset.layout, dataset.missing) == ("pairs", ())
    assert names(dataset) == [str(PurePosixPath(photo_at).with_suffix(""))]
    np.testing.assert_array_equal(depth_in(dataset), depth)

    mask = depth > 4
    levels = mask.astype(np.uint8)
    (tmp_path / mask_at).parent.mkdir(parents=True, exist_ok=True)
    if mask_at.endswith("npy"):
        npy(tmp_path / mask_at, mask)
    else:
        cv2.imwrite(str(tmp_path / mask_at), levels)
    read = open_dataset(tmp_path).samples[0].read_truth
    assert read is not None
    np.testing.assert_array_equal(read().mask, mask)
    assert dataset.samples[0].read_photo().size == (24, 32)


def test_pairs_without_partner_are_listed(tmp_path: Path) -> None:
    for name in ("a", "b"):
        photo(tmp_path / f"rgb/{name}.png")
    for name in ("b", "c"):
        png(tmp_path / f"depth/{name}.png", depth_of(2), 1000)
    dataset = open_dataset(tmp_path)
    assert names(dataset) == ["rgb/b"]
    assert [m.why for m in dataset.missing] == [
        "no photo goes with depth/c.png",
        "no depth file goes with rgb/a.png",
    ]


def test_pairs_that_cannot_be_told(tmp_path: Path) -> None:
    photo(tmp_path / "rgb/a.png")
    with pytest.raises(DatasetError, match="holds no depth file; put photos into rgb/"):
        open_dataset(tmp_path)
    png(tmp_path / "depth/b.png", depth_of(2), 1000)
    with pytest.raises(DatasetError, match=r"rgb/a\.png and depth/b\.png; their names must be"):
        open_dataset(tmp_path)
    png(tmp_path / "depth/a.png", depth_of(2), 1000)
    photo(tmp_path / "rgb/a.jpg")
    with pytest.raises(DatasetError, match=r"rgb/a\.jpg and rgb/a\.png .*both the photo of a"):
        open_dataset(tmp_path)


def test_the_innermost_folder_tells() -> None:
    assert place(PurePosixPath("images/depth/1.png")) == ("depth", "images/1")
    assert place(PurePosixPath("depth/scene/rgb/1.png")) == ("photo", "depth/scene/1")
    assert place(PurePosixPath("rgb/notes.txt")) == (None, "notes")


def test_folders_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="does not exist"):
        open_dataset(tmp_path / "none")
    with pytest.raises(DatasetError, match="holds no file"):
        open_dataset(tmp_path)
    (tmp_path / ".hidden").write_text("")
    with pytest.raises(DatasetError, match="holds no file"):
        open_dataset(tmp_path)
    with pytest.raises(DatasetError, match="is a file; --data names the folder"):
        open_dataset(tmp_path / ".hidden")
    (tmp_path / "notes.txt").write_text("")
    for layout in LAYOUTS:
        with pytest.raises(DatasetError):
            open_dataset(tmp_path, layout)
    with pytest.raises(UsageError, match="is not one of pairs, nyu"):
        open_dataset(tmp_path, "nuy")


def test_links_to_folders_are_followed_once(tmp_path: Path) -> None:
    photo(tmp_path / "store/rgb/a.png")
    png(tmp_path / "store/depth/a.png", depth_of(2), 1000)
    (tmp_path / "data").mkdir()
    (tmp_path / "data/set").symlink_to(tmp_path / "store")
    (tmp_path / "store/back").symlink_to(tmp_path / "data")
    assert names(open_dataset(tmp_path / "data")) == ["set/rgb/a"]


def test_the_scale_can_be_said(tmp_path: Path) -> None:
    photo(tmp_path / "rgb/a.png")
    png(tmp_path / "depth/a.png", depth_of(2), 5000)
    np.testing.assert_array_equal(
        depth_in(open_dataset(tmp_path, units_per_metre=5000)), depth_of(2)
    )
    with pytest.raises(UsageError, match="must be positive"):
        open_dataset(tmp_path, units_per_metre=0)
    with pytest.raises(UsageError, match="means nothing for da2k"):
        open_dataset(tmp_path, "da2k", units_per_metre=5)


# --- published layouts


def make_nyu(root: Path) -> None:
    for k in (0, 1):
        photo(root / f"test/kitchen/rgb_{k:05d}.jpg", 480, 640)
        png(root / f"test/kitchen/sync_depth_{k:05d}.png", depth_of(k, 480, 640), 1000)


def make_kitti(root: Path) -> None:
    drive = "2011_09_26_drive_0002_sync"
    photo(root / f"2011_09_26/{drive}/image_02/data/0000000005.png")
    photo(root / f"2011_09_26/{drive}/image_02/data/0000000001.png")  # without depth
    photo(root / f"2011_09_26/{drive}/image_03/data/0000000005.png", level=7)
    png(root / f"val/{drive}/proj_depth/groundtruth/image_02/0000000005.png", depth_of(0), 256)
    calibration = root / "2011_09_26/calib_cam_to_cam.txt"
    calibration.write_text(
        "calib_time: 09-Jan-2012 13:57:47\n"
        "P_rect_01: 1 0 0 0 0 1 0 0 0 0 1 0\n"
        "P_rect_02: 7.215377e+02 0.0 6.095593e+02 4.485728e+01 0.0 7.225377e+02 1.728540e+02 "
        "2.163791e-01 0.0 0.0 1.0 2.745884e-03\n"
    )


def make_kitti_selection(root: Path) -> None:
    stem = "2011_09_26_drive_0002_sync_{}_0000000005_image_02"
    folder = root / "val_selection_cropped"
    photo(folder / "image" / f"{stem.format('image')}.png")
    png(folder / "groundtruth_depth" / f"{stem.format('groundtruth_depth')}.png", depth_of(0), 256)
    (folder / "intrinsics").mkdir()
    text = "721.5377 0.0 596.5593 0.0 723.5377 149.854 0.0 0.0 1.0\n"
    (folder / "intrinsics" / f"{stem.format('image')}.txt").write_text(text)


def make_diode(root: Path) -> None:
    stem = root / "val/indoors/scene_00019/scan_00183/00019_00183_indoors_000_010"
    photo(stem.with_suffix(".png"))
    npy(Path(f"{stem}_depth.npy"), depth_of(0)[..., None])
    npy(Path(f"{stem}_depth_mask.npy"), (depth_of(0) > 4).astype(np.float64))


def make_eth3d(root: Path) -> None:
    photo(root / "jpg/courtyard/images/dslr_images/DSC_0286.JPG")
    depth = depth_of(0)
    depth[depth == 0] = np.inf
    file = root / "depth/courtyard/ground_truth_depth/dslr_images/DSC_0286.JPG"
    file.parent.mkdir(parents=True)
    file.write_bytes(depth.astype("<f4").tobytes())
    calibration = root / "jpg/courtyard/dslr_calibration_jpg"
    calibration.mkdir()
    (calibration / "cameras.txt").write_text(
        "# Camera list\n1 THIN_PRISM_FISHEYE 32 24 99 99 16 12 0 0 0 0 0 0 0 0\n"
        "7 THIN_PRISM_FISHEYE 32 24 30 34 16 12 0 0 0 0 0 0 0 0\n"
    )
    (calibration / "images.txt").write_text(
        "# Image list\n12 1 0 0 0 0 0 0 7 dslr_images/DSC_0286.JPG\n1 2 3 4 5 6\n"
    )


def make_sintel(root: Path) -> None:
    for renders in ("clean", "final"):
        photo(root / f"training/{renders}/alley_1/frame_0001.png")
    depth = root / "depth/training/depth/alley_1/frame_0001.dpt"
    depth.parent.mkdir(parents=True)
    values = depth_of(0)
    depth.write_bytes(struct.pack("<fii", 202021.25, 32, 24) + values.astype("<f4").tobytes())
    camera = root / "depth/training/camdata_left/alley_1/frame_0001.cam"
    camera.parent.mkdir(parents=True)
    matrix = np.array([[1120.0, 0, 511.5], [0, 1130.0, 217.5], [0, 0, 1]])
    pose = np.eye(3, 4)
    camera.write_bytes(struct.pack("<f", 202021.25) + matrix.tobytes() + pose.tobytes())


def make_middlebury(root: Path) -> None:
    photo(root / "Motorcycle/im0.png")
    photo(root / "Motorcycle/im1.png")
    depth = depth_of(0).astype(np.float64)
    with np.errstate(divide="ignore"):
        disparity = np.where(depth > 0, 994.978 * 193.001 / 1000 / depth - 31.086, np.inf)
    cv2.imwrite(str(root / "Motorcycle/disp0.pfm"), disparity.astype(np.float32))
    (root / "Motorcycle/calib.txt").write_text(
        "cam0=[994.978 0 311.193; 0 994.978 254.877; 0 0 1]\n"
        "cam1=[994.978 0 342.279; 0 994.978 254.877; 0 0 1]\n"
        "doffs=31.086\nbaseline=193.001\nwidth=32\nheight=24\nndisp=70\n"
    )


def make_da2k(root: Path) -> None:
    photo(root / "images/indoor/a.jpg")
    pairs = {
        "images/indoor/a.jpg": [
            {"point1": [3, 20], "point2": [20, 5], "closer_point": "point1"},
            {"point1": [1, 2], "point2": [23, 31], "closer_point": "point2"},
        ]
    }
    (root / "annotations.json").write_text(json.dumps(pairs))


PUBLISHED = [
    (make_nyu, "nyu", "test/kitchen/rgb_00000", (518.8579 + 519.4696) / 2, 10.0, "nyu"),
    (make_kitti, "kitti", "2011_09_26/2011_09_26_drive_0002_sync/image_02/data/0000000005",
     722.0377, 80.0, "garg"),
    (make_kitti_selection, "kitti",
     "val_selection_cropped/image/2011_09_26_drive_0002_sync_image_0000000005_image_02",
     722.5377, 80.0, "garg"),
    (make_diode, "diode", "val/indoors/scene_00019/scan_00183/00019_00183_indoors_000_010",
     906.935, None, "none"),
    (make_eth3d, "eth3d", "jpg/courtyard/images/dslr_images/DSC_0286", 32.0, 72.0, "none"),
    (make_sintel, "sintel", "training/final/alley_1/frame_0001", 1125.0, 72.0, "none"),
    (make_middlebury, "middlebury", "Motorcycle/im0", 994.978, None, "none"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "layout", "name", "focal", "cap_m", "crop"), PUBLISHED)
@pytest.mark.parametrize("said", [True, False])
def test_published_layouts(
    tmp_path: Path, make: Callable[[Path], None], layout: str, name: str, focal: float,
    cap_m: float | None, crop: str, said: bool,
) -> None:  # fmt: skip
    make(tmp_path)
    dataset = open_dataset(tmp_path, layout if said else None)
    assert dataset.layout == layout
    assert (f"read as --layout {layout}" in dataset.notes) is not said
    assert names(dataset)[0] == name and dataset.missing == ()
    assert (dataset.cap_m, dataset.crop) == (cap_m, crop)
    depth = depth_in(dataset)
    expected = depth_of(0, *depth.shape)
    known = np.isfinite(depth) & (depth > 0)
    np.testing.assert_array_equal(known, expected > 0)
    np.testing.assert_allclose(depth[known], expected[known], rtol=2e-6)
    assert focal_px(dataset) == pytest.approx(focal, abs=1e-3)
    assert dataset.samples[0].read_photo().size == depth.shape


@pytest.mark.parametrize(("make", "layout"), [case[:2] for case in PUBLISHED])
def test_a_photo_that_is_gone_is_listed(
    tmp_path: Path, make: Callable[[Path], None], layout: str
) -> None:
    make(tmp_path)
    gone = open_dataset(tmp_path).samples[0].read_photo().path
    assert gone is not None
    gone.unlink()
    if layout == "sintel":
        (tmp_path / "training/clean/alley_1/frame_0001.png").unlink()
    if layout == "nyu":  # which has two
        dataset = open_dataset(tmp_path)
        assert len(dataset.samples) == 1 and "no photo" in dataset.missing[0].why
        return
    with pytest.raises(DatasetError, match=r"nothing in .* can be scored: no (photo|frame)"):
        open_dataset(tmp_path, layout)


def test_kitti_and_nyu_as_plain_pairs(tmp_path: Path) -> None:
    photo(tmp_path / "rgb/a.png")
    png(tmp_path / "depth/a.png", depth_of(0), 256)
    kitti = open_dataset(tmp_path, "kitti")
    assert (kitti.layout, kitti.cap_m, kitti.crop) == ("kitti", 80.0, "garg")
    np.testing.assert_array_equal(depth_in(kitti), depth_of(0))
    np.testing.assert_allclose(
        depth_in(open_dataset(tmp_path, "nyu")), depth_of(0) * 0.256, rtol=1e-6
    )


def test_diode_needs_its_masks(tmp_path: Path) -> None:
    make_diode(tmp_path)
    read = open_dataset(tmp_path).samples[0].read_truth
    assert read is not None
    np.testing.assert_array_equal(read().mask, depth_of(0) > 4)
    next(tmp_path.rglob("*_mask.npy")).unlink()
    with pytest.raises(DatasetError, match=r"no mask .*000_010_depth_mask\.npy goes with"):
        open_dataset(tmp_path, "diode")


def test_sintel_without_the_final_pass(tmp_path: Path) -> None:
    make_sintel(tmp_path)
    (tmp_path / "training/final/alley_1/frame_0001.png").unlink()
    dataset = open_dataset(tmp_path)
    assert names(dataset) == ["training/clean/alley_1/frame_0001"]
    assert "frames of the clean pass" in dataset.notes


def test_middlebury_on_the_real_scene(tmp_path: Path) -> None:
    """The scene in scikit-image: 2 to 5 m deep, by its documentation's own formula."""
    left, _, disparity = skimage.data.stereo_motorcycle()
    make_middlebury(tmp_path)
    cv2.imwrite(str(tmp_path / "Motorcycle/im0.png"), left[..., ::-1])
    cv2.imwrite(str(tmp_path / "Motorcycle/disp0.pfm"), disparity)
    depth = depth_in(open_dataset(tmp_path))
    known = np.isfinite(disparity)
    np.testing.assert_array_equal(np.isfinite(depth), known)
    expected = 0.193001 * 994.978 / (disparity[known].astype(float) + 31.086)
    np.testing.assert_allclose(depth[known], expected, rtol=1e-6)
    assert 1.5 < depth[known].min() < depth[known].max() < 6


@pytest.mark.parametrize(
    "text", ["", "cam0=[1 0 0]\nbaseline=5\n", "cam0=[x]\ndoffs=0\nbaseline=1"]
)
def test_middlebury_without_calibration(tmp_path: Path, text: str) -> None:
    make_middlebury(tmp_path)
    (tmp_path / "Motorcycle/calib.txt").write_text(text)
    with pytest.raises(DatasetError, match="does not say cam0, doffs and baseline"):
        depth_in(open_dataset(tmp_path))


def test_eth3d_of_another_size(tmp_path: Path) -> None:
    make_eth3d(tmp_path)
    photo(tmp_path / "jpg/courtyard/images/dslr_images/DSC_0286.JPG", 25, 32)
    with pytest.raises(DatasetError, match="3072 bytes, its photo of 32x25 needs 3200"):
        depth_in(open_dataset(tmp_path))


def test_da2k(tmp_path: Path) -> None:
    make_da2k(tmp_path)
    dataset = open_dataset(tmp_path)
    assert (dataset.layout, names(dataset)) == ("da2k", ["images/indoor/a"])
    assert dataset.samples[0].pairs == (((3, 20), (20, 5)), ((23, 31), (1, 2)))
    assert dataset.samples[0].read_truth is None
    annotations = json.loads((tmp_path / "annotations.json").read_text())
    annotations["images/b.jpg"] = annotations["images/indoor/a.jpg"]
    (tmp_path / "annotations.json").write_text(json.dumps(annotations))
    assert open_dataset(tmp_path).missing[0].why == "the photo images/b.jpg is not there"
    for text in ("{", "[]", '{"a.jpg": [{"point1": [1, 2]}]}', '{"a.jpg": 5}'):
        (tmp_path / "annotations.json").write_text(text)
        with pytest.raises(DatasetError, match="is damaged, or not in the form of DA-2K"):
            open_dataset(tmp_path)


# --- the labelled file of NYU


def make_labelled(root: Path, test_numbers: list[int] | None) -> tuple[NDArray[np.uint8], Depth]:
    rng = np.random.default_rng(0)
    photos = rng.integers(0, 255, (3, 24, 32, 3), dtype=np.uint8)
    depths = np.stack([depth_of(k) for k in range(3)])
    with h5py.File(root / "nyu_depth_v2_labeled.mat", "w") as file:
        file["images"] = photos.transpose(0, 3, 2, 1)
        file["rawDepths"] = depths.transpose(0, 2, 1)
        file["depths"] = depths.transpose(0, 2, 1) + 1
    if test_numbers:
        scipy.io.savemat(root / "splits.mat", {"testNdxs": np.array(test_numbers)[:, None]})
    return photos, depths


def test_nyu_labelled(tmp_path: Path) -> None:
    photos, depths = make_labelled(tmp_path, None)
    dataset = open_dataset(tmp_path)
    assert (dataset.layout, dataset.cap_m, dataset.crop) == ("nyu", 10.0, "nyu")
    assert names(dataset) == ["00001", "00002", "00003"]
    assert any("not the test" in note for note in dataset.notes)
    for k in range(3):
        np.testing.assert_array_equal(dataset.samples[k].read_photo().rgb, photos[k])
        np.testing.assert_array_equal(depth_in(dataset, k), depths[k])


def test_nyu_labelled_test_split(tmp_path: Path) -> None:
    make_labelled(tmp_path, [3, 1])
    assert names(open_dataset(tmp_path, "nyu")) == ["00001", "00003"]
    make_labelled(tmp_path, [4])
    with pytest.raises(DatasetError, match="does not belong to"):
        open_dataset(tmp_path)


def test_nyu_labelled_without_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_labelled(tmp_path, [1])
    with monkeypatch.context() as context:
        context.setitem(sys.modules, "h5py", None)
        with pytest.raises(DatasetError, match="pip install h5py"):
            open_dataset(tmp_path)
    with monkeypatch.context() as context:
        context.setitem(sys.modules, "scipy.io", None)
        with pytest.raises(DatasetError, match="pip install scipy"):
            open_dataset(tmp_path)
    (tmp_path / "nyu_depth_v2_labeled.mat").write_bytes(b"MATLAB 7.3 MAT-file")
    with pytest.raises(DatasetError, match=r"labeled\.mat is damaged"):
        open_dataset(tmp_path)
