"""A film through the network and all that is around it, beside the network alone.

As a program, which never imports torch:
python -m benchmarks.film_pace ROUNDS WORK_FOLDER CLIP MODEL.onnx RESOLUTION MODE EVERY
"""

from __future__ import annotations

import json
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from benchmarks.film_clip import depth_like
from benchmarks.film_job import depth_film

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from depthsmith import Predictor
    from depthsmith.depth.temporal import Mode
    from depthsmith.runtime import Session

WINDOW = 12
"""Frames that are timed together: the stabiliser finishes so many at once."""

_LEAVING = 2 * WINDOW - 1
"""The frame whose depth lets the first block leave the stabiliser."""

_ALONE = 4
_IDLE_S, _IDLE_SHARE = 0.25, 0.04
_LONGEST_WAIT_S = 60.0


def frames_needed(rounds: int) -> int:
    """Length of a clip for so many rounds."""
    return _LEAVING + (rounds + 2) * WINDOW


def main(
    rounds: int, work: Path, clip: Path, model: Path, resolution: int, mode: Mode, every: int
) -> None:
    import depthsmith
    from depthsmith.depth.temporal import SteadySettings
    from depthsmith.media.film.probe import probe
    from depthsmith.video.network_depth import Working

    load = partial(depthsmith.load, model, provider="cpu", fit="official", resolution=resolution)
    predictor = load(frame_size=probe(clip).size)
    turns = Turns(predictor, load().session, rounds, every)
    predictor.session = turns
    working = Working(SteadySettings(mode, every=every))
    depth_film(clip, work / "depth.mp4", predictor, working, turns.wrote)
    print(json.dumps({"alone": turns.alone, "film": turns.film, "end": turns.end()}))


class Turns:
    """A `Session` that times the network alone and in its film, in turns.

    The film waits while the network runs alone, after everything else has come to rest. The
    depth that is handed on is not the network's, see `depth_like`; the network does not run
    until the look-ahead is full, and after the last round.

    Args:
        predictor: of the network, for one size, as films have it.
        alone: the same network for itself, as photos have it: quicker where nothing else runs.
        rounds: how often the film is timed.
        every: as `SteadySettings.every`.

    Attributes:
        alone: seconds of a run alone: before each round, and after the last.
        film: seconds of a frame of the film, by round. Counted from the moment that lets a
            block of frames leave the stabiliser to that which would let the next one leave,
            and until the first has been given to the encoder. So `WINDOW` frames come in and
            as many go out.
    """

    def __init__(self, predictor: Predictor, alone: Session, rounds: int, every: int) -> None:
        inner, contract = predictor.session, predictor.contract
        self.name, self.signature, self.metadata = inner.name, inner.signature, inner.metadata
        self.provider, self.providers_used = inner.provider, inner.providers_used
        self.notes = inner.notes
        self.alone: list[float] = []
        self.film: list[float] = []
        self._inner, self._output, self._rounds = inner, contract.depth.name, rounds
        self._by_itself = alone
        self._maps = depth_like(WINDOW, cast("tuple[int, int]", contract.size.fixed))
        self._step = WINDOW // every
        self._first = -(-_LEAVING // every)
        self._runs = self._written = self._due = 0
        self._start_s = self._written_s = 0.0

    def wrote(self, frames: int, _total: int | None) -> None:
        """Is told how many frames the encoder has been given."""
        self._written, self._written_s = frames, time.perf_counter()

    def end(self) -> float:
        """Seconds of a frame that it took to put the film together, once that is done."""
        return (time.perf_counter() - self._written_s) / self._written

    def run(self, batch: NDArray[Any]) -> dict[str, NDArray[Any]]:
        since, self._runs = self._runs - self._first, self._runs + 1
        rounds, between = divmod(since, self._step)
        if 0 < since <= self._rounds * self._step:
            self._inner.run(batch)
        if between == 0 and 0 <= rounds <= self._rounds:
            self._turn(batch, begun=rounds > 0, ends=rounds == self._rounds)
        return {self._output: self._maps[self._runs % len(self._maps)][None]}

    def _turn(self, batch: NDArray[Any], *, begun: bool, ends: bool) -> None:
        if begun:
            self._wait_for_due()
            self.film.append((time.perf_counter() - self._start_s) / WINDOW)
        else:
            self._inner.run(batch)
        _come_to_rest()
        self._by_itself.run(batch)
        start_s = time.perf_counter()
        for _ in range(_ALONE):
            self._by_itself.run(batch)
        self._start_s = time.perf_counter()
        self.alone.append((self._start_s - start_s) / _ALONE)
        self._due = self._written if ends else self._written + WINDOW

    def _wait_for_due(self) -> None:
        limit_s = time.perf_counter() + _LONGEST_WAIT_S
        while self._written < self._due:
            if time.perf_counter() > limit_s:
                raise SystemExit(f"{self._written} frames were written, not {self._due}")
            time.sleep(0.001)


def _come_to_rest() -> None:
    """Wait until no thread of this process works."""
    used_s = float("inf")
    while used_s > _IDLE_SHARE * _IDLE_S:
        start_s = time.process_time()
        time.sleep(_IDLE_S)
        used_s = time.process_time() - start_s


if __name__ == "__main__":
    _rounds, _work, _clip, _model, _resolution, _mode, _every = sys.argv[1:]
    main(
        int(_rounds), Path(_work), Path(_clip), Path(_model), int(_resolution),
        cast("Mode", _mode), int(_every),
    )  # fmt: skip
