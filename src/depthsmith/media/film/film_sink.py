"""A video file as a sink: segments while it goes, put together with the source's tracks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from depthsmith.film import FilmInfo, Span, StereoLayout
from depthsmith.media.film.encoding import Encoding
from depthsmith.media.film.sink import Sink
from depthsmith.types import Size


def open_film(
    target: Path,
    source: FilmInfo,
    encoding: Encoding,
    size: Size,
    *,
    key: str,
    resume: bool = False,
    spans: Sequence[Span] = (),
    layout: StereoLayout = StereoLayout(),  # noqa: B008
    keep_tracks: bool = True,
) -> Sink:
    """Open a video file for writing.

    Args:
        target: of the file: .mp4, .mov or .mkv.
        source: whose times, tracks, chapters and metadata are taken over.
        encoding: from `choose_encoding`.
        size: of the pictures that will be written.
        key: a digest of source, settings and program; work with another key is not continued.
        resume: continue what a stopped run left beside the target, if there is anything.
        spans: the parts of the source that are written, in order; all if empty.
        layout: of two views in one picture.
        keep_tracks: whether to take over audio, subtitles, chapters and attachments.

    Raises:
        UsageError: if ``resume`` finds work of another key, or another process is at work on
            the same target; if the size does not go with the codec.
        OutputError: if the work folder cannot be written.
    """
    raise NotImplementedError
