"""The frames looked ahead to: what of their scale and shift is chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from depthsmith.depth.temporal.affine import IDENTITY, Affine
from depthsmith.depth.temporal.camera import CameraMotion, typical
from depthsmith.depth.temporal.frame import Frame
from depthsmith.depth.temporal.shot_range import Span

_LEAST_FOR_LINE = 6
_CONFIRMING = 5


@dataclass(frozen=True)
class Window:
    """A frame and those looked ahead to.

    Scale and shift differ from frame to frame by chance, and change in time as the camera
    moves on. Lines fitted to both tell the two apart.

    Attributes:
        own: from the first frame's unit to what that would be without chance.
        spans: of the frames, in such units.
        camera: motion of the picture at the first frame, as the next few confirm it.
    """

    own: Affine
    spans: tuple[Span, ...]
    camera: CameraMotion

    @classmethod
    def of(cls, ahead: Sequence[Frame]) -> Window:
        """Of at least one frame. Too few are taken as they are."""
        units = _units(ahead)
        camera = typical([frame.camera for frame in ahead[:_CONFIRMING]])
        if len(units) < _LEAST_FOR_LINE:
            return cls(IDENTITY, tuple(frame.span for frame in ahead), camera)
        number = np.arange(len(units))
        logs = np.log([unit.scale for unit in units])
        shifts = np.array([unit.shift for unit in units])
        log_line = np.polyval(np.polyfit(number, logs, 1), number)
        shift_line = np.polyval(np.polyfit(number, shifts, 1), number)
        spans = []
        for frame, log, shift, log_fit, shift_fit in zip(
            ahead, logs, shifts, log_line, shift_line, strict=False
        ):
            scale = float(np.exp(log_fit - log))
            spans.append(frame.span.mapped(scale, float(shift_fit - scale * shift)))
        own = Affine(float(np.exp(log_line[0])), float(shift_line[0]))
        return cls(own, tuple(spans), camera)

    def in_unit(self, affine: Affine) -> list[Span]:
        """The spans in a unit that ``affine`` maps the first frame's to."""
        unit = affine.after(self.own.inverse())
        return [span.mapped(unit.scale, unit.shift) for span in self.spans]


def _units(ahead: Sequence[Frame]) -> list[Affine]:
    """Maps from the first frame's unit to that of each, as far as they are known."""
    to_first = IDENTITY
    units = [IDENTITY]
    for frame in ahead[1:]:
        if frame.step is None:
            break
        to_first = to_first.after(frame.step)
        if to_first.scale <= 0.0:
            break
        units.append(to_first.inverse())
    return units
