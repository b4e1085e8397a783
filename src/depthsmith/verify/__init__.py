"""Composer: does a depth file do what its network does, or at least what it says?"""

from depthsmith.verify.against_oracle import verify_against_weights
from depthsmith.verify.any_file import verify_file
from depthsmith.verify.report import Check, Comparison, Report, Tolerances

__all__ = [
    "Check",
    "Comparison",
    "Report",
    "Tolerances",
    "verify_against_weights",
    "verify_file",
]
