"""``eval`` from folders of photos with depth to a table, CSV, JSON, a sheet and a record.

The network is the mean over colour of what it is fed, and the photos are gray, so that each
score can be worked out by hand.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
import skimage.data
from numpy.typing import NDArray
from PIL import Image

from depthsmith.cli import entry
from depthsmith.contract import METADATA_KEY, Contract, InputSpec, OutputSpec, SizeRule
from depthsmith.errors import ExitCode
from depthsmith.types import DepthKind
from processes import on_terminal
from tiny_onnx import mean_model

# At 56 pixels the photos of these tests are not resampled.
AS_IS = ["--fit", "letterbox", "--resolution", "56"]
Run = Callable[..., tuple[int, str, str]]


def contract(kind: DepthKind) -> Contract:
    return Contract(
        model="mean",
        input=InputSpec("pixel_values", "float32", "NCHW", "none"),
        size=SizeRule(None, None),
        outputs=(OutputSpec.depth("predicted_depth", kind),),
        preprocessing="da2",
    )


def gray_photo(name: str, seed: int = 0) -> NDArray[np.float32]:
    """A photo whose gray value is 20 to 200; returns the value."""
    gray = np.random.default_rng(seed).integers(20, 200, (56, 56), dtype=np.uint8)
    Path(f"data/{name}").parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.repeat(gray[..., None], 3, axis=2)).save(f"data/{name}.png")
    return gray.astype(np.float32)


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Run ``eval`` on ``data`` in an empty folder; gives status, output and errors."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object, model: bool = True) -> tuple[int, str, str]:
        options: list[str] = ["--data", "data"]
        if model:
            options += ["--model", "m.onnx", *AS_IS, "--provider", "cpu"]
        status = entry.run(["eval", *options, *map(str, arguments)])
        out, err = capsys.readouterr()
        return status, out, err

    return call


@pytest.fixture
def two(run: Run) -> Run:
    """Two photos in metres, the prediction of one a quarter too far, of the other right."""
    mean_model(Path("m.onnx"), contract=contract(DepthKind.DEPTH_M))
    for name, factor in (("a", 1.25), ("b", 1.0)):
        values = gray_photo(name, ord(name))
        np.save(f"data/{name}.npy", values / factor)
    return run


def test_the_table(two: Run) -> None:
    status, out, err = two()
    assert status == 0
    lines = out.splitlines()
    assert lines[:4] == [
        "model     mean (depth_m)",
        "data      data (pairs): 2 photos scored",
        "protocol  not aligned, no cap, no crop",
        "",
    ]
    assert lines[4].split() == ["MEASURE", "MODEL", "ROW", "BASELINE", "BETTER"]
    table = {line[:14].strip(): line[14:].split() for line in lines[5:]}
    assert table["AbsRel"][0] == "0.1250" and table["AbsRel"][-1] == "lower"
    # 1.25 is not below 1.25, so that the first photo has no pixel within it; the rounding of
    # float32 lets some through.
    assert 0.5 <= float(table["delta 1"][0]) < 0.9
    assert table["delta 2"][0] == "1.0000" and table["ordinal"][0] == "1.0000"
    assert float(table["AbsRel"][1]) > 0.3
    assert len(table) == 13
    assert err == "depthsmith: note: read as --layout pairs\n"


def test_json_and_csv_agree(two: Run) -> None:
    status, out, _ = two("--json", "--csv", "scores.csv", "--cap-m", "inf", "--crop", "0,28,0,56")
    assert status == 0
    document = json.loads(out)
    assert document["protocol"] == {"align": "none", "cap_m": None, "crop": "0,28,0,56"}
    assert (document["scored"], document["not_scored"], document["failures"]) == (2, 0, [])
    assert document["mean"]["abs_rel"] == pytest.approx(0.125, rel=1e-5)
    assert document["mean"]["pixels"] == 2 * 28 * 56
    assert document["row_baseline"]["abs_rel"] > 0.3
    with Path("scores.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["name"] for line in lines] == ["a", "b"]
    for line, image in zip(lines, document["images"], strict=True):
        for measure in ("abs_rel", "rmse", "delta1", "ordinal", "edge_f"):
            assert float(line[measure]) == image[measure]
        assert float(line["baseline_delta1"]) == image["row_baseline"]["delta1"]


def test_the_protocol_by_option(two: Run) -> None:
    out = two("--align", "median")[1]
    assert "protocol  median in depth, no cap, no crop" in out
    assert " 0.0000" in next(line for line in out.splitlines() if line.startswith("AbsRel"))
    assert "up to 150 m" in two("--cap-m", 150)[1]


def test_motorcycle_from_its_published_form(run: Run) -> None:
    """AbsRel 0 and delta 1 of 1 with its own disparity; the row is at 0.1409 and 0.7682."""
    left, _, disparity = skimage.data.stereo_motorcycle()
    Path("data/Motorcycle").mkdir(parents=True)
    Path("predictions/Motorcycle").mkdir(parents=True)
    Image.fromarray(left).save("data/Motorcycle/im0.png")
    Image.fromarray(disparity).save("data/Motorcycle/disp0.pfm", "PPM")
    Path("data/Motorcycle/calib.txt").write_text(
        "cam0=[994.978 0 311.193; 0 994.978 254.877; 0 0 1]\ndoffs=31.086\nbaseline=193.001\n"
    )
    np.save("predictions/Motorcycle/im0.npy", disparity)
    options = ["--predictions", "predictions", "--kind", "inverse-depth"]
    status, out, err = run(*options, "--json", model=False)
    assert status == 0 and err == "depthsmith: note: read as --layout middlebury\n"
    document = json.loads(out)
    assert document["mean"]["abs_rel"] <= 1e-6 and document["mean"]["delta1"] == 1.0
    assert document["row_baseline"]["abs_rel"] == pytest.approx(0.1409, abs=1e-4)
    assert document["row_baseline"]["delta1"] == pytest.approx(0.7682, abs=1e-4)
    out = run(*options, model=False)[1]
    assert "scale-shift in inverse depth, no cap, no crop" in out
    assert ["AbsRel", "0.0000", "0.1409", "lower"] in [line.split() for line in out.splitlines()]
    assert run(*options, "--align", "none", model=False)[0] == ExitCode.USAGE


def test_depth_files_of_the_command_depth(two: Run) -> None:
    """What ``depth -o`` writes is found again, and scores as the network itself does."""
    assert entry.run(["depth", "data/a.png", "data/b.png", "-o", "made/", "-f", "npz", "--model",
                      "m.onnx", *AS_IS, "--provider", "cpu"]) == 0  # fmt: skip
    out = two("--json")[1]
    direct = json.loads(out[out.index("{") :])
    status, out, _ = two("--predictions", "made", "--json", model=False)
    files = json.loads(out)
    assert status == 0 and files["kind"] == "depth_m"
    assert files["mean"] == pytest.approx(direct["mean"])


def test_the_sheet(two: Run) -> None:
    status, _, err = two("--sheet", "worst.png")
    assert status == 0 and "note: wrote worst.png" in err
    with Image.open("worst.png") as image:
        assert image.size[0] == 1322 and image.size[1] > 640


def test_photos_that_cannot_be_scored_are_listed_and_the_exit_code_says_so(two: Run) -> None:
    np.save("data/a.npy", np.full((56, 56), np.nan, np.float32))
    gray_photo("c")
    np.save("data/d.npy", np.ones((56, 56), np.float32))
    values = gray_photo("e"), gray_photo("f")
    np.save("data/e.npy", values[0] * 1000)
    np.save("data/f.npy", values[1][:40])
    status, out, err = two("--csv", "scores.csv", "--record", "m.onnx")
    assert status == ExitCode.BAD_INPUT
    assert "1 photo scored, 5 NOT scored" in out and "nan" not in out.lower()
    errors = [line for line in err.splitlines() if "error:" in line]
    expected = (
        ("m.onnx", "nothing is recorded"),
        ("c.png", "no depth file goes with c.png"),
        ("d.npy", "no photo goes with d.npy"),
        ("a", "no pixel has a usable truth"),
        ("e", "--depth-scale 1000 for millimetres"),
        ("f", "their shapes differ"),
        ("5 of 6", "photos were not scored"),
    )
    assert len(errors) == len(expected)
    for line, (name, text) in zip(errors, expected, strict=True):
        assert name in line and text in line
    with Path("scores.csv").open(newline="") as file:
        assert sum(line["scored"] == "False" for line in csv.DictReader(file)) == 5
    assert _accuracy("m.onnx") is None


def test_a_long_list_is_cut_short(two: Run) -> None:
    for k in range(25):
        gray_photo(f"lost{k:02d}")
    status, _, err = two()
    assert status == ExitCode.BAD_INPUT
    lines = [line for line in err.splitlines() if "error:" in line]
    assert len(lines) == 22 and "and 5 more; --csv and --json name all" in lines[20]


def test_when_nothing_is_scored_there_is_no_table(two: Run) -> None:
    for name in ("a", "b"):
        np.save(f"data/{name}.npy", np.zeros((56, 56), np.float32))
    status, out, err = two("--sheet", "s.png")
    assert (status, out) == (ExitCode.BAD_INPUT, "")
    assert "2 of 2 photos were not scored" in err and not Path("s.png").exists()
    status, out, _ = two("--json")
    assert status == ExitCode.BAD_INPUT and json.loads(out)["mean"] is None


def _accuracy(path: str) -> dict[str, object] | None:
    texts = [p.value for p in onnx.load(path).metadata_props if p.key == METADATA_KEY]
    assert len(texts) == 1
    accuracy = Contract.from_json(texts[0]).accuracy
    return None if accuracy is None else dict(accuracy)


def test_record(two: Run, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--record", "m.onnx", *AS_IS, "--provider", "cpu"]
    status, out, err = two(*options, "--align", "median", model=False)
    assert status == 0 and "AbsRel" in out
    assert "note: recorded in m.onnx" in err and "note: recorded in m.json" in err
    first = _accuracy("m.onnx")
    assert first is not None and first["protocol"] == "median in depth, no cap, no crop"
    assert two(*options, model=False)[0] == 0
    second = _accuracy("m.onnx")
    assert second is not None
    assert (second["dataset"], second["folder"], second["images"]) == ("pairs", "data", 2)
    assert second["abs_rel"] == 0.125 and second["protocol"] == "not aligned, no cap, no crop"
    assert isinstance(second["row_baseline"], dict) and second["row_baseline"]["abs_rel"] > 0.3
    sidecar = Contract.from_json(Path("m.json").read_text())
    assert sidecar.accuracy == second
    assert entry.run(["inspect", "m.onnx"]) == 0
    assert "accuracy  dataset pairs, folder data, images 2" in capsys.readouterr().out
    assert entry.run(["depth", "data/a.png", "--model", "m.onnx", *AS_IS]) == 0  # it still runs


def test_record_into_a_foreign_file(two: Run) -> None:
    mean_model(Path("m.onnx"))
    status, _, err = two("--record", "m.onnx")
    assert status == ExitCode.BAD_INPUT and "--kind inverse-depth" in err
    assert two("--record", "m.onnx", "--kind", "depth", "--normalization", "none")[0] == 0
    assert _accuracy("m.onnx") is not None
    assert two()[0] == 0  # now it says itself what it is


@pytest.mark.parametrize(
    ("options", "code", "expected"),
    [
        (["--predictions", "data", "--model", "m.onnx"], 2, "leave --model out"),
        (["--predictions", "data", "--record", "m.onnx"], 2, "leave --record out"),
        (["--predictions", "data", "--fit", "stretch"], 2, "--fit is for networks"),
        (["--predictions", "data", "--focal-px", "5"], 2, "--focal-px is for networks"),
        (["--record", "m.onnx", "--model", "other.onnx"], 2, "leave --model out to evaluate"),
        (["--record", "data"], 3, "is no .onnx file"),
        (["--record", "data/a.npy"], 3, "is no .onnx file"),
        (["--predictions", "none"], 3, "of the predictions does not exist"),
        (["--layout", "kiti"], 2, "'kiti' is not one of"),
        (["--layout", "sintel"], 3, "has not the layout of sintel: no depth/SCENE/"),
        (["--sheet", "x.gif"], 2, "must end with one of .png"),
        (["--model", "m.onnx", "--csv", "data/a.png"], 2, "must end with .csv"),
        (["--model", "m.onnx", "--csv", "m.onnx"], 2, "must end with .csv"),
        (["--model", "m.onnx", "--sheet", "data/a.png"], 2, "lies in a folder that is read"),
        (["--model", "m.onnx", "--focal-px", "-1"], 2, "must be positive"),
        (["--csv", "no/such/x.csv"], 7, "the folder no/such does not exist"),
        (["--sheet", "no/x.png"], 7, "the folder no does not exist"),
        (["--model", "m.onnx", "--crop", "everything"], 2, "nor T,B,L,R"),
        (["--model", "m.onnx", "--cap-m", "-3"], 2, "must be positive"),
        (["--model", "m.onnx", "--depth-scale", "0"], 2, "must be positive"),
        (["--model", "m.onnx", "--data", "nothing"], 3, "the folder nothing does not exist"),
        (["--model", "m.onnx", "--data", "empty"], 3, "the folder empty holds no file"),
        (["--model", "m.onnx", "--data", "m.onnx"], 3, "is a file; --data names the folder"),
    ],
)
def test_contradictions_and_missing_things(
    two: Run, options: list[str], code: int, expected: str
) -> None:
    Path("empty").mkdir()
    files = [path for path in Path().rglob("*") if path.is_file()]
    before = {path: path.read_bytes() for path in files}
    status, out, err = two(*options, model=False)
    assert (status, out) == (code, "")
    assert expected in err.splitlines()[-1] and "Traceback" not in err
    assert {path: path.read_bytes() for path in files} == before


def test_progress_is_drawn_on_a_terminal_and_results_stay_in_the_pipe(two: Run) -> None:
    status, out, drawn = on_terminal(
        "eval", "--data", "data", "-m", "m.onnx", *AS_IS, "--provider", "cpu"
    )
    assert status == 0
    assert out.startswith("model     mean") and "\x1b" not in out
    assert b"2/2" in drawn
