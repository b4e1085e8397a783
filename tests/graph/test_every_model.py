"""Every model of the catalogue can be written down, also those too large to run here."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from depthsmith.catalog import MODELS
from depthsmith.checkpoint.layouts import expected_shapes
from depthsmith.graph.network import GraphOptions, build_network
from depthsmith.types import Size


@pytest.mark.parametrize("size", [None, Size(294, 518)], ids=str)
@pytest.mark.parametrize("name", MODELS)
def test_build(name, size):
    arch = MODELS[name].arch
    zero = np.zeros((), np.float32)  # of any shape, without the memory
    tensors = {key: np.broadcast_to(zero, s) for key, s in expected_shapes(arch).items()}
    main_series = arch.head == "dual_dpt"
    options = GraphOptions(size=size, attention="fused", confidence=main_series)
    graph = build_network(arch, tensors, options).graph
    outputs = [arch.output_name, *(["confidence"] if main_series else [])]
    assert [o.name for o in graph.outputs] == outputs + ["sky"] * (arch.head == "dpt_sky")
    h, w = size or ("height", "width")
    assert all(list(o.shape) == ["batch", h, w] for o in graph.outputs)
    # Convolutions stay as they are in the checkpoint; all of them are there.
    kernels = Counter(t.shape for t in tensors.values() if t.ndim == 4 and t.shape[-1] != 14)
    in_file = Counter(tuple(v.shape) for v in graph.initializers.values())
    assert not kernels - in_file
