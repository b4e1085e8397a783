"""Films through a sink, for tests of what is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import numpy as np

from depthsmith.film import FilmInfo, Span
from depthsmith.media.film.encoding import choose_encoding
from depthsmith.media.film.film_sink import open_film
from depthsmith.media.film.probe import probe
from depthsmith.media.film.read import FilmReader
from depthsmith.media.film.sink import Written

SEGMENT = 12


def gray_of(rgb: np.ndarray) -> np.ndarray:
    """A near map ``(H, W)`` float32 that shows a picture of `films.draw_frame`."""
    return rgb[..., 1].astype(np.float32) / np.float32(255)


def write(
    source: Path,
    target: Path,
    content: str = "gray",
    *,
    spans: tuple[Span, ...] = (),
    segment: int = SEGMENT,
    picture: Callable[[int, Any], np.ndarray] | None = None,
    sink_options: dict[str, Any] | None = None,
    **encoding_options: Any,
) -> Written:
    """Write ``source`` as a film of its own pictures, or of ``picture(index, frame)``."""
    info = probe(source)
    sink = open_sink(
        info, target, content, spans=spans, sink_options=sink_options, **encoding_options
    )
    for frame in FilmReader(info, deep=content == "deep", spans=spans):
        pixels = picture(frame.index, frame) if picture else shown(frame, content)
        sink.write(pixels, frame.pts, frame.duration, frame.index)
        if (frame.index + 1) % segment == 0:
            sink.close_segment({"index": np.array(frame.index)})
    return sink.finish()


def open_sink(
    info: FilmInfo,
    target: Path,
    content: str = "gray",
    *,
    key: str = "key",
    resume: bool = False,
    spans: tuple[Span, ...] = (),
    sink_options: dict[str, Any] | None = None,
    **encoding_options: Any,
) -> Any:
    encoding = choose_encoding(target, content, info=info, **encoding_options)
    return open_film(
        target, info, encoding, info.size,
        key=key, resume=resume, spans=spans, **(sink_options or {}),
    )  # fmt: skip


def shown(frame: Any, content: str) -> np.ndarray:
    if content == "gray":
        return gray_of(frame.rgb)
    return frame.deep if content == "deep" else frame.rgb


def luma(path: Path) -> list[np.ndarray]:
    """Y of every frame as it was decoded, ``(H, W)``."""
    planes = []
    with av.open(str(path)) as film:
        for frame in film.decode(video=0):
            plane = frame.planes[0]
            dtype = np.uint8 if frame.format.components[0].bits == 8 else np.uint16
            row = plane.line_size // dtype().itemsize
            planes.append(
                np.frombuffer(plane, dtype).reshape(plane.height, row)[:, : frame.width].copy()
            )
    return planes


def packets(path: Path) -> list[tuple[Any, ...]]:
    """Every packet of a file: stream, times, data."""
    with av.open(str(path)) as film:
        return [
            (p.stream.index, p.pts, p.dts, p.duration, bytes(p)) for p in film.demux() if p.size
        ]


def streams(path: Path) -> list[tuple[str, str, str]]:
    """Type, codec and language of every stream but data."""
    with av.open(str(path)) as film:
        return [
            (s.type, s.codec_context.codec.canonical_name, s.metadata.get("language", ""))
            for s in film.streams
            if s.type != "data" and s.codec_context is not None
        ]
