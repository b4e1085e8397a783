"""A part of a film's pictures as a video file that can be decoded by itself.

Frames are numbered from 0; their number is their time, in milliseconds, in a Matroska file.
The true times are kept beside (`depthsmith.media.film.work`) and come back when segments are
put together, so that no container's clock rounds them twice. The same frames make the same
bytes, whatever ran before: each segment has an encoder of its own, whose threads are counted.
"""

from __future__ import annotations

import contextlib
import os
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, cast

from numpy.typing import NDArray

from depthsmith.film import StereoLayout
from depthsmith.media.film.encoder_options import options_of
from depthsmith.media.film.encoding import Encoding
from depthsmith.media.film.failures import writing_film
from depthsmith.media.film.frame_packing import frame_packing_sei, with_sei
from depthsmith.media.film.pictures import Pictures
from depthsmith.types import Size

UNIT = Fraction(1, 1000)
"""Of a frame's number in a segment file."""


class SegmentWriter:
    """Encodes one segment.

    Args:
        path: of the file, which ends with .mkv.
        encoding: see `Encoding`.
        size: of the pictures.
        rate: frames a second, about: encoders shape their bit rate by it.
        layout: said by the pictures where the codec can.
        target: of the work, which errors name.

    Attributes:
        frames: how many were written.
        reorder: by how many frames pictures come later in the file than they are shown, at
            most; known when closed.

    Raises:
        OutputError: from every method, if the file cannot be written.
    """

    def __init__(
        self,
        path: Path,
        encoding: Encoding,
        size: Size,
        rate: Fraction,
        layout: StereoLayout,
        target: Path,
    ) -> None:
        import av

        if encoding.codec == "av1":
            os.environ.setdefault("SVT_LOG", "1")  # errors only; it prints by itself
        self.path = path
        self._target = target
        self.frames = 0
        self.reorder = 0
        self._coded = 0
        self._pictures = Pictures(encoding, size)
        self._codec = cast("Literal['h264', 'hevc']", encoding.codec)
        speaks = encoding.codec in {"h264", "hevc"}
        self._sei = frame_packing_sei(self._codec, layout) if speaks else b""
        with writing_film(target):
            self._output: Any = av.open(os.fspath(path), "w", format="matroska")
            hardware: dict[str, Any] = {}
            if encoding.encoder.endswith("_vaapi"):
                hardware["hwaccel"] = av.codec.hwaccel.HWAccel("vaapi")
            self._stream: Any = self._output.add_stream(
                encoding.encoder, rate=rate, options=options_of(encoding, rate, size), **hardware
            )
            self._set(encoding, rate)

    def write(self, pixels: NDArray[Any]) -> None:
        """Add a picture, as `Pictures` takes it."""
        frame = self._pictures.frame(pixels)
        frame.pts, frame.time_base = self.frames, self._stream.codec_context.time_base
        self.frames += 1
        with writing_film(self._target):
            self._mux(self._stream.encode(frame))

    def close(self) -> None:
        """Write what the encoder still holds."""
        with writing_film(self._target):
            try:
                self._mux(self._stream.encode(None))
            finally:
                self._output.close()

    def abort(self) -> None:
        """Leave the file as it is, of no use. Never raises."""
        with contextlib.suppress(Exception):
            self._output.close()

    def _set(self, encoding: Encoding, rate: Fraction) -> None:
        context = self._stream.codec_context
        context.height, context.width = self._pictures.coded
        context.pix_fmt = encoding.pixel_format
        context.time_base = 1 / rate
        context.sample_aspect_ratio = Fraction(1)
        context.thread_count = encoding.threads
        # Slices of one picture, PyAV's default, cost quality in x264.
        context.thread_type = "SLICE" if encoding.codec == "ffv1" else "FRAME"
        if encoding.bit_rate is not None:
            context.bit_rate = encoding.bit_rate
        color = encoding.color
        context.color_primaries, context.color_trc = color.primaries, color.transfer
        context.colorspace = color.matrix
        context.color_range = {None: 0, False: 1, True: 2}[color.full_range]

    def _mux(self, packets: list[Any]) -> None:
        for packet in packets:
            if self._sei and packet.is_keyframe:
                packet = self._tagged(packet)  # noqa: PLW2901
            self.reorder = max(self.reorder, self._coded - packet.pts)
            self._coded += 1
            packet.time_base = UNIT
            self._output.mux(packet)

    def _tagged(self, packet: Any) -> Any:
        import av

        tagged = av.Packet(with_sei(bytes(packet), self._codec, self._sei))
        tagged.pts, tagged.dts, tagged.duration = packet.pts, packet.dts, packet.duration
        tagged.is_keyframe = True
        tagged.stream = self._stream
        return tagged
