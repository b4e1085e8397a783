"""Read a film's frames: upright RGB with the file's own times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from types import TracebackType
from typing import Any

from depthsmith.errors import FilmError
from depthsmith.film import FilmFrame, FilmInfo, Span
from depthsmith.media.film.color import to_rgb
from depthsmith.media.film.decode import Decoder
from depthsmith.media.film.orient import resized, upright
from depthsmith.media.film.timeline import Timeline
from depthsmith.types import Size

_SEEK_SECONDS = 10  # gaps between spans shorter than this are decoded through
_BACK_SECONDS = (0, 5, 60)


class FilmReader:
    """Iterate over a film's frames. A context manager; closes when iteration stops.

    Times are the file's, one for one, and increase. Damaged frames are left out and counted.
    The first frame of each part is marked as a cut.
    A film that ends before its declared end gives what there is. Memory does not grow with
    the film.

    Args:
        info: from `probe`.
        spans: parts to read, ascending, apart from each other; all of the film if empty.
            Seconds count from the film's first frame; they are taken to the microsecond.
        strict: raise at the first damaged frame, impossible time or early end.
        deep: give 16-bit pictures too.
        skip: so many frames are decoded and counted, but neither converted nor given.

    Attributes:
        info: as given.
        skipped: damaged frames and packets so far.
        missing_s: seconds between the last frame's end and the declared end of a truncated
            film, known when the iteration has ended; else 0.

    Raises:
        FilmError: on iteration, if the file cannot be read, no frame lies in a span, or as
            ``strict`` says.
    """

    def __init__(
        self,
        info: FilmInfo,
        *,
        spans: Sequence[Span] = (),
        strict: bool = False,
        deep: bool = False,
        skip: int = 0,
    ) -> None:
        self.info = info
        self.skipped = 0
        self.missing_s = 0.0
        self._strict, self._deep, self._skip = strict, deep, skip
        self._origin = info.start or 0
        self._whole = not spans
        self._spans = [_Ticks(span, info.time_base, self._origin) for span in spans or (Span(),)]
        ends = [span.end for span in self._spans[:-1]]
        if any(end is None or end > b.start for end, b in zip(ends, self._spans[1:], strict=True)):
            raise ValueError("spans must ascend and not overlap")
        rate = info.frame_rate or Fraction(25)
        self._step = max(round(1 / (rate * info.time_base)), 1)
        self._timeline = Timeline(info.time_base, self._step, info.path if strict else None)
        self._decoder: Decoder | None = None
        self._other_sizes = 0
        self._last_end: int | None = None
        self._first_damage = ""

    def __enter__(self) -> FilmReader:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. Only when no other thread iterates."""
        if self._decoder is not None:
            self._decoder.close()
            self._decoder = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user may want to know about the frames so far, one clause each."""
        notes = list(self._timeline.notes)
        if self.skipped:
            notes.append(f"damaged frames, left out: {self.skipped} ({self._first_damage})")
        if self._other_sizes:
            notes.append(f"frames of another size, scaled to the first's: {self._other_sizes}")
        if self.missing_s:
            notes.append(f"the film breaks off {self.missing_s:.2f} s before its declared end")
        return tuple(notes)

    def __iter__(self) -> Iterator[FilmFrame]:
        if self._decoder is not None:
            raise RuntimeError("a FilmReader is iterated once at a time")
        try:
            self._decoder = Decoder(self.info, self._on_damage)
            yield from self._read(self._decoder)
        finally:
            self.close()

    def _read(self, decoder: Decoder) -> Iterator[FilmFrame]:
        number, index, begun = 0, 0, False
        approached = -1  # part that the index was asked for: it may know nothing nearer
        frames = decoder.frames()
        while (frame := next(frames, None)) is not None:
            duration = int(frame.duration) or None
            pts = self._timeline.place(frame.pts, duration)
            self._last_end = pts + (duration or self._step)
            while (end := self._spans[number].end) is not None and pts >= end:
                self._check_begun(begun, number)
                number, begun = number + 1, False
                if number == len(self._spans):
                    return
            start = self._spans[number].start
            if pts < start:
                far = (start - pts) * self.info.time_base > _SEEK_SECONDS
                if far and approached != number and self._may_seek(decoder):
                    approached = number
                    decoder, frames = self._approach(decoder, start)
                continue
            if index >= self._skip:
                rgb, deep = self._pictures(frame)
                del frame
                yield FilmFrame(index, pts, duration, rgb, deep, cut=not begun)
            begun = True
            index += 1
        self._check_begun(begun, number)
        self._check_end(decoder)

    def _check_begun(self, begun: bool, number: int) -> None:
        if begun:
            return
        start = self._spans[number].start_s
        end = 0.0
        if self._last_end is not None:
            end = float((self._last_end - self._origin) * self.info.time_base)
        if self._whole:
            raise FilmError(f"{self.info.path}: no frame could be decoded")
        raise FilmError(f"{self.info.path} has no frame in the part from {start:g} s on "
                        f"(it ends at {end:.2f} s)")  # fmt: skip

    # ---- ways to a later part ----

    def _may_seek(self, decoder: Decoder) -> bool:
        return decoder.seekable and self._timeline.untouched

    def _approach(self, decoder: Decoder, target: Fraction) -> tuple[Decoder, Iterator[Any]]:
        """Frames from at least one before ``target`` on, by way of the index where it is right.

        An index goes by decoding time, so the frame it leads to may be later than asked for.
        """
        self._timeline.restart()
        for back in _BACK_SECONDS:
            decoder.seek(int(target - back / self.info.time_base))
            frames = decoder.frames()
            first = next(frames, None)
            if first is not None and first.pts is not None and first.pts <= target:
                return decoder, _chain(first, frames)
        decoder.close()
        self._decoder = decoder = Decoder(self.info, self._on_damage)
        return decoder, decoder.frames()

    # ---- pictures ----

    def _pictures(self, frame: Any) -> tuple[Any, Any]:
        info = self.info
        if (frame.height, frame.width) != info.coded:
            self._other_sizes += 1
        stands = info.turn_deg not in (90, 270)
        size = info.size if stands else Size(info.size.width, info.size.height)
        pictures = to_rgb(frame, info.color, codec=info.codec, deep=self._deep)
        rgb, deep = (
            None if p is None else upright(resized(p, size), info.turn_deg, info.flipped)
            for p in pictures
        )
        return rgb, deep

    # ---- damage ----

    def _on_damage(self, at_s: float | None, reason: str) -> None:
        place = ""
        if at_s is not None:
            at_s -= float(self._origin * self.info.time_base)
            if not self._whole and not any(span.holds(at_s) for span in self._spans):
                return
            # The first frame that is whole is at 0.
            place = f" at {at_s:.3f} s" if at_s >= 0 else " before the first whole frame"
        self.skipped += 1
        self._first_damage = self._first_damage or f"the first{place}: {reason}"
        if self._strict:
            raise FilmError(f"{self.info.path} is damaged{place}: {reason}")

    def _check_end(self, decoder: Decoder) -> None:
        """Compare what was read with what the file says of its length."""
        if not decoder.at_end or self._last_end is None:
            return
        unit = self.info.time_base
        declared = decoder.declared_end
        read = max(float(self._last_end * unit), declared.by_any and decoder.end_s)
        gap = declared.seconds - read
        if gap > max(2.5 * float(self._step * unit), 0.1):
            self.missing_s = gap
            if self._strict:
                raise FilmError(f"{self.info.path} breaks off {gap:.2f} s before its declared end")


class _Ticks:
    """A span in units of the film's time base."""

    def __init__(self, span: Span, unit: Fraction, origin: int) -> None:
        self.start_s, self.end_s = span.start_s, span.end_s
        self.start = origin + _exact(span.start_s) / unit
        self.end = None if span.end_s is None else origin + _exact(span.end_s) / unit

    def holds(self, seconds: float) -> bool:
        return self.start_s <= seconds and (self.end_s is None or seconds < self.end_s)


def _exact(seconds: float) -> Fraction:
    return Fraction(seconds).limit_denominator(1_000_000)


def _chain(first: Any, rest: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from rest
