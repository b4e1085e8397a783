"""A model card for the hub: front matter, inputs and outputs, measured parity, licence."""

from __future__ import annotations

from depthsmith.catalog import Family
from depthsmith.checkpoint.load import Checkpoint
from depthsmith.contract import IMAGENET_MEAN, IMAGENET_STD, Contract, OutputSpec

_AUTHORS = {
    "da1": "Lihe Yang, Bingyi Kang, Zilong Huang, Xiaogang Xu, Jiashi Feng, Hengshuang Zhao",
    "da2": "Lihe Yang, Bingyi Kang, Zilong Huang, Zhen Zhao, Xiaogang Xu, Jiashi Feng, "
    "Hengshuang Zhao",
    "da3": "Haotong Lin, Sili Chen, Jun Hao Liew, Donny Y. Chen, Zhenyu Li, Guang Shi, "
    "Jiashi Feng, Bingyi Kang",
}
_CITATIONS = {
    "da1": ("depthanything", "Depth Anything: Unleashing the Power of Large-Scale Unlabeled Data",
            "2401.10891", 2024),
    "da2": ("depth_anything_v2", "Depth Anything V2", "2406.09414", 2024),
    "da3": ("depthanything3", "Depth Anything 3: Recovering the visual space from any views",
            "2511.10647", 2025),
}  # fmt: skip
_MEANING = {
    "inverse_depth": "relative inverse depth; **larger is nearer**",
    "depth": "relative depth; **smaller is nearer**",
    "depth_m": "depth in metres; smaller is nearer",
    "canonical_depth": "depth in metres at a focal length of 300 px: "
    "`metres = focal_px * value / 300`, focal length at the size of the input",
    "sky": "sky where the value is at least 0.3",
    "confidence": "confidence, at least 1; larger is surer",
}


def model_card(file_name: str, contract: Contract, checkpoint: Checkpoint) -> str:
    """Markdown for the hub's ``README.md``.

    Args:
        file_name: of the ONNX file.
        contract: as written into it.
        checkpoint: the weights it was built from.
    """
    card = checkpoint.card
    title = card.title if card else checkpoint.name
    source = contract.source
    license_id = (source.license if source else None) or "unknown"
    front = [
        "---",
        f"license: {license_id}",
        "tags:",
        *(f"  - {tag}" for tag in ("onnx", "depth-estimation", "monocular-depth", "controlnet")),
        "library_name: onnx",
        "pipeline_tag: depth-estimation",
    ]
    if source and source.repository:
        front.append(f"base_model: {source.repository}")
    front.append("---")
    parts = [
        "\n".join(front),
        f"# {title} as ONNX",
        f"`{file_name}` makes a depth map from one picture: "
        f"{_MEANING.get(contract.depth.kind or '', 'depth')}. All credit to the authors: "
        f"{_AUTHORS[_work(checkpoint.arch.family)]}.",
        _inputs_and_outputs(contract),
        _parity(contract),
        _license(contract, license_id),
        _citation(checkpoint.arch.family),
    ]
    return "\n\n".join(parts) + "\n"


def _work(family: Family) -> str:
    return "da3" if family == "da3mono" else family


def _inputs_and_outputs(contract: Contract) -> str:
    spec, rule = contract.input, contract.size
    h, w = rule.height or "height", rule.width or "width"
    shape = f"[batch,{h},{w},3]" if spec.layout == "NHWC" else f"[batch,3,{h},{w}]"
    what = (
        "RGB 0..255; normalisation is inside"
        if spec.normalization == "none"
        else "ImageNet-normalised RGB"
    )
    lines = ["## Input and output", "", "```"]
    lines.append(f"input   {spec.name:<16} {spec.dtype:<8} {shape:<26} {what}")
    for output in contract.outputs:
        lines.append(
            f"output  {output.name:<16} float32  {f'[batch,{h},{w}]':<26} {_short(output)}"
        )
    lines.append("```")
    lines += [
        "",
        *(f"- `{o.name}`: {_MEANING.get(o.kind or '', 'unknown')}." for o in contract.outputs),
    ]
    if spec.normalization == "imagenet":
        lines.append(
            f"- Normalisation: `(rgb / 255 - mean) / std` with mean `{list(IMAGENET_MEAN)}`, "
            f"std `{list(IMAGENET_STD)}`."
        )
    if rule.fixed is None:
        lines.append(
            "- Batch, height and width are dynamic. Any multiple of 14 is exact, and the "
            "output follows the input; other sizes are refused by the graph."
        )
    else:
        lines.append(f"- Height and width are fixed at {rule.fixed}; the batch is dynamic.")
    return "\n".join(lines)


def _short(output: OutputSpec) -> str:
    return f"{output.kind} ({output.unit})" if output.unit else str(output.kind)


def _parity(contract: Contract) -> str:
    verification = contract.verification or {}
    lines = ["## Parity", ""]
    if not verification.get("performed"):
        return "\n".join([*lines, "Not verified (`--no-validate`)."])
    lines += [
        "Measured when the file was made, in ONNX Runtime "
        f"{verification['onnxruntime']} ({', '.join(verification['providers'])}), against a "
        "float64 implementation of the network. Relative: largest error over output range.",
        "",
        "| picture | size | output | reference | max abs error | mean abs error | relative |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {c['image']} | {c['size']} | {c['output']} | {c['reference']} | {c['max_abs']:.1e} "
        f"| {c['mean_abs']:.1e} | {c['relative_max']:.1e} |"
        for c in verification["comparisons"]
    ]
    return "\n".join(lines)


def _license(contract: Contract, license_id: str) -> str:
    source, build = contract.source, contract.build or {}
    lines = ["## Licence and origin", ""]
    if source and source.repository and not source.revision:
        lines.append(
            f"The weights were taken from disk; their network is that of [`{source.repository}`]"
            f"(https://huggingface.co/{source.repository}), which is under {license_id}. Compare "
            "the SHA-256 with the hub's before you publish this file."
        )
    elif source and source.repository:
        lines.append(
            f"{license_id}, inherited from [`{source.repository}`]"
            f"(https://huggingface.co/{source.repository})"
            f" at revision `{source.revision}`."
        )
    else:
        lines.append(f"{license_id}.")
    if source:
        lines.append(f"Weights: `{source.file}`, SHA-256 `{source.sha256}`.")
    lines.append(
        f"Built by depthsmith {build.get('depthsmith')} (opset {build.get('opset')}, "
        f"{build.get('attention')} attention, {build.get('position_embedding')} position "
        "embedding)."
    )
    return "\n".join(lines)


def _citation(family: Family) -> str:
    key, title, arxiv, year = _CITATIONS[_work(family)]
    authors = " and ".join(_AUTHORS[_work(family)].split(", "))
    return "\n".join(
        [
            "## Citation", "", "```bibtex", f"@article{{{key},", f"  title={{{title}}},",
            f"  author={{{authors}}},", f"  journal={{arXiv preprint arXiv:{arxiv}}},",
            f"  year={{{year}}}", "}", "```",
        ]
    )  # fmt: skip
