"""Checkpoint tensors in float64, converted when they are read."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray


class Parameters:
    """Tensors whose names begin with a prefix: ``p.below("norm")["weight"]``."""

    def __init__(self, tensors: Mapping[str, NDArray[np.generic]], prefix: str = "") -> None:
        self._tensors, self._prefix = tensors, prefix

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        return self._tensors[self._prefix + name].astype(np.float64)

    def __contains__(self, name: str) -> bool:
        return self._prefix + name in self._tensors

    def below(self, name: str) -> Parameters:
        return Parameters(self._tensors, f"{self._prefix}{name}.")
