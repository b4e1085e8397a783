"""Names of what becomes of films, and what is refused before any work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from depthsmith.errors import DepthsmithError, FilmError, OutputError, UsageError
from depthsmith.video.plan import FilmPlan, plan_films


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("a.mp4", "b.MOV", "sub/c.mkv", "notes.txt", ".hidden.mp4"):
        file = tmp_path / "films" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"")
    (tmp_path / "films" / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def plan(*films: str, **options: Any) -> FilmPlan:
    options = {"output": None, "format": None, "default": "mp4", "ending": "_depth"} | options
    return plan_films([Path(f) for f in films], is_own=lambda p: p.stem == "b", **options)


def targets(found: FilmPlan) -> list[str]:
    return [job.target.as_posix() for job in found.jobs]


def test_beside_each_film(folder: Path) -> None:
    found = plan("films", "films/b.MOV", recursive=True)
    # What is named is taken, even if depthsmith made it.
    assert targets(found) == ["films/a_depth.mp4", "films/b_depth.mp4", "films/sub/c_depth.mp4"]
    found = plan("films", recursive=True)
    assert targets(found) == ["films/a_depth.mp4", "films/sub/c_depth.mp4"]
    assert found.notes == ("left out 1 film made by depthsmith itself",)


def test_into_a_folder(folder: Path) -> None:
    found = plan("films", output="out", recursive=True, format="mkv")
    assert targets(found) == ["out/a_depth.mkv", "out/sub/c_depth.mkv"]
    assert found.folder == Path("out")


def test_a_sequence_goes_into_the_named_folder(folder: Path) -> None:
    found = plan("films/a.mp4", output="frames", format="exr")
    assert (targets(found), found.folder) == (["frames"], None)
    assert targets(plan("films", output="frames", format="exr")) == ["frames/a_depth"]
    assert targets(plan("films/a.mp4", format="png16")) == ["films/a_depth"]


def test_the_suffix_decides(folder: Path) -> None:
    assert plan("films/a.mp4", output="x.mkv").format == "mkv"
    assert plan("films/a.mp4", output="x.M4V").format == "mp4"


def test_skip_existing(folder: Path) -> None:
    (folder / "films" / "a_depth.mp4").write_bytes(b"")
    found = plan("films/a.mp4", skip_existing=True)
    assert (found.jobs, found.notes) == ((), ("skipped 1 film, done already",))


@pytest.mark.parametrize(
    ("films", "options", "error", "words"),
    [
        (["films/no.mp4"], {}, FilmError, "does not exist"),
        (["films/empty"], {}, FilmError, "holds no film; look into its folders"),
        (["films/a.mp4"], {"output": "x.avi"}, UsageError, "cannot be written as x.avi"),
        (["films/a.mp4"], {"output": "x.mp4", "format": "mkv"}, UsageError, "contradicts"),
        (["films/a.mp4"], {"output": "x.mp4", "format": "exr"}, UsageError, "contradicts"),
        (["films/a.mp4", "films/b.MOV"], {"output": "x.mp4"}, UsageError, "one file for 2 films"),
        (["films"], {"output": "x.mp4"}, UsageError, "name a folder: -o x/"),
        (["films/a.mp4"], {"output": "no/x.mp4"}, OutputError, "does not exist"),
        (["films/a.mp4"], {"output": "films/A.mp4"}, UsageError, "would be overwritten"),
        (["films/a.mp4", "films/sub/../a.mkv"], {}, FilmError, "does not exist"),
    ],
)
def test_refused(
    folder: Path,
    films: list[str],
    options: dict[str, Any],
    error: type[DepthsmithError],
    words: str,
) -> None:
    with pytest.raises(error, match=words):
        plan(*films, **options)


def test_two_films_for_one_name(folder: Path) -> None:
    (folder / "films" / "a.mkv").write_bytes(b"")
    names = [target.name for job in plan("films").jobs for target in job.targets]
    assert {"a.mkv_depth.mp4", "a.mp4_depth.mp4"} == {*names}
    (folder / "a.mkv").write_bytes(b"")
    with pytest.raises(UsageError, match="would both become"):
        plan("a.mkv", "films/a.mkv", output="out/")
