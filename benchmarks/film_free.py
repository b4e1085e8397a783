"""Films with a network that takes no time, and what each stage takes of the processor.

As a program, which never imports torch: python -m benchmarks.film_free ROUNDS WORK_FOLDER CLIP
"""

from __future__ import annotations

import itertools
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from benchmarks.film_clip import depth_like
from benchmarks.film_job import depth_film, free_network, stereo_film
from benchmarks.samples import in_turn

if TYPE_CHECKING:
    from depthsmith import Predictor
    from depthsmith.depth.temporal import DepthSample, Mode, SteadyDepth, SteadySettings
    from depthsmith.film import FilmFrame
    from depthsmith.types import FloatArray

T = TypeVar("T")

FRAMES = 48
MODES: tuple[Mode, ...] = ("off", "fast", "quality")
_NETWORK, _RESOLUTION = (518, 924), 518
_STAGE_FRAMES = 36


def main(rounds: int, work: Path, clip: Path) -> None:
    from depthsmith.depth.temporal import SteadySettings
    from depthsmith.media.film.probe import probe
    from depthsmith.video.network_depth import Working

    frames = probe(clip).frame_count
    assert frames == FRAMES, frames
    predictor = free_network(depth_like(_STAGE_FRAMES, _NETWORK), _RESOLUTION)
    jobs: dict[str, Callable[[], object]] = {}
    for mode in MODES:
        working, target = Working(SteadySettings(mode)), work / f"{mode}.mp4"
        jobs[mode] = partial(depth_film, clip, target, predictor, working, lambda *_: None)
    pair = partial(stereo_film, clip, work / "pair.mp4", predictor, Working())
    jobs["stereo"] = pair
    jobs["stereo of a depth film"] = partial(pair, work / "quality.mp4")
    taken = in_turn(jobs, rounds=rounds, warmup=1)
    fps = {name: [FRAMES / s for s in samples.values] for name, samples in taken.items()}
    stages = [_stages(work, clip, predictor) for _ in range(rounds)]
    core_ms = {name: [found[name] for found in stages] for name in stages[0]}
    print(json.dumps({"fps": fps, "core_ms": core_ms}))


def _stages(work: Path, clip: Path, predictor: Predictor) -> dict[str, float]:
    """Core-milliseconds a frame, each stage alone: what all its threads take together."""
    import cv2

    from depthsmith.depth.temporal import SteadySettings
    from depthsmith.media.film.probe import probe
    from depthsmith.media.film.read import FilmReader
    from depthsmith.media.film.shots import with_cuts
    from depthsmith.video.estimate import estimate, prepare
    from depthsmith.video.frame_depth import Seen
    from depthsmith.video.painters import DepthPainter

    cv2.setNumThreads(1)  # as films have it
    film, watch = probe(clip), _CoreWatch()
    frames = watch.list("decode, to RGB", itertools.islice(FilmReader(film), _STAGE_FRAMES))
    frames = watch.list("find cuts", with_cuts(frames))
    ready = watch.list("fit", prepare(frames, predictor))
    time_base = float(film.time_base)
    found = watch.list("to and from the network", estimate(ready, predictor, time_base=time_base))
    samples = [sample for _, _, sample in found]
    placement = found[0][1]
    steady: list[SteadyDepth] = []
    for mode in MODES:
        steady = watch.list(f"steady, {mode}", _steadied(samples, SteadySettings(mode)))
    painter = DepthPainter()
    seen = (
        Seen(frame, depth.near, placement, depth.inverse, dict)
        for frame, depth in zip(frames, steady, strict=True)
    )
    pictures = watch.list("back to full size", map(painter.paint, seen))
    watch.list("encode, put together", _encoded(clip, work / "stage.mp4", frames, pictures))
    return watch.core_ms


class _CoreWatch:
    """Iterates and takes the time of all threads."""

    def __init__(self) -> None:
        self.core_ms: dict[str, float] = {}

    def list(self, name: str, items: Iterable[T]) -> list[T]:
        start_s = time.process_time()
        found = [*items]
        self.core_ms[name] = 1000 * (time.process_time() - start_s) / _STAGE_FRAMES
        return found


def _steadied(samples: list[DepthSample], settings: SteadySettings) -> Iterator[SteadyDepth]:
    from depthsmith.depth.temporal import Stabilizer

    stabilizer = Stabilizer(settings)
    for sample in samples:
        yield from stabilizer.push(sample)
    yield from stabilizer.finish()


def _encoded(
    clip: Path, target: Path, frames: list[FilmFrame], pictures: list[FloatArray]
) -> Iterator[FilmFrame]:
    """As ``depthsmith video`` encodes depth by default."""
    from depthsmith.media.film.encoding import choose_encoding
    from depthsmith.media.film.film_sink import open_film
    from depthsmith.media.film.probe import probe

    film = probe(clip)
    sink = open_film(target, film, choose_encoding(target, "gray", info=film), film.size, key="")
    for frame, picture in zip(frames, pictures, strict=True):
        sink.write(picture, frame.pts, frame.duration, frame.index)
        yield frame
    sink.finish()


if __name__ == "__main__":
    main(int(sys.argv[1]), *map(Path, sys.argv[2:]))
