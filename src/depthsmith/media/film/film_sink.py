"""A video file as a sink: segments while it goes, put together with the source's tracks."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from depthsmith.atomic import atomic_path, writing
from depthsmith.errors import FilmError, UsageError
from depthsmith.film import FilmInfo, Span, StereoLayout
from depthsmith.media.film.assemble import assemble
from depthsmith.media.film.encoding import CONTAINERS, Encoding, check_size
from depthsmith.media.film.failures import MuxerError
from depthsmith.media.film.frame_list import FrameList
from depthsmith.media.film.limits import coded_size
from depthsmith.media.film.montage import Montage
from depthsmith.media.film.segments import SegmentWriter
from depthsmith.media.film.sink import Sink, State, Written
from depthsmith.media.film.track_plan import Keep
from depthsmith.media.film.tracks import Assembled
from depthsmith.media.film.verifying import verify_film
from depthsmith.media.film.work import Work
from depthsmith.types import Size

_MONO = StereoLayout()
# Of encoders, which take it as a hint; what files say can be anything.
_USUAL_RATE = Fraction(25)
_RATES = (1, 1000)


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
) -> Sink:
    """Open a video file for writing.

    Args:
        target: of the file: .mp4, .m4v, .mov or .mkv.
        source: whose times, tracks, chapters and metadata are taken over.
        encoding: from `choose_encoding`.
        size: of the pictures that will be written.
        key: a digest of source, settings and program; work with another key is not continued.
        resume: continue what a stopped run left beside the target, if there is anything.
        spans: the parts of the source that are written, in order; all if empty.
        layout: of two views in one picture.
        keep_tracks: whether to take over audio, subtitles, chapters and attachments.
        shows: what the pictures are, in a word, for the mark in the file; by the encoding's
            content and the layout if None.

    Raises:
        UsageError: if ``resume`` finds work of another key, or another process is at work on
            the same target; if the size does not go with the codec; if the suffix is not that
            of the encoding.
        OutputError: if the work folder cannot be written.
    """
    if CONTAINERS.get(target.suffix.lower()) != encoding.container:
        raise UsageError(f"the encoding was chosen for {encoding.container}, not for {target}")
    notes = check_size(encoding, size)
    if shows is None:
        shows = "depth" if encoding.content == "gray" else "picture"
        shows = shows if layout == _MONO else "stereo"
    with writing(target):
        if target.is_dir():
            raise IsADirectoryError
    work = Work.open(target, key, resume=resume)
    notes += work.notes
    return FilmSink(work, source, encoding, size, tuple(spans), layout, keep_tracks, shows, notes)


class FilmSink:
    """See `open_film` and `Sink`."""

    def __init__(
        self,
        work: Work,
        source: FilmInfo,
        encoding: Encoding,
        size: Size,
        spans: tuple[Span, ...],
        layout: StereoLayout,
        keep_tracks: bool,
        shows: str,
        notes: tuple[str, ...],
    ) -> None:
        self.notes = notes
        self._work, self._source, self._encoding, self._size = work, source, encoding, size
        self._spans, self._layout = spans, layout
        self._keep_tracks, self._shows = keep_tracks, shows
        self._frames = FrameList(work)
        self._writer: SegmentWriter | None = None

    @property
    def frames_done(self) -> int:
        return self._work.frames_done

    @property
    def state(self) -> dict[str, NDArray[Any]] | None:
        return self._work.state

    def write(self, pixels: NDArray[Any], pts: int, duration: int | None, index: int) -> None:
        self._frames.check(pts, index)
        if self._writer is None:
            rate = self._source.frame_rate or _USUAL_RATE
            if not _RATES[0] <= rate <= _RATES[1]:
                rate = _USUAL_RATE
            self._writer = SegmentWriter(
                self._work.path(".mkv"), self._encoding, self._size, rate, self._layout,
                self._work.target,
            )  # fmt: skip
        self._writer.write(pixels)
        self._frames.add(pts, duration)

    def close_segment(self, state: State | None = None) -> None:
        if self._writer is None:
            return
        self._writer.close()
        self._frames.close(
            [self._writer.path], state=state, facts={"reorder": self._writer.reorder}
        )
        self._writer = None

    def finish(self) -> Written:
        self.close_segment()
        if not self._work.segments:
            raise FilmError(f"{self._source.path} gave no frame to write")
        target = self._work.target
        montage = self._frames.montage(self._source, self._spans)
        with atomic_path(target) as part:
            done = self._assemble(part, montage)
            verify_film(
                part, target, montage, coded_size(self._encoding, self._size), done.streams
            )
            notes = self._tag(part)
        self._work.discard()
        return Written(
            path=target,
            frames=len(montage.pts),
            duration=montage.duration,
            copied=tuple(done.copied),
            converted=tuple(done.converted),
            dropped=tuple(done.dropped),
            notes=(*filter(None, [montage.note]), *done.notes, *notes),
        )

    def _assemble(self, part: Path, montage: Montage) -> Assembled:
        """With all tracks; hours of work are not lost to one that FFmpeg does not take."""
        ways: tuple[Keep, ...] = ("all", "plain", "nothing") if self._keep_tracks else ("nothing",)
        for number, wanted in enumerate(ways, 1):
            try:
                done = assemble(
                    self._work.segments, part, self._source, montage, self._encoding,
                    target=self._work.target, shows=self._shows, wanted=wanted,
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
        if self._writer is not None:
            self._writer.abort()
            with contextlib.suppress(OSError):
                self._writer.path.unlink(missing_ok=True)
            self._writer = None
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
