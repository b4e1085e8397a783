"""Where the times of a source go: worked out by hand."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from written_films import write

from depthsmith.film import Span, StereoLayout
from depthsmith.media.film.montage import make_montage
from depthsmith.media.film.work import UNKNOWN
from films import AudioSpec, beep_times, flash_times, frame_times, make_film_file

UNIT = Fraction(1, 100)


def montage(pts: list[int], durations: list[int] | None = None, **options):
    lengths = durations or [UNKNOWN] * len(pts)
    return make_montage(
        np.array(pts, np.int64),
        np.array(lengths, np.int64),
        unit=UNIT,
        rate=Fraction(25),
        **options,
    )


def test_the_whole_film_keeps_its_times() -> None:
    made = montage([50, 54, 70], [4, 4, 9])
    assert made.pts.tolist() == [50, 54, 70]
    # What is shown stays until the next picture comes.
    assert made.durations.tolist() == [4, 16, 9]
    assert (made.duration, made.end) == (Fraction(29, 100), Fraction(79, 100))
    assert made.place(Fraction(1, 5)) == Fraction(1, 5)
    assert made.note == ""


def test_durations_that_are_not_known() -> None:
    assert montage([0, 4, 10]).durations.tolist() == [4, 6, 6]
    assert montage([7]).durations.tolist() == [4]  # one of 25 a second
    fine = make_montage(
        np.array([0, 4000, 4001]),
        np.full(3, UNKNOWN),
        unit=Fraction(1, 100_000),
        rate=Fraction(25),
    )
    assert fine.durations.tolist() == [4000, 1, 4000]  # a time that was moved by a tick


@pytest.mark.parametrize("pts", [[], [3, 3], [3, 2]])
def test_times_increase(pts: list[int]) -> None:
    with pytest.raises(ValueError, match="increase"):
        montage(pts)


def test_no_picture_before_zero() -> None:
    made = montage([-8, -4, 0])
    assert made.pts.tolist() == [0, 4, 8]
    assert made.place(Fraction(0)) == Fraction(8, 100)
    assert "-0.080" in made.note


def test_clocks_that_start_anywhere() -> None:
    """Of transport streams without a word, of others where it is a minute or more."""
    made = montage([9000, 9004], file_start=Fraction(8999) / 100, free_clock=True)
    assert made.pts.tolist() == [1, 5]
    assert made.note == ""
    made = montage([9000, 9004], file_start=Fraction(90))
    assert made.pts.tolist() == [0, 4]
    assert "90.000" in made.note
    assert montage([5000, 5004], file_start=Fraction(50)).pts.tolist() == [5000, 5004]


def test_parts() -> None:
    """Frames at 0.5 to 0.9 s every 0.1; the film's 0 is at 0.5."""
    spans = (Span(0.1, 0.2), Span(0.3))
    made = montage([60, 80, 90], [10, 10, 10], spans=spans, origin=50)
    assert made.pts.tolist() == [0, 10, 20]
    assert made.durations.tolist() == [10, 10, 10]
    assert [(p.begin, p.end, p.to) for p in made.parts] == [
        (Fraction(6, 10), Fraction(7, 10), 0), (Fraction(8, 10), 1, Fraction(1, 10)),
    ]  # fmt: skip
    assert made.place(Fraction(59, 100)) is None
    assert made.place(Fraction(65, 100)) == Fraction(5, 100)
    assert made.place(Fraction(7, 10)) is None
    assert made.place(Fraction(9, 10)) == Fraction(2, 10)
    # From before the first part into the second: one piece, as parts follow on.
    assert made.clip(Fraction(0), Fraction(85, 100)) == [(Fraction(0), Fraction(15, 100))]
    assert made.clip(Fraction(0), Fraction(1, 2)) == []
    assert made.cut(Fraction(65, 100), Fraction(85, 100)) == [
        (Fraction(65, 100), Fraction(7, 10), Fraction(5, 100)),
        (Fraction(8, 10), Fraction(85, 100), Fraction(1, 10)),
    ]
    assert made.duration == Fraction(3, 10)


def test_a_gap_inside_a_part_stays() -> None:
    made = montage([0, 10, 50, 60], [10] * 4, spans=(Span(0, 0.7),))
    assert made.pts.tolist() == [0, 10, 50, 60]
    assert made.durations.tolist() == [10, 40, 10, 10]


def test_a_part_without_frames() -> None:
    spans = (Span(0, 0.2), Span(0.3, 0.31), Span(0.4, 0.6))
    made = montage([0, 10, 40, 50], [10] * 4, spans=spans)
    assert made.pts.tolist() == [0, 10, 20, 30]


@pytest.mark.parametrize(
    ("name", "first", "shifted"), [("a.ts", 5000, True), ("a.mkv", 100, True), ("a.mp4", 7, False)]
)
def test_late_sources(tmp_path: Path, name: str, first: int, shifted: bool) -> None:
    source = make_film_file(
        tmp_path / name, first_pts_s=first, parts=((2, 30),), flashes=(0.2, 1.8),
        audio=(AudioSpec(),),
    )  # fmt: skip
    for suffix in (".mp4", ".mkv"):
        target = tmp_path / f"out{suffix}"
        notes = write(source, target).notes
        start = 0 if shifted else first
        # Sound begins a little earlier: with the encoder's delay.
        assert start <= frame_times(target)[0] < start + 0.03
        assert np.allclose(flash_times(target), beep_times(target), atol=0.003)
        assert any("begin at 0" in note for note in notes) == (name == "a.mkv")


@pytest.mark.parametrize("suffix", [".mp4", ".mkv"])
@pytest.mark.parametrize(
    "parts", [((4, 1), (0.1, 60)), ((0.5, 30), (20, 0.05), (0.5, 30))], ids=["faster", "a gap"]
)
def test_rates_that_rise(tmp_path: Path, parts, suffix: str) -> None:
    """Durations in MP4 are in the order of decoding, those in Matroska are guessed."""
    source = make_film_file(tmp_path / "a.mp4", parts=parts)
    written = write(source, tmp_path / f"b{suffix}")
    assert frame_times(written.path) == pytest.approx(frame_times(source), abs=1e-3)


@pytest.mark.parametrize("suffix", [".mp4", ".mkv"])
def test_stereo_films_are_tagged(tmp_path: Path, suffix: str) -> None:
    source = make_film_file(tmp_path / "a.mp4", audio=(AudioSpec(),))
    target = tmp_path / f"out{suffix}"
    write(source, target, "rgb", sink_options={"layout": StereoLayout("sbs")})
    data = target.read_bytes()
    assert (b"st3d" if suffix == ".mp4" else b"\x53\xb8\x81\x01") in data
    assert len(frame_times(target)) == 30
