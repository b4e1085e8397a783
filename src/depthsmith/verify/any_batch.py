"""One picture at a time through files that take several at once only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthsmith.contract import Contract
from depthsmith.runtime import Session, open_session


def open_any_batch(path: Path, contract: Contract, provider: str) -> Session:
    """A session for up to as many pictures as the file takes.

    Raises:
        ModelError, ProviderError: as `open_session`.
    """
    session = open_session(path, provider=provider)
    batch = contract.size.batch
    return session if batch in (None, 1) else _Filled(session, batch)


class _Filled:
    """A session of a fixed batch that takes fewer pictures: the rest are copies of the first."""

    def __init__(self, inner: Session, batch: int) -> None:
        self._inner = inner
        self._batch = batch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def run(self, batch: NDArray[Any]) -> dict[str, NDArray[Any]]:
        count = len(batch)
        rest = np.repeat(batch[:1], self._batch - count, axis=0)
        outputs = self._inner.run(np.concatenate([batch, rest]))
        return {
            name: values[:count] if values.shape[:1] == (self._batch,) else values
            for name, values in outputs.items()
        }
