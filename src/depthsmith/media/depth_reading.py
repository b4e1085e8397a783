"""Read depth files: ours say what they are, of others the caller has to."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from depthsmith.errors import ImageError, InputError
from depthsmith.media.depth_levels import HEADER_FORMAT, KEY, MILLIMETRE, Quantization
from depthsmith.media.image_file import (
    DEFAULT_MAX_PIXELS,
    check_pixels,
    load_image_file,
    one_line,
)
from depthsmith.types import BoolArray, DepthKind, DepthMap, FloatArray, Size

_ARRAYS = ("depth", "sky", "confidence", "mask")

Maps = dict[str, NDArray[Any]]
Header = dict[str, Any]


def read_depth(
    path: str | Path,
    kind: DepthKind | None = None,
    *,
    max_pixels: int | None = DEFAULT_MAX_PIXELS,
) -> DepthMap:
    """Read a depth map that `write_depth` wrote, or one of another program.

    The format is known by the first bytes: PNG, TIFF, EXR, NPZ, NPY, PFM. Of files made
    elsewhere, whole numbers are taken as they are, except: `DepthKind.NEAR` is scaled by their
    type to [0, 1]; `DepthKind.DEPTH_M` in 16 bits is millimetres, 0 is no value (ROS, NYU).
    In EXR the channel ``Z``, ``depth.Z``, ``Y`` or the only one is the depth; in NPZ the array
    ``depth`` or the only one.

    Args:
        path: of the file.
        kind: what the values mean, for files that do not say.
        max_pixels: refuse larger maps; None for no limit.

    Returns:
        The depth map; values that are missing are NaN. ``source_size`` is that of the file.

    Raises:
        ImageError: if it cannot be read, holds no depth map, does not say what it means while
            ``kind`` is None, or says something else than ``kind``.
    """
    path = Path(path)
    maps, header = read_maps(path, max_pixels)
    values = maps.pop("depth")
    if values.ndim > 2:
        values = values.reshape([n for n in values.shape if n != 1])
    if values.ndim != 2 or values.dtype.kind not in "buif" or min(values.shape) < 1:
        raise ImageError(f"{path} holds {values.shape} {values.dtype}, not a depth map (H, W)")
    if not header:
        if kind is None:
            kinds = ", ".join(k.value for k in DepthKind)
            raise ImageError(f"{path} does not say what its values mean; say which of {kinds}")
        return DepthMap(_foreign(values, kind), kind, Size(*values.shape))
    try:
        return _own(path, values, maps, header, kind)
    except ImageError:
        raise
    except (KeyError, TypeError, ValueError, InputError) as error:
        raise ImageError(f"what {path} says of itself is damaged ({one_line(error)})") from error


def _own(
    path: Path, values: NDArray[Any], maps: Maps, header: Header, kind: DepthKind | None
) -> DepthMap:
    if header[KEY] > HEADER_FORMAT:
        raise ImageError(
            f"{path} was written by a newer depthsmith; run `pip install -U depthsmith`"
        )
    said = DepthKind(header["kind"])
    if kind not in (None, said):
        raise ImageError(f"{path} holds {said.value}, not {kind.value}")
    if values.dtype.kind != "f":
        levels = Quantization(header["scale"], header["offset"], header["invalid"])
        values = levels.to_values(values)
    sky: BoolArray | None = None if "sky" not in maps else maps["sky"].astype(np.bool_)
    return DepthMap(
        values=values.astype(np.float32),
        kind=said,
        source_size=Size(*header["source_size"]),
        sky=sky,
        confidence=maps.get("confidence"),
        model=header["model"],
        notes=tuple(header["notes"]),
    )


def _foreign(values: NDArray[Any], kind: DepthKind) -> FloatArray:
    if values.dtype == np.uint16 and kind is DepthKind.DEPTH_M:
        return Quantization(MILLIMETRE, 0.0, 0).to_values(values)
    if values.dtype.kind == "u" and kind is DepthKind.NEAR:
        return Quantization(1 / np.iinfo(values.dtype).max).to_values(values)
    result: FloatArray = values.astype(np.float32)
    return result


def read_maps(path: Path, max_pixels: int | None) -> tuple[Maps, Header]:
    """The arrays of a depth file as stored, and what it says of itself if it is ours.

    Args:
        path: of the file.
        max_pixels: refuse larger maps; None for no limit.

    Returns:
        ``depth``, and ``sky``, ``confidence`` and ``mask`` where there are any; the header,
        empty for files made elsewhere.

    Raises:
        ImageError: if it cannot be read or holds no depth map.
    """
    head = b""
    if path.is_file():
        try:
            with path.open("rb") as file:
                head = file.read(8)
        except OSError as error:
            raise ImageError(f"cannot read {path}: {error.strerror}") from error
    if head.startswith(b"\x76\x2f\x31\x01"):
        return _read_exr(path, max_pixels)
    if head.startswith((b"\x93NUMPY", b"PK\x03\x04")):
        return _read_numpy(path)
    content = load_image_file(path, max_pixels=max_pixels, allow_truncated=False)
    pixels = content.pixels
    if isinstance(pixels, Image.Image):
        if pixels.mode not in ("L", "I", "F") and not pixels.mode.startswith("I;16"):
            raise ImageError(f"{path} is a picture in colours ({pixels.mode}), not a depth map")
        pixels = np.asarray(pixels)
    pixels = pixels.astype(pixels.dtype.newbyteorder("="))
    text = content.text.get(KEY) or content.text.get("ImageDescription", "")
    return {"depth": pixels}, _parse(text)


def _read_numpy(path: Path) -> tuple[Maps, Header]:
    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {"depth": loaded}, {}
        with loaded:
            maps = {name: loaded[name] for name in loaded.files}
    except MemoryError as error:
        raise ImageError(f"{path} does not fit into memory") from error
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ImageError(f"{path} is damaged or no array ({one_line(error)})") from error
    header = _parse(str(maps.pop("header", "")))
    arrays = [name for name, values in maps.items() if values.ndim >= 2 and name != "mask"]
    if "depth" not in maps:
        if len(arrays) != 1:
            raise ImageError(f"{path} holds no array 'depth', but {', '.join(maps) or 'nothing'}")
        maps["depth"] = maps[arrays[0]]
    return {name: maps[name] for name in _ARRAYS if name in maps}, header


def _read_exr(path: Path, max_pixels: int | None) -> tuple[Maps, Header]:
    import OpenEXR

    try:
        header = OpenEXR.File(str(path), header_only=True).header()
        (left, top), (right, bottom) = header["dataWindow"]
        check_pixels(int(right - left) + 1, int(bottom - top) + 1, str(path), max_pixels)
        stored = OpenEXR.File(str(path), separate_channels=True).channels()
        channels = {name: channel.pixels for name, channel in stored.items()}
    except (RuntimeError, KeyError, TypeError, ValueError) as error:
        raise ImageError(f"{path} is damaged or of an unsupported kind of EXR") from error
    own = _parse(str(header.get(KEY, "")))
    for name in ("Z", "depth.Z", "Y", *(channels if len(channels) == 1 else ())):
        if name in channels:
            maps = {k: channels[k] for k in ("sky", "confidence") if own and k in channels}
            return {"depth": channels[name], **maps}, own
    raise ImageError(f"{path} has no depth channel (Z or Y), but {', '.join(channels)}")


def _parse(text: str) -> Header:
    """The JSON if it is ours, else nothing."""
    try:
        header = json.loads(text)
    except ValueError:
        return {}
    return header if isinstance(header, dict) and KEY in header else {}
