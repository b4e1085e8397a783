"""Reading safetensors, against the library's own reader and torch."""

from __future__ import annotations

import json
import mmap
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from depthsmith.checkpoint.safetensors_file import read_safetensors
from depthsmith.errors import CheckpointError


def tensors() -> dict[str, torch.Tensor]:
    torch.manual_seed(0)
    return {
        "a.weight": torch.randn(3, 4, 5),
        "half": torch.randn(7).half(),
        "brain": torch.randn(2, 9).bfloat16(),
        "double": torch.randn(4).double(),
        "count": torch.tensor([1, -2, 3]),
        "flag": torch.tensor([True, False]),
        "scalar": torch.tensor(2.5),
        "empty": torch.zeros(0, 3),
    }


def assert_same(got: dict[str, np.ndarray], wanted: dict[str, torch.Tensor]) -> None:
    assert got.keys() == wanted.keys()
    for name, tensor in wanted.items():
        assert got[name].shape == tuple(tensor.shape), name
        assert got[name].dtype.name == str(tensor.dtype).removeprefix("torch."), name
        # bfloat16 has no numpy form in torch; float32 holds each of its values.
        exact = tensor.float() if tensor.dtype == torch.bfloat16 else tensor
        assert np.array_equal(got[name].astype(exact.numpy().dtype), exact.numpy()), name


def mapped(array: np.ndarray) -> bool:
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    if isinstance(base, memoryview):
        base = base.obj
    return isinstance(base, mmap.mmap)


def write(
    path: Path, header: dict[str, Any] | bytes, data: bytes, length: int | None = None
) -> Path:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text) if length is None else length) + text + data)
    return path


def entry(start: int, end: int, shape: list[int], dtype: str = "F32") -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}


def test_every_dtype_reads_as_torch_wrote_it(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_file(tensors(), path, metadata={"format": "pt"})
    got = read_safetensors(path)
    assert_same(got, load_file(path))
    for name, array in got.items():
        assert not array.flags.writeable, name
        assert mapped(array), f"{name} was copied"


def test_shards_read_as_one(tmp_path: Path) -> None:
    everything = tensors()
    names = list(everything)
    parts = {"model-1.safetensors": names[:3], "model-2.safetensors": names[3:]}
    for file, keys in parts.items():
        save_file({key: everything[key] for key in keys}, tmp_path / file)
    index = tmp_path / "model.safetensors.index.json"
    table = {key: file for file, keys in parts.items() for key in keys}
    index.write_text(json.dumps({"metadata": {}, "weight_map": table}))
    assert_same(read_safetensors(index), everything)

    (tmp_path / "model-2.safetensors").unlink()
    with pytest.raises(CheckpointError, match=r"no file .*model-2"):
        read_safetensors(index)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"more": "model-1.safetensors"}, "which does not hold it"),
        ({"a.weight": None}, "holds a.weight, which"),
        ({"a.weight": "../model-1.safetensors"}, "must be .safetensors files beside it"),
        ({"a.weight": "..\\model-1.safetensors"}, "must be .safetensors files beside it"),
        ({"a.weight": "/etc/passwd"}, "must be .safetensors files beside it"),
    ],
)
def test_index_that_does_not_fit_its_shards(
    tmp_path: Path, change: dict[str, str | None], message: str
) -> None:
    everything = tensors()
    save_file(everything, tmp_path / "model-1.safetensors")
    table: dict[str, str | None] = dict.fromkeys(everything, "model-1.safetensors") | change
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {k: v for k, v in table.items() if v}}))
    with pytest.raises(CheckpointError, match=message):
        read_safetensors(index)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"weight_map": {}}', "[" * 100000])
def test_index_that_is_none(tmp_path: Path, text: str) -> None:
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(text)
    with pytest.raises(CheckpointError, match="is not the index of a sharded checkpoint"):
        read_safetensors(index)


TWO = {"a": entry(0, 8, [2]), "b": entry(8, 16, [2])}


@pytest.mark.parametrize(
    ("header", "data", "message"),
    [
        (TWO, 15, "its size is not what its header says"),
        (TWO, 17, "its size is not what its header says"),
        ({"a": entry(0, 8, [2]), "b": entry(4, 12, [2])}, 12, "overlap"),
        ({"a": entry(0, 8, [2]), "b": entry(16, 24, [2])}, 24, "overlap or leave holes"),
        ({"a": entry(8, 16, [2])}, 16, "overlap or leave holes"),
        ({"a": entry(0, 8, [3])}, 8, "shape does not fit"),
        ({"a": entry(0, 8, [1 << 62, 8])}, 8, "absurd"),
        ({"a": entry(0, 8, [-2])}, 8, "not the JSON it should be"),
        ({"a": entry(0, 4, [4], "F8_E4M3")}, 4, "a is F8_E4M3; weights must be"),
        ({"a": entry(0, 4, [1] * 70)}, 4, "shape that numpy cannot hold"),
        ({"a": entry(0, 8, [2], "F99")}, 8, "dtype that the safetensors library does not know"),
        ({"__metadata__": {"format": "pt"}}, 0, "holds no tensors"),
        (b'{"a": ', 0, "not the JSON it should be"),
        (
            b'{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},'
            b'"a":{"dtype":"I32","shape":[2],"data_offsets":[0,8]}}',
            8,
            "names a tensor twice",
        ),
    ],
)
def test_damaged_header(
    tmp_path: Path, header: dict[str, Any] | bytes, data: int, message: str
) -> None:
    path = write(tmp_path / "model.safetensors", header, bytes(data))
    with pytest.raises(CheckpointError, match=message):
        read_safetensors(path)


def test_header_longer_than_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / "model.safetensors", TWO, bytes(16), length=10_000)
    with pytest.raises(CheckpointError, match="ends within its header"):
        read_safetensors(path)
    path = write(tmp_path / "model.safetensors", TWO, bytes(16), length=1 << 39)
    with pytest.raises(CheckpointError, match="length of its header is absurd"):
        read_safetensors(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 99\n",
            "Git LFS pointer, not the weights; run `git lfs pull`",
        ),
        (b"<!DOCTYPE html>\n<html>", "is a web page"),
        (b"\n  <html lang=en>", "is a web page"),
        (b"Entry not found", "a text that begins with 'Entry not found'"),
        (b'{"error":"Repository not found"}', "a text that begins with"),
        (b"\x1f\x8b\x08\x00" + bytes(40), "compressed archive"),
        (b"\x00\x01\x02\x03" * 9, "neither safetensors nor a torch file"),
        (b"\x07", "neither safetensors nor a torch file"),
    ],
)
def test_what_people_get_instead_of_weights(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=message):
        read_safetensors(path)


def test_torch_file_under_the_wrong_name(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    torch.save(tensors(), path)
    with pytest.raises(CheckpointError, match=r"torch file in truth; name it \.pth"):
        read_safetensors(path)


def test_no_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="there is no file"):
        read_safetensors(tmp_path / "none.safetensors")
    with pytest.raises(CheckpointError, match="is a folder"):
        read_safetensors(tmp_path)


def test_cut_off_anywhere(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_file({"a": torch.randn(5), "b": torch.randn(3).half()}, path)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(CheckpointError):
            read_safetensors(path)


def test_any_damaged_byte_is_read_or_refused(tmp_path: Path) -> None:
    """Nothing but `CheckpointError` leaves the reader, whatever is in the file."""
    path = tmp_path / "model.safetensors"
    save_file({"a": torch.randn(5), "b": torch.randn(3).half()}, path)
    whole = path.read_bytes()
    refused = 0
    for position in range(len(whole)):
        for flip in (0xFF, 0x01):
            damaged = bytearray(whole)
            damaged[position] ^= flip
            path.write_bytes(damaged)
            try:
                read_safetensors(path)
            except CheckpointError:
                refused += 1
    assert refused > 100  # most of the header cannot change unnoticed
