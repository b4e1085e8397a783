"""Break files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import av
import numpy as np


def truncate(path: Path, share: float) -> Path:
    """Cut a file off after ``share`` of its bytes."""
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    return path


def damage_packets(path: Path, numbers: Iterable[int], *, seed: int = 0) -> Path:
    """Overwrite the middle of some packets of the first video stream with noise.

    Args:
        numbers: which packets, in the order of the file.
    """
    wanted = set(numbers)
    with av.open(str(path)) as source:
        found = [
            (packet.pos, packet.size)
            for number, packet in enumerate(source.demux(source.streams.video[0]))
            if number in wanted and packet.size
        ]
    assert len(found) == len(wanted), f"only {len(found)} of the packets {wanted}"
    data = bytearray(path.read_bytes())
    rng = np.random.default_rng(seed)
    for position, size in found:
        # Containers put a few bytes before the payload.
        start, end = position + size // 8 + 8, position + size
        data[start:end] = rng.integers(0, 256, max(end - start, 0), np.uint8).tobytes()
    path.write_bytes(bytes(data))
    return path
