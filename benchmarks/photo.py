"""A photo of 1920x1080 to a 16-bit PNG: the frame's own shape beside the square letterbox.

As a program, which never imports torch:
python -m benchmarks.photo ROUNDS WORK_FOLDER DYNAMIC.onnx SQUARE.onnx TRACED.onnx
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.files import Files
from benchmarks.process import run_without_torch
from benchmarks.report import Row, Section
from benchmarks.samples import Samples, in_turn

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from depthsmith import Predictor

_THREADS = 2
_AIM = 0.65
_FRAME, _SQUARE = (294, 518), (518, 518)
_TEXT = f"""\
V2-Small, a 1920x1080 JPEG: read, fit to the network, run ({_THREADS} threads), bring back to
1920x1080, write as 16-bit PNG; the network is loaded. Ours is the file for any size at
294x518 (`--resolution 294`), which has the long side and the shape of the picture in the
518x518 letterbox of a file of one size."""


def run(work: Path, rounds: int | None) -> Section:
    files = Files(work)
    paths = (files.built("dynamic", "fused"), files.built("518", "fused"), files.traced())
    done = run_without_torch("benchmarks.photo", rounds or 25, work, *paths)
    measured = {name: Samples(tuple(v)) for name, v in json.loads(done.output).items()}
    frame = measured["frame"]
    return Section(
        "A 1080p photo, end to end",
        _TEXT,
        "518x518 letterbox",
        (
            Row.compare(
                "beside the traced file", frame, measured["traced"], "s", aim=_AIM, digits=3
            ),
            Row.compare(
                "beside our own 518x518 file", frame, measured["square"], "s", aim=_AIM, digits=3
            ),
            Row.compare(
                "of which the network, beside the traced file",
                measured["frame network"],
                measured["traced network"],
                "s",
                digits=3,
            ),
            Row("of which all else", "", "", measured["all else"].text(3, "s"), ""),
        ),
    )


def main(rounds: int, work: Path, dynamic: Path, square: Path, traced: Path) -> None:
    import numpy as np

    import depthsmith

    photo = work / "photo.jpg"
    _make_photo(photo)
    load = partial(depthsmith.load, provider="cpu", threads=_THREADS)
    frame = load(dynamic, resolution=_FRAME[0])
    ours = load(square, fit="letterbox")
    other = load(traced, fit="letterbox", kind="inverse-depth", normalization="imagenet")
    actions: dict[str, Callable[[], object]] = {}
    for name, predictor, size in (
        ("frame", frame, _FRAME),
        ("square", ours, _SQUARE),
        ("traced", other, _SQUARE),
    ):
        placement = predictor.predict_photo(depthsmith.read_photo(photo)).placement
        assert placement.network == size, placement
        actions[name] = partial(_end_to_end, photo, predictor, work / f"{name}.png")
        noise = np.random.default_rng(0).standard_normal((1, 3, *size), dtype=np.float32)
        actions[f"{name} network"] = partial(predictor.session.run, noise)
    actions["all else"] = partial(_end_to_end, photo, _without_network(frame), work / "rest.png")
    taken = in_turn(actions, rounds=rounds)
    print(json.dumps({name: samples.values for name, samples in taken.items()}))


def _end_to_end(photo: Path, predictor: Predictor, target: Path) -> None:
    import depthsmith

    depth = predictor.predict(depthsmith.read_photo(photo), as_="near")
    depthsmith.write_depth(target, depth, "png16")


def _without_network(predictor: Predictor) -> Predictor:
    """The same, which knows the network's output for its one photo after its first run."""
    from depthsmith import Predictor
    from depthsmith.runtime.fake import FakeSession

    known: dict[str, NDArray[Any]] = {}

    def compute(picture: NDArray[Any]) -> dict[str, NDArray[Any]]:
        if not known:
            known["depth"] = predictor.session.run(picture)[predictor.contract.depth.name]
        return known

    return Predictor(FakeSession(predictor.contract, compute), resolution=predictor.resolution)


def _make_photo(path: Path) -> None:
    """A photograph of scikit-image, 16:9 of it, enlarged to 1920x1080."""
    import skimage.data
    from PIL import Image

    coffee = Image.fromarray(skimage.data.coffee()[:337])  # type: ignore[no-untyped-call]
    coffee.resize((1920, 1080), Image.Resampling.BICUBIC).save(path, quality=92)


if __name__ == "__main__":
    main(int(sys.argv[1]), *map(Path, sys.argv[2:]))
