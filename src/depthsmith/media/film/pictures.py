"""Arrays as frames for an encoder."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthsmith.media.film.encoding import Encoding
from depthsmith.media.film.limits import coded_size
from depthsmith.types import FloatArray, Size

# Chroma from every pixel, sited on every second column as all decoders take it to be: libswscale
# by itself puts it between two columns, and colours come out half a pixel too far left.
_CAREFUL = (
    "flags=bicubic+full_chroma_inp+accurate_rnd:in_range=full:"
    "out_color_matrix=bt709:out_range=limited:out_chroma_loc=left"
)
_LIMITED, _FULL = 1, 2  # AVCOL_RANGE_*
# Weights of red and blue in luma, by matrix: ITU-T H.273, table 4.
_WEIGHTS = {1: (0.2126, 0.0722), 9: (0.2627, 0.0593)}


class Pictures:
    """Makes frames in the encoder's pixel format.

    Args:
        encoding: whose ``content`` says what is taken.
        size: of the arrays. Odd sides are padded by repeating the last row or column.
    """

    def __init__(self, encoding: Encoding, size: Size) -> None:
        self._encoding, self._size = encoding, size
        self.coded = coded_size(encoding, size)
        self._shape = tuple(size) if encoding.content == "gray" else (*size, 3)
        self._dtype = {"gray": np.float32, "rgb": np.uint8, "deep": np.uint16}[encoding.content]
        self._rgb: Any = None
        self._to_video: Any = None

    def frame(self, pixels: NDArray[Any]) -> Any:
        """``pixels`` as a frame without time.

        Raises:
            ValueError: if they have another shape or dtype, or gray is not within [0, 1].
        """
        if pixels.shape != self._shape or pixels.dtype != self._dtype:
            raise ValueError(
                f"pictures are {self._shape} {np.dtype(self._dtype)}, "
                f"not {pixels.shape} {pixels.dtype}"
            )
        frame = self._gray(pixels) if self._encoding.content == "gray" else self._color(pixels)
        color = self._encoding.color
        frame.color_primaries, frame.color_trc = color.primaries, color.transfer
        frame.colorspace = color.matrix
        frame.color_range = {None: 0, False: _LIMITED, True: _FULL}[color.full_range]
        return frame

    def _gray(self, near: FloatArray) -> Any:
        import av

        low, high = float(near.min()), float(near.max())
        if not (low >= 0 and high <= 1):  # also where there is a NaN
            raise ValueError(f"gray pictures lie in [0, 1], not {low:g} to {high:g}")
        height, width = self.coded
        bits = self._encoding.color.bit_depth
        luma: NDArray[Any]
        if bits == 16:
            frame = av.VideoFrame(width, height, "gray16le")
            luma = (near * np.float32(65535) + np.float32(0.5)).astype(np.uint16)
        elif bits == 10:
            frame = av.VideoFrame(width, height, "yuv420p10le")
            luma = (near * np.float32(876) + np.float32(64.5)).astype(np.uint16)
        else:
            import cv2

            frame = av.VideoFrame(width, height, "yuv420p")
            luma = cv2.convertScaleAbs(near, alpha=219, beta=16)
        _fill(_array(frame.planes[0], luma.dtype), luma, self.coded)
        for plane in frame.planes[1:]:
            _array(plane, luma.dtype)[:] = 1 << (bits - 1)
        return frame

    def _deep(self, rgb: NDArray[np.uint16]) -> Any:
        """By ourselves: libswscale makes 16-bit white four levels too bright."""
        import av
        import cv2

        height, width = self.coded
        frame = av.VideoFrame(width, height, "yuv420p10le")
        coded = cv2.transform(rgb.astype(np.float32), _ten_bits(self._encoding.color.matrix))
        # Chroma lies on every second column, between two rows (H.264 and H.265, type 0).
        chroma = cv2.sepFilter2D(
            coded[..., 1:], -1, np.array([0.25, 0.5, 0.25]), np.array([0.5, 0.5]),
            anchor=(1, 0), borderType=cv2.BORDER_REPLICATE,
        )[::2, ::2]  # fmt: skip
        for plane, values in zip(
            frame.planes, (coded[..., 0], chroma[..., 0], chroma[..., 1]), strict=True
        ):
            rows, columns = values.shape
            _array(plane, np.dtype(np.uint16))[:rows, :columns] = values
        return frame

    def _color(self, rgb: NDArray[Any]) -> Any:
        import av

        if self.coded != self._size:
            edges = [(0, c - s) for c, s in zip(self.coded, self._size, strict=True)]
            rgb = np.pad(rgb, (*edges, (0, 0)), mode="edge")
        encoding = self._encoding
        if encoding.content == "deep" and encoding.codec != "ffv1":
            return self._deep(rgb)
        kind = "rgb24" if rgb.dtype == np.uint8 else "rgb48le"
        if encoding.codec == "ffv1":
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(rgb), format=kind)
            return frame.reformat(format=encoding.pixel_format)
        height, width = self.coded
        if self._rgb is None:
            # One for all, as the filter keeps nothing: the first touch of new memory takes
            # longer than the conversion.
            self._rgb = av.VideoFrame(width, height, kind)
        frame = self._rgb
        _array(frame.planes[0], rgb.dtype)[:, : 3 * width] = rgb.reshape(height, -1)
        if self._to_video is None:
            # Hardware's formats are those of software in another order; the encoder's wrapper
            # puts them so.
            planar = "yuv420p" if encoding.color.bit_depth == 8 else "yuv420p10le"
            self._to_video = _filters(frame, ("scale", _CAREFUL), ("format", planar))
        frame.pts = 0
        self._to_video.push(frame)
        frame = self._to_video.pull()
        frame.pts = None
        return frame


def _filters(frame: Any, *chain: tuple[str, str]) -> Any:
    """FFmpeg's filters, for frames like ``frame``."""
    from av.filter import Graph

    graph = Graph()
    source = graph.add_buffer(
        width=frame.width,
        height=frame.height,
        format=frame.format.name,
        time_base=Fraction(1),
    )
    graph.link_nodes(source, *(graph.add(*each) for each in chain), graph.add("buffersink"))
    graph.configure()
    return graph


def _ten_bits(matrix: int) -> NDArray[np.float64]:
    """``(3, 4)``: from 16-bit R'G'B' and 1 to 10-bit Y'CbCr of limited range, plus a half."""
    red, blue = _WEIGHTS[matrix]
    luma = np.array([red, 1 - red - blue, blue])
    rows = [
        876 * luma,
        896 * (np.array([0, 0, 1]) - luma) / (2 * (1 - blue)),
        896 * (np.array([1, 0, 0]) - luma) / (2 * (1 - red)),
    ]
    return np.column_stack([np.array(rows) / 65535, [64.5, 512.5, 512.5]])


def _array(plane: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """The samples of a plane, with what lies beyond the picture."""
    return np.frombuffer(plane, dtype).reshape(plane.height, plane.line_size // dtype.itemsize)


def _fill(plane: NDArray[Any], values: NDArray[Any], coded: Size) -> None:
    height, width = values.shape
    plane[:height, :width] = values
    plane[:height, width : coded.width] = values[:, -1:]
    plane[height : coded.height, : coded.width] = plane[height - 1, : coded.width]
