"""How inner loops are compiled, and who hears of it: the first run of a program waits for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

Told = Callable[[bool], None]
"""Is told whether what is being compiled will be kept for the next run."""

_OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True}
_told: list[Told] = []


def compiled(function: Function) -> Function:
    """Compile at the first call, for the types it comes with, and keep that for the next run.

    Floating point is strict, so that all machines compute the same.

    Raises:
        ImportError: if numba does not load.
    """
    import numba

    _listen()
    try:
        kept: Function = numba.njit(cache=True, **_OPTIONS)(function)
    except RuntimeError:  # no folder to keep it in can be written
        return numba.njit(**_OPTIONS)(function)
    return kept


def tell_of_compiling(told: Told) -> None:
    """Call ``told`` before each function that is compiled, in the thread that needs it; not for
    those that an earlier run has kept. Only the last ``told`` is called.
    """
    _told[:] = [told]


@lru_cache
def _listen() -> None:
    """numba's own word for it: what its cache holds does not come this way."""
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            for told in _told:
                told(event.data["dispatcher"].stats.cache_path is not None)

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Listener())  # type: ignore[no-untyped-call]
