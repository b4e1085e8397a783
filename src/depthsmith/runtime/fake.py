"""A session without a network: depth in closed form, for tests and for trying out a pipeline."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthsmith.contract import METADATA_KEY, Contract, TensorInfo
from depthsmith.errors import ModelError
from depthsmith.runtime.session import Signature

Array = NDArray[Any]


def brightness(images: Array) -> dict[str, Array]:
    """``depth``: the mean over colour of what is fed; ``(N, 3, H, W)`` to ``(N, H, W)``."""
    return {"depth": images.mean(axis=1, dtype=np.float32)}


class FakeSession:
    """A `Session` that computes its outputs with a function.

    Args:
        contract: what it pretends to be; also carried as metadata.
        compute: from ``(N, 3, H, W)`` (whatever layout the contract has) to values by the
            *kind* word of the contract's outputs: ``depth`` for the depth output, ``sky``,
            ``confidence``; each ``(N, H, W)``.
    """

    def __init__(
        self,
        contract: Contract,
        compute: Callable[[Array], Mapping[str, Array]] = brightness,
    ) -> None:
        self.contract = contract
        self.name = contract.model
        self.provider = "cpu"
        self.providers_used = ["cpu"]
        self.notes: tuple[str, ...] = ()
        self.metadata: Mapping[str, str] = {METADATA_KEY: contract.to_json()}
        self.batches: list[tuple[int, ...]] = []
        self._compute = compute
        size = contract.size
        height, width = size.height or "height", size.width or "width"
        batch = size.batch or "batch"
        image = contract.input
        shape: tuple[int | str | None, ...] = {
            "NCHW": (batch, 3, height, width),
            "NHWC": (batch, height, width, 3),
            "NSCHW": (batch, 1, 3, height, width),
        }[image.layout]
        self.signature = Signature(
            (TensorInfo(image.name, image.dtype, shape),),
            tuple(TensorInfo(o.name, "float32", (batch, height, width)) for o in contract.outputs),
        )

    def run(self, batch: Array) -> dict[str, Array]:
        self.batches.append(batch.shape)
        declared = self.signature.inputs[0]
        if str(batch.dtype) != declared.dtype or len(batch.shape) != len(declared.shape):
            raise ModelError(f"fed {batch.dtype} {batch.shape}, declared {declared}")
        images = batch
        if self.contract.input.layout == "NHWC":
            images = batch.transpose(0, 3, 1, 2)
        elif self.contract.input.layout == "NSCHW":
            images = batch[:, 0]
        values = self._compute(images)
        named = {}
        for output in self.contract.outputs:
            kind = output.kind if output.kind in ("sky", "confidence") else "depth"
            named[output.name] = np.asarray(values[kind], dtype=np.float32)
        return named
