"""Peak memory of ``depthsmith video``, for a short film and a long one.

As a program, whose own memory is small: what starts a process lends it its peak.
python -m benchmarks.film_memory ROUNDS WORK_FOLDER MODEL.onnx
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from benchmarks.process import run_without_torch

FRAMES = (300, 3000)
SIZE = (360, 640)
_RESOLUTION = 98


def main(rounds: int, work: Path, model: Path) -> None:
    peaks: dict[int, list[int]] = {}
    for _ in range(rounds):
        for frames in FRAMES:
            clip = work / f"clip{frames}.mp4"
            if not clip.exists():
                run_without_torch("benchmarks.film_clip", clip, frames, *SIZE, FRAMES[0])
            used = run_without_torch(
                "depthsmith", "video", clip, "-o", work / "memory.mp4", "--model", model,
                "--resolution", _RESOLUTION, "--provider", "cpu", "--progress", "none",
            )  # fmt: skip
            peaks.setdefault(frames, []).append(used.peak_bytes)
    print(json.dumps(peaks))


if __name__ == "__main__":
    main(int(sys.argv[1]), *map(Path, sys.argv[2:]))
