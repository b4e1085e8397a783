"""Films: the pipeline beside the network alone, without a network, and its memory."""

from __future__ import annotations

import itertools
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import film_every, film_free, film_memory, film_pace, process
from benchmarks.files import Files
from benchmarks.process import run_with_torch, run_without_torch
from benchmarks.report import Row, Section
from benchmarks.samples import Samples

_SIZE = (1080, 1920)
_AIM = 0.92
_AIM_MEMORY = 1.1
_EVERY = film_every.EVERY
_NETWORKS = {518: "518x924", 294: "294x518"}  # by resolution, for 16:9
_TEXT = f"""\
A 1080p film in H.264 that moves, as `depthsmith video` makes its depth film: V2-Small, CPU, all
threads, all else by default. Beside the network alone: what a frame takes, timed in turns with
runs of the network by itself, in one process, while all stages have work; {film_pace.WINDOW}
frames come in and as many go out, and the frame's share of putting the file together is added.
What a film takes once is not in it: loading, and some seconds to fill the look-ahead.
{1 / _AIM:.3f} is {_AIM:.0%} of the network's throughput. Random weights give no depth, so what
they give is exchanged for smooth maps with contours, which take as long to steady and to encode
as depth does. "Network free": these maps come at once; whole jobs of {film_free.FRAMES} frames,
opening the film and putting the file together included. Core-ms are what all threads of a stage
take for a frame, each stage alone. AbsRel, after scale and shift are fitted frame by frame, is
of four rendered films whose depth is known, with errors like those of networks put on top;
brackets are films. Memory is that of the command with a network of one operation, 640x360."""


def run(work: Path, rounds: int | None) -> Section:
    files = Files(work)
    rows = [*_paces(files, rounds or 3), *_accuracy(), *_free(work, rounds or 2)]
    rows.append(_memory(work, min(rounds or 1, 2)))
    return Section("A film", _TEXT, "beside it", tuple(rows))


def _paces(files: Files, rounds: int) -> list[Row]:
    default = _Pace(files, rounds, 518, "quality")
    every = _Pace(files, rounds, 518, "quality", _EVERY)
    others = {
        "--stabilize fast": _Pace(files, rounds, 518, "fast"),
        "--resolution 294": _Pace(files, rounds, 294, "quality"),
        "--resolution 294 --stabilize fast": _Pace(files, rounds, 294, "fast"),
    }
    share = every.film.over(every.alone).median / default.film.over(default.alone).median
    return [
        default.row("a frame, beside the network alone", _AIM),
        Row("in per cent of its throughput", "", "", default.throughput(), ""),
        *(pace.row(f"`{options}`, beside the network alone") for options, pace in others.items()),
        every.row(f"`--every {_EVERY}`, beside the network alone on every frame"),
        Row(
            f"`--every {_EVERY}`, beside every frame", f"{share:.2f}", "",
            every.film.text(3, "s"), default.film.text(3, "s"),
        ),
    ]  # fmt: skip


class _Pace:
    """A frame in a film and a run of the network, in seconds."""

    def __init__(
        self, files: Files, rounds: int, resolution: int, mode: str, every: int = 1
    ) -> None:
        network = files.built(_NETWORKS[resolution], "fused")
        clip = _clip(files.work, film_pace.frames_needed(rounds))
        found = _program(
            "benchmarks.film_pace", rounds, files.work, clip, network, resolution, mode, every
        )
        alone = found["alone"]
        self.film = Samples(tuple(seconds + found["end"] for seconds in found["film"]))
        self.alone = Samples(tuple((a + b) / 2 for a, b in itertools.pairwise(alone)))

    def row(self, what: str, aim: float | None = None) -> Row:
        limit = None if aim is None else round(1 / aim, 3)
        return Row.compare(what, self.film, self.alone, "s", aim=limit, digits=3)

    def throughput(self) -> str:
        """Of the network's own, in per cent."""
        return _percent(self.alone.over(self.film).values).text(1, "%")


def _accuracy() -> list[Row]:
    path = os.pathsep.join(("tests", "tests/depth"))
    done = process.run([sys.executable, "-m", "benchmarks.film_every"], {"PYTHONPATH": path})
    found = {name: _percent(values) for name, values in json.loads(done.output).items()}
    kinds = (
        ("errors", "every", "AbsRel, beside every frame"),
        ("errors", "raw", "AbsRel, beside every frame as the network gives it"),
        ("none", "every", "AbsRel of a network without errors, beside every frame"),
    )
    return [
        Row.compare(f"`--every {_EVERY}`, {what}", found[f"{errors} some"],
                    found[f"{errors} {other}"], "%")
        for errors, other, what in kinds
    ]  # fmt: skip


def _free(work: Path, rounds: int) -> list[Row]:
    found = _program("benchmarks.film_free", rounds, work, _clip(work, film_free.FRAMES))
    titles = {mode: f"`--stabilize {mode}`" for mode in film_free.MODES} | {
        "stereo": "side by side",
        "stereo of a depth film": "side by side, `--depth` a depth film",
    }
    fps = [
        Row(f"network free, {title}", "", "", _samples(found["fps"][name]).text(1, "fps"), "")
        for name, title in titles.items()
    ]
    stages = [
        Row(f"of which {name}", "", "", _samples(core_ms).text(1, "core-ms"), "")
        for name, core_ms in found["core_ms"].items()
    ]
    return [*fps, *stages]


def _memory(work: Path, rounds: int) -> Row:
    network = work / "mean.onnx"
    run_with_torch("benchmarks.mean_network", network)
    found = _program("benchmarks.film_memory", rounds, work, network)
    short, long = (
        Samples(tuple(peak / 1e6 for peak in found[str(frames)])) for frames in film_memory.FRAMES
    )
    few, many = film_memory.FRAMES
    what = f"peak memory, {many} frames beside {few}"
    return Row.compare(what, long, short, "MB", aim=_AIM_MEMORY, digits=0)


def _clip(work: Path, frames: int) -> Path:
    clip = work / f"film{frames}.mp4"
    if not clip.exists():
        run_without_torch("benchmarks.film_clip", clip, frames, *_SIZE)
    return clip


def _program(module: str, *arguments: object) -> Mapping[str, Any]:
    """What a program prints, which cannot import torch."""
    found: Mapping[str, Any] = json.loads(run_without_torch(module, *arguments).output)
    return found


def _samples(values: Sequence[float]) -> Samples:
    return Samples(tuple(values))


def _percent(shares: Sequence[float]) -> Samples:
    return Samples(tuple(100 * share for share in shares))
