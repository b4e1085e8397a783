"""The depth of a film's frames from a network, made steady."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from depthsmith.depth.convert import Target, focal_at_network, fov_to_focal_px
from depthsmith.depth.temporal import (
    Affine,
    DepthSample,
    Stabilizer,
    State,
    SteadyDepth,
    SteadySettings,
)
from depthsmith.film import FilmFrame, FilmInfo
from depthsmith.pipeline import Predictor, Wanted
from depthsmith.types import DepthKind, Placement
from depthsmith.video.estimate import estimate, prepare
from depthsmith.video.frame_depth import Memory, Seen, Threads
from depthsmith.video.key import network_key

_SINCE_KEY = "since_key"


@dataclass(frozen=True)
class Working:
    """How depth is had.

    Attributes:
        steady: see `SteadySettings`; its ``affine`` follows from the network.
        batch: frames that the network takes at once.
        focal_px, fov_deg: of the camera, for metres.
    """

    steady: SteadySettings = SteadySettings()  # noqa: RUF009 - frozen
    batch: int = 1
    focal_px: float | None = None
    fov_deg: float | None = None

    def focal_of(self, film: FilmInfo) -> float | None:
        """In pixels of the film."""
        if self.fov_deg is not None:
            return fov_to_focal_px(self.fov_deg, film.size)
        return self.focal_px


class NetworkDepth:
    """A `DepthSource` that runs a network.

    Args:
        predictor: for frames of the film's size.
        working: see `Working`.
        as_: what is made of the depth, which decides what may be aligned.

    Raises:
        UsageError: if ``as_`` cannot be had from this network.
    """

    def __init__(self, predictor: Predictor, working: Working, as_: Target = "near") -> None:
        predictor.check(Wanted(as_, "exact", working.focal_px, working.fov_deg))
        self.predictor = predictor
        kind = predictor.contract.kind
        steady = replace(working.steady, affine=affinity(kind, as_))
        self.working = replace(working, steady=steady)

    @property
    def live(self) -> bool:
        return self.working.steady.live

    @property
    def key(self) -> object:
        return (network_key(self.predictor), self.working)

    def run(
        self,
        frames: Iterator[FilmFrame],
        film: FilmInfo,
        memory: Memory,
        threads: Threads,
        *,
        keep_pictures: bool,
    ) -> Iterator[Seen]:
        working, every = self.working, self.working.steady.every
        earlier = dict(memory)
        since_key = int(earlier.pop(_SINCE_KEY, np.int64(0)))
        state = State.from_arrays(earlier) if earlier else None
        ready = threads.ahead(
            prepare(
                frames, self.predictor, every=every, since_key=since_key,
                keep_pictures=keep_pictures,
            ),
            "fit",
        )  # fmt: skip
        samples = threads.ahead(
            estimate(
                ready, self.predictor, time_base=float(film.time_base), batch=working.batch,
                every=every, focal_px=self._focal_px(film),
            ),
            "estimate",
        )  # fmt: skip
        stabilizer = Stabilizer(working.steady, state)
        return threads.ahead(steadied(samples, stabilizer, since_key, every), "steady")

    def _focal_px(self, film: FilmInfo) -> float | None:
        """In pixels of the network's input."""
        focal_px = self.working.focal_of(film)
        if focal_px is None:
            return None
        frame = np.zeros((*film.size, 3), np.uint8)
        return focal_at_network(focal_px, self.predictor.fit_frame(frame).placement)


def affinity(kind: DepthKind | None, as_: Target) -> Affine:
    """What the network leaves open from frame to frame, see `SteadySettings`.

    Metres stay metres; where they are only shown, their scale is steadied like any other.
    """
    if kind in (DepthKind.INVERSE_DEPTH, DepthKind.NEAR, None):
        return "scale-shift"
    return "none" if as_ == "depth-m" else "scale"


def steadied(
    samples: Iterable[tuple[FilmFrame, Placement, DepthSample]],
    stabilizer: Stabilizer,
    since_key: int = 0,
    every: int = 1,
) -> Iterator[Seen]:
    """Frames again beside their depth, which may come later and several at once.

    Args:
        samples: from `estimate`.
        since_key: as given to `prepare`.
        every: as well.
    """
    waiting: deque[tuple[FilmFrame, Placement]] = deque()

    def paired(depths: Sequence[SteadyDepth]) -> Iterator[Seen]:
        nonlocal since_key
        for depth in depths:
            frame, placement = waiting.popleft()
            assert frame.index == depth.index
            since_key = 1 if frame.cut or since_key % every == 0 else since_key + 1
            # Into arrays only where it is kept: most frames end no segment.
            yield Seen(frame, depth.near, placement, depth.inverse, _later(depth, since_key))

    for frame, placement, sample in samples:
        waiting.append((frame, placement))
        yield from paired(stabilizer.push(sample))
    yield from paired(stabilizer.finish())


def _later(depth: SteadyDepth, since_key: int) -> Callable[[], Memory]:
    return lambda: {**depth.state.to_arrays(), _SINCE_KEY: np.int64(since_key)}
