"""Steady depth: what it promises about cuts, ranges, states and look-ahead."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import cv2
import numpy as np
import pytest
import skimage.data
from numpy.typing import NDArray
from temporal_films import steadied

from depthsmith.depth.temporal import (
    LOOK_AHEAD,
    DepthSample,
    Stabilizer,
    State,
    SteadyDepth,
    SteadySettings,
)
from depthsmith.errors import InputError, UsageError

Array = NDArray[np.float32]

HEIGHT, WIDTH = 98, 154
MODES = ["off", "fast", "quality"]


def pan(
    count: int, *, cuts: tuple[int, ...] = (0,), seed: int = 0, noise: float = 0.01
) -> list[DepthSample]:
    """A camera that glides over photos, depth with errors that differ from frame to frame."""
    rng = np.random.default_rng(seed)
    photos = [skimage.data.coffee(), skimage.data.astronaut(), skimage.data.chelsea()]
    found, shot, start = [], -1, 0
    for index in range(count):
        if index in cuts:
            shot, start = shot + 1, index
        photo = photos[shot % len(photos)]
        x, y = 20 + 2 * (index - start), 30 + (index - start) // 2
        guide = photo[y : y + HEIGHT, x : x + WIDTH]
        soft = cv2.resize(rng.standard_normal((4, 5)).astype(np.float32), (WIDTH, HEIGHT))
        depth = cv2.GaussianBlur(guide[..., 0].astype(np.float32), (0, 0), 3) / 255.0
        depth = rng.uniform(0.9, 1.1) * (depth + noise * soft) + rng.uniform(-0.05, 0.05)
        found.append(
            DepthSample(index, depth.astype(np.float32), guide.copy(), index in cuts, index / 24)
        )
    return found


def keyed(frames: list[DepthSample], every: int) -> list[DepthSample]:
    """Without the depth between key frames."""
    start, found = 0, []
    for frame in frames:
        start = frame.index if frame.cut else start
        key = (frame.index - start) % every == 0
        found.append(frame if key else replace(frame, inverse=None))
    return found


def same(ours: list[SteadyDepth], theirs: list[SteadyDepth]) -> bool:
    return len(ours) == len(theirs) and all(
        a.index == b.index
        and np.array_equal(a.near, b.near)
        and np.array_equal(a.inverse, b.inverse)
        for a, b in zip(ours, theirs, strict=True)
    )


# --- going on from a state


@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_goes_on_exactly_where_it_stopped(mode: str, live: bool, every: int) -> None:
    settings = SteadySettings(mode=mode, live=live, every=every)
    frames = keyed(pan(44, cuts=(0, 31)), every)
    whole = steadied(frames, settings)
    assert [result.index for result in whole] == list(range(44))
    for stop in (0, 11, 16, 23, 30, 31, 37, 42):
        arrays = whole[stop].state.to_arrays()
        state = State.from_arrays({name: array.copy() for name, array in arrays.items()})
        rest = steadied(frames[stop + 1 :], settings, state)
        assert same(rest, whole[stop + 1 :]), stop


def test_a_state_is_plain_arrays(tmp_path: object) -> None:
    state = steadied(keyed(pan(30), 3), SteadySettings(every=3))[16].state
    file = f"{tmp_path}/state.npz"
    np.savez(file, **state.to_arrays())
    with np.load(file, allow_pickle=False) as arrays:
        again = State.from_arrays(arrays).to_arrays()
    for name, array in state.to_arrays().items():
        np.testing.assert_array_equal(again[name], array)


def test_a_damaged_state_is_refused() -> None:
    arrays = steadied(pan(3), SteadySettings())[1].state.to_arrays()
    with pytest.raises(ValueError, match="lacks low"):
        State.from_arrays({name: array for name, array in arrays.items() if name != "low"})
    with pytest.raises(ValueError, match="guide is float64"):
        State.from_arrays({**arrays, "guide": arrays["guide"] / 1.0})


# --- look-ahead


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("every", [1, 4])
def test_look_ahead_is_bounded(mode: str, every: int) -> None:
    settings = SteadySettings(mode=mode, every=every)
    assert settings.look_ahead == LOOK_AHEAD + every - 1 <= 30
    stabilizer, given, held = Stabilizer(settings), 0, 0
    for count, frame in enumerate(keyed(pan(70), every), start=1):
        given += len(stabilizer.push(frame))
        held = max(held, count - given)
    assert held <= settings.look_ahead
    assert given + len(stabilizer.finish()) == 70


@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("mode", MODES)
def test_live_finishes_every_frame_at_once(mode: str, every: int) -> None:
    settings = SteadySettings(mode=mode, live=True, every=every)
    assert settings.look_ahead == 0
    stabilizer = Stabilizer(settings)
    frames = keyed(pan(20), every)
    assert [[r.index for r in stabilizer.push(f)] for f in frames] == [[i] for i in range(20)]
    assert stabilizer.finish() == []


# --- cuts


@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_a_cut_forgets_everything(mode: str, live: bool) -> None:
    """The second shot is what it would be as a film of its own."""
    settings = SteadySettings(mode=mode, live=live)
    frames = pan(60, cuts=(0, 24))
    both = steadied(frames, settings)
    alone = steadied(frames[24:], settings)
    assert same(both[24:], alone)


@pytest.mark.parametrize("mode", MODES)
def test_a_shot_knows_nothing_of_the_next(mode: str) -> None:
    frames = pan(40, cuts=(0, 17))
    settings = SteadySettings(mode=mode)
    assert same(steadied(frames, settings)[:17], steadied(frames[:17], settings))


# --- the range


def entering(count: int = 110, *, network_reacts: bool) -> tuple[list[DepthSample], Array]:
    """A still camera; from frame 40 on a bright near thing comes in and stays.

    Returns the frames and where nothing ever moves.
    """
    rng = np.random.default_rng(3)
    photo = cv2.resize(skimage.data.coffee(), (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA)
    thing = cv2.resize(skimage.data.astronaut(), (34, 70), interpolation=cv2.INTER_AREA)
    thing = np.minimum(thing.astype(int) + 80, 255).astype(np.uint8)
    rows = np.linspace(0.2, 0.7, HEIGHT, dtype=np.float32)[:, None]
    room = rows + 0.05 * np.sin(np.arange(WIDTH, dtype=np.float32) / 20.0)
    frames, touched = [], np.zeros((HEIGHT, WIDTH), bool)
    for index in range(count):
        guide, depth = photo.copy(), room.copy()
        left = min(-34 + 2 * max(index - 40, 0), 60)
        columns = slice(max(left, 0), left + 34)
        if columns.stop > 0:
            guide[14:84, columns] = thing[:, max(-left, 0) :]
            depth[14:84, columns] = 2.5
            touched[4:94, max(columns.start - 10, 0) : columns.stop + 10] = True
        guide = np.clip(guide + rng.normal(0, 1.5, guide.shape), 0, 255).astype(np.uint8)
        if network_reacts:  # mean 0, deviation 1 in every frame
            depth = (depth - depth.mean()) / depth.std()
        frames.append(DepthSample(index, depth.astype(np.float32), guide, index == 0, index / 24))
    return frames, ~touched


@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize(
    ("mode", "network_reacts"),
    [("off", False), ("fast", False), ("fast", True), ("quality", False), ("quality", True)],
)
def test_what_enters_moves_nothing_else(mode: str, network_reacts: bool, live: bool) -> None:
    frames, still = entering(network_reacts=network_reacts)
    near = np.stack([r.near for r in steadied(frames, SteadySettings(mode=mode, live=live))])
    before = near[20:40].mean(axis=0)
    moved = np.abs(near[40:] - before)[:, still]
    assert moved.mean(axis=1).max() < 0.005
    assert np.percentile(moved, 99) < 0.01
    assert near[-1][30:70, 65:85].min() > near[-1][still].max()  # and it is nearer than all


@pytest.mark.parametrize("mode", MODES)
def test_range_is_that_of_percentiles(mode: str) -> None:
    """A pixel far outside does not matter; what lies beyond the ends keeps its order."""
    frames = pan(12, noise=0.0)
    hot = []
    for frame in frames:
        assert frame.inverse is not None
        depth = frame.inverse.copy()
        depth[3, 5], depth[3, 6] = 40.0, 50.0
        hot.append(replace(frame, inverse=depth))
    plain, spoilt = (steadied(f, SteadySettings(mode=mode)) for f in (frames, hot))
    for ours, theirs in zip(plain, spoilt, strict=True):
        assert np.median(np.abs(ours.near - theirs.near)) < 0.002
        assert 0.99 < theirs.near[3, 5] < theirs.near[3, 6] <= 1.0
        assert ours.near.min() >= 0.0
    assert np.ptp(plain[0].near) > 0.6


@pytest.mark.parametrize("live", [False, True])
def test_off_changes_nothing_but_the_range(live: bool) -> None:
    frames = pan(30)
    for frame, result in zip(
        frames, steadied(frames, SteadySettings(mode="off", live=live)), strict=True
    ):
        assert np.array_equal(result.inverse, frame.inverse)
        order = np.argsort(result.inverse, axis=None)
        assert (np.diff(result.near.ravel()[order]) >= 0).all()


def test_a_film_that_begins_black_finds_its_range_later() -> None:
    frames = entering(60, network_reacts=False)[0]
    dark = [
        replace(f, guide=np.zeros_like(f.guide), inverse=np.full_like(f.inverse, 9.0))
        if f.index < 30 else f
        for f in frames
    ]  # fmt: skip
    for live in (False, True):
        done = steadied(dark, SteadySettings(mode="off", live=live))
        assert np.ptp(np.percentile(done[58].near, (5, 95))) > 0.6


def test_flat_depth_is_zero() -> None:
    frames = [replace(f, inverse=np.full_like(f.inverse, 2.0)) for f in pan(5)]
    for mode in MODES:
        assert not np.any([r.near for r in steadied(frames, SteadySettings(mode=mode))])


# --- the filter


@pytest.mark.parametrize("freedom", ["scale-shift", "scale"])
@pytest.mark.parametrize("mode", ["fast", "quality"])
def test_scale_and_shift_are_taken_out(mode: str, freedom: str) -> None:
    """Of a still scene, whose frames differ by nothing else: closed form."""
    rng = np.random.default_rng(0)
    base = pan(1)[0]
    frames = []
    for index in range(30):
        shift = rng.uniform(-0.2, 0.2) if freedom == "scale-shift" else 0.0
        depth = (rng.uniform(0.8, 1.2) * base.inverse + shift).astype(np.float32)
        frames.append(DepthSample(index, depth, base.guide, index == 0, index / 24))
    done = steadied(frames, SteadySettings(mode=mode, affine=freedom))
    for one, next_one in pairwise(done):
        np.testing.assert_allclose(one.inverse, next_one.inverse, atol=2e-6)
        np.testing.assert_allclose(one.near, next_one.near, atol=2e-6)


def test_metres_stay_metres() -> None:
    """Without freedom nothing is scaled: over a still scene the mean remains."""
    rng = np.random.default_rng(0)
    base = pan(1)[0]
    noisy = [
        DepthSample(
            i, (base.inverse + 0.01 * rng.standard_normal(base.inverse.shape)).astype(np.float32),
            base.guide, i == 0, i / 24,
        )
        for i in range(40)
    ]  # fmt: skip
    done = steadied(noisy, SteadySettings(affine="none"))
    assert abs(np.mean([r.inverse - base.inverse for r in done])) < 2e-4


@pytest.mark.parametrize("mode", ["fast", "quality"])
def test_large_maps_keep_their_own_detail(mode: str) -> None:
    """They are filtered at half their size; a pattern that is nothing there comes through."""
    pattern = np.tile(np.float32([[0.001, -0.001], [-0.001, 0.001]]), (2 * HEIGHT, 2 * WIDTH))
    large, small, plain = [], [], []
    for frame in pan(26):
        guide = cv2.resize(frame.guide, (2 * WIDTH, 2 * HEIGHT))
        inverse = cv2.resize(frame.inverse, (2 * WIDTH, 2 * HEIGHT))
        twice = [part.repeat(2, axis=0).repeat(2, axis=1) for part in (inverse, guide)]
        small.append(replace(frame, inverse=inverse, guide=guide))
        plain.append(replace(frame, inverse=twice[0], guide=twice[1]))
        large.append(replace(plain[-1], inverse=twice[0] + pattern))
    settings = SteadySettings(mode=mode)
    done = steadied(large, settings)
    for ours, theirs, coarse in zip(
        done, steadied(plain, settings), steadied(small, settings), strict=True
    ):
        assert ours.inverse.shape == pattern.shape
        detail = ours.inverse - theirs.inverse
        assert np.abs(detail - ours.state.scale * pattern).mean() < 1e-5
        halved = cv2.resize(theirs.inverse, (2 * WIDTH, 2 * HEIGHT), interpolation=cv2.INTER_AREA)
        assert np.abs(halved - coarse.inverse).mean() < 5e-4
    state = State.from_arrays(done[13].state.to_arrays())
    assert same(steadied(large[14:], settings, state), done[14:])


@pytest.mark.parametrize(("mode", "left"), [("fast", 0.45), ("quality", 0.4)])
def test_noise_of_a_still_scene_is_averaged(mode: str, left: float) -> None:
    """A mean of n frames leaves 1/sqrt(n): 6 + 1 frames, and 6 on the other side."""
    rng = np.random.default_rng(0)
    base = pan(1)[0]
    frames, size = [], 0.01
    for index in range(48):
        noise = size * rng.standard_normal(base.inverse.shape)
        depth = (base.inverse + noise).astype(np.float32)
        frames.append(DepthSample(index, depth, base.guide, index == 0, index / 24))
    done = steadied(frames, SteadySettings(mode=mode, affine="none"))
    late = np.stack([r.inverse for r in done[20:30]])
    assert (late - base.inverse).std() < left * size


@pytest.mark.parametrize("mode", ["fast", "quality"])
def test_a_still_scene_does_not_stray(mode: str) -> None:
    """After 400 frames of changing scale, shift and soft errors, the unit is still the same."""
    rng = np.random.default_rng(1)
    base = pan(1)[0]
    frames = []
    for index in range(400):
        soft = cv2.resize(rng.standard_normal((4, 5)).astype(np.float32), (WIDTH, HEIGHT))
        depth = rng.uniform(0.9, 1.1) * (base.inverse + 0.02 * soft) + rng.uniform(-0.05, 0.05)
        guide = np.clip(base.guide + rng.normal(0, 1.5, base.guide.shape), 0, 255)
        frames.append(
            DepthSample(
                index, depth.astype(np.float32), guide.astype(np.uint8), index == 0, index / 24
            )
        )
    done = steadied(frames, SteadySettings(mode=mode))
    first, last = (np.mean([r.near for r in done[a : a + 40]], axis=0) for a in (20, 360))
    assert abs(np.polyfit(first.ravel(), last.ravel(), 1)[0] - 1.0) < 0.02
    assert abs(float((last - first).mean())) < 0.01


@pytest.mark.parametrize("mode", ["fast", "quality"])
def test_perfect_depth_hardly_changes(mode: str) -> None:
    frames = pan(40, noise=0.0)
    exact = []
    for frame in frames:
        depth = cv2.GaussianBlur(frame.guide[..., 0].astype(np.float32), (0, 0), 1) / 255.0
        exact.append(replace(frame, inverse=depth))
    for frame, result in zip(exact, steadied(exact, SteadySettings(mode=mode)), strict=True):
        a, b = np.polyfit(result.inverse.ravel(), frame.inverse.ravel(), 1)
        assert np.abs(a * result.inverse + b - frame.inverse).mean() < 0.005


@pytest.mark.parametrize("mode", ["fast", "quality"])
def test_changes_of_brightness_do_no_harm(mode: str) -> None:
    """A flash, a black frame and a pumping exposure: not worse than without a filter."""
    frames = pan(48)
    truth = pan(48, noise=0.0)
    changed = []
    for frame in frames:
        guide = frame.guide.astype(np.float64) * (1.0 + 0.4 * np.sin(frame.index))
        if frame.index in (20, 21):
            guide = guide * 3.0 + 100.0
        if frame.index == 30:
            guide[:] = 0.0
        changed.append(replace(frame, guide=np.clip(guide, 0, 255).astype(np.uint8)))

    def error(inverse: Array, index: int) -> float:
        target = truth[index].inverse
        a, b = np.polyfit(inverse.ravel(), target.ravel(), 1)
        return float(np.abs(a * inverse + b - target).mean())

    for result in steadied(changed, SteadySettings(mode=mode)):
        assert error(result.inverse, result.index) < 1.05 * error(
            frames[result.index].inverse, result.index
        )


# --- frames between key frames


def test_key_frames_keep_their_depth_and_others_follow_motion() -> None:
    frames = pan(25, noise=0.0)
    exact = []
    for frame in frames:
        depth = cv2.GaussianBlur(frame.guide[..., 0].astype(np.float32), (0, 0), 2) / 255.0
        exact.append(replace(frame, inverse=depth))
    done = steadied(keyed(exact, 4), SteadySettings(mode="off", every=4))
    for frame, result in zip(exact, done, strict=True):
        if frame.index % 4 == 0:
            assert np.array_equal(result.inverse, frame.inverse)
        else:
            stay = np.abs(exact[frame.index // 4 * 4].inverse - frame.inverse).mean()
            assert np.abs(result.inverse - frame.inverse).mean() < 0.35 * stay


def test_depth_is_not_carried_across_a_cut() -> None:
    frames = keyed(pan(40, cuts=(0, 18)), 5)
    settings = SteadySettings(mode="off", every=5)
    done = steadied(frames, settings)
    assert same(done[:18], steadied(frames[:18], settings))
    assert same(done[18:], steadied(frames[18:], settings))


@pytest.mark.parametrize("mode", MODES)
def test_order_size_and_missing_depth_are_checked(mode: str) -> None:
    first, second, third = pan(3)
    for wrong, said in (
        (third, "frame 2 pushed after frame 0"),
        (replace(second, guide=second.guide[:50], inverse=second.inverse[:50]), "not"),
        (replace(second, inverse=None), "more than the settings say"),
        (replace(second, inverse=None, cut=True), "starts a shot and has no depth"),
    ):
        stabilizer = Stabilizer(SteadySettings(mode=mode))
        stabilizer.push(first)
        with pytest.raises(InputError, match=said):
            stabilizer.push(wrong)
    with pytest.raises(InputError, match="starts a shot"):
        Stabilizer(SteadySettings(mode=mode, every=2)).push(replace(first, inverse=None))


def test_samples_are_checked() -> None:
    good = pan(1)[0]
    assert good.inverse is not None
    bad = good.inverse.copy()
    bad[0, 0] = np.nan
    for change, said in (
        ({"inverse": bad}, "frame 0 is not finite"),
        ({"inverse": good.inverse.astype(np.float64)}, "float64"),
        ({"inverse": good.inverse[:4]}, r"\(4, 154\)"),
        ({"guide": good.guide[..., :2]}, "guide must be"),
        ({"guide": good.guide[:0], "inverse": good.inverse[:0]}, "guide must be"),
        ({"inverse": good.inverse * np.float32(1e35)}, "may reach 1e.30"),
        ({"inverse": [1.0]}, "not list"),
    ):
        with pytest.raises(InputError, match=said):
            replace(good, **change)


@pytest.mark.parametrize(
    "settings",
    [{"mode": "best"}, {"affine": "shift"}, {"every": 0}, {"every": 13},
     {"low_percentile": 99.0, "high_percentile": 1.0}],
)  # fmt: skip
def test_settings_are_checked(settings: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        SteadySettings(**settings)


@pytest.mark.parametrize("size", [(1, 1), (9, 40), (14, 14), (17, 700), (42, 14)])
@pytest.mark.parametrize("mode", MODES)
def test_any_size(mode: str, size: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    frames = [
        DepthSample(
            i, rng.random(size).astype(np.float32),
            rng.integers(0, 256, (*size, 3)).astype(np.uint8), i == 0, i / 24,
        )
        for i in range(14)
    ]  # fmt: skip
    done = steadied(keyed(frames, 2), SteadySettings(mode=mode, every=2))
    assert all(np.isfinite(r.near).all() and r.near.shape == size for r in done)
    assert len(done) == 14
