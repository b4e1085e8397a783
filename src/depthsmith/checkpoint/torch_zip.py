"""The zip archives of ``torch.save``, mapped and not unpacked."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from depthsmith.checkpoint.pickle_subset import PickleError, shown

_MAX_INFLATION = 64
"""How many times the file's size its compressed members may have; weights hardly compress."""
_LOCAL_HEADER_BYTES = 30
_LOCAL_HEADER_MAGIC = b"PK\x03\x04"


class TorchZip:
    """Members of a torch archive by their name below its top folder.

    torch stores members uncompressed, so that they can be mapped; archives that were packed
    anew with compression are read into memory. Checksums are compared where the archive has
    them (torch can be told to leave them out, which shows as 0).
    """

    def __init__(self, path: Path) -> None:
        """Open ``path``.

        Raises:
            PickleError: if it is no archive of torch, or damaged.
        """
        try:
            with zipfile.ZipFile(path) as archive:
                infos = archive.infolist()
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise PickleError(
                f"its zip archive is cut off or damaged ({error}); download it again"
            ) from error
        names = [info.filename for info in infos]
        tops = [name.removesuffix("/data.pkl") for name in names if name.endswith("/data.pkl")]
        if len(tops) != 1:
            raise PickleError("it is a zip archive, but not one that torch.save wrote")
        if len(set(names)) != len(names):
            raise PickleError("its zip archive has two members of one name")
        if f"{tops[0]}/constants.pkl" in names:
            raise PickleError("it is a TorchScript program, not a state dict")
        self._path = path
        self._top = tops[0]
        self._infos = dict(zip(names, infos, strict=True))
        self._data: NDArray[np.uint8] = np.asarray(np.memmap(path, dtype=np.uint8, mode="r"))
        self._members: dict[str, NDArray[np.uint8]] = {}
        self._inflatable = _MAX_INFLATION * len(self._data)

    def optional(self, name: str) -> NDArray[np.uint8] | None:
        """As `member`, or None if there is none of that name."""
        return self.member(name) if f"{self._top}/{name}" in self._infos else None

    def member(self, name: str, *, max_bytes: int | None = None) -> NDArray[np.uint8]:
        """Content of a member, read-only.

        Raises:
            KeyError: if there is no such member.
            PickleError: if it is damaged, encrypted, or larger than allowed.
        """
        if name not in self._members:
            info = self._infos[f"{self._top}/{name}"]
            if max_bytes is not None and info.file_size > max_bytes:
                raise PickleError(f"its {name} is far larger than weights need")
            self._members[name] = self._read(info)
        return self._members[name]

    def _read(self, info: zipfile.ZipInfo) -> NDArray[np.uint8]:
        if info.flag_bits & 1:
            raise PickleError("its zip archive is encrypted")
        if info.compress_type == zipfile.ZIP_STORED:
            data = self._mapped(info)
            if info.CRC and zlib.crc32(data.data) != info.CRC:
                raise PickleError(f"{shown(info.filename)} in it is damaged; download it again")
            return data
        # Only deflate: the zip library bounds what it inflates of others after the fact.
        if info.compress_type != zipfile.ZIP_DEFLATED or info.file_size > self._inflatable:
            raise PickleError(f"{shown(info.filename)} in it is compressed beyond reason")
        self._inflatable -= info.file_size
        try:
            with zipfile.ZipFile(self._path) as archive:
                content = archive.read(info)
        except (zipfile.BadZipFile, zlib.error, EOFError, ValueError) as error:
            raise PickleError(f"{shown(info.filename)} in it is damaged ({error})") from error
        return np.frombuffer(content, np.uint8)

    def _mapped(self, info: zipfile.ZipInfo) -> NDArray[np.uint8]:
        """A stored member's bytes: they follow its local header."""
        header = self._data[info.header_offset :][:_LOCAL_HEADER_BYTES].tobytes()
        name_bytes = int.from_bytes(header[26:28], "little")
        extra_bytes = int.from_bytes(header[28:30], "little")
        start = info.header_offset + _LOCAL_HEADER_BYTES + name_bytes + extra_bytes
        end = start + info.file_size
        if not header.startswith(_LOCAL_HEADER_MAGIC) or end > len(self._data):
            raise PickleError(f"{shown(info.filename)} in it is cut off; download it again")
        return self._data[start:end]
