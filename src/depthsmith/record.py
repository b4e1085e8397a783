"""Write what was measured into the contract of an ONNX file, and change nothing else in it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from depthsmith.atomic import atomic_path
from depthsmith.contract import METADATA_KEY, Contract, is_contract
from depthsmith.errors import ModelError

# Fields of ModelProto (onnx.proto), and types of the protocol buffer wire format.
_GRAPH_FIELD, _METADATA_FIELD = 7, 14
_VARINT, _FIXED64, _MESSAGE, _FIXED32 = 0, 1, 2, 5
_CHUNK_BYTES = 1 << 20


def record_accuracy(
    path: Path, contract: Contract, accuracy: Mapping[str, Any]
) -> tuple[Path, ...]:
    """Put ``accuracy`` into the contract in and beside the ONNX file ``path``.

    What was recorded before is replaced. All other bytes of the file stay, in their order;
    weights in a file beside it are not touched. The .json beside it is written if it is a
    contract or not there.

    Args:
        path: of the ONNX file.
        contract: of the file. One that carries none gets this one.
        accuracy: names and values that JSON can hold.

    Returns:
        The files that were written.

    Raises:
        ModelError: if this is no ONNX file.
        OutputError: if a file cannot be written; then it stays what it was.
    """
    check_recordable(path)
    text = replace(contract, accuracy=dict(accuracy)).to_json()
    with path.open("rb") as source, atomic_path(path) as part:
        with part.open("wb") as target:
            for start, end in _kept(source, path):
                _copy(source, target, start, end)
            target.write(_metadata(text))
        shutil.copymode(path, part)
    sidecar = path.with_suffix(".json")
    if sidecar.exists() and not is_contract(sidecar):
        return (path,)
    with atomic_path(sidecar) as part:
        part.write_text(text, encoding="utf-8")
    return path, sidecar


def check_recordable(path: Path) -> None:
    """Make sure, without changing it, that ``path`` can take a record.

    Raises:
        ModelError: if it cannot.
    """
    if path.suffix.lower() != ".onnx" or not path.is_file():
        raise ModelError(f"{path} is no .onnx file; only those carry a record")
    try:
        with path.open("rb") as source:
            for _ in _kept(source, path):
                pass
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error.strerror}") from error


def _kept(source: BinaryIO, path: Path) -> Iterator[tuple[int, int]]:
    """Where the fields that stay lie: all but the metadata under our key."""
    from google.protobuf.message import DecodeError
    from onnx import StringStringEntryProto

    total = source.seek(0, 2)
    start = 0
    has_graph = False
    while start < total:
        source.seek(start)
        tag = _varint(source, path)
        number, wire_type = tag >> 3, tag & 7
        if wire_type == _VARINT:
            _varint(source, path)
            length = 0
        elif wire_type == _MESSAGE:
            length = _varint(source, path)
        elif wire_type in (_FIXED64, _FIXED32):
            length = 8 if wire_type == _FIXED64 else 4
        else:
            raise _damaged(path)
        body = source.tell()
        end = body + length
        if number == 0 or end > total:
            raise _damaged(path)
        ours = False
        has_graph |= (number, wire_type) == (_GRAPH_FIELD, _MESSAGE)
        if (number, wire_type) == (_METADATA_FIELD, _MESSAGE):
            try:
                entry = StringStringEntryProto.FromString(source.read(length))
            except DecodeError as error:
                raise _damaged(path) from error
            ours = entry.key == METADATA_KEY
        if not ours:
            yield start, end
        start = end
    if not has_graph:
        raise _damaged(path)


def _varint(source: BinaryIO, path: Path) -> int:
    value = 0
    for shift in range(0, 70, 7):
        byte = source.read(1)
        if not byte:
            break
        value |= (byte[0] & 0x7F) << shift
        if byte[0] < 0x80:
            return value
    raise _damaged(path)


def _copy(source: BinaryIO, target: BinaryIO, start: int, end: int) -> None:
    source.seek(start)
    while start < end:
        chunk = source.read(min(_CHUNK_BYTES, end - start))
        target.write(chunk)
        start += len(chunk)


def _metadata(text: str) -> bytes:
    from onnx import ModelProto, StringStringEntryProto

    entry = StringStringEntryProto(key=METADATA_KEY, value=text)
    return bytes(ModelProto(metadata_props=[entry]).SerializeToString())


def _damaged(path: Path) -> ModelError:
    return ModelError(f"{path} is damaged, or no ONNX file")
