"""Stage: an ONNX file on an execution provider of ONNX Runtime."""

from __future__ import annotations

from depthsmith.runtime.describe import read_contract
from depthsmith.runtime.fake import FakeSession
from depthsmith.runtime.providers import PROVIDER_CHOICES, available, first_choice
from depthsmith.runtime.session import Session, Signature, open_session

__all__ = [
    "PROVIDER_CHOICES",
    "FakeSession",
    "Session",
    "Signature",
    "available",
    "first_choice",
    "open_session",
    "read_contract",
]
