"""Pixels of any kind to upright 8-bit sRGB, a band of rows at a time.

Working in bands keeps the memory for a large picture to what the decoder holds plus the
result, whatever has to be converted.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageCms

from depthsmith.errors import ImageError
from depthsmith.media.content import ImageFileContent
from depthsmith.types import ByteArray

_BAND_PIXELS = 1 << 20
# A profile that changes no colour by more than this is sRGB as far as 8 bits can tell.
_SAME_COLOR = 4
_INTENT = ImageCms.Intent.RELATIVE_COLORIMETRIC
_FLAGS = ImageCms.Flags.BLACKPOINTCOMPENSATION


@dataclass(frozen=True)
class Levels:
    """The values that become 0 and 255."""

    black: float
    white: float
    note: str | None = None

    def to_bytes(self, values: NDArray[Any]) -> ByteArray:
        """Scale linearly, round, never wrap; what is not finite becomes 0."""
        scaled = (values.astype(np.float64) - self.black) * (255.0 / (self.white - self.black))
        finite = np.nan_to_num(scaled, nan=0.0, posinf=0.0, neginf=0.0)
        rounded: ByteArray = np.clip(np.rint(finite), 0, 255).astype(np.uint8)
        return rounded


def to_upright_rgb(
    content: ImageFileContent, background: tuple[int, int, int]
) -> tuple[ByteArray, list[str]]:
    """Upright RGB of what a file holds.

    Args:
        content: pixels as stored; ``(H, W)`` or ``(H, W, 1..4)`` where an array.
        background: RGB that shows through where the picture is transparent.

    Returns:
        ``(H, W, 3)`` uint8, and notes on what was done.

    Raises:
        ImageError: for a number of channels or a mode that is no picture.
    """
    pixels, notes = content.pixels, []
    if isinstance(pixels, Image.Image):
        width, height = pixels.size
    else:
        height, width = pixels.shape[:2]
    levels = _levels_of(pixels, content.white_is_zero)
    if levels is not None and levels.note:
        notes.append(levels.note)
    if levels is not None and isinstance(pixels, Image.Image) and "transparency" in pixels.info:
        notes.append("its transparent gray level was ignored")
    upright = np.empty(
        (width, height, 3) if content.orientation > 4 else (height, width, 3), np.uint8
    )
    stored = _as_stored(upright, content.orientation)
    color: ToSrgb | None = None
    transparent = False
    for rows in _bands(height, width):
        band, alpha = _split_alpha(_band(pixels, rows, levels))
        if color is None:
            color = ToSrgb(band.mode, content.icc)
        rgb = np.asarray(color(band))
        if alpha is not None and alpha.getextrema() != (255, 255):
            transparent = True
            rgb = _composite(rgb, np.asarray(alpha), background)
        stored[rows] = rgb
    if color is not None and color.note:
        notes.append(color.note)
    if transparent:
        word = {(255, 255, 255): "white", (0, 0, 0): "black"}.get(background, str(background))
        notes.append(f"transparent parts shown over {word}")
    return upright, notes


class ToSrgb:
    """Convert 8-bit images of one mode to sRGB, by their ICC profile if they have one.

    Attributes:
        note: what was done, or why a profile was not used; None if there is nothing to say.
    """

    def __init__(self, mode: str, icc: bytes | None) -> None:
        self.note: str | None = None
        self._transform: ImageCms.ImageCmsTransform | None = None
        if mode == "LAB":
            self._transform = _transform(ImageCms.createProfile("LAB"), "LAB")
        elif icc:
            self._use(icc, mode)

    def __call__(self, image: Image.Image) -> Image.Image:
        if self._transform is None:
            return image.convert("RGB")
        converted = ImageCms.applyTransform(image, self._transform)
        assert converted is not None  # None only when done in place
        return converted

    def _use(self, icc: bytes, mode: str) -> None:
        space = {"L": "GRAY", "RGB": "RGB", "CMYK": "CMYK"}[mode]
        try:
            profile = ImageCms.ImageCmsProfile(io.BytesIO(icc))
            name = (ImageCms.getProfileDescription(profile) or "").strip() or "unnamed"
            if profile.profile.xcolor_space.strip() != space:
                self.note = f"its ICC profile '{name}' is not for {space} and was ignored"
                return
            transform = _transform(profile, mode)
        except (ImageCms.PyCMSError, OSError, ValueError):
            self.note = "its ICC profile is damaged and was ignored"
            return
        if mode == "CMYK" or _changes_colors(transform, mode):
            self._transform = transform
            self.note = f"converted from '{name}' to sRGB"


def _transform(profile: Any, mode: str) -> ImageCms.ImageCmsTransform:
    srgb = ImageCms.createProfile("sRGB")
    # LittleCMS' shortcut for Lab is off by up to 20 of 255 at saturated colours.
    flags = ImageCms.Flags.NOOPTIMIZE if mode == "LAB" else _FLAGS
    return ImageCms.buildTransform(profile, srgb, mode, "RGB", _INTENT, flags)


def _changes_colors(transform: ImageCms.ImageCmsTransform, mode: str) -> bool:
    """Whether a transform differs from leaving the numbers as they are."""
    steps = np.linspace(0, 255, 17).astype(np.uint8)
    if mode == "L":
        before = Image.fromarray(steps[None])
    else:
        cube = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1)
        before = Image.fromarray(cube.reshape(17, 17 * 17, 3))
    after = ImageCms.applyTransform(before, transform)
    assert after is not None
    change = np.asarray(after).astype(int) - np.asarray(before.convert("RGB")).astype(int)
    return int(np.abs(change).max()) > _SAME_COLOR


def _as_stored(upright: ByteArray, orientation: int) -> ByteArray:
    """View of the upright picture in the order of rows and columns that the file has.

    Exif 2.32, tag 274: where the stored row 0 and column 0 lie in the upright picture.
    """
    # For 6, row 0 is the right side and column 0 the top: stored[y, x] = upright[x, W - 1 - y].
    rotated = upright.transpose(1, 0, 2)
    views: dict[int, ByteArray] = {
        1: upright,
        2: upright[:, ::-1],
        3: upright[::-1, ::-1],
        4: upright[::-1],
        5: rotated,
        6: rotated[::-1],
        7: rotated[::-1, ::-1],
        8: rotated[:, ::-1],
    }
    return views[orientation]


def _bands(height: int, width: int) -> Iterator[slice]:
    step = max(1, _BAND_PIXELS // width)
    for top in range(0, height, step):
        yield slice(top, min(top + step, height))


def _band(pixels: Image.Image | NDArray[Any], rows: slice, levels: Levels | None) -> Image.Image:
    """Some rows as an 8-bit Pillow image."""
    if isinstance(pixels, Image.Image):
        band = pixels.crop((0, rows.start, pixels.width, rows.stop))
        return band if levels is None else Image.fromarray(levels.to_bytes(np.asarray(band)))
    values = pixels[rows]
    if values.ndim == 3 and values.shape[2] == 1:
        values = values[..., 0]
    if levels is None:
        return Image.fromarray(np.ascontiguousarray(values))
    if values.ndim == 3 and values.shape[2] in (2, 4):
        opaque = Levels(0.0, _full_scale(values.dtype))
        color = levels.to_bytes(values[..., :-1])
        return Image.fromarray(np.dstack([color, opaque.to_bytes(values[..., -1:])]))
    return Image.fromarray(levels.to_bytes(values))


def _split_alpha(image: Image.Image) -> tuple[Image.Image, Image.Image | None]:
    """The image as L, RGB, CMYK or LAB, and its alpha (L) if it has one."""
    mode = image.mode
    if mode in ("LA", "La"):
        gray, alpha = image.convert("LA").split()
        return gray, alpha
    if mode in ("RGBA", "RGBa", "PA") or (image.has_transparency_data and mode in "1LPRGB"):
        *rgb, alpha = image.convert("RGBA").split()
        return Image.merge("RGB", rgb), alpha
    if mode in ("1", "L"):
        return image.convert("L"), None
    if mode in ("RGB", "CMYK", "LAB"):
        return image, None
    return image.convert("RGB"), None


def _composite(rgb: ByteArray, alpha: ByteArray, background: tuple[int, int, int]) -> ByteArray:
    weight = alpha[..., None].astype(np.float32) / 255.0
    mixed = rgb * weight + np.asarray(background, np.float32) * (1.0 - weight)
    composite: ByteArray = np.rint(mixed).astype(np.uint8)
    return composite


def _levels_of(pixels: Image.Image | NDArray[Any], white_is_zero: bool) -> Levels | None:
    """How values of more than 8 bits become 8 bits; None if they are 8 bits or fewer."""
    if isinstance(pixels, Image.Image):
        if pixels.mode[0] not in "IF":
            return None
        dtype = np.asarray(pixels.crop((0, 0, 1, 1))).dtype
    else:
        _check_array(pixels)
        dtype = pixels.dtype
        if dtype == np.uint8:
            return None
    low, high, damaged = _extrema(pixels)
    levels = _choose_levels(dtype, low, high)
    if damaged:
        note = f"{damaged} values that are not finite shown as black"
        levels = Levels(levels.black, levels.white, "; ".join(filter(None, (levels.note, note))))
    if white_is_zero:
        levels = Levels(levels.white, levels.black, levels.note)
    return levels


def _choose_levels(dtype: np.dtype[Any], low: float, high: float) -> Levels:
    if dtype == np.bool_:
        return Levels(0, 1)
    kind = f"{dtype.itemsize * 8}-bit {'float' if dtype.kind == 'f' else 'integer'}"
    by_range = Levels(
        low,
        high if high > low else low + 1,
        f"{kind} values {low:.6g} to {high:.6g} scaled by their range",
    )
    if dtype.kind == "f":
        return Levels(0, 1) if low >= 0 and high <= 1 else by_range
    if low < 0 or high > 65535:
        return by_range
    # Cameras and scanners store 10 or 12 bits in 16 without saying so; scaled by 65535 they
    # would be black. Zero is a black picture of any depth.
    bits = next((b for b in (8, 10, 12) if 0 < high < 1 << b), 16)
    if bits < 16:
        return Levels(0, (1 << bits) - 1, f"taken as {bits}-bit values stored in {kind}")
    return Levels(0, 65535)


def _extrema(pixels: Image.Image | NDArray[Any]) -> tuple[float, float, int]:
    """Least and largest finite value without alpha, and how many are not finite."""
    low, high, damaged = np.inf, -np.inf, 0
    height, width = pixels.shape[:2] if isinstance(pixels, np.ndarray) else pixels.size[::-1]
    for rows in _bands(height, width):
        if isinstance(pixels, Image.Image):
            band = np.asarray(pixels.crop((0, rows.start, width, rows.stop)))
        else:
            band = pixels[rows]
            if band.ndim == 3 and band.shape[2] in (2, 4):
                band = band[..., :-1]
        finite = band[np.isfinite(band)]
        damaged += band.size - finite.size
        if finite.size:
            low, high = min(low, float(finite.min())), max(high, float(finite.max()))
    return (low, high, damaged) if low <= high else (0.0, 0.0, damaged)


def _full_scale(dtype: np.dtype[Any]) -> float:
    return 1.0 if dtype.kind in "fb" else float(np.iinfo(dtype).max)


def _check_array(pixels: NDArray[Any]) -> None:
    channels = 1 if pixels.ndim == 2 else pixels.shape[2] if pixels.ndim == 3 else 0
    if channels not in (1, 2, 3, 4) or pixels.dtype.kind not in "buif":
        raise ImageError(
            f"an array of shape {pixels.shape} and type {pixels.dtype} is not a picture; "
            "expected (H, W) or (H, W, 1 to 4) numbers"
        )
