"""How the loops are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., Any])

_OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True}


def compiled(function: Function) -> Function:
    """Compile at the first call, for the types it comes with, and keep that for the next run.

    Floating point is strict, so that all machines compute the same.
    """
    try:
        kept: Function = numba.njit(cache=True, **_OPTIONS)(function)
    except RuntimeError:  # no folder to keep it in can be written
        return numba.njit(**_OPTIONS)(function)
    return kept
