"""Names of outputs: all decided and all contradictions refused before work starts."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from depthsmith.errors import ImageError, OutputError, UsageError
from depthsmith.media.depth_file import write_depth
from depthsmith.plan import plan
from depthsmith.types import DepthKind, DepthMap, Size


@pytest.fixture
def photos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """``a.jpg``, ``b.JPG``, ``notes.txt``, ``sub/c.png`` and ``sub/deep/a.jpg``."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.jpg", "b.JPG", "notes.txt", "sub/c.png", "sub/deep/a.jpg"):
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return Path("in")


def pairs(*inputs: Path, **options: object) -> list[tuple[str, str]]:
    found = plan(list(inputs), **options)  # type: ignore[arg-type]
    return [(job.photo.as_posix(), job.target.as_posix()) for job in found.jobs]


def test_beside_the_photo_by_default(photos: Path) -> None:
    assert pairs(photos / "a.jpg", photos / "sub/c.png") == [
        ("in/a.jpg", "in/a_depth.png"),
        ("in/sub/c.png", "in/sub/c_depth.png"),
    ]


def test_a_folder_of_photos(photos: Path) -> None:
    assert pairs(photos) == [("in/a.jpg", "in/a_depth.png"), ("in/b.JPG", "in/b_depth.png")]


def test_recursive_keeps_the_folders_below(photos: Path) -> None:
    assert pairs(photos, output=Path("out"), recursive=True, format="exr") == [
        ("in/a.jpg", "out/a_depth.exr"),
        ("in/b.JPG", "out/b_depth.exr"),
        ("in/sub/c.png", "out/sub/c_depth.exr"),
        ("in/sub/deep/a.jpg", "out/sub/deep/a_depth.exr"),
    ]


def test_one_file_named_exactly(photos: Path) -> None:
    assert pairs(photos / "a.jpg", output=Path("x.EXR")) == [("in/a.jpg", "x.EXR")]


@pytest.mark.parametrize(
    ("name", "asked", "format"),
    [
        ("x.png", None, "png16"),
        ("x.png", "png8", "png8"),
        ("x.tif", None, "tiff"),
        ("x.tif", "tiff", "tiff"),
        ("x.npz", None, "npz"),
        ("folder", None, "png16"),
        ("folder", "pfm", "pfm"),
    ],
)
def test_the_format_follows_the_name(
    photos: Path, name: str, asked: str | None, format: str
) -> None:
    assert plan([photos / "a.jpg"], output=Path(name), format=asked).format == format


def test_an_existing_folder_may_have_a_dot(photos: Path) -> None:
    Path("v1.0").mkdir()
    assert pairs(photos / "a.jpg", output=Path("v1.0")) == [("in/a.jpg", "v1.0/a_depth.png")]
    assert pairs(photos / "a.jpg", output="v1.1/") == [("in/a.jpg", "v1.1/a_depth.png")]


CONTRADICTIONS = {
    "png16 files end with .png": {"output": Path("x.exr"), "format": "png16"},
    "no depth format ends with '.jpg'": {"output": Path("x.jpg")},
    "no depth format is called 'bmp'": {"format": "bmp"},
    "--format exr is for depth": {"picture": True, "format": "exr"},
    "cannot be written as x.exr": {"picture": True, "output": Path("x.exr")},
}


@pytest.mark.parametrize("reason", CONTRADICTIONS)
def test_contradictions(photos: Path, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        plan([photos / "a.jpg"], **CONTRADICTIONS[reason])  # type: ignore[arg-type]


@pytest.mark.parametrize("inputs", [["in/a.jpg", "in/b.JPG"], ["in/sub"]])
def test_one_file_for_several_photos(photos: Path, inputs: list[str]) -> None:
    with pytest.raises(UsageError, match="name a folder: -o x/"):
        plan([Path(name) for name in inputs], output=Path("x.png"))


def test_names_that_differ_in_the_suffix_only_keep_it(photos: Path) -> None:
    """Case alone does not keep files apart."""
    (photos / "a.png").touch()
    (photos / "A.jpeg").touch()
    assert pairs(photos) == [
        ("in/A.jpeg", "in/A.jpeg_depth.png"), ("in/a.jpg", "in/a.jpg_depth.png"),
        ("in/a.png", "in/a.png_depth.png"), ("in/b.JPG", "in/b_depth.png"),
    ]  # fmt: skip


def test_two_photos_for_one_file(photos: Path) -> None:
    with pytest.raises(UsageError, match=r"would both become out/a\.jpg_depth"):
        plan([photos / "a.jpg", photos / "sub/deep/a.jpg"], output=Path("out"))
    for name in ("a.png", "a.jpg.png"):
        (photos / name).touch()
    with pytest.raises(UsageError, match=r"a\.jpg and in/a\.jpg\.png would both become"):
        plan([photos])


def test_an_input_is_never_overwritten(photos: Path) -> None:
    (photos / "c.png").touch()
    with pytest.raises(UsageError, match="is an input and would be overwritten"):
        plan([photos / "c.png"], output=photos / "c.png")
    (photos / "a_depth.png").touch()
    with pytest.raises(UsageError, match="is an input and would be overwritten"):
        plan([photos / "a.jpg", photos / "a_depth.png"])
    Path("link.png").symlink_to(photos / "c.png")
    with pytest.raises(UsageError, match="is an input and would be overwritten"):
        plan([photos / "c.png"], output=Path("link.png"))


def test_pictures_have_suffixes_of_pictures(photos: Path) -> None:
    assert pairs(photos / "a.jpg", output="x.webp", picture=True) == [("in/a.jpg", "x.webp")]
    assert pairs(photos / "a.jpg", picture=True) == [("in/a.jpg", "in/a_depth_color.png")]
    assert plan([photos / "a.jpg"], picture=True).format is None


def test_own_outputs_in_folders_are_left_out_and_named_ones_are_not(photos: Path) -> None:
    own = photos / "a_depth.png"
    depth = DepthMap(np.ones((2, 2), np.float32), DepthKind.NEAR, Size(2, 2))
    write_depth(own, depth)
    found = plan([photos])
    assert [job.photo.name for job in found.jobs] == ["a.jpg", "b.JPG"]
    assert found.notes == ("left out 1 picture made by depthsmith itself",)
    found = plan([own])
    assert [job.target.name for job in found.jobs] == ["a_depth_depth.png"]


def test_skip_existing(photos: Path) -> None:
    (photos / "a_depth.png").touch()
    found = plan([photos / "a.jpg", photos / "b.JPG"], skip_existing=True)
    assert [job.photo.name for job in found.jobs] == ["b.JPG"]
    assert found.notes == ("skipped 1 picture, done already",)
    assert len(plan([photos / "a.jpg"]).jobs) == 1


def test_missing_inputs_are_refused_at_once(photos: Path) -> None:
    with pytest.raises(ImageError, match=r"in/none\.jpg does not exist"):
        plan([photos / "a.jpg", photos / "none.jpg"])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
@pytest.mark.parametrize("recursive", [False, True])
def test_pipes_and_broken_links_in_folders_are_neither_waited_for_nor_forgotten(
    photos: Path, recursive: bool
) -> None:
    os.mkfifo(photos / "pipe.png")
    (photos / "broken.png").symlink_to("nothing.png")
    (photos / "endless.png").symlink_to("/dev/zero")
    names = {photo for photo, _ in pairs(photos, recursive=recursive)}
    assert {"in/pipe.png", "in/broken.png", "in/endless.png"} <= names


def test_the_folder_of_a_named_file_is_missed_before_any_work(photos: Path) -> None:
    with pytest.raises(OutputError, match="no/folder does not exist"):
        plan([photos / "a.jpg"], output="no/folder/a.png")
    with pytest.raises(OutputError, match=r"a\.jpg is not a folder"):
        plan([photos / "a.jpg"], output=photos / "a.jpg" / "a.png")
