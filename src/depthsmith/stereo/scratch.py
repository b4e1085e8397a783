"""Memory that is used again for the next frame: the first touch of new memory is slow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Scratch:
    """Arrays by name, made when first asked for. Not to be shared between threads."""

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[Any]] = {}

    def array(self, name: str, shape: tuple[int, ...], dtype: type[np.generic]) -> NDArray[Any]:
        """With whatever values were left in it."""
        array = self._arrays.get(name)
        if array is None or array.shape != shape or array.dtype != dtype:
            array = self._arrays[name] = np.empty(shape, dtype)
        return array
