"""Who waits for a compiler is told; who does not, is not."""

from __future__ import annotations

from pathlib import Path

import numba
import pytest
from numba.core import caching

from depthsmith import jit
from depthsmith.cli import console, entry


def _double(x: int) -> int:
    return 2 * x


def _triple(x: int) -> int:
    return 3 * x


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(jit, "_told", [])


def test_told_of_what_no_earlier_run_has_kept() -> None:
    kept: list[bool] = []
    jit.tell_of_compiling(kept.append)
    first = jit.compiled(_double)
    assert kept == []
    assert (first(2), first(3)) == (4, 6)
    assert kept == [True]
    assert jit.compiled(_double)(4) == 8  # as the next run: from the cache
    assert kept == [True]


def test_told_where_nothing_can_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caching.FunctionCache._impl_class, "_locator_classes", [])
    kept: list[bool] = []
    jit.tell_of_compiling(kept.append)
    assert jit.compiled(_double)(2) == 4
    assert kept == [False]


@pytest.mark.parametrize("to_programs", [False, True])
def test_said_once_on_standard_error(
    to_programs: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    entry._speak_of_compiling()
    console.speak_to_programs(to_programs)
    try:
        assert jit.compiled(_double)(2) + jit.compiled(_triple)(2) == 10
    finally:
        console.speak_to_programs(False)
    text = "compiling the inner loops, which only the first run does"
    said = f'{{"event": "note", "text": "{text}"}}' if to_programs else f"depthsmith: note: {text}"
    assert capsys.readouterr() == ("", said + "\n")
