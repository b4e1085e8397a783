"""Reading torch files without torch: against torch, and against hostile files."""

from __future__ import annotations

import io
import mmap
import pickle
import tracemalloc
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from depthsmith.checkpoint.pickled import read_pth
from depthsmith.errors import CheckpointError


def state_dict() -> dict[str, Any]:
    """What official checkpoints hold, and every view that torch can save."""
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4))
    tensors = dict(module.state_dict())
    table = torch.arange(24.0).reshape(4, 6)
    with_attribute = torch.nn.Parameter(torch.randn(2))
    with_attribute.tag = 1  # type: ignore[attr-defined]
    tensors |= {
        "table": table,
        "transposed": table.t(),
        "strided": table[1:3, ::2],
        "diagonal": table.as_strided((4,), (7,)),
        "expanded": torch.ones(1).expand(3),
        "half": torch.randn(3).half(),
        "brain": torch.randn(5).bfloat16(),
        "double": torch.randn(2).double(),
        "flag": torch.tensor([True, False]),
        "unsigned": torch.tensor([1, 60000], dtype=torch.uint16),
        "byte": torch.arange(5, dtype=torch.uint8),
        "empty": torch.zeros(0, 3),
        "scalar": torch.tensor(3.5),
        "parameter": torch.nn.Parameter(torch.randn(2, 2)),
        "attribute": with_attribute,
    }
    return tensors


def assert_same(got: dict[str, np.ndarray], wanted: dict[str, torch.Tensor]) -> None:
    assert list(got) == list(wanted)
    for name, value in wanted.items():
        tensor = value.detach()
        assert got[name].shape == tuple(tensor.shape), name
        assert got[name].dtype.name == str(tensor.dtype).removeprefix("torch."), name
        exact = tensor.float() if tensor.dtype == torch.bfloat16 else tensor
        assert np.array_equal(got[name].astype(exact.numpy().dtype), exact.numpy()), name


def mapped(array: np.ndarray) -> bool:
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    if isinstance(base, memoryview):
        base = base.obj
    return isinstance(base, mmap.mmap)


# What torch writes.


@pytest.mark.parametrize("protocol", [2, 4, 5])
@pytest.mark.parametrize("as_zip", [True, False], ids=["zip", "legacy"])
@pytest.mark.parametrize(
    "wrap",
    [
        lambda d: d,
        OrderedDict,
        lambda d: {"model": d, "epoch": 3, "args": {"lr": [1e-3], "size": torch.Size([2, 3])}},
        lambda d: {"state_dict": {f"module.{k}": v for k, v in d.items()}, "type": torch.half},
        lambda d: d | {"epoch": 7, "note": "ü", "big": 1 << 70, "none": None, "set": {1, 2}},
    ],
    ids=["plain", "ordered", "model", "parallel", "extras"],
)
def test_reads_what_torch_saves(
    tmp_path: Path, wrap: Callable[[dict[str, Any]], Any], as_zip: bool, protocol: int
) -> None:
    path = tmp_path / "weights.pth"
    torch.save(
        wrap(state_dict()), path, pickle_protocol=protocol, _use_new_zipfile_serialization=as_zip
    )
    got = read_pth(path)
    assert_same(got, state_dict())
    for name, array in got.items():
        if array.size:
            assert not array.flags.writeable, name
            assert mapped(array), f"{name} was copied"


def test_views_share_their_storage(tmp_path: Path) -> None:
    path = tmp_path / "weights.pth"
    torch.save(state_dict(), path)
    got = read_pth(path)
    assert np.shares_memory(got["table"], got["transposed"])
    assert np.shares_memory(got["table"], got["strided"])


def test_module_state_with_metadata(tmp_path: Path) -> None:
    """``state_dict()`` is an OrderedDict with an attribute, which the pickle sets by BUILD."""
    module = torch.nn.Linear(3, 2)
    path = tmp_path / "weights.pth"
    torch.save(module.state_dict(), path)
    assert_same(read_pth(path), module.state_dict())


def test_compressed_archive_without_checksums_and_with(tmp_path: Path) -> None:
    stored, packed = tmp_path / "stored.pth", tmp_path / "packed.pth"
    torch.serialization.set_crc32_options(False)
    try:
        torch.save(state_dict(), stored)
    finally:
        torch.serialization.set_crc32_options(True)
    assert_same(read_pth(stored), state_dict())
    torch.save(state_dict(), stored)
    repack(stored, packed, compression=zipfile.ZIP_DEFLATED)
    assert_same(read_pth(packed), state_dict())


def test_as_many_tensors_as_the_largest_model(tmp_path: Path) -> None:
    """DA3-Giant has about 1400 tensors; several times that must not meet a limit."""
    path = tmp_path / "weights.pth"
    one = torch.zeros(1)
    tensors = {f"backbone.blocks.{i}.attn.qkv.weight": one + i for i in range(6_000)}
    torch.save(tensors, path)
    got = read_pth(path)
    assert [float(a[0]) for a in got.values()] == [float(i) for i in range(6_000)]


def test_not_a_state_dict(tmp_path: Path) -> None:
    path = tmp_path / "weights.pth"
    for content, message in (
        ([torch.zeros(2)], "no state dict .found list"),
        ({"epoch": 1, "lr": 0.1}, "no state dict .found the keys epoch, lr"),
        (torch.nn.Linear(2, 2), r"whole pickled model .torch\.nn.*state_dict"),
    ):
        torch.save(content, path)
        with pytest.raises(CheckpointError, match=message):
            read_pth(path)


def test_torchscript(tmp_path: Path) -> None:
    path = tmp_path / "weights.pth"
    torch.jit.save(torch.jit.trace(torch.nn.Linear(2, 2), torch.zeros(1, 2)), path)
    with pytest.raises(CheckpointError, match="TorchScript"):
        read_pth(path)


def test_big_endian(tmp_path: Path) -> None:
    path, swapped = tmp_path / "weights.pth", tmp_path / "swapped.pth"
    torch.save(state_dict(), path)
    repack(path, swapped, change={"byteorder": b"big"})
    with pytest.raises(CheckpointError, match="big-endian"):
        read_pth(swapped)


# Damage.


def test_zip_cut_off_anywhere(tmp_path: Path) -> None:
    path = tmp_path / "weights.pth"
    torch.save({"a": torch.randn(5), "b": torch.randn(3).half()}, path)
    whole = path.read_bytes()
    for length in range(0, len(whole), 3):
        path.write_bytes(whole[:length])
        with pytest.raises(CheckpointError):
            read_pth(path)


def test_legacy_cut_off_anywhere(tmp_path: Path) -> None:
    path = tmp_path / "weights.pth"
    tensors = {"a": torch.randn(5), "b": torch.randn(3).half()}
    torch.save(tensors, path, _use_new_zipfile_serialization=False)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(CheckpointError):
            read_pth(path)


def test_damaged_zip_is_refused_or_harmless(tmp_path: Path) -> None:
    """Checksums catch every damaged byte that a value depends on."""
    path = tmp_path / "weights.pth"
    tensors = {"a": torch.randn(5), "b": torch.randn(3).half()}
    torch.save(tensors, path)
    whole = path.read_bytes()
    refused = 0
    for position in range(0, len(whole), 2):
        damaged = bytearray(whole)
        damaged[position] ^= 0xFF
        path.write_bytes(damaged)
        try:
            got = read_pth(path)
        except CheckpointError:
            refused += 1
        else:
            assert_same(got, tensors)
    assert refused > 100


def test_damaged_legacy_raises_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "weights.pth"
    torch.save({"a": torch.randn(5)}, path, _use_new_zipfile_serialization=False)
    whole = path.read_bytes()
    refused = 0
    for position in range(len(whole)):
        for flip in (0xFF, 0x01):
            damaged = bytearray(whole)
            damaged[position] ^= flip
            path.write_bytes(damaged)
            try:
                read_pth(path)
            except CheckpointError:
                refused += 1
    assert refused > 100


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"),
        (pickle.dumps({"a": 1}), "a pickle, but not one that torch wrote"),
        (b"PK\x03\x04" + bytes(100), "zip archive is cut off or damaged"),
    ],
)
def test_what_people_get_instead_of_weights(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "weights.pth"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=message):
        read_pth(path)


def test_ordinary_zip(tmp_path: Path) -> None:
    path = tmp_path / "weights.pth"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(CheckpointError, match=r"not one that torch\.save wrote"):
        read_pth(path)


# Hostile pickles. Each is shown to work on the ordinary unpickler first.

FIRED: list[str] = []


def fire(*_: object) -> dict[str, Any]:
    """What a hostile file wants to be run."""
    FIRED.append("fired")
    return {}


class Reduces:
    def __reduce__(self) -> tuple[Any, ...]:
        return fire, ()


class Evaluates:
    def __reduce__(self) -> tuple[Any, ...]:
        return eval, ("__import__('test_pickled').fire()",)


class HiddenInState:
    """Runs when its state is set, as a class with ``__setstate__`` does."""

    def __setstate__(self, state: object) -> None:
        fire()

    def __getstate__(self) -> object:
        return {"a": 1}


def short(text: str) -> bytes:
    return b"\x8c" + bytes([len(text)]) + text.encode()


HOSTILE = {
    "reduce": pickle.dumps({"model": Reduces()}, protocol=2),
    "reduce, protocol 4": pickle.dumps(Reduces(), protocol=4),
    "reduce, protocol 0": pickle.dumps(Reduces(), protocol=0),
    "eval": pickle.dumps({"a": Evaluates()}, protocol=2),
    "setstate": pickle.dumps(HiddenInState(), protocol=2),
    # STACK_GLOBAL with a dotted name walks through the attributes of an allowed module.
    "dotted": b"\x80\x04" + short("test_pickled") + short("Reduces.__reduce__.__globals__.get")
    + b"\x93" + short("fire") + b"\x85R)R.",
    # INST calls without REDUCE.
    "inst": b"(itest_pickled\nfire\n.",
    # OBJ: the class is the first item after the mark.
    "obj": b"(ctest_pickled\nfire\no.",
    "newobj": pickle.dumps(HiddenInState(), protocol=4),
}  # fmt: skip


def archive(path: Path, pickled: bytes, storages: dict[str, bytes] | None = None) -> Path:
    """A torch archive with this pickle."""
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("archive/data.pkl", pickled)
        file.writestr("archive/byteorder", "little")
        for key, data in (storages or {}).items():
            file.writestr(f"archive/data/{key}", data)
        file.writestr("archive/version", "3\n")
    return path


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("as_zip", [True, False], ids=["zip", "legacy"])
def test_hostile_pickle_runs_nothing(tmp_path: Path, kind: str, as_zip: bool) -> None:
    pickled = HOSTILE[kind]
    FIRED.clear()
    pickle.loads(pickled)
    assert FIRED, "the canary is dead: this pickle does no harm"
    FIRED.clear()
    path = tmp_path / "weights.pth"
    if as_zip:
        archive(path, pickled)
    else:
        whole = io.BytesIO()
        torch.save({}, whole, _use_new_zipfile_serialization=False)
        path.write_bytes(legacy_head(whole.getvalue()) + pickled)
    with pytest.raises(CheckpointError, match=r"test_pickled|eval|_reconstructor|OBJ"):
        read_pth(path)
    assert not FIRED


def legacy_head(whole: bytes) -> bytes:
    """Magic number, protocol and system information of a legacy file."""
    stream = io.BytesIO(whole)
    for _ in range(3):
        pickle.load(stream)
    return whole[: stream.tell()]


def test_forbidden_name_is_shown_and_made_harmless(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.pth", pickle.dumps(__import__("os").system, protocol=2))
    with pytest.raises(CheckpointError, match=r"asks to load posix\.system.*nothing was run"):
        read_pth(path)
    archive(path, b"\x80\x04" + short("os") + short("\x1b[2Jsystem\n") + b"\x93.")
    with pytest.raises(CheckpointError) as caught:
        read_pth(path)
    assert str(caught.value).isprintable()


PERSISTENT = (
    b"(" + b"X\x07\x00\x00\x00storage" + b"ctorch\nFloatStorage\n"
    + b"X\x01\x00\x00\x000" + b"X\x03\x00\x00\x00cpu" + b"K\x04" + b"tQ"
)  # fmt: skip
"""Persistent id of a storage of 4 floats called "0"."""


def integer(value: int) -> bytes:
    """LONG1: any integer of up to 255 bytes."""
    data = value.to_bytes(20, "little", signed=True)
    return b"\x8a" + bytes([len(data)]) + data


def tuple_of(values: tuple[int, ...]) -> bytes:
    return b"(" + b"".join(map(integer, values)) + b"t"


def one_tensor(
    offset: int, size: tuple[int, ...], stride: tuple[int, ...], storage: bytes = PERSISTENT
) -> bytes:
    return (
        b"\x80\x02}X\x01\x00\x00\x00a" + b"ctorch._utils\n_rebuild_tensor_v2\n("
        + storage + integer(offset) + tuple_of(size) + tuple_of(stride)
        + b"\x89ccollections\nOrderedDict\n)RtRs."
    )  # fmt: skip


FOUR = {"0": np.arange(4, dtype=np.float32).tobytes()}


def test_the_hand_made_archive_is_one_that_torch_reads(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.pth", one_tensor(1, (3,), (1,)), FOUR)
    assert torch.load(path, weights_only=True)["a"].tolist() == [1, 2, 3]
    assert read_pth(path)["a"].tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("offset", "size", "stride"),
    [
        (0, (5,), (1,)),
        (1, (4,), (1,)),
        (4, (), ()),
        (0, (2, 2), (4, 1)),
        (0, (2,), (1 << 40,)),
        (-1, (2,), (1,)),
        (0, (2,), (-1,)),
        (0, (-2,), (1,)),
        (3, (2,), (-1,)),
        (0, (1 << 62, 4), (0, 1)),
        (0, (1 << 40,), (0,)),
        (0, (1 << 70,), (0,)),
        (1 << 64, (1,), (1,)),
        (0, (2, 2), (1,)),
        (0, (1,) * 70, (1,) * 70),
        (0, (1 << 47, 0), (1, 1)),
    ],
)
def test_tensor_outside_of_its_storage(
    tmp_path: Path, offset: int, size: tuple[int, ...], stride: tuple[int, ...]
) -> None:
    path = archive(tmp_path / "a.pth", one_tensor(offset, size, stride), FOUR)
    if 0 in size and max(size) < 1 << 48:
        assert read_pth(path)["a"].shape == size
        return
    with pytest.raises(CheckpointError, match=r"reaches beyond its data|makes no sense"):
        read_pth(path)


def test_storage_smaller_than_it_claims_or_absent(tmp_path: Path) -> None:
    pickled = one_tensor(0, (4,), (1,))
    path = archive(tmp_path / "a.pth", pickled, {"0": bytes(15)})
    with pytest.raises(CheckpointError, match="data of a is cut off"):
        read_pth(path)
    path = archive(tmp_path / "b.pth", pickled, {"1": bytes(16)})
    with pytest.raises(CheckpointError, match="data of a is missing"):
        read_pth(path)


@pytest.mark.parametrize(
    "pickled",
    [
        b"\x80\x02}r\xff\xff\xff\xff.",  # memo index of 4 billion
        b"\x80\x02}" + b")" + b"\x85" * 150_000 + b"K\x01s.",  # a key 150 000 tuples deep
        b"\x80\x02" + b"N" * 1_000_001 + b".",  # more opcodes than any weights have
        b"\x80\x02\x8b\xff\xff\xff\x7f" + bytes(8) + b".",  # LONG4 of 2 GB
        b"\x80\x04\x8e\x00\x00\x00\x00\x01\x00\x00\x00" + bytes(8) + b".",  # bytes of 4 GB
        b"\x80\x02I" + b"9" * 100_000 + b"\n.",  # a decimal number of 100 000 digits
        b"\x80\x02" + b"(" * 150_000 + b".",  # marks that are never closed
        b"\x80\x02tRsb.",  # nothing on the stack
        b"\x80\x02K\x01.K\x02.",  # not a dict; more follows
        b"\x80\x02\x82\x01.",  # EXT1
        b"\x80\x02}K\x01Q.",  # a persistent id that is no storage
        b"\x80\x02K\x01)R.",  # calls a number
        b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n}b.",  # sets attributes of a function
        b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n)R.",  # too few arguments
        b"\x80\x02ctorch\nFloatStorage\n)R.",  # calls a dtype
        b"",
        b".",
    ],
)
def test_bombs_and_nonsense(tmp_path: Path, pickled: bytes) -> None:
    path = archive(tmp_path / "a.pth", pickled)
    tracemalloc.start()
    try:
        with pytest.raises(CheckpointError):
            read_pth(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 300e6


def test_zip_bombs(tmp_path: Path) -> None:
    zeros = bytes(64 << 20)
    path = tmp_path / "a.pth"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("archive/data.pkl", one_tensor(0, (4,), (1,)))
        file.writestr("archive/data/0", zeros)
    with pytest.raises(CheckpointError, match="compressed beyond reason"):
        read_pth(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("archive/data.pkl", zeros)
    with pytest.raises(CheckpointError, match="far larger than weights need"):
        read_pth(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as file:
        file.writestr("archive/data.pkl", one_tensor(0, (4,), (1,)))
    with pytest.raises(CheckpointError, match="compressed beyond reason"):
        read_pth(path)


def test_zip_tricks_with_names(tmp_path: Path) -> None:
    """Members are looked up, never unpacked; a name used twice has no meaning."""
    folder = tmp_path / "inner"
    folder.mkdir()
    path = folder / "a.pth"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("../../evil/data.pkl", one_tensor(0, (4,), (1,)))
        file.writestr("../../evil/data/0", FOUR["0"])
    assert read_pth(path)["a"].tolist() == [0, 1, 2, 3]
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["a.pth", "inner"]

    with zipfile.ZipFile(path, "a") as file:
        file.writestr("other/data.pkl", one_tensor(0, (4,), (1,)))
    with pytest.raises(CheckpointError, match=r"not one that torch\.save wrote"):
        read_pth(path)

    archive(path, one_tensor(0, (4,), (1,)), FOUR)
    with zipfile.ZipFile(path, "a") as file, pytest.warns(UserWarning, match="Duplicate"):
        file.writestr("archive/data/0", FOUR["0"])
    with pytest.raises(CheckpointError, match="two members of one name"):
        read_pth(path)


def repack(
    source: Path,
    target: Path,
    *,
    compression: int = zipfile.ZIP_STORED,
    change: dict[str, bytes] | None = None,
) -> None:
    """The same archive as another program would pack it."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", compression) as new:
        for name in old.namelist():
            data = (change or {}).get(name.partition("/")[2])
            new.writestr(name, old.read(name) if data is None else data)
