"""Time of one 518x518 picture in ONNX Runtime on the CPU.

As a program, which never imports torch: python -m benchmarks.latency ROUNDS FILE...
"""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path

from benchmarks.files import Files
from benchmarks.process import run_without_torch
from benchmarks.report import Row, Section
from benchmarks.samples import Samples, in_turn

_THREADS = 2
_TEXT = f"""\
V2-Small at 518x518 in ONNX Runtime's CPU provider with {_THREADS} threads, all files in one
process. Portable is standard operators only; fused uses ONNX Runtime's attention kernel and
is what `depthsmith depth` builds for itself; any size is one file for every size."""


def run(work: Path, rounds: int | None) -> Section:
    files = Files(work)
    ways = {
        "traced": files.traced(),
        "portable, 518x518": files.built("518", "portable"),
        "fused, 518x518": files.built("518", "fused"),
        "portable, any size": files.built("dynamic", "portable"),
        "fused, any size": files.built("dynamic", "fused"),
    }
    done = run_without_torch("benchmarks.latency", rounds or 25, *ways.values())
    seconds = dict(zip(ways, map(Samples, map(tuple, json.loads(done.output))), strict=True))
    aims = {"portable, 518x518": 1.0, "fused, 518x518": 0.9}
    return Section(
        "Running a network",
        _TEXT,
        "traced",
        tuple(
            Row.compare(name, seconds[name], seconds["traced"], "s", aim=aims.get(name), digits=3)
            for name in list(ways)[1:]
        ),
    )


def main(rounds: int, paths: list[str]) -> None:
    import numpy as np
    import onnxruntime as ort

    picture = np.random.default_rng(0).standard_normal((1, 3, 518, 518), dtype=np.float32)
    actions = {}
    for path in paths:
        options = ort.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = _THREADS
        # Or the threads of one session spin on for a while and disturb the next.
        options.add_session_config_entry("session.force_spinning_stop", "1")
        session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        actions[path] = partial(session.run, None, {session.get_inputs()[0].name: picture})
    print(json.dumps([samples.values for samples in in_turn(actions, rounds=rounds).values()]))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
