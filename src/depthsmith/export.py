"""Composer: from what a user names (a model, a folder of weights) to exported files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from depthsmith.atomic import atomic_path, writing
from depthsmith.build import NATIVE, Built, build_file, file_name
from depthsmith.catalog import MODELS, ModelCard
from depthsmith.checkpoint.load import Checkpoint, load_checkpoint
from depthsmith.contract import Source
from depthsmith.errors import UsageError
from depthsmith.graph.network import MAX_OPSET, MIN_OPSET, GraphOptions
from depthsmith.model_card import model_card
from depthsmith.model_store import pull
from depthsmith.types import PATCH_SIZE, Size
from depthsmith.verify import torch_reference
from depthsmith.verify.against_oracle import Progress

Variant = Literal["small", "base", "both"]


@dataclass(frozen=True)
class Request:
    """One model to export: weights at a path, or to be fetched.

    Attributes:
        card: the official model; None where the weights tell it.
        weights: file or folder; None to fetch the card's repository.
    """

    card: ModelCard | None
    weights: Path | None


def requests(
    *,
    model: str | None = None,
    variant: Variant | None = None,
    weights: Path | None = None,
    src_root: Path | None = None,
) -> list[Request]:
    """What the options name.

    ``variant`` are the main-series models of the first exporters: ``Small`` and ``Base``
    below ``src_root``, or from the hub without it.

    Raises:
        UsageError: if they name nothing or contradict each other.
    """
    if variant is not None:
        if model is not None or weights is not None:
            raise UsageError("--variant goes with --src-root, not with --model or --weights")
        names = ("small", "base") if variant == "both" else (variant,)
        folders = [None if src_root is None else _subfolder(src_root, name) for name in names]
        cards = [MODELS[f"da3-{name}"] for name in names]
        return [Request(card, folder) for card, folder in zip(cards, folders, strict=True)]
    if src_root is not None:
        raise UsageError("--src-root goes with --variant; name other weights with --weights")
    if model is None and weights is None:
        raise UsageError(
            "name what to export: --model NAME (see `depthsmith models`), --weights PATH, "
            "or --variant small|base|both"
        )
    from depthsmith.catalog import find

    return [Request(find(model) if model else None, weights)]


def _subfolder(root: Path, name: str) -> Path:
    """``root/Small``, whatever the case."""
    for folder in sorted(root.glob("*")) if root.is_dir() else ():
        if folder.name.lower() == name and folder.is_dir():
            return folder
    if not root.is_dir():
        raise UsageError(f"there is no folder {root}")
    raise UsageError(
        f"{root} holds no folder {name.title()}; expected {root / name.title()}/model.safetensors"
    )


def parse_size(text: str) -> Size | None:
    """``518``, ``294x518`` (height x width) or ``dynamic`` (None).

    Raises:
        UsageError: if it is neither, or no multiple of 14.
    """
    if text.lower() == "dynamic":
        return None
    match = re.fullmatch(r"(\d{1,5})(?:[xX×](\d{1,5}))?", text.strip())
    if match is None:
        raise UsageError(f"size {text!r} is not N, HxW or dynamic, e.g. 518 or 294x518")
    height = int(match[1])
    size = Size(height, int(match[2]) if match[2] else height)
    for side in size:
        if side < PATCH_SIZE or side % PATCH_SIZE:
            low = max(side // PATCH_SIZE, 1) * PATCH_SIZE
            raise UsageError(
                f"size {text} is not a multiple of {PATCH_SIZE}; near {side} are "
                f"{low} and {low + PATCH_SIZE}"
            )
    return size


def check_opset(opset: int) -> int:
    """``opset`` if graphs can be written for it.

    Raises:
        UsageError: if not.
    """
    if not MIN_OPSET <= opset <= MAX_OPSET:
        raise UsageError(
            f"opset {opset} is not supported; use {MIN_OPSET} (the default) to {MAX_OPSET}"
        )
    return opset


def export(
    request: Request,
    options: GraphOptions,
    *,
    out_dir: Path = Path(),
    output: Path | None = None,
    validate: bool = True,
    device: str = "cpu",
    reference: Literal["oracle", "torch"] = "oracle",
    vendor: Path | None = None,
    allow_license: str | None = None,
    write_card: bool = False,
    show_transfer: bool = False,
    progress: Progress = lambda what, fraction: None,
) -> Built:
    """Read or fetch the weights of ``request``, build, verify and write.

    Args:
        request: see `requests`.
        options: how to write the network down.
        out_dir: where the file goes, made if missing; under the name `build.file_name` gives.
        output: exact file instead.
        validate: compare with the oracle (``build.build_file``, ``full``).
        device: provider that the verification runs on.
        reference: ``torch`` compares with upstream PyTorch code as well.
        vendor: folder with the DA3 source, for ``torch``.
        allow_license: licence id that the user consents to.
        write_card: also write a model card for the hub.
        show_transfer: show bars while fetching.
        progress: told what is going on.

    Raises:
        CheckpointError, LicenseError, FetchError, VerificationError, OutputError,
        ProviderError, UsageError: as the parts do.
    """
    if output is not None and output.suffix != ".onnx":
        raise UsageError(f"-o {output} does not end in .onnx")
    progress("reading the weights", 0.0)
    checkpoint, source = _weights(request, allow_license, show_transfer)
    if options.confidence and checkpoint.arch.head != "dual_dpt":
        raise UsageError(
            f"{checkpoint.name} has no confidence output; only DA3's main series has one"
        )
    _check_reference(checkpoint, options, reference)
    stem = checkpoint.card.file_stem if checkpoint.card else checkpoint.arch.family
    target = output or out_dir / file_name(stem, options)
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
    references = {}
    if reference == "torch" and validate:
        name = checkpoint.card.name if checkpoint.card else checkpoint.arch.family
        references["torch"] = torch_reference(request.weights or checkpoint.path, name, vendor)
    built = build_file(
        checkpoint,
        options,
        target,
        source=source,
        check="full" if validate else "none",
        provider=device,
        references=references,
        progress=progress,
    )
    if not write_card:
        return built
    card = target.with_name(f"{target.stem}_README.md")
    with atomic_path(card) as part:
        part.write_text(model_card(target.name, built.contract, checkpoint), encoding="utf-8")
    return Built(target, (*built.files, card), built.contract, built.report)


def _check_reference(checkpoint: Checkpoint, options: GraphOptions, reference: str) -> None:
    """Transformers agrees with the official position embedding at the native size only."""
    differs = options.position_embedding == "official" and options.size != NATIVE
    if reference == "torch" and differs and checkpoint.arch.family in ("da1", "da2"):
        raise UsageError(
            f"--reference torch compares with Transformers, which resamples positions in its own "
            f"way at sizes other than {NATIVE}; add --position-embedding transformers"
        )


def _weights(
    request: Request, allow_license: str | None, show_transfer: bool
) -> tuple[Checkpoint, Source | None]:
    if request.weights is not None:
        return load_checkpoint(request.weights, model=request.card), None
    assert request.card is not None
    fetched = pull(request.card.name, allow_license=allow_license, progress=show_transfer)
    checkpoint = load_checkpoint(fetched.path, model=request.card, sha256=fetched.sha256)
    source = Source(
        fetched.repository,
        fetched.revision,
        fetched.file,
        fetched.sha256,
        fetched.license,
        fetched.license_consent,
    )
    return checkpoint, source
