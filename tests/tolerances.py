"""The one table of tolerances: relative means max |a - b| over the range of b."""

FLOAT32 = 2e-5
"""Graph against upstream, both float32: rounding alone gives up to 1.5e-5 between them."""

FLOAT64 = 1e-6
"""Oracle against upstream in float64; upstream resamples positions in float32 even then."""

END_TO_END = 1e-3
"""Photo to depth map against upstream's own call: uint8 rounding and resizing included."""
