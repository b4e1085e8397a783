"""A whole network: normalised image to maps."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from depthsmith.catalog import Architecture
from depthsmith.oracle import backbone, head
from depthsmith.oracle.functions import Array
from depthsmith.oracle.parameters import Parameters


def predict(
    arch: Architecture,
    tensors: Mapping[str, NDArray[np.generic]],
    image: NDArray[np.floating],
    *,
    position_embedding: str = "official",
) -> dict[str, Array]:
    """Run the network in float64.

    Args:
        arch: dimensions.
        tensors: the checkpoint's, under our names.
        image: ``(3, H, W)``, ImageNet-normalised RGB, H and W multiples of 14.
        position_embedding: ``official`` or ``transformers``.

    Returns:
        Maps of ``(H, W)`` float64 by output name: the depth, and ``confidence`` (DA3 main
        series) or ``sky`` (DA3 Mono and Metric).
    """
    if image.ndim != 3 or image.shape[0] != 3 or image.shape[1] % 14 or image.shape[2] % 14:
        raise ValueError(f"image must be (3, H, W) with multiples of 14, not {image.shape}")
    p = Parameters(tensors)
    tokens = backbone.features(
        p.below("backbone"), arch, image.astype(np.float64), position_embedding=position_embedding
    )
    return head.maps(p.below("head"), arch, tokens, image.shape[1] // 14, image.shape[2] // 14)
