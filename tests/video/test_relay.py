"""Relays against plain iteration: the same items, the same errors, no thread left."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from depthsmith.video.relay import Relay


def threads() -> list[str]:
    return [t.name for t in threading.enumerate() if t.name.startswith("depthsmith")]


def test_items_come_in_order_and_the_thread_ends() -> None:
    with Relay(range(1000), 3) as relay:
        assert list(relay) == list(range(1000))
    assert threads() == []


def test_runs_ahead_as_far_as_told_and_no_further() -> None:
    made: list[int] = []

    def source() -> Iterator[int]:
        for i in range(100):
            made.append(i)
            yield i

    with Relay(source(), 4) as relay:
        assert next(relay) == 0
        deadline = time.monotonic() + 10
        while len(made) < 6 and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.05)
        # One is used, four wait, one is in the source's hand.
        assert made == list(range(6))


def test_an_error_comes_after_the_items_before_it() -> None:
    def source() -> Iterator[int]:
        yield 1
        yield 2
        raise ValueError("broken")

    with Relay(source(), 8) as relay:
        assert [next(relay), next(relay)] == [1, 2]
        with pytest.raises(ValueError, match="broken"):
            next(relay)
        with pytest.raises(StopIteration):
            next(relay)
    assert threads() == []


def test_stopping_half_way_closes_every_stage_on_its_own_thread() -> None:
    closed: list[str] = []

    def stage(source: Iterator[int], name: str) -> Iterator[int]:
        try:
            yield from source
        finally:
            closed.append(f"{name} on {threading.current_thread().name}")

    with (
        pytest.raises(KeyboardInterrupt),
        Relay(stage(iter(range(10**9)), "a"), 2, "one") as first,
        Relay(stage(first, "b"), 2, "two") as second,
    ):
        for item in second:
            if item == 50:
                raise KeyboardInterrupt
    assert threads() == []
    assert sorted(closed) == ["a on depthsmith one", "b on depthsmith two"]
