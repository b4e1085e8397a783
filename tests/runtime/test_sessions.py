"""Opening real ONNX files with the installed ONNX Runtime, good ones and broken ones."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

from depthsmith.errors import InputError, ModelError, ProviderError, UsageError
from depthsmith.runtime import available, open_session

FLOAT = TensorProto.FLOAT


def save(
    path: Path,
    *nodes: onnx.NodeProto,
    opset: int = 18,
    ir_version: int = 9,
    initializers: tuple[onnx.TensorProto, ...] = (),
    **options: object,
) -> Path:
    """A graph from ``image`` to ``depth`` = mean over colour, or of other ``nodes``."""
    axis = helper.make_node("Constant", [], ["axis"], value_ints=[1])
    mean = helper.make_node("ReduceMean", ["image", "axis"], ["depth"], keepdims=0)
    graph = helper.make_graph(
        list(nodes) or [axis, mean],
        "g",
        [helper.make_tensor_value_info("image", FLOAT, ["batch", 3, "height", None])],
        [helper.make_tensor_value_info("depth", FLOAT, ["batch", "height", None])],
        list(initializers),
    )
    domains = {"", *(node.domain for node in nodes)}
    imports = [helper.make_opsetid(d, opset if d == "" else 1) for d in sorted(domains)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=ir_version)
    helper.set_model_props(model, {"who": "a test"})
    onnx.save_model(model, path, **options)  # type: ignore[arg-type]
    return path


def test_signature_metadata_and_run(tmp_path: Path) -> None:
    session = open_session(save(tmp_path / "mean ü.onnx"), provider="cpu", threads=1)
    (image,), (depth,) = session.signature
    assert (image.name, image.dtype, image.shape) == (
        "image", "float32", ("batch", 3, "height", None),
    )  # fmt: skip
    assert (depth.name, depth.shape) == ("depth", ("batch", "height", None))
    assert session.metadata == {"who": "a test"}
    assert session.providers_used == ["cpu"]
    batch = np.random.default_rng(0).random((2, 3, 4, 6), dtype=np.float32)
    found = session.run(batch[:, :, ::2])  # not contiguous
    np.testing.assert_allclose(found["depth"], batch[:, :, ::2].mean(axis=1), rtol=1e-6)


def external(path: Path, keep_bytes: int | None) -> Path:
    weight = helper.make_tensor("w", FLOAT, [1, 3, 1, 1], np.ones(3, "f4").tobytes(), raw=True)
    save(
        path,
        helper.make_node("Mul", ["image", "w"], ["scaled"]),
        helper.make_node("Constant", [], ["axis"], value_ints=[1]),
        helper.make_node("ReduceMean", ["scaled", "axis"], ["depth"], keepdims=0),
        initializers=(weight,),
        save_as_external_data=True,
        location=path.name + ".data",
        size_threshold=0,
    )
    data = path.with_name(path.name + ".data")
    if keep_bytes is None:
        data.unlink()
    else:
        data.write_bytes(data.read_bytes()[:keep_bytes])
    return path


def truncated(path: Path) -> Path:
    whole = save(path).read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    return path


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def foo(domain: str) -> onnx.NodeProto:
    return helper.make_node("Foo", ["image"], ["depth"], domain=domain)


BROKEN = {
    "missing": (lambda p: p, "there is no file"),
    "folder": (lambda p: p.parent, "is a folder"),
    "empty": (lambda p: written(p, b""), "is empty"),
    "text": (lambda p: written(p, b"<html>404</html>"), "is not an ONNX file"),
    "lfs": (lambda p: written(p, b"version https://git-lfs.github.com/spec/v1\n"), "git lfs pull"),
    "truncated": (truncated, "cut short"),
    "no weights": (lambda p: external(p, None), "beside it that is missing"),
    "short weights": (lambda p: external(p, 4), "weights file of m.onnx is cut short"),
    "operator": (lambda p: save(p, foo("")), "operator Foo, which onnxruntime"),
    "domain": (lambda p: save(p, foo("weird")), "operator weird:Foo, which onnxruntime"),
    "opset": (lambda p: save(p, opset=99), "has opset 99"),
    "ir": (lambda p: save(p, ir_version=99), "newer ONNX version"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_files_get_one_line(case: str, tmp_path: Path) -> None:
    make, expected = BROKEN[case]
    with pytest.raises(ModelError) as caught:
        open_session(make(tmp_path / "m.onnx"), provider="cpu")
    message = str(caught.value)
    assert expected in message
    assert "\n" not in message and "onnxruntime_src" not in message and "[ONNX" not in message


def test_out_of_memory_says_so(tmp_path: Path) -> None:
    shape = helper.make_node("Constant", [], ["shape"], value_ints=[1, 10**6, 10**7])
    huge = helper.make_node("ConstantOfShape", ["shape"], ["depth"])
    session = open_session(save(tmp_path / "huge.onnx", shape, huge), provider="cpu")
    with pytest.raises(InputError, match=r"not enough memory .* 1x3x2x2; use a smaller"):
        session.run(np.zeros((1, 3, 2, 2), np.float32))


def test_run_failure_is_one_clean_line(tmp_path: Path) -> None:
    session = open_session(save(tmp_path / "m.onnx"), provider="cpu")
    with pytest.raises(ModelError, match=r"^m\.onnx failed on cpu: .*index: 1 Got: 4") as caught:
        session.run(np.zeros((1, 4, 2, 2), np.float32))
    assert "\n" not in str(caught.value)


def test_auto_takes_what_is_there(tmp_path: Path) -> None:
    session = open_session(save(tmp_path / "m.onnx"))
    assert session.provider == available()[0]
    assert session.provider in session.providers_used


def test_provider_outside_this_build(tmp_path: Path) -> None:
    missing = [name for name in ("cuda", "coreml", "openvino") if name not in available()]
    path = save(tmp_path / "m.onnx")
    for name in missing:
        with pytest.raises(ProviderError, match=rf"{name} is not in this build") as caught:
            open_session(path, provider=name)
        assert "\n" not in str(caught.value)
    assert missing, "this onnxruntime contains every provider"


def test_unknown_provider_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no provider 'gpu'"):
        open_session(save(tmp_path / "m.onnx"), provider="gpu")


def test_nothing_is_printed(tmp_path: Path) -> None:
    """Neither a good nor a failing file makes ONNX Runtime's own log appear."""
    good, bad = save(tmp_path / "good.onnx"), save(tmp_path / "bad.onnx", foo("weird"))
    program = f"""
import numpy as np
from pathlib import Path
from depthsmith.errors import DepthsmithError
from depthsmith.runtime import open_session
session = open_session(Path({str(good)!r}))
for attempt in (
    lambda: session.run(np.zeros((1, 4, 2, 2), np.float32)),
    lambda: open_session(Path({str(bad)!r})),
    lambda: open_session(Path({str(good)!r}), provider="cuda"),
):
    try:
        attempt()
    except DepthsmithError:
        pass
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("", "")


def test_without_onnxruntime_the_extras_are_named() -> None:
    program = """
import sys
sys.modules["onnxruntime"] = None  # as if it were not installed
from pathlib import Path
from depthsmith.errors import ProviderError
from depthsmith.runtime import open_session
try:
    open_session(Path("m.onnx"))
except ProviderError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert 'pip install "depthsmith[cpu]"' in done.stdout
    assert "gpu" in done.stdout and "directml" in done.stdout and "openvino" in done.stdout


def test_no_more_threads_than_cores_and_no_fewer_than_one(tmp_path: Path) -> None:
    file = save(tmp_path / "m.onnx")
    session = open_session(file, provider="cpu", threads=10**12)
    cores = os.cpu_count()
    assert session.notes == (
        f"this machine has {cores} cores; {cores} threads are used, not 1000000000000",
    )
    assert open_session(file, provider="cpu", threads=1).notes == ()
    with pytest.raises(UsageError, match="at least 1"):
        open_session(file, provider="cpu", threads=0)


@pytest.mark.parametrize(("cores", "alone", "spins"), [
    (2, False, False), (2, True, True), (16, False, True),
])  # fmt: skip
def test_threads_sleep_where_few_cores_are_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cores: int, alone: bool, spins: bool
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    told = {}
    options = onnxruntime.SessionOptions

    class Options(options):  # type: ignore[misc, valid-type]
        def add_session_config_entry(self, key: str, value: str) -> None:
            told[key] = value
            super().add_session_config_entry(key, value)

    monkeypatch.setattr(onnxruntime, "SessionOptions", Options)
    session = open_session(save(tmp_path / "m.onnx"), provider="cpu", alone=alone)
    assert (told.get("session.intra_op.allow_spinning") != "0") is spins
    assert session.run(np.ones((1, 3, 2, 2), np.float32))["depth"].tolist() == [[[1, 1], [1, 1]]]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "m.onnx")
    with pytest.raises(ModelError, match="not a regular file"):
        open_session(tmp_path / "m.onnx", provider="cpu")


@pytest.mark.skipif(sys.platform != "linux", reason="names are text elsewhere")
def test_a_name_that_is_not_text_is_refused_in_words(tmp_path: Path) -> None:
    file = save(tmp_path / "m.onnx").rename(tmp_path / os.fsdecode(b"m\xff.onnx"))
    with pytest.raises(ModelError, match="not text; rename it"):
        open_session(file, provider="cpu")


@pytest.mark.skipif(sys.platform == "win32", reason="the cache folder is not asked from XDG")
def test_nothing_is_reported_or_kept_about_the_user(tmp_path: Path) -> None:
    """From 1.32 on, ONNX Runtime keeps a device's id in the cache folder and reports to its
    maker; both are off.
    """
    file = save(tmp_path / "m.onnx")
    code = (
        "import sys; from pathlib import Path; from depthsmith.runtime import open_session; "
        "open_session(Path(sys.argv[1]), provider='cpu')"
    )
    home = tmp_path / "home"
    home.mkdir()
    environment = {k: v for k, v in os.environ.items() if k != "ORT_DISABLE_TELEMETRY"}
    environment |= {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    subprocess.run([sys.executable, "-c", code, file], env=environment, check=True)
    assert list(home.rglob("*")) == []
