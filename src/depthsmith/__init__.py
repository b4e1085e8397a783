"""Official Depth Anything weights in, a verified ONNX graph out, depth maps from that graph."""
