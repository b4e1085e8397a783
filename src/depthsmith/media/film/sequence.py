"""A folder of pictures or arrays as a sink, one a frame or a chunk, with the times beside.

=========  =============================  ====================================================
format     files                          values
=========  =============================  ====================================================
``png16``  ``000000.png``, one a frame    near as 16-bit levels: 0 to 65535 in every frame
``exr``    ``000000.exr``, one a frame    float32, of any kind
``npz``    ``chunk_000000.npz``, named    float32 ``(N, H, W)`` under the kind's name (``near``,
           by the first of its frames     ``inverse_depth``, ``depth``, ``depth_m``), ``pts``,
                                          ``durations`` and ``time_base``; not compressed
=========  =============================  ====================================================

``times.json`` has everything that a file of video would say of its frames::

    {"depthsmith": 1, "kind": "near", "unit": …, "polarity": …, "model": …, "source": "film.mp4",
     "job": …,                              a digest of film, model and options
     "size": [height, width], "time_base": [1, 15360],
     "files": ["000000.png", …],            for npz, one a chunk
     "pts": [0, 512, …],                    from the begin of what was written
     "durations": [512, …],
     "source_pts": [0, 512, …]}             in the film

PNG and EXR files are those of single photos (`depthsmith.media.depth_file`), header and all.
"""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from depthsmith.atomic import writing
from depthsmith.errors import FilmError, OutputError, UsageError
from depthsmith.film import FilmInfo, Span
from depthsmith.media.depth_file import SUFFIXES, write_depth
from depthsmith.media.film.frame_list import FrameList
from depthsmith.media.film.lasting import sync
from depthsmith.media.film.marks import job_digest
from depthsmith.media.film.montage import Montage
from depthsmith.media.film.sink import Sink, State, Written
from depthsmith.media.film.work import Work
from depthsmith.types import DepthKind, DepthMap, FloatArray, Size

SequenceFormat = Literal["png16", "exr", "npz"]

TIMES = "times.json"
HEADER_FORMAT = 1
"""Version of the JSON; raised when a reader of an older one would misread it."""

_FRAMES = "frames"
_CHUNK_BYTES = 1 << 26
_OF_THE_SYSTEM = (".DS_Store", "Thumbs.db", "desktop.ini")
"""What file managers leave in folders that were looked at."""


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
        target: the folder; it appears when it is whole. One of an earlier run is replaced.
        source: whose times are taken over.
        format: ``png16`` and ``exr`` have a file a frame, ``npz`` has chunks of frames.
        kind: of the values; ``png16`` takes ``near`` only, where all frames have one scale.
        size: of the maps that will be written.
        key, resume, spans: as for `open_film`.
        model: name of the model, for the files' headers.

    Raises:
        UsageError, OutputError: as `open_film`; UsageError if format and kind do not go
            together; OutputError if the target is there and not a sequence of ours, or holds
            other files too.
    """
    if format not in get_args(SequenceFormat):
        raise UsageError(
            f"no sequence is called {format!r}; use {', '.join(get_args(SequenceFormat))}"
        )
    if format == "png16" and kind is not DepthKind.NEAR:
        raise UsageError(f"png16 holds near only, not {kind.value}; use exr or npz")
    with writing(target):
        _check_target(target)
    work = Work.open(target, key, resume=resume)
    sink = SequenceSink(work, source, format, kind, size, tuple(spans), model, job_digest(key))
    if resume and not work.frames_done:
        sink.finished = _written_before(target, job_digest(key))
    return sink


def is_own_sequence(folder: Path) -> bool:
    """Whether a folder is what `open_sequence` made."""
    header = _header(folder)
    return isinstance(header, dict) and "depthsmith" in header


def frame_times(folder: Path) -> list[Fraction] | None:
    """When each frame is shown, in seconds of the source from the first one on; None if the
    folder is not what `open_sequence` made.
    """
    header = _header(folder)
    try:
        unit = Fraction(*header["time_base"])
        first, *_ = pts = [int(value) for value in header["source_pts"]]
    except (TypeError, ValueError, KeyError, ZeroDivisionError):
        return None
    return [(value - first) * unit for value in pts]


def _written_before(target: Path, job: str) -> Written | None:
    header = _header(target)
    try:
        if header["job"] != job:
            return None
        unit, pts = Fraction(*header["time_base"]), header["pts"]
        return Written((target,), len(pts), (pts[-1] + header["durations"][-1] - pts[0]) * unit)
    except (TypeError, ValueError, KeyError, IndexError, ZeroDivisionError):
        return None


def _header(folder: Path) -> Any:
    try:
        return json.loads((folder / TIMES).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None


class SequenceSink:
    """See `open_sequence` and `Sink`."""

    def __init__(
        self,
        work: Work,
        source: FilmInfo,
        format: SequenceFormat,
        kind: DepthKind,
        size: Size,
        spans: tuple[Span, ...],
        model: str,
        job: str,
    ) -> None:
        self._work, self._source, self._format, self._kind = work, source, format, kind
        self._size, self._spans, self._model, self._job = size, spans, model, job
        self.finished: Written | None = None
        self._frames = FrameList(work)
        self._folder = work.folder / _FRAMES
        self._files: list[Path] = []
        self._held: list[FloatArray] = []
        self._times: list[tuple[int, int]] = []
        self.notes = work.notes
        self._chunk = max(1, _CHUNK_BYTES // (4 * size.height * size.width))

    @property
    def frames_done(self) -> int:
        return self._work.frames_done

    @property
    def state(self) -> dict[str, NDArray[Any]] | None:
        return self._work.state

    def write(self, pixels: NDArray[Any], pts: int, duration: int | None, index: int) -> None:
        if pixels.shape != tuple(self._size) or pixels.dtype != np.float32:
            raise ValueError(f"maps are {self._size} float32, not {pixels.shape} {pixels.dtype}")
        self._frames.check(pts, index)
        with writing(self._work.target):
            self._folder.mkdir(exist_ok=True)
        if self._format == "npz":
            self._held.append(pixels.copy())
            self._times.append((pts, duration or 0))
            if len(self._held) == self._chunk:
                self._write_chunk(index + 1)
        else:
            path = self._folder / f"{index:06d}{SUFFIXES[self._format]}"
            depth = DepthMap(pixels, self._kind, self._source.size, model=self._model)
            with self._named():
                write_depth(path, depth, self._format)
            self._files.append(path)
        self._frames.add(pts, duration)

    def close_segment(self, state: State | None = None) -> None:
        if not len(self._frames):
            return
        if self._held:
            self._write_chunk(self.frames_done + len(self._frames))
        self._frames.close(self._files, state=state)
        self._files = []

    def finish(self) -> Written:
        self.close_segment()
        if not self._work.segments:
            raise FilmError(f"{self._source.path} gave no frame to write")
        target = self._work.target
        montage = self._frames.montage(self._source, self._spans)
        _check_target(target)
        with writing(target):
            self._write_times(montage)
            if target.exists():
                shutil.rmtree(target)
            self._folder.rename(target)
        self._work.discard()
        notes = (montage.note,) if montage.note else ()
        return Written((target,), len(montage.pts), montage.duration, notes=notes)

    def abort(self) -> None:
        for path in self._files:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
        self._files, self._held, self._times = [], [], []
        self._work.release()

    def _write_chunk(self, end: int) -> None:
        path = self._folder / f"chunk_{end - len(self._held):06d}.npz"
        unit = self._source.time_base
        arrays: dict[str, NDArray[Any]] = {
            self._kind.value: np.stack(self._held),  # (N, H, W)
            "pts": np.array([pts for pts, _ in self._times], np.int64),
            "durations": np.array([duration for _, duration in self._times], np.int64),
            "time_base": np.array([unit.numerator, unit.denominator], np.int64),
        }
        with writing(self._work.target), path.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
        self._files.append(path)
        self._held, self._times = [], []

    @contextlib.contextmanager
    def _named(self) -> Any:
        """Errors name the target, not a file in a hidden folder."""
        try:
            yield
        except OutputError as error:
            reason = str(error).split(": ", 1)[-1]
            raise OutputError(f"cannot write {self._work.target}: {reason}") from error

    def _write_times(self, montage: Montage) -> None:
        segments, unit = self._work.segments, self._source.time_base
        header = {
            "depthsmith": HEADER_FORMAT,
            "kind": self._kind.value,
            "unit": self._kind.unit,
            "polarity": self._kind.polarity,
            "model": self._model,
            "source": self._source.path.name,
            "job": self._job,
            "size": list(self._size),
            "time_base": [unit.numerator, unit.denominator],
            "files": [path.name for segment in segments for path in segment.files],
            "pts": montage.pts.tolist(),
            "durations": montage.durations.tolist(),
            "source_pts": [int(pts) for segment in segments for pts in segment.pts],
        }
        path = self._folder / TIMES
        path.write_text(json.dumps(header) + "\n", encoding="utf-8")
        sync(path)


def _check_target(target: Path) -> None:
    if not target.exists():
        return
    if not target.is_dir():
        raise OutputError(f"cannot write the folder {target}: there is a file of that name")
    if any(target.iterdir()) and not is_own_sequence(target):
        raise OutputError(
            f"{target} is there already and was not made by depthsmith; name another folder"
        )
    # It is replaced as a whole, so nobody else's work may lie in it.
    header = _header(target) or {}
    ours = {TIMES, *map(str, header.get("files", ()))}
    for path in sorted(target.iterdir()):
        if path.name not in ours and path.name not in _OF_THE_SYSTEM:
            raise OutputError(
                f"{target} was made by depthsmith, but {path.name} in it was not, and would be "
                "lost; move it elsewhere, or name another folder"
            )
