"""``stereo FILM --format left-right``: the views of side by side, in a file each."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest
from test_stereo_films import (
    HEIGHT,
    OPTIONS,
    WIDTH,
    Run,
    box_film,
    folder,  # noqa: F401 - fixture
    luma_of,
    pictures,
    run,  # noqa: F401 - fixture
)

import depthsmith
import films
from depthsmith.errors import ExitCode
from films import AudioSpec
from processes import held, short_segments

LOSSLESS = ["--codec", "ffv1"]


@pytest.mark.parametrize("options", [[], ["--swap"], ["--border", "crop"]])
def test_each_file_is_a_half_of_side_by_side(
    run: Run,  # noqa: F811
    folder: Path,  # noqa: F811
    options: list[str],
) -> None:
    box_film(folder / "a.mp4", 6, audio=(AudioSpec("aac", "eng"),))
    status, out, err = run("a.mp4", "-f", "left-right", *LOSSLESS, *options)
    assert (status, out) == (0, ["a_left.mkv", "a_right.mkv"]), err
    status, _, err = run("a.mp4", *LOSSLESS, *options)
    assert status == 0, err
    both = pictures("a_LRF_Full_SBS.mkv")
    width = both[0].shape[1] // 2
    for path, half in zip(out, (slice(None, width), slice(width, None)), strict=True):
        views = pictures(path)
        assert len(views) == 6
        assert all(np.array_equal(v, b[:, half]) for v, b in zip(views, both, strict=True))
        with av.open(path) as film:
            assert [s.language for s in film.streams.audio] == ["eng"]
            frame = next(film.decode(video=0))
            assert frame.side_data.get("STEREO3D") is None  # a plain film


def test_names_and_what_is_done_already(run: Run, folder: Path) -> None:  # noqa: F811
    (folder / "in").mkdir()
    box_film(folder / "in" / "a.mp4", 4)
    form = ["-f", "left-right", "--skip-existing"]
    status, out, _ = run("in", "-o", "out/", *form)
    assert (status, out) == (0, ["out/a_left.mp4", "out/a_right.mp4"])
    assert run("in", "-o", "out/", *form)[1] == []
    Path("out/a_right.mp4").unlink()  # one is not enough
    assert run("in", "-o", "out/", *form)[1] == out
    status, out, _ = run("in/a.mp4", "-o", "b.mov", *form)
    assert (status, out) == (0, ["b_left.mov", "b_right.mov"])
    for path in (*Path("out").iterdir(), Path("b_left.mov"), Path("b_right.mov")):
        path.rename(Path("in") / path.name)
    status, out, err = run("in", "-o", "more/", *form)
    assert out == ["more/a_left.mp4", "more/a_right.mp4"]
    assert "left out 4 films made by depthsmith itself" in err
    box_film(folder / "a_right.mp4", 4)
    box_film(folder / "a.mp4", 4)
    status, out, err = run("a.mp4", "a_right.mp4", "-f", "left-right")
    assert (status, out) == (ExitCode.USAGE, [])
    assert "a_right.mp4 is an input and would be overwritten" in err


def test_a_killed_run_goes_on(
    run: Run,  # noqa: F811
    folder: Path,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Killed while the second segment's files are counted."""
    segment = 40
    short = short_segments(segment, monkeypatch)
    box_film(folder / "a.mp4", 2 * segment + 10)
    command = ["a.mp4", "-f", "left-right", "--convergence", "auto", *LOSSLESS]
    assert run(*command, "-o", "whole.mkv")[0] == 0
    # Two files, times and a state a segment.
    place = "depthsmith.media.film.work.checksum"
    options = [*OPTIONS, *command, "-o", "b.mkv"]
    with held(place, 6, "stereo", *options, constants=short) as process:
        process.kill()
    assert not list(folder.glob("b_*"))
    status, out, err = run(*command, "-o", "b.mkv", "--resume")
    assert (status, out) == (0, ["b_left.mkv", "b_right.mkv"])
    assert f"continued at frame {segment}" in err
    for eye in ("left", "right"):
        one, two = pictures(f"whole_{eye}.mkv"), pictures(f"b_{eye}.mkv")
        assert len(one) == len(two) == 2 * segment + 10
        assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))
    assert not list(folder.glob(".*"))


def test_hdr_stays_hdr(run: Run, folder: Path) -> None:  # noqa: F811
    films.make_film_file(
        folder / "a.mkv",
        codec="libx265",
        pix_fmt="yuv420p10le",
        color=films.PQ,
        parts=((0.2, 25),),
    )
    status, out, _ = run("a.mkv", "-f", "left-right", "--strength", "0", "-o", "b.mp4")
    assert status == 0
    for path in out:
        with av.open("a.mkv") as before, av.open(path) as after:
            codec = after.streams.video[0].codec_context
            assert (codec.pix_fmt, codec.color_trc) == ("yuv420p10le", 16)
            one, two = next(before.decode(video=0)), next(after.decode(video=0))
            # At strength 0 both views are the picture itself.
            luma = [luma_of(frame)[: one.height, : one.width] for frame in (one, two)]
            assert np.median(np.abs(luma[0] - luma[1])) <= 4


def test_in_python(folder: Path) -> None:  # noqa: F811
    box_film(folder / "a.mp4", 4)
    made = depthsmith.make_stereo_film(
        "a.mp4", "b.mp4", model="mean.onnx", provider="cpu", resolution=98,
        look=depthsmith.FilmLook(format="left-right"),
    )  # fmt: skip
    assert made.written.paths == (Path("b_left.mp4"), Path("b_right.mp4"))
    for path in made.written.paths:
        assert pictures(path)[0].shape == (HEIGHT, WIDTH, 3)
