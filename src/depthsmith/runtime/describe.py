"""What a file takes and gives: its own contract, or what its signature tells."""

from __future__ import annotations

from pathlib import Path

from depthsmith.contract import METADATA_KEY, Contract
from depthsmith.runtime.session import Session, open_session
from depthsmith.signature import infer


def read_contract(file: Session | Path) -> Contract:
    """The contract that ``file`` carries, else what can be inferred from its signature.

    What cannot be inferred is None in the answer (kind, normalisation, preprocessing).

    Args:
        file: an open session, or the path of an ONNX file.

    Raises:
        ModelError: if the file cannot be loaded, if its contract is damaged or names an
            input or output that the graph does not have, or if this is not a graph from one
            image to a depth map.
        ProviderError: if a path is given and ONNX Runtime is not installed.
    """
    session = (
        open_session(file, provider="cpu", optimize=False) if isinstance(file, Path) else file
    )
    text = session.metadata.get(METADATA_KEY)
    signature = session.signature
    if text is None:
        return infer(signature.inputs, signature.outputs, model=session.name)
    contract = Contract.from_json(text)
    contract.check_signature(signature.inputs, signature.outputs)
    return contract
