"""The inner loops: compiled where numba is installed, numpy where it is not."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import pairwise
from types import ModuleType
from typing import Any, Literal

Backend = Literal["compiled", "plain"]


def backend() -> Backend:
    """``compiled``, or ``plain`` where numba does not load: the same pictures, some forty times
    slower.
    """
    return "plain" if ".plain" in load().__name__ else "compiled"


@lru_cache
def load(name: Backend | None = None) -> ModuleType:
    """The module with the inner loops. Importing numba takes half a second, so not before.

    Raises:
        ImportError: if the compiled loops are asked for and numba does not load.
    """
    if name != "plain":
        try:
            from depthsmith.stereo import compiled
        except ImportError:  # not there, or not made for this version of numpy
            if name == "compiled":
                raise
        else:
            return compiled
    from depthsmith.stereo import plain

    return plain


def over_rows(kernel: Callable[..., None], arguments: tuple[Any, ...], height: int,
              threads: int) -> None:  # fmt: skip
    """Run a kernel on all rows, in bands, on that many threads. The result is the same.

    The plain loops do not know bands, and run on one thread.
    """
    if threads <= 1 or ".plain." in kernel.__module__:
        kernel(*arguments, 0, height)
        return
    bounds = [height * n // threads for n in range(threads + 1)]
    with ThreadPoolExecutor(threads) as pool:
        for done in [
            pool.submit(kernel, *arguments, top, bottom) for top, bottom in pairwise(bounds)
        ]:
            done.result()
