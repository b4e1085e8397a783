"""Depth maps in files that say what they are, and back.

========  =============================================  ====================================
format    values                                         what they mean is kept in
========  =============================================  ====================================
png16     16-bit levels, see `depth_levels`              tEXt ``depthsmith``, JSON
png8      8-bit levels                                   the same
tiff      float32, one deflated page                     ImageDescription, JSON
exr       float32; channel ``Z`` for the kinds that are  attribute ``depthsmith``, JSON
          depth, ``Y`` for the others; ``sky`` and
          ``confidence`` where there are any
npz       float32 ``depth``; ``sky``, ``confidence``     ``kind``, ``unit``, ``polarity``,
          where there are any                            ``model``, ``header`` (JSON)
npy       float32                                        nothing: kind and unit are lost
pfm       float32                                        nothing: kind and unit are lost
========  =============================================  ====================================

The JSON has ``kind``, ``unit``, ``polarity``, ``scale``, ``offset``, ``invalid``, ``model``,
``source_size`` and ``notes``. What is not finite is NaN in the float formats.
"""

from __future__ import annotations

import contextlib
import io
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from PIL import Image, PngImagePlugin, TiffImagePlugin

from depthsmith.atomic import atomic_path
from depthsmith.errors import UsageError
from depthsmith.media.depth_levels import HEADER_FORMAT, KEY, quantize
from depthsmith.media.depth_reading import read_depth
from depthsmith.types import DepthMap, FloatArray

__all__ = ["SUFFIXES", "DepthFormat", "format_of", "is_own_output", "read_depth", "write_depth"]

DepthFormat = Literal["png16", "png8", "npy", "npz", "exr", "pfm", "tiff"]

SUFFIXES: dict[DepthFormat, str] = {
    "png16": ".png",
    "png8": ".png",
    "npy": ".npy",
    "npz": ".npz",
    "exr": ".exr",
    "pfm": ".pfm",
    "tiff": ".tiff",
}


def write_depth(path: str | Path, depth: DepthMap, format: str | None = None) -> tuple[str, ...]:
    """Write a depth map; the file is there whole or not at all.

    Args:
        path: of the file; its folder exists.
        depth: of any kind.
        format: one of `SUFFIXES`; None chooses by the suffix of ``path`` (``.png``: png16).

    Returns:
        Notes on what a user may want to know, such as a coarser step than a millimetre.

    Raises:
        UsageError: if the format is unknown or does not go with the suffix.
        OutputError: if the file cannot be written.
    """
    path = Path(path)
    chosen = format_of(path, format)
    notes: tuple[str, ...] = ()
    levels: NDArray[Any] | None = None
    header = _header(depth)
    if chosen in ("png16", "png8"):
        levels, quantization, notes = quantize(depth, 16 if chosen == "png16" else 8)
        header |= {
            "scale": quantization.scale,
            "offset": quantization.offset,
            "invalid": quantization.invalid,
        }
    text = json.dumps(header)
    with atomic_path(path) as part:
        if levels is not None:
            _write_png(part, levels, text)
        else:
            values = np.where(np.isfinite(depth.values), depth.values, np.float32(np.nan))
            # The libraries write to memory: on a full disk some of them say nothing that helps,
            # some print lines of their own, and some cannot take every name of a file.
            encoded = io.BytesIO()
            _FLOAT_WRITERS[chosen](encoded, values, depth, text)
            part.write_bytes(encoded.getbuffer())
    return notes


def format_of(path: Path, format: str | None = None) -> DepthFormat:
    """The format of a file by name, or by the suffix of ``path``.

    Raises:
        UsageError: if there is none of that name or suffix, or the two contradict.
    """
    suffix = ".tiff" if path.suffix.lower() == ".tif" else path.suffix.lower()
    fitting: list[DepthFormat] = [name for name, ends in SUFFIXES.items() if ends == suffix]
    if format is None:
        if not fitting:
            known = ", ".join(dict.fromkeys(SUFFIXES.values()))
            raise UsageError(f"no depth format ends with {path.suffix!r}; use {known}")
        return fitting[0]
    for name in get_args(DepthFormat):
        if name == format:
            if name not in fitting:
                raise UsageError(f"{format} files end with {SUFFIXES[name]}, not {path.name!r}")
            return name
    raise UsageError(f"no depth format is called {format!r}; use one of {', '.join(SUFFIXES)}")


def is_own_output(path: Path) -> bool:
    """Whether a picture file was written by depthsmith (depth map, or colour picture)."""
    if not path.is_file():
        return False  # opening a pipe would wait for its writer
    with contextlib.suppress(Exception), Image.open(path) as image:
        if isinstance(image, TiffImagePlugin.TiffImageFile):
            return f'"{KEY}"' in str(image.tag_v2.get(270, ""))
        said = (image.info.get(field, b"") for field in ("exif", "comment"))
        return KEY in image.info or any(KEY.encode() in bytes(text) for text in said)
    return False


def _header(depth: DepthMap) -> dict[str, Any]:
    return {
        KEY: HEADER_FORMAT,
        "kind": depth.kind.value,
        "unit": depth.unit,
        "polarity": depth.polarity,
        "model": depth.model,
        "source_size": list(depth.source_size),
        "notes": list(depth.notes),
    }


def _write_png(path: Path, levels: NDArray[Any], text: str) -> None:
    info = PngImagePlugin.PngInfo()
    info.add_text(KEY, text)
    # Depth is smooth: after PNG's filters hardly anything but runs is left. Looking for more
    # takes four times as long and saves one percent.
    Image.fromarray(levels).save(
        path, "PNG", pnginfo=info, compress_level=1, compress_type=zlib.Z_RLE
    )


def _write_tiff(file: io.BytesIO, values: FloatArray, depth: DepthMap, text: str) -> None:
    options = {"compression": "tiff_adobe_deflate", "tiffinfo": {270: text}}
    Image.fromarray(values).save(file, "TIFF", **options)


def _write_pfm(file: io.BytesIO, values: FloatArray, depth: DepthMap, text: str) -> None:
    Image.fromarray(values).save(file, "PPM")


def _write_npy(file: io.BytesIO, values: FloatArray, depth: DepthMap, text: str) -> None:
    np.save(file, values)


def _write_npz(file: io.BytesIO, values: FloatArray, depth: DepthMap, text: str) -> None:
    words = {"kind": depth.kind.value, "unit": depth.unit, "polarity": depth.polarity}
    maps: dict[str, NDArray[Any]] = {"depth": values}
    maps |= {name: np.array(word) for name, word in words.items()}
    maps |= {"model": np.array(depth.model), "header": np.array(text)}
    maps |= _companions(depth)
    np.savez_compressed(file, **maps)  # type: ignore[arg-type]


def _write_exr(file: io.BytesIO, values: FloatArray, depth: DepthMap, text: str) -> None:
    import OpenEXR

    channels = {"Y" if depth.kind.larger_is_nearer else "Z": values}
    for name, companion in _companions(depth).items():
        channels[name] = companion.astype(np.float32)
    header = {
        "compression": OpenEXR.ZIP_COMPRESSION,
        "type": OpenEXR.scanlineimage,
        KEY: text,
    }
    OpenEXR.File(header, channels).write(file)


def _companions(depth: DepthMap) -> dict[str, NDArray[Any]]:
    both = {"sky": depth.sky, "confidence": depth.confidence}
    return {name: values for name, values in both.items() if values is not None}


_FLOAT_WRITERS: dict[str, Callable[[io.BytesIO, FloatArray, DepthMap, str], None]] = {
    "tiff": _write_tiff,
    "pfm": _write_pfm,
    "npy": _write_npy,
    "npz": _write_npz,
    "exr": _write_exr,
}
