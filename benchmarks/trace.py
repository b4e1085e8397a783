"""A program: the usual way to an ONNX file, `torch.onnx.export` of the Transformers model.

python -m benchmarks.trace WEIGHTS_FOLDER FILE.onnx
"""

from __future__ import annotations

import sys
import warnings


def main(folder: str, file: str) -> None:
    import torch
    from transformers import AutoModelForDepthEstimation

    class DepthOnly(torch.nn.Module):
        def __init__(self, model: torch.nn.Module) -> None:
            super().__init__()
            self.model = model

        def forward(self, pixel_values: torch.Tensor) -> torch.Tensor:
            return self.model(pixel_values=pixel_values).predicted_depth

    warnings.simplefilter("ignore")
    model = AutoModelForDepthEstimation.from_pretrained(folder, dtype=torch.float32).eval()
    torch.onnx.export(
        DepthOnly(model),
        (torch.zeros(1, 3, 518, 518),),
        file,
        dynamo=False,
        opset_version=18,
        input_names=["pixel_values"],
        output_names=["predicted_depth"],
        dynamic_axes={"pixel_values": {0: "batch"}, "predicted_depth": {0: "batch"}},
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
