"""Elements of Matroska files: IETF RFC 8794 (EBML)."""

from __future__ import annotations

from collections.abc import Iterator


def element(kind: int, payload: bytes, *, longer: bool = False) -> bytes:
    """An element with its head, which is a byte longer than it must be if ``longer``."""
    size = len(payload)
    # All ones would mean an unknown size.
    length = next(n for n in range(1, 9) if size < (1 << 7 * n) - 1) + longer
    head = (size | 1 << 7 * length).to_bytes(length, "big")
    return kind.to_bytes((kind.bit_length() + 7) // 8, "big") + head + payload


def uint(value: int) -> bytes:
    """The payload of a number."""
    return value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big")


def elements(payload: bytes) -> Iterator[tuple[int, bytes]]:
    """Kind and payload of each; of an element of unknown size, all that is left.

    Raises:
        ValueError: if it is no EBML.
    """
    at = 0
    while at < len(payload):
        kind, length = number(payload, at, keep_marker=True)
        size, more = number(payload, at + length)
        begin = at + length + more
        end = len(payload) if size == (1 << 7 * more) - 1 else begin + size
        if end > len(payload):
            raise ValueError(f"its element {kind:X} is damaged")
        yield kind, payload[begin:end]
        at = end


def number(data: bytes, at: int, *, keep_marker: bool = False) -> tuple[int, int]:
    """A number of variable length, and how many bytes it has.

    Args:
        keep_marker: leave in the bit that tells the length, as kinds of elements have it.

    Raises:
        ValueError: if there is none.
    """
    length = 9 - data[at].bit_length() if at < len(data) else 9
    if length > 8 or at + length > len(data):
        raise ValueError("it is damaged, or no Matroska file")
    value = int.from_bytes(data[at : at + length], "big")
    return (value if keep_marker else value & ((1 << 7 * length) - 1)), length
