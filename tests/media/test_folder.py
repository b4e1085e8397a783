"""Films and photos are told apart by what is in the file, whatever it is called."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from depthsmith.errors import FilmError, ImageError
from depthsmith.media.film.probe import probe
from depthsmith.media.folder import split_by_kind
from depthsmith.media.photo import read_photo
from films import draw_frame, make_film_file

FRAMES = [Image.fromarray(draw_frame(n, (96, 128))) for n in range(3)]


def still(path: Path, format: str) -> None:
    FRAMES[0].save(path, format)


def moving(path: Path, format: str) -> None:
    FRAMES[0].save(path, format, save_all=True, append_images=FRAMES[1:], duration=100)


def film(path: Path, format: str) -> None:
    make_film_file(path.with_suffix(f".{format}")).rename(path)


@pytest.mark.parametrize("suffix", ["", ".bin", ".jpg", ".mp4"])
@pytest.mark.parametrize(
    ("write", "format", "is_film"),
    [
        (still, "JPEG", False),
        (still, "PNG", False),
        (still, "GIF", False),
        (moving, "GIF", True),
        (moving, "PNG", True),
        (moving, "WEBP", False),  # FFmpeg does not read animated ones
        (moving, "TIFF", False),
        (film, "mp4", True),
        (film, "mkv", True),
    ],
)
def test_content_decides(
    write: Callable[[Path, str], None], format: str, is_film: bool, suffix: str, tmp_path: Path
) -> None:
    path = tmp_path / f"a{suffix}"
    write(path, format)
    assert split_by_kind([path]) == (([], [path]) if is_film else ([path], []))


@pytest.mark.parametrize("content", [b"", b"text\n", b"\0\0\0\x18ftypisom" + bytes(99)])
def test_what_is_neither_goes_by_its_suffix(content: bytes, tmp_path: Path) -> None:
    for suffix, is_film in (("", False), (".bin", False), (".jpg", False), (".mp4", True)):
        path = tmp_path / f"a{suffix}"
        path.write_bytes(content)
        assert split_by_kind([path]) == (([], [path]) if is_film else ([path], []))


def test_what_is_not_there_goes_by_its_suffix(tmp_path: Path) -> None:
    paths = [tmp_path / "a.jpg", tmp_path / "a.mp4"]
    assert split_by_kind(paths) == ([paths[0]], [paths[1]])


def test_each_says_which_command_is_for_the_other(tmp_path: Path) -> None:
    make_film_file(tmp_path / "a.mp4")
    with pytest.raises(ImageError, match=r"is a film; .*`depthsmith video`"):
        read_photo(tmp_path / "a.mp4")
    still(tmp_path / "a.png", "PNG")
    with pytest.raises(FilmError, match=r"still picture.*`depthsmith depth`"):
        probe(tmp_path / "a.png")


def test_a_document_with_a_picture_is_no_film(tmp_path: Path) -> None:
    """FFmpeg finds the JPEG in it."""
    FRAMES[0].save(tmp_path / "a.pdf")
    assert split_by_kind([tmp_path / "a.pdf"]) == ([tmp_path / "a.pdf"], [])
    with pytest.raises(FilmError, match="not a film"):
        probe(tmp_path / "a.pdf")
