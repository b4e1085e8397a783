"""Which provider really runs which operations.

A provider can load and still take no part of a graph; ONNX Runtime then runs everything on
the CPU without a word. From 1.24 on it can be asked; before, a profile of one run tells.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

RECORD_KEY = "session.record_ep_graph_assignment_info"

# The operations that take the time. Shape arithmetic on the CPU is normal and free.
HEAVY = frozenset(
    {"Conv", "FusedConv", "MatMul", "FusedMatMul", "Gemm", "FusedGemm", "Einsum"}
    | {"Attention", "MultiHeadAttention"}
)

Assignment = dict[str, Counter[str]]
"""ONNX Runtime's provider name -> operation -> how many."""


def recorded(inner: Any) -> Assignment | None:
    """What the session opened with `RECORD_KEY` recorded; None if this version cannot tell."""
    if not hasattr(inner, "get_provider_graph_assignment_info"):
        return None
    assignment: Assignment = {}
    for subgraph in inner.get_provider_graph_assignment_info():
        counts = assignment.setdefault(subgraph.ep_name, Counter())
        counts.update(node.op_type for node in subgraph.get_nodes())
    return assignment


def profiled(path: Path) -> Assignment:
    """The same from the profile of one run (``SessionOptions.enable_profiling``)."""
    assignment: Assignment = {}
    for event in json.loads(path.read_text(encoding="utf-8")):
        arguments = event.get("args", {})
        provider, operation = arguments.get("provider"), arguments.get("op_name")
        # One event each, whatever version: those of fences have other names.
        if provider and operation and event["name"].endswith("_kernel_time"):
            assignment.setdefault(provider, Counter())[operation] += 1
    return assignment


def total(assignment: Assignment, provider: str) -> int:
    """Number of operations that ``provider`` runs."""
    return sum(assignment.get(provider, Counter()).values())


def heavy(assignment: Assignment, provider: str) -> int:
    """Number of matrix operations and convolutions that ``provider`` runs."""
    counts = assignment.get(provider, Counter())
    return sum(count for operation, count in counts.items() if operation in HEAVY)
