"""Times and rates as people write them."""

from __future__ import annotations

import pytest

from depthsmith.errors import UsageError
from depthsmith.film import Span
from depthsmith.video.spans import parse_bit_rate, parse_spans, parse_time


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("1:30", 90),
        ("0:01:30.5", 90.5),
        ("2:00:00", 7200),
        (".5", 0.5),
        ("12.", 12),
        ("7s", 7),
    ],
)
def test_times(text: str, seconds: float) -> None:
    assert parse_time(text) == seconds


@pytest.mark.parametrize("text", ["", "x", "-1", "1:2:3:4", "1e3", "nan", "::", "1:"])
def test_no_times(text: str) -> None:
    with pytest.raises(UsageError, match="is no time"):
        parse_time(text)


def test_spans() -> None:
    assert parse_spans() == ()
    assert parse_spans("10") == (Span(10),)
    assert parse_spans("10", "5") == (Span(10, 15),)
    assert parse_spans(None, "5") == (Span(0, 5),)
    assert parse_spans(segments=["0:10-0:20", "30-"]) == (Span(10, 20), Span(30))


@pytest.mark.parametrize(
    "segments",
    [["20-10"], ["5-5"], ["10-20", "15-30"], ["10-", "20-30"], ["10"], ["20-30", "0-5"]],
)
def test_no_segments(segments: list[str]) -> None:
    with pytest.raises(UsageError):
        parse_spans(segments=segments)


def test_one_way_at_a_time() -> None:
    with pytest.raises(UsageError, match="--segment"):
        parse_spans("1", None, ["2-3"])
    with pytest.raises(UsageError, match="longer than 0"):
        parse_spans("1", "0")


def test_bit_rates() -> None:
    assert parse_bit_rate(None) is None
    assert [parse_bit_rate(t) for t in ("8M", "500k", "1.5m", "64000")] == [
        8_000_000, 500_000, 1_500_000, 64_000,
    ]  # fmt: skip
    for text in ("", "fast", "-1M", "0", "1G"):
        with pytest.raises(UsageError, match="no bit rate"):
            parse_bit_rate(text)
