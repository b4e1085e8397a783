"""``depthsmith eval``: how far a model is from measured depth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Optional

import typer

from depthsmith.cli import console
from depthsmith.cli.options import (
    AllowLicense,
    Family,
    FitChoice,
    Json,
    KindChoice,
    Normalization,
    Provider,
    Threads,
)

if TYPE_CHECKING:
    from depthsmith.evaluation import Evaluation, FilePredictions, ModelPredictions

LayoutChoice = Literal[
    "pairs", "nyu", "kitti", "diode", "eth3d", "sintel", "middlebury", "da2k"
]  # fmt: skip
AlignChoice = Literal["none", "scale", "scale-shift", "median"]

_LISTED = 20
"""So many photos that could not be scored are named one by one."""


def eval(
    data: Annotated[
        Path, typer.Option("--data", metavar="DIR", help="Folder of photos with their depth.")
    ],
    *,
    model: Annotated[
        Optional[str],  # noqa: UP045 - typer evaluates it on Python 3.10 too
        typer.Option(
            "--model",
            "-m",
            metavar="NAME|FILE",
            help="A model (see `depthsmith models`), an ONNX file, or auto (the default): the "
            "best one here.",
        ),
    ] = None,
    predictions: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            "--predictions",
            metavar="DIR",
            help="Depth files made before, instead of a model: for the photo a/b.jpg "
            "DIR/a/b_depth.* or DIR/a/b.*, as `depthsmith depth -o DIR` writes them.",
        ),
    ] = None,
    layout: Annotated[
        Optional[LayoutChoice],  # noqa: UP045
        typer.Option(
            "--layout",
            help="Of which data set the folder is; recognised by its files if left out. pairs: "
            "rgb/NAME.jpg and depth/NAME.png, or NAME.jpg and NAME_depth.exr.",
        ),
    ] = None,
    depth_scale: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(
            "--depth-scale",
            metavar="N",
            help="Units of the depth files in a metre: 1000 for millimetres (the default for "
            "whole numbers), 256 for KITTI, 1 for metres (for floating-point numbers).",
        ),
    ] = None,
    align: Annotated[
        Optional[AlignChoice],  # noqa: UP045
        typer.Option(
            "--align",
            help="How to fit predictions to the truth. By default scale-shift for relative "
            "models, in inverse depth or depth as they give it, and none for metric ones.",
        ),
    ] = None,
    cap_m: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(
            "--cap-m",
            metavar="M",
            help="Largest depth that counts, in metres; inf for all. By default that of the "
            "data set's protocol: 10 for nyu, 80 for kitti, 72 for eth3d and sintel.",
        ),
    ] = None,
    crop: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--crop",
            metavar="NAME|T,B,L,R",
            help="Part of the picture that counts: none, eigen, garg, nyu, or rows T to B and "
            "columns L to R. By default garg for kitti, nyu for nyu, else none.",
        ),
    ] = None,
    focal_px: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(
            "--focal-px",
            metavar="PX",
            help="Focal length in pixels of every photo, for da3metric-large; by default the "
            "data set's own, or EXIF's.",
        ),
    ] = None,
    csv: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--csv", metavar="FILE", help="Write a row for each photo."),
    ] = None,
    sheet: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            "--sheet",
            metavar="FILE",
            help="Write a picture of the worst photos: photo, truth, prediction, error.",
        ),
    ] = None,
    record: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            "--record",
            metavar="FILE.onnx",
            help="Evaluate this file and write the result into its contract.",
        ),
    ] = None,
    json_: Json = False,
    fit: Annotated[
        Optional[FitChoice],  # noqa: UP045
        typer.Option("--fit", help="How photos are fitted to the network, as in `depth`."),
    ] = None,
    resolution: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option("--resolution", min=14, metavar="N", help="As in `depth`."),
    ] = None,
    provider: Provider = "auto",
    threads: Threads = None,
    allow_license: AllowLicense = None,
    kind: Annotated[
        Optional[KindChoice],  # noqa: UP045
        typer.Option(
            "--kind",
            help="What an ONNX file or depth files made elsewhere give: inverse-depth (larger is "
            "nearer), depth (larger is farther), depth-m (metres), canonical (metres at a focal "
            "length of 300).",
        ),
    ] = None,
    normalization: Normalization = None,
    family: Family = None,
) -> int:
    """Score a model against photos with measured depth.

    Prints the mean of each measure beside that of the row baseline, a prediction that knows
    nothing but how far down a pixel is. A photo that cannot be scored does not count as
    anything: it is listed, and the exit code says so.
    """
    from depthsmith.api import load
    from depthsmith.evaluation import FilePredictions, ModelPredictions, evaluate, open_dataset
    from depthsmith.evaluation.report import document, warnings, write_csv
    from depthsmith.evaluation.sheet import WorstSheet
    from depthsmith.inspection import KINDS

    model = _which_model(model, predictions, record)
    if predictions is not None:
        of_networks = {
            "--focal-px": focal_px, "--fit": fit, "--resolution": resolution,
            "--normalization": normalization, "--family": family,
        }  # fmt: skip
        _refuse(of_networks, "is for networks; leave it out with --predictions")
    _check_outputs(csv, sheet, [folder for folder in (data, predictions) if folder])
    dataset = open_dataset(data, layout, units_per_metre=depth_scale)
    for text in dataset.notes:
        console.note(text)
    source: ModelPredictions | FilePredictions
    if predictions is not None:
        source = FilePredictions(predictions, None if kind is None else KINDS[kind])
    else:
        predictor = load(
            model, provider=provider, fit=fit, resolution=resolution, threads=threads,
            kind=kind, normalization=normalization, family=family, allow_license=allow_license,
            progress=True, announce=console.note,
        )  # fmt: skip
        source = ModelPredictions(predictor, focal_px)
    worst = WorstSheet()
    with console.progress(dataset.samples[0].name, len(dataset.samples)) as advance:
        evaluation = evaluate(
            source, dataset, align=align, cap_m=cap_m, crop=crop,
            advance=advance, observe=worst.observe if sheet else lambda shown: None,
        )  # fmt: skip
    if csv is not None:
        write_csv(csv, evaluation)
    if json_:
        console.say_json(document(evaluation))
    elif evaluation.images:
        console.say(_text(evaluation))
    if evaluation.images:
        for text in warnings(evaluation):
            console.note(text)
        if sheet is not None:
            worst.write(sheet, evaluation)
            console.note(f"wrote {sheet}")
    if record is not None and isinstance(source, ModelPredictions):
        _record(record, evaluation, source)
    return _report_failures(evaluation)


def _which_model(model: str | None, predictions: Path | None, record: Path | None) -> str:
    """What to load; refuses contradictions before any work."""
    from depthsmith.errors import UsageError
    from depthsmith.record import check_recordable

    if predictions is not None and (model is not None or record is not None):
        other = "--model" if model is not None else "--record"
        raise UsageError(f"--predictions takes the place of a model; leave {other} out")
    if record is None:
        return model or "auto"
    check_recordable(record)
    if model is not None and Path(model).resolve() != record.resolve():
        raise UsageError(
            f"the result would be that of {model}, not of {record}; leave --model out to "
            "evaluate the file that it is written into"
        )
    return str(record)


def _refuse(options: Mapping[str, object], why: str) -> None:
    from depthsmith.errors import UsageError

    for option, value in options.items():
        if value is not None:
            raise UsageError(f"{option} {why}")


def _check_outputs(csv: Path | None, sheet: Path | None, folders: Sequence[Path]) -> None:
    """Refuse, before any work, what could not be written after it, or over what it is made of."""
    from depthsmith.errors import OutputError, UsageError
    from depthsmith.plan import PICTURE_SUFFIXES

    if sheet is not None and sheet.suffix.lower() not in PICTURE_SUFFIXES:
        raise UsageError(f"--sheet {sheet} must end with one of {', '.join(PICTURE_SUFFIXES)}")
    if csv is not None and csv.suffix.lower() != ".csv":
        raise UsageError(f"--csv {csv} must end with .csv")
    if sheet is not None and any(sheet.resolve().is_relative_to(f.resolve()) for f in folders):
        raise UsageError(
            f"--sheet {sheet} lies in a folder that is read, where it would be taken for a photo "
            "or overwrite one; name another place"
        )
    for path in (csv, sheet):
        if path is not None and not path.parent.is_dir():
            raise OutputError(f"cannot write {path}: the folder {path.parent} does not exist")


def _text(evaluation: Evaluation) -> str:
    from depthsmith.evaluation.report import rows

    photos, left_out = len(evaluation.images), len(evaluation.failures)
    counts = f"{photos} {'photo' if photos == 1 else 'photos'} scored" + (
        f", {left_out} NOT scored" if left_out else ""
    )
    kind = "" if evaluation.kind is None else f" ({evaluation.kind.value})"
    head = (
        ("model", f"{evaluation.model}{kind}"),
        ("data", f"{evaluation.folder} ({evaluation.layout}): {counts}"),
        ("protocol", evaluation.protocol),
    )
    lines = [f"{title:<10}{value}" for title, value in head]
    table = console.table(("MEASURE", "MODEL", "ROW BASELINE", "BETTER"), rows(evaluation))
    return "\n".join([*lines, "", table])


def _record(path: Path, evaluation: Evaluation, source: ModelPredictions) -> None:
    from depthsmith.evaluation.report import accuracy_line
    from depthsmith.record import record_accuracy

    if evaluation.failures or not evaluation.images:
        console.error(f"nothing is recorded in {path}, because not every photo was scored")
        return
    contract = source.predictor.contract
    for file in record_accuracy(path, contract, accuracy_line(evaluation)):
        console.note(f"recorded in {file}")


def _report_failures(evaluation: Evaluation) -> int:
    """Name what was not scored; returns the exit code of the first."""
    failures = evaluation.failures
    if not failures:
        return 0
    for failure in failures[:_LISTED]:
        console.error(f"{failure.name}: {failure.error}")
    if len(failures) > _LISTED:
        console.error(f"and {len(failures) - _LISTED} more; --csv and --json name all of them")
    total = len(failures) + len(evaluation.images)
    console.error(f"{len(failures)} of {total} photos were not scored")
    return int(failures[0].error.exit_code)
