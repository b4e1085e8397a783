"""The public names, and `depthsmith.load` on real files."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import depthsmith
from depthsmith.contract import IMAGENET_MEAN, IMAGENET_STD
from tiny_onnx import mean_model

SOURCE = Path(depthsmith.__file__).parent


def test_the_public_names() -> None:
    """A change here is a change of the API: it belongs into the changelog."""
    assert depthsmith.__all__ == [
        "MODELS",
        "CheckpointError",
        "Coding",
        "Contract",
        "DatasetError",
        "DepthKind",
        "DepthMap",
        "DepthSample",
        "DepthsmithError",
        "Evaluation",
        "FetchError",
        "FilePredictions",
        "FilmError",
        "FilmInfo",
        "FilmLook",
        "FlickerReport",
        "ImageError",
        "InputError",
        "Inspection",
        "LicenseError",
        "Made",
        "ModelError",
        "ModelPredictions",
        "OutputError",
        "Photo",
        "PointPair",
        "Predictor",
        "Projector",
        "ProviderError",
        "Scores",
        "Size",
        "Span",
        "Stabilizer",
        "SteadyDepth",
        "SteadySettings",
        "StereoPair",
        "StereoSettings",
        "UsageError",
        "VerificationError",
        "Written",
        "__version__",
        "align",
        "colorize",
        "edge_score",
        "evaluate",
        "flicker",
        "inspect",
        "load",
        "make_depth_film",
        "make_stereo_film",
        "mean_scores",
        "metrics",
        "near_to_disparity",
        "open_dataset",
        "ordinal_accuracy",
        "pack",
        "predict_frames",
        "probe",
        "pull",
        "read_depth",
        "read_photo",
        "render_pair",
        "row_baseline",
        "score",
        "to_depth",
        "to_inverse_depth",
        "to_metres",
        "to_near",
        "valid_pixels",
        "wiggle",
        "with_depth",
        "write_depth",
        "write_mpo",
        "write_rgb",
        "write_wiggle",
    ]


def test_every_public_name_is_there_and_documented() -> None:
    for name in depthsmith.__all__:
        value = getattr(depthsmith, name)
        assert name.startswith("__") or value.__doc__, name
    assert dir(depthsmith) == sorted(depthsmith.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'tonear'"):
        depthsmith.tonear  # noqa: B018


def test_type_checkers_see_the_same_names() -> None:
    """The lazy table and the imports under TYPE_CHECKING name the same things."""
    text = (SOURCE / "__init__.py").read_text()
    block = text.split("if TYPE_CHECKING:\n", 1)[1].split("\n_HOMES")[0]
    imported = {
        (module, name)
        for module, names in re.findall(r"from (\S+) import (\([^)]*\)|.*)", block)
        for name in re.findall(r"\w+", names)
    }
    lazy = {(m, n) for m, names in depthsmith._HOMES.items() for n in names}
    assert imported == lazy
    assert {n for _, n in lazy} | {"__version__"} == set(depthsmith.__all__)


def test_importing_is_light() -> None:
    program = (
        "import sys; import depthsmith; before = set(sys.modules); depthsmith.DepthsmithError;"
        "print('numpy' in sys.modules, 'depthsmith.errors' in before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False False\n"


def test_load_and_predict(tmp_path: Path) -> None:
    path = mean_model(tmp_path / "m.onnx")
    predictor = depthsmith.load(path, provider="cpu", kind="inverse-depth", threads=1)
    assert repr(predictor) == "Predictor(m.onnx, inverse_depth, cpu, official)"
    rgb = np.full((30, 50, 3), (10, 200, 90), np.uint8)
    depth = predictor.predict(rgb)
    expected = ((np.array([10, 200, 90]) / 255 - IMAGENET_MEAN) / IMAGENET_STD).mean()
    np.testing.assert_allclose(depth.values, np.full((30, 50), expected), atol=1e-5)
    assert (depth.kind, depth.source_size) == ("inverse_depth", (30, 50))


def test_what_is_damaged_in_the_cache_is_built_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    built: list[Path] = []

    def build(weights: Path, target: Path, **_: object) -> None:
        built.append(mean_model(target))

    monkeypatch.setattr("depthsmith.build.build_for_cache", build)
    weights = tmp_path / "a.safetensors"
    weights.write_bytes(b"weights")

    def load() -> depthsmith.Predictor:
        return depthsmith.load(weights, provider="cpu", kind="inverse-depth", family="da2")

    assert load().session.name == load().session.name == built[0].name
    assert len(built) == 1
    whole = built[0].read_bytes()
    for damaged in (b"", whole[:-9]):
        built[0].write_bytes(damaged)
        load()
        assert built[0].read_bytes() == whole
    assert len(built) == 3


def test_a_damaged_file_of_the_user_stays(tmp_path: Path) -> None:
    path = mean_model(tmp_path / "m.onnx")
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(depthsmith.ModelError, match="cut short or damaged"):
        depthsmith.load(path, provider="cpu")
    assert path.exists()


def test_load_says_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(depthsmith.UsageError, match="did you mean da2-small"):
        depthsmith.load("da2-smal")
    with pytest.raises(depthsmith.ModelError, match="there is no file"):
        depthsmith.load(tmp_path / "none.onnx")
    with pytest.raises(depthsmith.ProviderError, match="not in this build"):
        depthsmith.load(mean_model(tmp_path / "m.onnx"), provider="directml")
