"""Composer: does a depth file do what its network does, or at least what it says?"""

from depthsmith.verify.against_oracle import verify_against_weights
from depthsmith.verify.any_file import verify_file
from depthsmith.verify.report import Check, Comparison, Report, Tolerances
from depthsmith.verify.torch_reference import torch_reference

__all__ = [
    "Check",
    "Comparison",
    "Report",
    "Tolerances",
    "torch_reference",
    "verify_against_weights",
    "verify_file",
]
