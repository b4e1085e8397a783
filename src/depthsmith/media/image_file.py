"""Open a picture file: what may go wrong, one clear line each.

Pillow decodes; what it cannot do is left to `depthsmith.media.deep_color`.
"""

from __future__ import annotations

import contextlib
import io
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from PIL import Image, ImageFile, TiffImagePlugin, UnidentifiedImageError

from depthsmith.errors import ImageError
from depthsmith.media import deep_color
from depthsmith.media.content import ImageFileContent
from depthsmith.media.film.open_file import holds_film

DEFAULT_MAX_PIXELS = 200_000_000
"""Largest picture that is decoded unless the caller allows more: 200 megapixels."""

# An allow-list, because Pillow also opens formats by running other programs (EPS runs
# Ghostscript) and formats that are no pictures (HDF5, GRIB).
_FORMATS = (
    "PNG", "JPEG", "MPO", "WEBP", "TIFF", "GIF", "BMP", "DIB", "PPM", "TGA", "JPEG2000",
    "AVIF", "HEIF", "ICO", "PSD", "SGI", "PCX", "DDS", "QOI", "SUN",
)  # fmt: skip
_FILMS_TOO = ("GIF", "PNG")
"""Animations that FFmpeg reads."""
_MAGIC = {
    b"\x89PNG": "PNG",
    b"\xff\xd8\xff": "JPEG",
    b"GIF8": "GIF",
    b"II*\0": "TIFF",
    b"MM\0*": "TIFF",
    b"II+\0": "TIFF",
    b"MM\0+": "TIFF",
    b"RIFF": "WebP",
}
_HEIC_BRANDS = {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs"}
_EXIF_ORIENTATION = 0x0112
_EXIF_IFD = 0x8769
_EXIF_FOCAL_35MM = 0xA405

# Pillow's limit on pixels and its leniency are globals of the process.
_pillow_globals = threading.RLock()


def load_image_file(
    source: Path | bytes, *, max_pixels: int | None, allow_truncated: bool
) -> ImageFileContent:
    """Decode the first picture of a file, or of its bytes.

    Raises:
        ImageError: see `depthsmith.media.photo.read_photo`.
    """
    name = "the picture" if isinstance(source, bytes) else str(source)
    with _stream(source, name) as file:
        try:
            head = file.read(4096)
        except OSError as error:  # a disk that fails, a file of /proc
            raise ImageError(f"cannot read {name}: {error.strerror}") from error
        file.seek(0)
        if not head:
            raise ImageError(f"{name} is empty (0 bytes)")
        tags = deep_color.tiff_tags(file) if _kind(head) == "TIFF" else {}
        if tags:
            check_pixels(int(tags.get(256, 0)), int(tags.get(257, 0)), name, max_pixels)
            deep_color.refuse_separate_planes(tags, name)
        _register_heif(head, name)
        try:
            image = _open(file, name, head, max_pixels)
        except UnidentifiedImageError:
            if not tags:
                raise _unknown(head, name, source) from None
            # TIFF that is sound but of a kind Pillow does not know, such as float colour.
            return deep_color.decode_tiff(file, name, tags)
        notes = frames_note(image)
        truncated = _load(image, file, name, allow_truncated)
        if truncated:
            with _lenient_pillow():
                file.seek(0)
                image = _open(file, name, head, max_pixels)
                _load(image, file, name, allow_truncated=False)
        content = describe(image, notes)
        if truncated:
            content.notes.append("truncated; the missing part is blank")
        elif tags:
            deep_color.amend_tiff(content, image, file, name, tags)
        elif deep_color.is_deep_png(head):
            deep_color.amend_png(content, image, file)
    return content


def is_animation(path: Path) -> bool | None:
    """Whether a picture is an animation that FFmpeg reads as well; None if it is no picture.

    Only headers are read.
    """
    with contextlib.suppress(OSError, ImageError), path.open("rb") as file:
        image = _open(file, str(path), b"", None)  # an OSError where it is no picture
        return image.format in _FILMS_TOO and bool(getattr(image, "is_animated", False))
    return None


def describe(image: Image.Image, notes: tuple[str, ...] = ()) -> ImageFileContent:
    """What a loaded Pillow image says about itself.

    The orientation is read after loading: some plug-ins (TIFF, HEIF, AVIF) apply it while
    they load, and then clear the tag.
    """
    content = ImageFileContent(image, icc=image.info.get("icc_profile") or None, notes=[*notes])
    try:
        exif = image.getexif()
        orientation = exif.get(_EXIF_ORIENTATION, 1)
        focal = exif.get_ifd(_EXIF_IFD).get(_EXIF_FOCAL_35MM)
        # Zero means unknown (Exif 2.32, tag 41989).
        content.focal_35mm = float(focal) if focal else None
        content.orientation = orientation if orientation in range(1, 9) else 1
    except Exception:  # damaged EXIF raises anything
        content.notes.append("its EXIF data is damaged and was ignored")
    content.text = {
        k: v for k, v in image.info.items() if isinstance(k, str) and isinstance(v, str)
    }
    if isinstance(image, TiffImagePlugin.TiffImageFile):
        content.text["ImageDescription"] = str(image.tag_v2.get(270, ""))
    return content


def frames_note(image: Image.Image) -> tuple[str, ...]:
    """Say so if this is one of several frames or pages.

    To be called before the pixels are loaded: counting moves the file and unloads them.
    """
    # The second picture of an MPO is a preview or a gain map of the same photo.
    if image.format == "MPO" or not getattr(image, "is_animated", False):
        return ()
    count = 0
    with contextlib.suppress(Exception):  # damaged later frames do not matter for this one
        count = getattr(image, "n_frames", 0)
    word = "page" if image.format == "TIFF" else "frame"
    return (f"{word} {image.tell() + 1} of {count or 'several'}",)


def check_pixels(width: int, height: int, name: str, max_pixels: int | None) -> None:
    """Refuse what is too large to be a picture by accident."""
    if min(width, height) < 1:
        raise ImageError(f"{name} has no pixels ({width}x{height})")
    if max_pixels is not None and width * height > max_pixels:
        raise ImageError(
            f"{name} is {width}x{height}, {width * height:,} pixels; the limit is "
            f"{max_pixels:,}; raise it with --max-pixels"
        )


@contextlib.contextmanager
def _stream(source: Path | bytes, name: str) -> Iterator[BinaryIO]:
    if isinstance(source, bytes):
        yield io.BytesIO(source)
        return
    try:
        if source.is_dir():
            raise ImageError(f"{name} is a folder, not a picture")
        if source.exists() and not source.is_file():
            raise ImageError(f"{name} is not a regular file")
        file = source.open("rb")
    except FileNotFoundError:
        raise ImageError(f"{name} does not exist") from None
    except PermissionError:
        raise ImageError(f"no permission to read {name}") from None
    except (OSError, ValueError) as error:
        raise ImageError(f"cannot read {name}: {error}") from error
    with file:
        yield file


def _open(file: BinaryIO, name: str, head: bytes, max_pixels: int | None) -> Image.Image:
    with _pillow_globals:
        Image.init()
        formats = [f for f in _FORMATS if f in Image.OPEN]
        limit, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None  # ours is checked below
        try:
            image = Image.open(file, formats=formats)
        except UnidentifiedImageError:
            raise
        except Exception as error:  # a header that a plug-in chokes on
            raise _unknown(head, name, None) from error
        finally:
            Image.MAX_IMAGE_PIXELS = limit
    check_pixels(image.width, image.height, name, max_pixels)
    return image


def _load(image: Image.Image, file: BinaryIO, name: str, allow_truncated: bool) -> bool:
    """Decode; return True if that failed and may be tried again leniently."""
    try:
        image.load()
        if image.format == "PNG" and not ImageFile.LOAD_TRUNCATED_IMAGES:
            # Decoding looks at no checksum, and makes wrong pixels of wrong data.
            file.seek(0)
            _open(file, name, b"", None).verify()
    except MemoryError as error:
        raise ImageError(f"{name} does not fit into memory") from error
    except Exception as error:  # whatever a decoder raises on damaged data
        if allow_truncated:
            return True
        if ImageFile.LOAD_TRUNCATED_IMAGES:
            raise ImageError(f"nothing of {name} can be read ({one_line(error)})") from error
        raise ImageError(
            f"{name} is truncated or damaged ({one_line(error)}); "
            "read what is left of it with --allow-truncated"
        ) from error
    return False


@contextlib.contextmanager
def _lenient_pillow() -> Iterator[None]:
    with _pillow_globals:
        before = ImageFile.LOAD_TRUNCATED_IMAGES
        ImageFile.LOAD_TRUNCATED_IMAGES = True
        try:
            yield
        finally:
            ImageFile.LOAD_TRUNCATED_IMAGES = before


def one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _kind(head: bytes) -> str | None:
    return next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), None)


def _unknown(head: bytes, name: str, source: Path | bytes | None) -> ImageError:
    if isinstance(source, Path) and holds_film(source):
        return ImageError(f"{name} is a film; for films there is `depthsmith video`")
    kind = _kind(head)
    if kind:
        return ImageError(f"{name} looks like {kind}, but is damaged or of an unsupported kind")
    text = head.decode("utf-8", errors="replace")
    if "\ufffd" not in text[:-1] and "\0" not in text:
        return ImageError(f"{name} is a text file, not a picture")
    return ImageError(f"{name} is not a picture of a format that can be read")


def _register_heif(head: bytes, name: str) -> None:
    """Let Pillow read HEIF if this is one; the plug-in is an extra."""
    if head[4:8] != b"ftyp":
        return
    length = int.from_bytes(head[:4], "big")
    brands = {head[8:12], *(head[i : i + 4] for i in range(16, min(length, len(head)), 4))}
    if b"avif" in brands or b"avis" in brands:
        return  # Pillow's own
    if not brands & (_HEIC_BRANDS | {b"mif1", b"msf1"}):
        return
    try:
        import pillow_heif
    except ImportError:
        raise ImageError(
            f"{name} is a HEIC picture; to read it, run `pip install depthsmith[heif]`"
        ) from None
    pillow_heif.register_heif_opener()
