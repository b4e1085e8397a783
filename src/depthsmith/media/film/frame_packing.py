"""Frame packing in the coded pictures themselves, for players that read no container's tags.

Supplemental enhancement information (SEI) number 45, "frame packing arrangement": ITU-T H.264
D.1.26 and D.2.26, H.265 D.2.16 and D.3.16. Televisions switch to 3D by it. libx264 writes it
by itself (``frame-packing``), libx265 does not.
"""

from __future__ import annotations

from typing import Literal

from depthsmith.errors import UsageError
from depthsmith.film import StereoLayout

Codec = Literal["h264", "hevc"]

_FRAME_PACKING = 45
_SIDE_BY_SIDE, _TOP_BOTTOM, _ROWS = 3, 4, 2
_TYPES = {
    "sbs": _SIDE_BY_SIDE,
    "half-sbs": _SIDE_BY_SIDE,
    "tb": _TOP_BOTTOM,
    "half-tb": _TOP_BOTTOM,
    "interlaced": _ROWS,
}
_START = b"\x00\x00\x00\x01"


def packing_type(layout: StereoLayout) -> int | None:
    """The number of an arrangement, which libx264 takes as ``frame-packing``; None for none."""
    return _TYPES.get(layout.packing)


def frame_packing_sei(codec: Codec, layout: StereoLayout) -> bytes:
    """The SEI as a NAL unit, without start code or length; empty if there is nothing to say.

    Raises:
        UsageError: for another codec.
    """
    if codec not in ("h264", "hevc"):
        raise UsageError(f"{codec} pictures cannot say how their views lie; use h264 or hevc")
    kind = packing_type(layout)
    if kind is None:
        return b""
    bits = _Bits()
    bits.golomb(0)  # frame_packing_arrangement_id
    bits.put(0, 1)  # _cancel_flag
    bits.put(kind, 7)  # _type
    bits.put(0, 1)  # quincunx_sampling_flag
    bits.put(2 if layout.right_first else 1, 6)  # content_interpretation_type
    bits.put(0, 3)  # spatial_flipping_flag, frame0_flipped_flag, field_views_flag
    bits.put(0, 1)  # current_frame_is_frame0_flag
    bits.put(0, 2)  # frame0_self_contained_flag, frame1_self_contained_flag
    bits.put(0, 16)  # grid positions
    bits.put(0, 8)  # reserved_byte
    if codec == "h264":
        bits.golomb(1)  # repetition_period: until another one comes
        bits.put(0, 1)  # extension_flag
    else:
        bits.put(1, 1)  # persistence_flag
        bits.put(0, 1)  # upsampled_aspect_ratio_flag
    payload = bits.payload()
    message = bytes([_FRAME_PACKING, len(payload)]) + payload + b"\x80"  # rbsp_trailing_bits
    # nal_unit_type 6, and 39 (prefix SEI) of layer 0, temporal id 1.
    head = b"\x06" if codec == "h264" else bytes([39 << 1, 1])
    return head + _escape(message)


def with_sei(packet: bytes, codec: Codec, sei: bytes, length_size: int | None = None) -> bytes:
    """An access unit with ``sei`` before its first slice.

    Args:
        packet: of a key frame.
        sei: from `frame_packing_sei`; an empty one changes nothing.
        length_size: bytes of the length before each NAL unit, as in MP4 and Matroska; None for
            start codes, as encoders give out.
    """
    if not sei:
        return packet
    for start, first in _units(packet, length_size):
        coded = 1 <= first & 31 <= 5 if codec == "h264" else (first >> 1) & 63 < 32
        if coded:
            head = _START if length_size is None else len(sei).to_bytes(length_size, "big")
            return packet[:start] + head + sei + packet[start:]
    return packet


def _units(packet: bytes, length_size: int | None) -> list[tuple[int, int]]:
    """Where each NAL unit's start code or length begins, and the first byte of the unit."""
    units, at = [], 0
    if length_size is not None:
        while at + length_size < len(packet):
            size = int.from_bytes(packet[at : at + length_size], "big")
            units.append((at, packet[at + length_size]))
            at += length_size + size
        return units
    while (at := packet.find(b"\0\0\1", at)) >= 0 and at + 3 < len(packet):
        start = at - 1 if at > 0 and packet[at - 1] == 0 else at
        units.append((start, packet[at + 3]))
        at += 3
    return units


class _Bits:
    """Numbers, most significant bit first."""

    def __init__(self) -> None:
        self._bits = ""

    def put(self, value: int, count: int) -> None:
        self._bits += f"{value:0{count}b}"

    def golomb(self, value: int) -> None:
        """ue(v), clause 9.1 of H.264."""
        code = f"{value + 1:b}"
        self._bits += "0" * (len(code) - 1) + code

    def payload(self) -> bytes:
        """Filled up to whole bytes with a one and zeros, as SEI payloads are."""
        bits = self._bits
        if len(bits) % 8:
            bits += "1" + "0" * (-(len(bits) + 1) % 8)
        return int(bits, 2).to_bytes(len(bits) // 8, "big")


def _escape(message: bytes) -> bytes:
    """No start code inside: a 3 after two zeros before 0 to 3."""
    escaped, zeros = bytearray(), 0
    for byte in message:
        if zeros == 2 and byte <= 3:
            escaped.append(3)
            zeros = 0
        escaped.append(byte)
        zeros = zeros + 1 if byte == 0 else 0
    return bytes(escaped)
