"""The inner loops: compiled where numba is installed, numpy where it is not."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
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
    threads = min(threads, os.cpu_count() or 1, height)  # more would only wait
    if threads <= 1 or ".plain." in kernel.__module__:
        kernel(*arguments, 0, height)
        return
    bounds = [height * n // threads for n in range(threads + 1)]
    pool = _pool(threads, os.getpid())
    bands = [pool.submit(kernel, *arguments, top, bottom) for top, bottom in pairwise(bounds)]
    wait(bands)  # also where one fails: the others write to the same arrays
    for band in bands:
        band.result()


@lru_cache
def _pool(threads: int, _process: int) -> ThreadPoolExecutor:
    """Kept, as a frame has a dozen kernels and threads take as long as some of them to start;
    but a process that was forked has none of its parent's."""
    return ThreadPoolExecutor(threads, thread_name_prefix="stereo rows")
