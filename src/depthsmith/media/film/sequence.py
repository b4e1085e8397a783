"""A folder of pictures or arrays as a sink, one a frame or a chunk, with the times beside."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from depthsmith.film import FilmInfo, Span
from depthsmith.media.film.sink import Sink
from depthsmith.types import DepthKind, Size

SequenceFormat = Literal["png16", "exr", "npz"]


def open_sequence(
    target: Path,
    source: FilmInfo,
    format: SequenceFormat,
    kind: DepthKind,
    size: Size,
    *,
    key: str,
    resume: bool = False,
    spans: Sequence[Span] = (),
    model: str = "",
) -> Sink:
    """Open a folder for writing.

    Args:
        target: the folder; it appears when it is whole.
        source: whose times are taken over.
        format: ``png16`` and ``exr`` have a file a frame, ``npz`` has chunks of frames.
        kind: of the values; ``png16`` takes ``near`` only, where all frames have one scale.
        size: of the maps that will be written.
        key, resume, spans: as for `open_film`.
        model: name of the model, for the files' headers.

    Raises:
        UsageError, OutputError: as `open_film`; UsageError if format and kind do not go together.
    """
    raise NotImplementedError
