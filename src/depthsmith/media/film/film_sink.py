"""A video file as a sink: segments while it goes, put together with the source's tracks."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthsmith.atomic import atomic_paths, writing
from depthsmith.errors import FilmError, UsageError
from depthsmith.film import FilmInfo, Span, StereoLayout
from depthsmith.media.film.assemble import assemble
from depthsmith.media.film.encoding import CONTAINERS, Encoding, check_size
from depthsmith.media.film.failures import MuxerError
from depthsmith.media.film.frame_list import FrameList
from depthsmith.media.film.limits import coded_size
from depthsmith.media.film.marks import job_digest, mark_of
from depthsmith.media.film.montage import Montage
from depthsmith.media.film.segments import SegmentWriter
from depthsmith.media.film.sink import Sink, State, Written
from depthsmith.media.film.track_plan import Keep
from depthsmith.media.film.tracks import Assembled
from depthsmith.media.film.verifying import verify_film, written_before
from depthsmith.media.film.work import Work
from depthsmith.types import Size

_MONO = StereoLayout()
# Of encoders, which take it as a hint; what files say can be anything.
_USUAL_RATE = Fraction(25)
_RATES = (1, 1000)
_ENDINGS = (".mkv", ".right.mkv")
_EYES = ("left eye", "right eye")


def open_film(
    target: Path,
    source: FilmInfo,
    encoding: Encoding,
    size: Size,
    *,
    key: str,
    resume: bool = False,
    spans: Sequence[Span] = (),
    layout: StereoLayout = _MONO,
    keep_tracks: bool = True,
    shows: str | None = None,
    right: Path | None = None,
    notes: tuple[str, ...] = (),
) -> Sink:
    """Open a video file for writing.

    Args:
        target: of the file: .mp4, .m4v, .mov or .mkv.
        source: whose times, tracks, chapters and metadata are taken over.
        encoding: from `choose_encoding`.
        size: of the pictures that will be written.
        key: a digest of source, settings and program; work with another key is not continued.
        resume: continue what a stopped run left beside the target, if there is anything; if
            there is not, and the target was made with the same key, it is `Sink.finished`.
        spans: the parts of the source that are written, in order; all if empty.
        layout: of two views in one picture.
        keep_tracks: whether to take over audio, subtitles, chapters and attachments.
        shows: what the pictures are, in a word, for the mark in the file; by the encoding's
            content and the layout if None.
        right: of a second file. Pictures are then two views of ``size`` side by side; the left
            one goes into ``target``, the right one here, each with all tracks. ``shows`` is
            which eye it is.
        notes: of the sink, see `Sink.notes`.

    Raises:
        UsageError: if ``resume`` finds work of another key, or another process is at work on
            the same target; if the size does not go with the codec; if the suffix is not that
            of the encoding.
        OutputError: if the work folder cannot be written.
    """
    if CONTAINERS.get(target.suffix.lower()) != encoding.container:
        raise UsageError(f"the encoding was chosen for {encoding.container}, not for {target}")
    notes += check_size(encoding, size)
    if shows is None:
        shows = "depth" if encoding.content == "gray" else "picture"
        shows = shows if layout == _MONO else "stereo"
    targets = (target,) if right is None else (target, right)
    marks = tuple(f"{what} {job_digest(key)}" for what in ((shows,) if right is None else _EYES))
    for path in targets:
        with writing(path):
            if path.is_dir():
                raise IsADirectoryError
    work = Work.open(target, key, resume=resume)
    notes += work.notes
    sink = FilmSink(
        work, targets, source, encoding, size, tuple(spans), layout, keep_tracks, marks, notes
    )
    if resume and not work.frames_done and [mark_of(path) for path in targets] == [*marks]:
        sink.finished = written_before(targets)
    return sink


class FilmSink:
    """See `open_film` and `Sink`."""

    def __init__(
        self,
        work: Work,
        targets: tuple[Path, ...],
        source: FilmInfo,
        encoding: Encoding,
        size: Size,
        spans: tuple[Span, ...],
        layout: StereoLayout,
        keep_tracks: bool,
        marks: tuple[str, ...],
        notes: tuple[str, ...],
    ) -> None:
        self.notes = notes
        self._work, self._targets = work, targets
        self._source, self._encoding, self._size = source, encoding, size
        self._spans, self._layout = spans, layout
        self._keep_tracks, self._marks = keep_tracks, marks
        self.finished: Written | None = None
        self._frames = FrameList(work)
        self._writers: list[SegmentWriter] = []

    @property
    def frames_done(self) -> int:
        return self._work.frames_done

    @property
    def state(self) -> dict[str, NDArray[Any]] | None:
        return self._work.state

    def write(self, pixels: NDArray[Any], pts: int, duration: int | None, index: int) -> None:
        self._frames.check(pts, index)
        if not self._writers:
            rate = self._source.frame_rate or _USUAL_RATE
            if not _RATES[0] <= rate <= _RATES[1]:
                rate = _USUAL_RATE
            for target, ending in zip(self._targets, _ENDINGS, strict=False):
                self._writers.append(
                    SegmentWriter(
                        self._work.path(ending), self._encoding, self._size, rate, self._layout,
                        target,
                    )
                )  # fmt: skip
        views = np.split(pixels, len(self._writers), axis=1)  # (H, W, ...) each
        for writer, view in zip(self._writers, views, strict=True):
            writer.write(view)
        self._frames.add(pts, duration)

    def close_segment(self, state: State | None = None) -> None:
        if not self._writers:
            return
        for writer in self._writers:
            writer.close()
        self._frames.close(
            [writer.path for writer in self._writers],
            state=state,
            facts={"reorder": max(writer.reorder for writer in self._writers)},
        )
        self._writers = []

    def finish(self) -> Written:
        self.close_segment()
        if not self._work.segments:
            raise FilmError(f"{self._source.path} gave no frame to write")
        montage = self._frames.montage(self._source, self._spans)
        size = coded_size(self._encoding, self._size)
        with atomic_paths(self._targets) as parts:
            for eye, (part, target) in enumerate(zip(parts, self._targets, strict=True)):
                with writing(target):
                    done = self._assemble(part, target, montage, eye)
                    verify_film(part, target, montage, size, done.streams)
                    notes = self._tag(part)
        self._work.discard()
        return Written(
            paths=self._targets,
            frames=len(montage.pts),
            duration=montage.duration,
            copied=tuple(done.copied),
            converted=tuple(done.converted),
            dropped=tuple(done.dropped),
            notes=(*filter(None, [montage.note]), *done.notes, *notes),
        )

    def _assemble(self, part: Path, target: Path, montage: Montage, eye: int) -> Assembled:
        """With all tracks; hours of work are not lost to one that FFmpeg does not take.

        Args:
            eye: number of the file in each segment.
        """
        segments = [
            replace(segment, files=segment.files[eye : eye + 1]) for segment in self._work.segments
        ]
        ways: tuple[Keep, ...] = ("all", "plain", "nothing") if self._keep_tracks else ("nothing",)
        for number, wanted in enumerate(ways, 1):
            try:
                done = assemble(
                    segments, part, self._source, montage, self._encoding,
                    target=target, mark=self._marks[eye], wanted=wanted,
                )  # fmt: skip
            except MuxerError:
                if number == len(ways):
                    raise
            else:
                if wanted == "nothing" and self._keep_tracks:
                    done.dropped += [str(track) for track in self._source.tracks]
                return done
        raise AssertionError

    def abort(self) -> None:
        for writer in self._writers:
            writer.abort()
            with contextlib.suppress(OSError):
                writer.path.unlink(missing_ok=True)
        self._writers = []
        self._work.release()

    def _tag(self, part: Path) -> tuple[str, ...]:
        if self._layout == _MONO:
            return ()
        from depthsmith.media.film.stereo_tags import tag_file

        try:
            return tag_file(part, self._layout)
        except FilmError as error:  # the pictures are whole, and its name says it too
            reason = str(error).removeprefix(f"cannot tag {part}: ")
            return (f"the file does not say how its views lie: {reason}",)
