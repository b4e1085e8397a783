"""The networks again, in NumPy and float64: what every export is measured against.

Written from the papers and the upstream code, with no line in common with `graph`.
"""

from depthsmith.oracle.network import predict

__all__ = ["predict"]
