"""Films with a network that takes no time, and what each stage takes of the processor.

As a program, which never imports torch: python -m benchmarks.film_free ROUNDS WORK_FOLDER CLIP
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from benchmarks.film_clip import depth_like
from benchmarks.film_job import depth_film, free_network, stereo_film
from benchmarks.samples import in_turn

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from depthsmith import Predictor
    from depthsmith.depth.temporal import DepthSample, Mode, SteadyDepth, SteadySettings
    from depthsmith.film import FilmFrame, FilmInfo
    from depthsmith.media.film.encoding import Content

T = TypeVar("T")

FRAMES = 48
MODES: tuple[Mode, ...] = ("off", "fast", "quality")
_NETWORK, _RESOLUTION = (518, 924), 518
_STAGE_FRAMES, _PAIRS = 36, 12


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
    from depthsmith.video.stereo_films import FilmLook

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
    seen = [
        Seen(frame, depth.near, placement, depth.inverse, dict)
        for frame, depth in zip(frames, steady, strict=True)
    ]
    pictures = watch.list("back to full size", map(DepthPainter().paint, seen))
    target = work / "stage.mp4"
    watch.list("encode, put together", _encoded(film, target, "gray", frames, pictures))
    painter = FilmLook(threads=os.cpu_count() or 1).painter(film, depth_is_soft=True)
    painter.paint(seen[0])  # compiles
    pairs = watch.list("side by side: two views", map(painter.paint, seen[:_PAIRS]))
    watch.list("side by side: encode", _encoded(film, target, "rgb", frames, pairs))
    return watch.core_ms


class _CoreWatch:
    """Iterates and takes the time of all threads."""

    def __init__(self) -> None:
        self.core_ms: dict[str, float] = {}

    def list(self, name: str, items: Iterable[T]) -> list[T]:
        start_s = time.process_time()
        found = [*items]
        self.core_ms[name] = 1000 * (time.process_time() - start_s) / len(found)
        return found


def _steadied(samples: list[DepthSample], settings: SteadySettings) -> Iterator[SteadyDepth]:
    from depthsmith.depth.temporal import Stabilizer

    stabilizer = Stabilizer(settings)
    for sample in samples:
        yield from stabilizer.push(sample)
    yield from stabilizer.finish()


def _encoded(
    film: FilmInfo,
    target: Path,
    content: Content,
    frames: list[FilmFrame],
    pictures: Sequence[NDArray[Any]],
) -> Iterator[FilmFrame]:
    """As the commands encode by default."""
    from depthsmith.media.film.encoding import choose_encoding
    from depthsmith.media.film.film_sink import open_film
    from depthsmith.types import Size

    size = Size(*pictures[0].shape[:2])
    encoding = choose_encoding(target, content, info=film)
    sink = open_film(target, film, encoding, size, key="")
    for frame, picture in zip(frames, pictures, strict=False):
        sink.write(picture, frame.pts, frame.duration, frame.index)
        yield frame
    sink.finish()


if __name__ == "__main__":
    main(int(sys.argv[1]), *map(Path, sys.argv[2:]))
