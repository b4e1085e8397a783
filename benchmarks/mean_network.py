"""A program: a network in ONNX that takes no time, the mean over colour of its input.

python -m benchmarks.mean_network FILE.onnx
"""

from __future__ import annotations

import sys
from pathlib import Path

from depthsmith.contract import Contract, InputSpec, OutputSpec, SizeRule
from depthsmith.types import DepthKind

if __name__ == "__main__":
    import tiny_onnx  # type: ignore[import-not-found]  # of the tests

    contract = Contract(
        model="mean",
        input=InputSpec("pixel_values", "float32", "NCHW", "none"),
        size=SizeRule(None, None),
        outputs=(OutputSpec.depth("predicted_depth", DepthKind.INVERSE_DEPTH),),
        preprocessing="da2",
    )
    tiny_onnx.mean_model(Path(sys.argv[1]), contract=contract)
