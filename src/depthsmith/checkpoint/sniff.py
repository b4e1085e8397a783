"""What a file of weights is, told by its content and not by its name."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from depthsmith.errors import CheckpointError

Format = Literal["safetensors", "torch_zip", "torch_legacy"]

_HEAD_BYTES = 512
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
# The first pickle of torch's older format is this number (torch/serialization.py,
# MAGIC_NUMBER), as LONG1 of 10 bytes.
_LEGACY_MAGIC = b"\x8a\x0a" + (0x1950A86A20F9469CFC6C).to_bytes(10, "little") + b"."


def sniff(path: Path) -> Format:
    """The format of the weights in ``path``.

    Raises:
        CheckpointError: if there is no such file, or it is none of the three formats. What
            people get instead of weights is named: an empty file, a Git LFS pointer, a web
            page, a hub's error text.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except FileNotFoundError:
        raise CheckpointError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise CheckpointError(f"{path} is a folder, not a file of weights") from None
    except OSError as error:
        raise CheckpointError(f"cannot read {path}: {error.strerror or error}") from error
    if not head:
        raise CheckpointError(f"{path} is empty; download it again")
    if head.startswith(_LFS_POINTER):
        raise CheckpointError(
            f"{path} is a Git LFS pointer, not the weights; run `git lfs pull` in its folder"
        )
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if text.startswith((b"<!doctype", b"<html", b"<?xml", b"<head")):
        raise CheckpointError(
            f"{path} is a web page, not weights; download the file itself "
            "(on the hub: .../resolve/main/..., not .../blob/main/...)"
        )
    if head.startswith(b"PK"):
        return "torch_zip"
    if head.startswith(b"\x80") and _LEGACY_MAGIC in head[:32]:
        return "torch_legacy"
    # safetensors: the length of the header (u64, little-endian), then the header, JSON.
    if len(head) > 8 and head[8:9] == b"{" and int.from_bytes(head[:8], "little") < 1 << 40:
        return "safetensors"
    raise CheckpointError(f"{path} holds no weights: {_guess(head, size)}")


def _guess(head: bytes, size: int) -> str:
    if head.startswith((b"\x1f\x8b", b"7z\xbc\xaf", b"Rar!")):
        return "it is a compressed archive; unpack it first"
    if head[257:262] == b"ustar":
        return "it is a tar archive (torch wrote such files before 0.4); save it anew with torch"
    if head.startswith(b"\x80"):
        return "it is a pickle, but not one that torch wrote"
    if size < 64 * 1024 and all(byte >= 32 or byte in b"\t\r\n" for byte in head):
        line = head.decode("utf-8", "replace").strip().splitlines()[0]
        return f"it is a text that begins with {line[:60]!r}"
    return "it is neither safetensors nor a torch file"
