"""Networks as ONNX graphs, written with `onnxscript.nn` and filled from a checkpoint."""
