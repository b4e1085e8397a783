"""Films: shots with camera and object motion, cuts and exposure changes."""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from scenes.build import Builder
from scenes.camera import Camera
from scenes.describe import Plane, Scene
from scenes.flow import Flow, optical_flow
from scenes.kinds import KINDS, make_scene
from scenes.pose import Motion, Vector
from scenes.render import Frame, render


@dataclass(frozen=True)
class CameraPath:
    """Camera motion as a closed form of time, nothing at time 0.

    Attributes:
        velocity_m_s: to its right, down and forward, along the axes it starts with.
        pan_deg_s, tilt_deg_s: steady turn to its left and up.
        shake_deg, shake_hz: a hand's tremble, three sines of unequal rate.
    """

    velocity_m_s: Vector = (0.0, 0.0, 0.0)
    pan_deg_s: float = 0.0
    tilt_deg_s: float = 0.0
    shake_deg: float = 0.0
    shake_hz: float = 1.0

    def at(self, camera: Camera, time_s: float) -> Camera:
        """The camera after ``time_s``."""
        right, down, forward = self.velocity_m_s
        angle = 2.0 * math.pi * self.shake_hz * time_s
        tremble = [self.shake_deg * math.sin(angle * rate) for rate in (1.0, 1.37, 0.61)]
        return camera.moved(right * time_s, down * time_s, forward * time_s).turned(
            self.pan_deg_s * time_s + tremble[0],
            self.tilt_deg_s * time_s + tremble[1],
            0.5 * tremble[2],
        )


@dataclass(frozen=True)
class Shot:
    """An uncut stretch of film.

    Attributes:
        frames: number of frames.
        stops: change of exposure over the shot; it happens between the shares
            ``stops_from`` and ``stops_to`` of its length.
    """

    scene: Scene
    camera: Camera
    frames: int
    path: CameraPath = CameraPath()
    stops: float = 0.0
    stops_from: float = 0.0
    stops_to: float = 1.0

    def view(self, frame: int, time_s: float) -> tuple[Scene, Camera]:
        """Scene and camera of one frame, ``time_s`` after the first."""
        share = (frame / max(self.frames - 1, 1) - self.stops_from) / max(
            self.stops_to - self.stops_from, 1e-9
        )
        gain = 2.0 ** (self.stops * min(max(share, 0.0), 1.0))
        scene = self.scene.at(time_s)
        scene = replace(scene, look=replace(scene.look, exposure=scene.look.exposure * gain))
        return scene, self.path.at(self.camera, time_s)


@dataclass(frozen=True)
class Film:
    """Shots one after the other, all of one size, at ``fps`` frames a second."""

    shots: tuple[Shot, ...]
    fps: Fraction = Fraction(24)

    def __len__(self) -> int:
        return sum(shot.frames for shot in self.shots)

    def __iter__(self) -> Iterator[FilmFrame]:
        """Render frame after frame; only one is held at a time."""
        for index in range(len(self)):
            yield FilmFrame(self, index, render(*self.view(index), noise_seed=index))

    def shot_of(self, index: int) -> tuple[int, int]:
        """Number of the shot that a frame belongs to, and the frame's number in it.

        Raises:
            IndexError: outside of the film.
        """
        if not 0 <= index < len(self):
            raise IndexError(f"frame {index} of a film of {len(self)}")
        number = bisect.bisect_right(self.cuts, index)
        return number, index - ([0, *self.cuts][number])

    @property
    def cuts(self) -> list[int]:
        """First frame of every shot but the first."""
        ends = np.cumsum([shot.frames for shot in self.shots])
        return [int(end) for end in ends[:-1]]

    def view(self, index: int) -> tuple[Scene, Camera]:
        """Scene and camera of a frame."""
        number, frame = self.shot_of(index)
        return self.shots[number].view(frame, float(frame / self.fps))

    def flow(self, index: int, other: int) -> Flow | None:
        """Flow from one frame to another; None across a cut."""
        if self.shot_of(index)[0] != self.shot_of(other)[0]:
            return None
        return optical_flow(*self.view(index), *self.view(other))


@dataclass(frozen=True, eq=False)
class FilmFrame:
    """One frame of a film. Flows are computed when they are asked for."""

    film: Film
    index: int
    frame: Frame

    @property
    def time(self) -> Fraction:
        """Seconds from the start of the film."""
        return Fraction(self.index) / self.film.fps

    @property
    def is_cut(self) -> bool:
        """Whether a shot starts here (not counting the first)."""
        return self.index in self.film.cuts

    def to_previous(self) -> Flow | None:
        """Flow to the frame before; None at the start of a shot."""
        return self.film.flow(self.index, self.index - 1) if self.index > 0 else None

    def to_next(self) -> Flow | None:
        """Flow to the frame after; None at the end of a shot."""
        last = self.index + 1 == len(self.film)
        return None if last else self.film.flow(self.index, self.index + 1)


def make_film(
    kinds: tuple[str, ...],
    seed: int,
    height: int,
    width: int,
    *,
    frames: int = 48,
    fps: Fraction = Fraction(24),
) -> Film:
    """One shot of ``frames`` frames per kind, with everything in motion that may be.

    Two neighbours of one kind show different scenes.
    """
    shots = []
    for number, kind in enumerate(kinds):
        scene, camera = make_scene(kind, 1000 * seed + number, height, width)
        b = Builder(np.random.default_rng([seed, number, KINDS.index(kind)]))
        b.solids = list(scene.solids)
        _set_in_motion(b, camera)
        # Speeds go with the size of the scene, so that close-ups do not fly past.
        reach = _typical_depth(scene, camera)
        path = CameraPath(
            velocity_m_s=(
                b.between(-0.12, 0.12) * reach, b.between(-0.02, 0.02) * reach,
                b.between(-0.05, 0.1) * reach,
            ),
            pan_deg_s=b.between(-6, 6), tilt_deg_s=b.between(-1.5, 1.5),
            shake_deg=b.between(0, 0.3), shake_hz=b.between(0.5, 2.0),
        )  # fmt: skip
        stops, start = (b.between(-1.2, 1.2), b.between(0.2, 0.6)) if b.chance(0.5) else (0.0, 0.0)
        scene = replace(scene, solids=tuple(b.solids))
        shots.append(Shot(scene, camera, frames, path, stops, start, start + 0.3))
    return Film(tuple(shots), fps)


def _typical_depth(scene: Scene, camera: Camera) -> float:
    small = render(scene, camera.resized(24, 32), smooth_edges=False)
    return float(np.median(small.depth_m[small.valid])) if small.valid.any() else 3.0


def _set_in_motion(b: Builder, camera: Camera) -> None:
    """Give a few objects in view a motion that keeps them off the camera."""
    centres: dict[int, list[np.ndarray]] = {}
    for solid in b.solids:
        if not isinstance(solid, Plane) and solid.radius_m < 3.0:
            centres.setdefault(solid.group, []).append(np.asarray(solid.centre_m, np.float64))
    # Not what belongs to the place, such as the marks on a road.
    groups = sorted(g for g, points in centres.items() if np.ptp(points, axis=0).max() < 3.0)
    b.rng.shuffle(groups)
    for group in groups[: b.count(2, 6)]:
        middle = np.mean(centres[group], axis=0)
        size = 0.15 * float(np.linalg.norm(middle - camera.position_m))
        heading = math.radians(b.between(0, 360))
        swing = (size * math.cos(heading), size * math.sin(heading), 0.0)
        pivot = (float(middle[0]), float(middle[1]), float(middle[2]))
        b.move(group, Motion(
            spin_deg_s=b.between(-60, 60) if b.chance(0.5) else 0.0, pivot_m=pivot,
            swing_m=swing, swing_hz=b.between(0.2, 0.7), swing_phase_deg=b.between(0, 360),
        ))  # fmt: skip
