"""``depthsmith export``: official weights to a verified ONNX file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Optional

import typer

from depthsmith.cli import console
from depthsmith.cli.options import AllowLicense, Json, Reference, Vendor

VariantChoice = Literal["small", "base", "both"]
# Those that compute in single precision: in half, nothing equals the float64 reference.
DeviceChoice = Literal["cpu", "cuda", "directml", "openvino"]


def export(
    model: Annotated[
        Optional[str],  # noqa: UP045 - typer evaluates it on Python 3.10 too
        typer.Option("--model", "-m", metavar="NAME", help="A model (see `depthsmith models`)."),
    ] = None,
    weights: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            "--weights",
            metavar="PATH",
            help="Weights on disk: .safetensors, .pth, or a folder in hub layout.",
        ),
    ] = None,
    variant: Annotated[
        Optional[VariantChoice],  # noqa: UP045
        typer.Option("--variant", help="DA3 main series: da3-small, da3-base, or both."),
    ] = None,
    src_root: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            "--src-root", metavar="PATH", help="Folder with Small/ and Base/, for --variant."
        ),
    ] = None,
    size: Annotated[
        str,
        typer.Option(
            "--size",
            metavar="N|HxW|dynamic",
            help="Size of the input, multiples of 14. dynamic is exact at every size.",
        ),
    ] = "518",
    fold_preprocess: Annotated[
        bool,
        typer.Option("--fold-preprocess", help="Take uint8 NHWC RGB 0..255 and normalise inside."),
    ] = False,
    opset: Annotated[int, typer.Option("--opset", metavar="N", help="ONNX opset, 18 to 24.")] = 18,
    attention: Annotated[
        Literal["portable", "fused"],
        typer.Option(
            "--attention", help="Standard operators, or ONNX Runtime's MultiHeadAttention."
        ),
    ] = "portable",
    position_embedding: Annotated[
        Literal["official", "transformers"],
        typer.Option(
            "--position-embedding",
            help="Resample positions as the official code or as Transformers does.",
        ),
    ] = "official",
    confidence: Annotated[
        bool, typer.Option("--confidence", help="DA3 main series: a second output.")
    ] = False,
    out_dir: Annotated[
        Path, typer.Option("--out-dir", metavar="DIR", help="Where files go; made if missing.")
    ] = Path(),
    output: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--output", "-o", metavar="FILE", help="Exact name of the ONNX file."),
    ] = None,
    validate: Annotated[
        bool,
        typer.Option("--validate/--no-validate", help="Compare with the float64 reference."),
    ] = True,
    reference: Reference = "oracle",
    vendor: Vendor = None,
    device: Annotated[
        DeviceChoice, typer.Option("--device", help="Provider that the verification runs on.")
    ] = "cpu",
    allow_license: AllowLicense = None,
    model_card: Annotated[
        bool, typer.Option("--model-card", help="Also write a model card for the hub.")
    ] = False,
    json_: Json = False,
) -> None:
    """Build a verified ONNX file from official weights.

    The file appears only when its output equals the network's. Its contract (input, output,
    polarity, licence, measured parity) is inside and in a .json beside it.
    """
    from depthsmith.errors import UsageError
    from depthsmith.export import check_opset, parse_size, requests
    from depthsmith.export import export as export_model
    from depthsmith.graph.network import GraphOptions

    options = GraphOptions(
        size=parse_size(size),
        opset=check_opset(opset),
        attention=attention,
        position_embedding=position_embedding,
        fold_preprocess=fold_preprocess,
        confidence=confidence,
    )
    wanted = requests(model=model, variant=variant, weights=weights, src_root=src_root)
    if output is not None and len(wanted) > 1:
        raise UsageError("-o names one file; use --out-dir for --variant both")
    results = []
    for request in wanted:
        label = request.card.name if request.card else str(request.weights)
        with console.steps(label) as progress:
            built = export_model(
                request,
                options,
                out_dir=out_dir,
                output=output,
                validate=validate,
                device=device,
                reference="torch" if vendor else reference,
                vendor=vendor,
                allow_license=allow_license,
                write_card=model_card,
                show_transfer=True,
                progress=progress,
            )
        if json_:
            report = built.report.to_dict() if built.report else None
            results.append({"files": [str(f) for f in built.files], "report": report})
            continue
        if built.report is not None:
            console.say(console.report_text(built.report))
        for file in built.files:
            console.say(f"wrote {file} ({console.megabytes(file)})")
    if json_:
        console.say_json(results)
