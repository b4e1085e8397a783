"""Weights in torch's own files (``.pth``, ``.pt``, ``.bin``), read without torch.

Formats, from ``torch/serialization.py``: since torch 1.6 a zip archive with ``data.pkl`` and
one stored member per storage; before that a chain of pickles followed by the storages. Tensors
are described by the pickle and read only by the checks here.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from depthsmith.checkpoint import pickle_subset, torch_zip
from depthsmith.checkpoint.sniff import sniff
from depthsmith.errors import CheckpointError

Arrays = dict[str, NDArray[Any]]

_MAX_PICKLE_BYTES = 16 << 20
_MAX_DIMS = 8
_MAX_EXPANDED = 1 << 20
"""Elements up to which an expanded tensor (stride 0) may be larger than its storage."""
_WRAPPERS = ("state_dict", "model", "model_state_dict")
"""Keys under which training scripts put the state dict, in order of preference."""

_DTYPES: dict[str, Any] = {
    "float64": np.float64,
    "float32": np.float32,
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "int64": np.int64,
    "int32": np.int32,
    "int16": np.int16,
    "int8": np.int8,
    "uint64": np.uint64,
    "uint32": np.uint32,
    "uint16": np.uint16,
    "uint8": np.uint8,
    "bool": np.bool_,
}
_STORAGES = {
    "DoubleStorage": "float64",
    "FloatStorage": "float32",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool",
}


@dataclass(frozen=True)
class _Dtype:
    """A dtype as the pickle names it."""

    numpy: np.dtype[Any]


@dataclass(frozen=True)
class _Storage:
    """A run of ``numel`` elements, ``first`` elements into the storage called ``key``."""

    key: str
    dtype: np.dtype[Any]
    numel: int
    first: int = 0


@dataclass(frozen=True)
class _Tensor:
    """A tensor as the pickle describes it; counts are in elements of ``dtype``."""

    storage: _Storage
    dtype: np.dtype[Any]
    offset: object
    size: object
    stride: object


Locate = Callable[[str], NDArray[np.uint8]]


def read_pth(path: Path) -> Arrays:
    """Tensors of the state dict in a torch file.

    A state dict may be the file's content or lie under ``state_dict``, ``model`` or
    ``model_state_dict``; entries that are no tensors are left out; a ``module.`` that all
    names begin with (DataParallel) is taken off.

    Args:
        path: a file that ``torch.save`` wrote, in either of its formats.

    Returns:
        Arrays by name, read-only, in the file's dtype (bfloat16 is ``ml_dtypes.bfloat16``):
        views of the memory-mapped file, except where a zip member is compressed. Views with
        strides, and several views of one storage, stay what they are.

    Raises:
        CheckpointError: if the file is missing, damaged, something else, holds no state dict,
            or names anything but tensors and plain containers. Nothing in it is ever run.
    """
    found = sniff(path)
    if found == "safetensors":
        raise CheckpointError(f"{path} is a safetensors file in truth; name it .safetensors")
    try:
        if found == "torch_zip":
            content, locate = _open_zip(path)
        else:
            content, locate = _open_legacy(path)
        tensors = _state_dict(content)
        return {name: _array(name, tensor, locate) for name, tensor in tensors.items()}
    except pickle_subset.ForbiddenError as error:
        raise CheckpointError(_forbidden(path, error.name)) from error
    except pickle_subset.PickleError as error:
        raise CheckpointError(f"{path} cannot be read: {error}") from error
    except OSError as error:
        raise CheckpointError(f"cannot read {path}: {error.strerror or error}") from error


def _forbidden(path: Path, name: str) -> str:
    if name.startswith(("torch.nn.", "__main__.", "depth_anything", "transformers.")):
        return (
            f"{path} holds a whole pickled model ({name}), not a state dict; "
            "save model.state_dict() with torch"
        )
    return (
        f"{path} asks to load {name}, which weights have no use for; nothing was run. "
        "Do not trust this file, or save its state dict anew with torch"
    )


# Opening: the pickle's content, and a way to the bytes of a storage.


def _open_zip(path: Path) -> tuple[object, Locate]:
    archive = torch_zip.TorchZip(path)
    order = archive.optional("byteorder")
    if order is not None and order.tobytes() != b"little":
        raise pickle_subset.PickleError("it was written on a big-endian machine")
    pickled = archive.member("data.pkl", max_bytes=_MAX_PICKLE_BYTES).tobytes()
    content = pickle_subset.load(io.BytesIO(pickled), _KNOWN, _storage)
    return content, lambda key: archive.member(f"data/{key}")


def _open_legacy(path: Path) -> tuple[object, Locate]:
    roots: dict[str, _Storage] = {}

    def remember(pid: object) -> _Storage:
        storage = _storage(pid)
        roots.setdefault(storage.key, _root(pid))
        return storage

    with path.open("rb") as file:
        head = io.BytesIO(file.read(_MAX_PICKLE_BYTES))
    pickle_subset.load(head, {}, _no_storage)  # the magic number; `sniff` has seen it
    protocol = pickle_subset.load(head, {}, _no_storage)
    system = pickle_subset.load(head, {}, _no_storage)
    if protocol != 1001 or not isinstance(system, dict):
        raise pickle_subset.PickleError("it is not of the format 1001 that torch wrote")
    if system.get("little_endian") is not True:
        raise pickle_subset.PickleError("it was written on a big-endian machine")
    content = pickle_subset.load(head, _KNOWN, remember)
    keys = pickle_subset.load(head, {}, _no_storage)

    data = np.asarray(np.memmap(path, dtype=np.uint8, mode="r"))
    places: dict[str, NDArray[np.uint8]] = {}
    position = head.tell()
    for key in keys if isinstance(keys, list) else ():
        if type(key) is not str or key not in roots:
            raise pickle_subset.PickleError("it lists a storage that nothing uses")
        root = roots[key]
        count = int.from_bytes(data[position : position + 8].tobytes(), "little")
        start, position = position + 8, position + 8 + root.numel * root.dtype.itemsize
        if count != root.numel or position > len(data):
            raise pickle_subset.PickleError("its storages are cut off or damaged")
        places[key] = data[start:position]
    return content, places.__getitem__


def _no_storage(pid: object) -> object:
    raise pickle_subset.PickleError("its pickle is not in the order torch writes")


# What the pickle may name, and what becomes of it.


def _storage(pid: object) -> _Storage:
    """Persistent id: ``("storage", type, key, location, numel[, view])``."""
    match pid:
        case ("storage", _Dtype(numpy=dtype), str(key), str(), int(numel), *rest) if numel >= 0:
            match rest:
                case [] | [None]:
                    return _Storage(key, dtype, numel)
                case [(str(), int(first), int(count))] if 0 <= first <= first + count <= numel:
                    return _Storage(key, dtype, count, first)
    raise pickle_subset.PickleError("its pickle describes a storage in an unknown way")


def _root(pid: object) -> _Storage:
    """The whole storage of a persistent id that may be a view of it."""
    assert isinstance(pid, tuple)
    return _storage(pid[:5])


def _rebuild(storage: object, offset: object, size: object, stride: object, *_: object) -> _Tensor:
    if not isinstance(storage, _Storage):
        raise pickle_subset.PickleError("its pickle makes a tensor without a storage")
    return _Tensor(storage, storage.dtype, offset, size, stride)


def _rebuild_v3(
    storage: object, offset: object, size: object, stride: object,
    _grad: object, _hooks: object, dtype: object, _metadata: object = None,
) -> _Tensor:  # fmt: skip
    tensor = _rebuild(storage, offset, size, stride)
    if not isinstance(dtype, _Dtype):
        raise pickle_subset.PickleError("its pickle makes a tensor without a dtype")
    return _Tensor(tensor.storage, dtype.numpy, offset, size, stride)


def _parameter(data: object, *_: object) -> object:
    return data


def _ordered_dict(*items: object) -> dict[Any, Any]:
    # With items only Python 2 wrote it; copying them again and again could fill the memory.
    if items:
        raise pickle_subset.PickleError("it was written by Python 2; save it anew with torch")
    return {}


def _set(*_: object) -> None:
    """Protocol 2 makes sets by a call. No tensor lies in one, so they stay empty."""


def _size(*dims: object) -> object:
    return dims[0] if dims else ()


_KNOWN: Mapping[str, object] = {
    "collections.OrderedDict": _ordered_dict,
    "torch._utils._rebuild_tensor": _rebuild,
    "torch._utils._rebuild_tensor_v2": _rebuild,
    "torch._utils._rebuild_tensor_v3": _rebuild_v3,
    "torch._utils._rebuild_parameter": _parameter,
    "torch._utils._rebuild_parameter_with_state": _parameter,
    "__builtin__.set": _set,
    "builtins.set": _set,
    "torch.Size": _size,
    "torch.storage.UntypedStorage": _Dtype(np.dtype(np.uint8)),
    **{f"torch.{name}": _Dtype(np.dtype(_DTYPES[d])) for name, d in _STORAGES.items()},
    **{f"torch.{name}": _Dtype(np.dtype(dtype)) for name, dtype in _DTYPES.items()},
}


# From the description to arrays.


def _state_dict(content: object) -> dict[str, _Tensor]:
    candidates = [content]
    if isinstance(content, dict):
        candidates += [content.get(key) for key in _WRAPPERS]
    for candidate in candidates:
        if not isinstance(candidate, dict):
            continue
        tensors = {
            k: v for k, v in candidate.items() if isinstance(k, str) and isinstance(v, _Tensor)
        }
        if tensors:
            parallel = all(key.startswith("module.") for key in tensors)
            return {key[len("module.") * parallel :]: t for key, t in tensors.items()}
    what = type(content).__name__
    if isinstance(content, dict):
        keys = [pickle_subset.shown(key) for key in content if isinstance(key, str)]
        what = f"the keys {', '.join(keys[:6])}" if keys else "a dict without names"
    raise pickle_subset.PickleError(f"it holds no state dict (found {what})")


def _array(name: str, tensor: _Tensor, locate: Locate) -> NDArray[Any]:
    """The tensor as a view of its storage, after checking that it lies within."""
    name = pickle_subset.shown(name)
    storage = tensor.storage
    try:
        data = locate(storage.key)
    except KeyError:
        raise pickle_subset.PickleError(f"the data of {name} is missing") from None
    unit = storage.dtype.itemsize
    if len(data) < (storage.first + storage.numel) * unit:
        raise pickle_subset.PickleError(f"the data of {name} is cut off")
    data = data[storage.first * unit : (storage.first + storage.numel) * unit]
    size, stride = _counts(tensor.size), _counts(tensor.stride)
    (offset,) = _counts((tensor.offset,)) or (-1,)
    if size is None or stride is None or len(size) != len(stride) or offset < 0:
        raise pickle_subset.PickleError(f"the shape of {name} makes no sense")
    item, count = tensor.dtype.itemsize, math.prod(size)
    available = len(data) // item
    last = offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    if count and (last >= available or count > max(available, _MAX_EXPANDED)):
        raise pickle_subset.PickleError(f"{name} reaches beyond its data")
    steps = tuple(s * item for s in stride)
    # np.ndarray checks the same bounds once more.
    array: NDArray[Any] = (
        np.ndarray(size, tensor.dtype, data, offset * item, steps)
        if count
        else np.ndarray(size, tensor.dtype)
    )
    return array


def _counts(values: object) -> tuple[int, ...] | None:
    """Non-negative integers, or None."""
    if not isinstance(values, (tuple, list)) or len(values) > _MAX_DIMS:
        return None
    counts = tuple(v for v in values if type(v) is int and 0 <= v < 1 << 48)
    return counts if len(counts) == len(values) else None
