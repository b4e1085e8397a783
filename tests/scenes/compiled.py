"""How functions are compiled, and where the result is kept."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numba

_HERE = Path(__file__).parent


def _sources() -> str:
    digest = hashlib.sha256()
    for path in sorted(_HERE.glob("*.py")):
        if not path.name.startswith("test_"):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


# numba looks at the file of a function only, and would keep a stale copy of what that
# function calls in other files. So each state of this folder gets a cache of its own.
numba.config.CACHE_DIR = str(  # type: ignore[attr-defined]
    _HERE / "__pycache__" / f"numba-{_sources()}"
)

compiled = numba.njit(cache=True, error_model="numpy")
"""Strict floating point, so that every machine of one kind computes the same; dividing by zero
gives infinity, as in numpy. The types are what numba finds at the first call."""
