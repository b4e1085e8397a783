"""``inspect`` on files of ours, on foreign ones and on what is no depth file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from depthsmith.cli import entry
from depthsmith.contract import Contract, InputSpec, OutputSpec, SizeRule, Source
from depthsmith.errors import ExitCode
from depthsmith.types import DepthKind
from tiny_onnx import mean_model

OURS = Contract(
    model="da3mono-large",
    input=InputSpec("image", "uint8", "NHWC", "none"),
    size=SizeRule(294, 518),
    outputs=(OutputSpec.depth("depth", DepthKind.DEPTH), OutputSpec("sky", "sky")),
    preprocessing="da3",
    source=Source("owner/name", "0123456789abcdef", "model.safetensors", "f" * 64, "apache-2.0"),
    build={"opset": 18, "attention": "fused"},
    verification={
        "performed": True,
        "passed": True,
        "tolerance": 1e-4,
        "providers": ["cpu"],
        "onnxruntime": "1.32.0",
        "comparisons": [
            {"size": "294x518", "relative_max": 1.2e-6},
            {"size": "294x518", "relative_max": 4e-6},
        ],
    },
)


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    return mean_model(
        tmp_path / "ours.onnx",
        layout="NHWC",
        dtype="uint8",
        height=294,
        width=518,
        names=("image", "depth"),
        sky=100.0,
        contract=OURS,
    )


def lines(capsys: pytest.CaptureFixture[str]) -> dict[str, list[str]]:
    """Values by title; the same title may come several times."""
    found: dict[str, list[str]] = {}
    for line in capsys.readouterr().out.splitlines():
        found.setdefault(line[:10].strip(), []).append(line[10:])
    return found


def test_a_file_of_ours_in_words(ours: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert entry.run(["inspect", str(ours)]) == 0
    told = lines(capsys)
    assert told["contract"] == ["in the file"]
    assert told["input"] == ["image uint8 [batch, 294, 518, 3] NHWC RGB, 0 to 255"]
    assert told["size"] == ["294x518, height x width"]
    assert told["output"] == [
        "depth [batch, 294, 518] depth, larger is farther",
        "sky [batch, 294, 518] sky",
    ]
    assert told["weights"] == ["owner/name at 0123456789ab, SHA-256 ffffffffffffffff…"]
    assert told["licence"] == ["apache-2.0"]
    assert told["verified"] == [
        "relative error at most 4.0e-06 (limit 1e-04) at 294x518; ONNX Runtime 1.32.0 on cpu"
    ]
    assert "not told" not in told


def test_a_file_of_ours_in_json(ours: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert entry.run(["inspect", "--json", str(ours)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["carried"] is True
    assert document["unknown"] == {}
    assert Contract.from_json(json.dumps(document["contract"])) == OURS
    assert document["signature"]["inputs"] == [
        {"name": "image", "dtype": "uint8", "shape": ["batch", 294, 518, 3]}
    ]


def test_what_a_foreign_file_does_not_tell_is_marked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = mean_model(tmp_path / "other.onnx", names=("input", "output"))
    assert entry.run(["inspect", str(path)]) == 0
    told = lines(capsys)
    assert told["contract"] == ["none; inferred from the signature"]
    assert told["input"][0].endswith("UNKNOWN")
    assert told["output"][0].endswith("UNKNOWN")
    assert len(told["not told"]) == 3
    text = " ".join(told["not told"])
    assert "--kind" in text and "--normalization" in text and "--family" in text


def test_unverified_and_unused_are_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    contract = replace(
        OURS,
        input=InputSpec("image", "float32", "NCHW", "imagenet"),
        size=SizeRule(None, None),
        outputs=OURS.outputs[:1],
        verification=None,
    )
    path = mean_model(
        tmp_path / "m.onnx", names=("image", "depth"), confidence=1.0, contract=contract
    )
    assert entry.run(["inspect", str(path)]) == 0
    told = lines(capsys)
    assert told["verified"] == ["no"]
    assert told["output"][1] == "confidence [batch, height, width] not used"
    assert told["size"] == ["any, multiples of 14"]


def test_no_depth_file_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "page.onnx").write_text("<html>")
    assert entry.run(["inspect", str(tmp_path / "page.onnx")]) == ExitCode.BAD_INPUT
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith("page.onnx is not an ONNX file\n")


def test_what_a_file_says_of_itself_does_not_steer_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = replace(
        OURS,
        model="m\x1b[2J\nlicence   mit",
        input=InputSpec("image", "float32", "NCHW", "imagenet"),
        outputs=(OutputSpec.depth("depth", DepthKind.DEPTH),),
        verification={"performed": True, "comparisons": "none"},
    )
    file = mean_model(
        tmp_path / "m.onnx", height=294, width=518, names=("image", "depth"), contract=hostile
    )
    assert entry.run(["inspect", str(file)]) == ExitCode.OK
    found = lines(capsys)
    assert found["model"] == ["m\\x1b[2J\\nlicence   mit"]
    assert len(found["licence"]) == 1
    assert found["verified"][0].startswith("UNKNOWN")
