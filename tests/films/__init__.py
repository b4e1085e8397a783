"""Film files for tests, made with PyAV: every frame can be recognised by its content.

>>> path = make_film_file(tmp_path / "a.mp4", size=(96, 128), parts=((1, 30), (1, 10)))
>>> [frame_number(rgb) for rgb in rgb_frames(path)]         # 0 to 39, read off the pictures

Frames carry their number as a bar code and a pattern without symmetry, so that lost, doubled,
turned and mirrored frames are all seen. ``flashes`` turns the frames at those times white and
beeps at the same instant on every audio track: `flash_times` and `beep_times` find both again
in a file, whoever wrote it.

Sizes are ``(height, width)``, upright. Times are seconds.
"""

from __future__ import annotations

from films.damage import damage_packets, truncate
from films.make import make_film_file, make_fragmented, schedule
from films.pictures import display_matrix, draw_frame, frame_number, stored
from films.read_back import beep_times, flash_times, frame_times, rgb_frames
from films.specs import BT709, HLG, PQ, AudioSpec, ColorSpec, SubtitleSpec
from films.tracks import encoder_frame

__all__ = [
    "BT709",
    "HLG",
    "PQ",
    "AudioSpec",
    "ColorSpec",
    "SubtitleSpec",
    "beep_times",
    "damage_packets",
    "display_matrix",
    "draw_frame",
    "encoder_frame",
    "flash_times",
    "frame_number",
    "frame_times",
    "make_film_file",
    "make_fragmented",
    "rgb_frames",
    "schedule",
    "stored",
    "truncate",
]
