"""Weights in ``.safetensors`` files, one or many, as read-only views of the mapped files.

The header is validated by the ``safetensors`` library; the data is mapped here, because the
library's numpy interface copies and knows no bfloat16.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from depthsmith.checkpoint.pickle_subset import shown
from depthsmith.checkpoint.sniff import sniff
from depthsmith.errors import CheckpointError

Arrays = dict[str, NDArray[Any]]

INDEX_SUFFIX = ".index.json"
"""How the name of a sharded checkpoint's table of contents ends."""

_INDEX_MAX_BYTES = 16 << 20

_DTYPES: dict[str, Any] = {
    "F64": np.float64,
    "F32": np.float32,
    "F16": np.float16,
    "BF16": ml_dtypes.bfloat16,
    "I64": np.int64,
    "I32": np.int32,
    "I16": np.int16,
    "I8": np.int8,
    "U64": np.uint64,
    "U32": np.uint32,
    "U16": np.uint16,
    "U8": np.uint8,
    "BOOL": np.bool_,
}


def read_safetensors(path: Path) -> Arrays:
    """Tensors of a ``.safetensors`` file, or of the shards that ``*.index.json`` names.

    Args:
        path: a safetensors file, or the index of a sharded checkpoint.

    Returns:
        Arrays by key, in file order: read-only views of the memory-mapped file, in the
        file's dtype (bfloat16 is ``ml_dtypes.bfloat16``). Nothing is copied.

    Raises:
        CheckpointError: if the file is missing, truncated, damaged or something else; if a
            shard is missing or does not hold what the index says; for dtypes that are no
            plain numbers (float8, packed 4 bit).
    """
    if path.name.endswith(INDEX_SUFFIX):
        return _read_sharded(path)
    return _read_one(path)


def shards(index: Path) -> list[Path]:
    """The files that a sharded checkpoint's index names, sorted.

    Raises:
        CheckpointError: if it is no index, or names something outside of its own folder.
    """
    return sorted({index.parent / name for name in _weight_map(index).values()})


def _read_one(path: Path) -> Arrays:
    found = sniff(path)
    if found != "safetensors":
        raise CheckpointError(f"{path} is a torch file in truth; name it .pth")
    import safetensors

    try:
        with safetensors.safe_open(path, framework="np") as handle:
            keys = set(handle.keys())
    except safetensors.SafetensorError as error:
        raise CheckpointError(f"{path} is damaged: {_reason(str(error))}") from error
    except OSError as error:
        raise CheckpointError(f"cannot read {path}: {error.strerror or error}") from error

    data = np.memmap(path, dtype=np.uint8, mode="r")
    start = 8 + int.from_bytes(data[:8].tobytes(), "little")
    header: dict[str, Any] = json.loads(
        data[8:start].tobytes(), object_pairs_hook=lambda pairs: _unique(pairs, path)
    )
    header.pop("__metadata__", None)
    if header.keys() != keys:
        raise CheckpointError(f"{path} is damaged: its header can be read in two ways")
    if not header:
        raise CheckpointError(f"{path} holds no tensors")
    return {
        key: _view(data, start, entry, f"{path}: {shown(key)}")
        for key, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"][0])
    }


def _view(data: NDArray[np.uint8], start: int, entry: dict[str, Any], name: str) -> NDArray[Any]:
    """One tensor as a view of ``data``; numpy checks again that it lies within."""
    if entry["dtype"] not in _DTYPES:
        raise CheckpointError(f"{name} is {entry['dtype']}; weights must be F32, F16 or BF16")
    offset = start + entry["data_offsets"][0]
    try:
        view: NDArray[Any] = np.ndarray(
            tuple(entry["shape"]), _DTYPES[entry["dtype"]], data, offset
        )
    except ValueError as error:
        raise CheckpointError(f"{name} has a shape that numpy cannot hold: {error}") from error
    return view


def _unique(pairs: list[tuple[str, Any]], path: Path) -> dict[str, Any]:
    """JSON object whose keys must differ: of two tensors of one name, which is meant?"""
    table = dict(pairs)
    if len(table) != len(pairs):
        raise CheckpointError(f"{path} is damaged: its header names a tensor twice")
    return table


_REASONS = {
    # what the library says (from 0.6 on in words, before by name): what it means
    ("header too large", "HeaderTooLarge"): "the length of its header is absurd",
    ("header too small", "HeaderTooSmall"): "it is shorter than any header; download it again",
    ("invalid header length", "InvalidHeaderLength"): "it ends within its header; "
    "download it again",
    ("not fully covered", "MetadataIncompleteBuffer"): "its size is not what its header says "
    "(cut off, or something appended); download it again",
    ("unknown variant",): "its header names a dtype that the safetensors library does not know",
    ("invalid JSON", "InvalidHeader"): "its header is not the JSON it should be",
    ("invalid offset", "InvalidOffset"): "tensors overlap or leave holes",
    ("invalid shape", "TensorInvalidInfo"): "a tensor's shape does not fit its size",
    ("overflow", "ValidationOverflow"): "a tensor's shape is absurd",
}


def _reason(error: str) -> str:
    for phrases, meaning in _REASONS.items():
        if any(phrase in error for phrase in phrases):
            return meaning
    return error.splitlines()[0]


def _read_sharded(index: Path) -> Arrays:
    wanted = _weight_map(index)
    arrays: Arrays = {}
    for shard in shards(index):
        for key, array in _read_one(shard).items():
            if wanted.get(key) != shard.name:
                raise CheckpointError(
                    f"{shard} holds {shown(key)}, which {index.name} does not list"
                )
            arrays[key] = array
    missing = sorted(wanted.keys() - arrays.keys())
    if missing:
        raise CheckpointError(
            f"{index} lists {shown(missing[0])} in {wanted[missing[0]]}, which does not hold it"
            + (f" (and {len(missing) - 1} more)" if len(missing) > 1 else "")
        )
    return arrays


def _weight_map(index: Path) -> dict[str, str]:
    try:
        with index.open("rb") as file:
            text = file.read(_INDEX_MAX_BYTES + 1)
    except FileNotFoundError:
        raise CheckpointError(f"there is no file {index}") from None
    except OSError as error:
        raise CheckpointError(f"cannot read {index}: {error.strerror or error}") from error
    table: dict[str, str] = {}
    if len(text) <= _INDEX_MAX_BYTES:
        with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError):
            table = {str(k): str(v) for k, v in json.loads(text)["weight_map"].items()}
    if not table:
        raise CheckpointError(
            f'{index} is not the index of a sharded checkpoint (JSON with a "weight_map")'
        )
    for name in table.values():
        if Path(name).name != name or "\\" in name or not name.endswith(".safetensors"):
            raise CheckpointError(
                f"{index} names {name!r}; shards must be .safetensors files beside it"
            )
    return table
