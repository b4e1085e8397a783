"""Open a file as a film, or say why it is none."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from depthsmith.errors import FilmError

MAX_PIXELS = 1 << 28
_STILLS = ("avif", "heic", "heix", "mif1")  # brands of ISO files that hold one picture
# What FFmpeg takes for film in a text file, and lists that make it open other files.
_NO_FILMS = (
    "tty", "hls", "concat", "dash", "sdp", "lrc", "ffmetadata", "rawvideo", "alias_pix", "xbin",
    "bin", "adf", "idf", "mcc", "imf",
)  # fmt: skip

_JPEG = b"\xff\xd8"
_WEBP_MOVES = 0x02  # of the flags in the VP8X chunk (RFC 9649, section 2.7)


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """Open a file with PyAV; the container is closed at the end.

    Raises:
        FilmError: if there is no film in it.
    """
    import av

    _check_file(path)
    try:
        # Absolute: FFmpeg takes ``a:b`` for a protocol. One protocol: lists of other files,
        # and films that name others, must not make it open what the user did not name.
        container = av.open(
            str(path.absolute()),
            options={"protocol_whitelist": "file", "max_pixels": str(MAX_PIXELS)},
            metadata_errors="replace",
        )
    except av.error.FFmpegError as error:
        raise _open_error(path, error) from error
    except (OSError, ValueError, UnicodeError, MemoryError) as error:
        raise FilmError(f"{path} cannot be opened as a film: {error}") from error
    try:
        _check_format(path, container)
        yield container
    finally:
        container.close()


def holds_film(path: Path) -> bool:
    """Whether there is a film in a file; only its header is read."""
    with suppress(FilmError), opened(path) as container:
        return any(s.type == "video" and not is_cover(s) for s in container.streams)
    return False


def is_cover(stream: Any) -> bool:
    """Whether a video stream is a picture that stands for the file."""
    import av

    marks = av.stream.Disposition.attached_pic | av.stream.Disposition.timed_thumbnails
    return stream.type == "video" and bool(stream.disposition & marks)


def _check_file(path: Path) -> None:
    try:
        mode = path.stat()
    except FileNotFoundError:
        raise FilmError(f"{path} does not exist") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FilmError(f"{path} cannot be read: {reason}") from error
    if stat.S_ISDIR(mode.st_mode):
        raise FilmError(f"{path} is a folder; name a film in it")
    if not stat.S_ISREG(mode.st_mode):
        raise FilmError(f"{path} is no regular file; films are not read from pipes and devices")
    if mode.st_size == 0:
        raise FilmError(f"{path} is empty")


def _open_error(path: Path, error: Any) -> FilmError:
    import av

    if isinstance(error, av.error.PermissionError):
        return FilmError(f"{path} cannot be read: no permission")
    if _head(path)[4:8] in (b"ftyp", b"mdat", b"wide", b"free", b"skip"):
        return FilmError(
            f"{path} is an MP4 or MOV without its index (moov): the recording or the "
            "download broke off; get the whole file, or repair it with untrunc"
        )
    return FilmError(f"{path} is not a film that FFmpeg knows ({reason(error)})")


def _head(path: Path) -> bytes:
    with suppress(OSError), path.open("rb") as file:
        return file.read(21)
    return b""


def reason(error: BaseException) -> str:
    """Why FFmpeg failed, in one line."""
    text = str(getattr(error, "strerror", None) or error) or type(error).__name__
    return text.splitlines()[0]


def _check_format(path: Path, container: Any) -> None:
    name = container.format.name
    brand = container.metadata.get("major_brand", "").strip()
    head = _head(path)
    if name == "webp_pipe" and head[12:16] == b"VP8X" and head[20:] and head[20] & _WEBP_MOVES:
        raise FilmError(
            f"{path} is an animated WebP, which FFmpeg does not read; convert it to a GIF or MP4"
        )
    still = name == "image2" or (name.endswith("_pipe") and name not in ("gif_pipe",))
    if still or brand in _STILLS:
        raise FilmError(
            f"{path} is a still picture, not a film; for photos there is `depthsmith depth`"
        )
    if set(name.split(",")) & set(_NO_FILMS):
        raise FilmError(f"{path} is not a film (it looks like {name} text)")
    if name == "mjpeg" and head[:2] != _JPEG:
        # Pictures in a document, as of a PDF, look like it.
        raise FilmError(f"{path} is not a film that FFmpeg knows")
