"""Shot cuts: PySceneDetect says where colours jump, and a look around says whether that is a cut.

A jump is no cut where a frame a little later shows what a frame a little earlier showed (a
flash, a lamp, an exposure step), or where frames around it do not resemble each other either
(a whip pan).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from depthsmith.film import FilmFrame
from depthsmith.media.film.resemblance import Sketch, resemblance, shrink, sketch

MEMORY = 24
"""Whether a frame is a cut depends on this many frames before it, and on no earlier one."""

LOOK_AHEAD = 3
"""Frames after a cut that are looked at: flashes may last so long."""

_JUMP = 7.0  # PySceneDetect's content score; at cuts it is above 20
_SAME = 0.45  # unrelated frames resemble each other by less than 0.4
_CALM = 0.8  # neighbours in a shot without fast motion do by more than this


def with_cuts(frames: Iterable[FilmFrame], *, live: bool = False) -> Iterator[FilmFrame]:
    """Mark the first frame of each shot, the very first frame among them.

    Frames come out in order and unchanged otherwise, `LOOK_AHEAD` frames late. The first frame
    after black is a cut if it shows something else than before the black, or if the black
    lasts longer than `MEMORY`. Dissolves are no cuts. Frames that are marked stay so.

    A run that starts `MEMORY` frames earlier marks a frame as a run from the start does.

    Args:
        live: decide at once, without looking ahead: flashes that are not white and the start
            of a whip pan may be marked.
    """
    ahead = 0 if live else LOOK_AHEAD
    jumps = _Jumps()
    window: deque[Sketch] = deque(maxlen=MEMORY + 1 + ahead)
    waiting: deque[FilmFrame] = deque()
    first = True
    for frame in frames:
        small = shrink(frame.rgb)
        window.append(sketch(small, jumps.at(small)))
        waiting.append(frame)
        if len(waiting) > ahead:
            cut = first or _View(window, len(window) - 1 - ahead).is_cut()
            yield _marked(waiting.popleft(), cut)
            first = False
    while waiting:
        cut = first or _View(window, len(window) - len(waiting)).is_cut()
        yield _marked(waiting.popleft(), cut)
        first = False


def _marked(frame: FilmFrame, cut: bool) -> FilmFrame:
    return replace(frame, cut=True) if cut and not frame.cut else frame


class _Jumps:
    """PySceneDetect's content detector on small frames."""

    def __init__(self) -> None:
        from scenedetect import ContentDetector  # type: ignore[import-untyped]

        # No shortest scene: the detector then remembers the last frame only.
        self._detector = ContentDetector(threshold=_JUMP, min_scene_len=0)
        self._number = 0

    def at(self, small: Any) -> bool:
        from scenedetect import FrameTimecode

        self._number += 1
        time = FrameTimecode(self._number, 30.0)
        return bool(self._detector.process_frame(time, small[..., ::-1]))


class _View:
    """What is around one frame: ``before[-1]`` is its predecessor, ``after[0]`` itself."""

    def __init__(self, window: Iterable[Sketch], at: int) -> None:
        sketches = list(window)
        self.before = sketches[max(at - MEMORY, 0) : at]
        self.after = sketches[at : at + 1 + LOOK_AHEAD]
        self._known: dict[tuple[int, int], float] = {}

    def is_cut(self) -> bool:
        """Whether a shot begins with this frame."""
        this, last = self.after[0], self.before[-1]
        if last.blank and not this.blank:
            return self._differs_across_blank()
        if this.blank or not this.changed:
            return False
        if self._like(-1, 0) >= _SAME:
            return self._behind_or_on_a_blend()
        # A whip pan: no frame resembles the next. Up to three such frames before this one
        # are a flash that covers a cut.
        calm = [back for back in range(1, LOOK_AHEAD + 2) if self._goes_on(-back - 1, -back)]
        return bool(calm) and self._goes_on(0, 1) and not self._seen_again()

    def _like(self, i: int, j: int) -> float:
        """Resemblance of two frames, counted from this one."""
        if (i, j) not in self._known:
            self._known[i, j] = resemblance(self._get(i), self._get(j))
        return self._known[i, j]

    def _get(self, i: int) -> Sketch:
        return self.after[i] if i >= 0 else self.before[i]

    def _is_there(self, i: int) -> bool:
        return -len(self.before) <= i < len(self.after)

    def _goes_on(self, i: int, j: int, least: float = _SAME) -> bool:
        """Whether two neighbours belong together; film's ends and blank frames never object."""
        if not (self._is_there(i) and self._is_there(j)):
            return self._is_there(i) or self._is_there(j)
        return self._get(i).blank or self._get(j).blank or self._like(i, j) >= least

    def _seen_again(self) -> bool:
        """Whether what was shown before is shown again soon, so that this was a flash."""
        return any(
            self._is_there(-back) and self._is_there(forth)
            and not (self._get(-back).blank or self._get(forth).blank)
            and self._like(-back, forth) >= _SAME
            for back in range(1, LOOK_AHEAD + 2)
            for forth in range(LOOK_AHEAD + 2 - back)
        )  # fmt: skip

    def _differs_across_blank(self) -> bool:
        earlier = [s for s in self.before if not s.blank]
        if not earlier:
            return True
        later = [s for s in self.after if not s.blank]
        # The nearest and the clearest: at the ends of a fade little can be recognised.
        olds = (earlier[-1], max(earlier, key=lambda s: s.contrast))
        news = (later[0], max(later, key=lambda s: s.contrast))
        return all(resemblance(a, b) < _SAME for a in olds for b in news)

    def _behind_or_on_a_blend(self) -> bool:
        """A cut with one frame that mixes both shots, as conversions of frame rate make it.

        The mixed frame goes to the shot that it resembles more.
        """
        if self._like(-1, 0) >= _CALM:
            return False
        for mixed in (0, -1):  # this frame, or the one before
            old, new = mixed - 1, mixed + 1
            if not (self._is_there(old - 1) and self._is_there(new + 1)):
                continue
            if any(self._get(i).blank for i in range(old - 1, new + 2)):
                continue
            if self._like(old, new) >= _SAME or self._like(old, mixed) < _SAME / 2:
                continue
            if not (self._goes_on(old - 1, old, _CALM) and self._goes_on(new, new + 1, _CALM)):
                continue
            belongs_to_new = self._like(mixed, new) >= self._like(old, mixed)
            if belongs_to_new == (mixed == 0) and not self._returns(old, new):
                return True
        return False

    def _returns(self, old: int, new: int) -> bool:
        return any(
            self._like(i, j) >= _SAME
            for i in (old - 1, old) for j in (new, new + 1)
        )  # fmt: skip
