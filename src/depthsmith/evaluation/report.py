"""An evaluation as text, JSON, CSV, and as the line that goes into a contract."""

from __future__ import annotations

import csv
from dataclasses import asdict
from pathlib import Path
from typing import Any

from depthsmith._version import __version__
from depthsmith.atomic import atomic_path
from depthsmith.depth.scores import Scores
from depthsmith.evaluation.run import Evaluation

MEASURES: dict[str, tuple[str, str]] = {
    "abs_rel": ("AbsRel", "lower"),
    "sq_rel": ("SqRel m", "lower"),
    "rmse": ("RMSE m", "lower"),
    "rmse_log": ("RMSE log", "lower"),
    "log10": ("log10", "lower"),
    "silog": ("SILog", "lower"),
    "delta1": ("delta 1", "higher"),
    "delta2": ("delta 2", "higher"),
    "delta3": ("delta 3", "higher"),
    "ordinal": ("ordinal", "higher"),
    "edge_precision": ("edge precision", "higher"),
    "edge_recall": ("edge recall", "higher"),
    "edge_f": ("edge F-score", "higher"),
}
"""Measure -> its name for people, and which way is better."""

_IN_CONTRACT = ("abs_rel", "rmse", "delta1", "ordinal", "edge_f")


def rows(evaluation: Evaluation) -> list[tuple[str, str, str, str]]:
    """A row for each measure: name, of the model, of the row baseline, which way is better.

    Raises:
        DatasetError: if no photo was scored.
    """
    mean, baseline = evaluation.mean, evaluation.baseline
    result = []
    for measure, (name, better) in MEASURES.items():
        if (value := getattr(mean, measure)) is None:
            continue
        count = evaluation.count(measure)
        title = name
        if count < len(evaluation.images):
            title = f"{name} (of {count} photos)"
        result.append((title, f"{value:.4f}", f"{getattr(baseline, measure):.4f}", better))
    return result


def warnings(evaluation: Evaluation) -> tuple[str, ...]:
    """What in an evaluation should make its reader doubt, one clause each.

    Raises:
        DatasetError: if no photo was scored.
    """
    found = []
    total = len(evaluation.images)
    turned = sum(image.reversed for image in evaluation.images)
    if turned * 2 > total:
        found.append(
            f"in {turned} of {total} photos the alignment turns near and far around; the polarity "
            "is probably the other one (see --kind)"
        )
    mean, baseline = evaluation.mean, evaluation.baseline
    if mean.abs_rel is not None and baseline.abs_rel is not None:
        worse = mean.abs_rel >= baseline.abs_rel
    else:
        worse = (mean.ordinal or 0.0) <= (baseline.ordinal or 0.0)
    if worse:
        found.append("this is no better than the row baseline, which has not seen the photos")
    return tuple(found)


def document(evaluation: Evaluation) -> dict[str, Any]:
    """Everything, for JSON."""
    means: dict[str, Any] = {"mean": None, "row_baseline": None}
    if evaluation.images:
        means = {
            "mean": asdict(evaluation.mean),
            "row_baseline": asdict(evaluation.baseline),
            "photos_with": {measure: evaluation.count(measure) for measure in MEASURES},
        }
    return {
        "depthsmith": __version__,
        "model": evaluation.model,
        "kind": None if evaluation.kind is None else evaluation.kind.value,
        "layout": evaluation.layout,
        "folder": str(evaluation.folder),
        "protocol": {
            "align": evaluation.align,
            "cap_m": evaluation.cap_m,
            "crop": evaluation.crop,
        },
        "scored": len(evaluation.images),
        "not_scored": len(evaluation.failures),
        **means,
        "images": [
            {
                "name": image.name,
                **asdict(image.scores),
                "scale": image.scale,
                "shift": image.shift,
                "clipped": image.clipped,
                "reversed": image.reversed,
                "row_baseline": asdict(image.baseline),
            }
            for image in evaluation.images
        ],
        "failures": [{"name": f.name, "reason": str(f.error)} for f in evaluation.failures],
    }


def write_csv(path: Path, evaluation: Evaluation) -> None:
    """A row for each photo, those that could not be scored with their reason.

    Raises:
        OutputError: if the file cannot be written.
    """
    measures = [*MEASURES, "pixels"]
    columns = ["name", "scored", *measures, "scale", "shift", "clipped", "reversed"]
    columns += [f"baseline_{m}" for m in ("abs_rel", "delta1", "ordinal")] + ["reason"]
    with atomic_path(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, columns, restval="")
        table.writeheader()
        for image in evaluation.images:
            own = asdict(image.scores)
            alignment = {c: getattr(image, c) for c in ("scale", "shift", "clipped", "reversed")}
            baseline = _prefixed(image.baseline)
            table.writerow({"name": image.name, "scored": True, **own, **alignment, **baseline})
        for failure in evaluation.failures:
            table.writerow({"name": failure.name, "scored": False, "reason": str(failure.error)})


def accuracy_line(evaluation: Evaluation) -> dict[str, Any]:
    """What goes into a contract: the data set, the protocol, and the main measures.

    Raises:
        DatasetError: if no photo was scored.
    """
    mean, baseline = evaluation.mean, evaluation.baseline
    line: dict[str, Any] = {
        "dataset": evaluation.layout,
        "folder": evaluation.folder.resolve().name,
        "images": len(evaluation.images),
        "protocol": evaluation.protocol,
    }
    for measure in _IN_CONTRACT:
        if (value := getattr(mean, measure)) is not None:
            line[measure] = _digits(value)
    line["row_baseline"] = {
        measure: _digits(value)
        for measure in ("abs_rel", "delta1", "ordinal")
        if (value := getattr(baseline, measure)) is not None
    }
    return line | {"depthsmith": __version__}


def _prefixed(scores: Scores) -> dict[str, float | None]:
    return {f"baseline_{m}": getattr(scores, m) for m in ("abs_rel", "delta1", "ordinal")}


def _digits(value: float) -> float:
    return float(f"{value:.5g}")
