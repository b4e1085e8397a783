"""The command itself: exit codes, streams, one line for every error, nothing heavy loaded."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from depthsmith import _version
from depthsmith.cli import entry, group, options
from depthsmith.errors import DepthsmithError, ExitCode, LicenseError, ProviderError
from depthsmith.runtime import PROVIDER_CHOICES

COMMAND = Path(sys.executable).with_name("depthsmith")


def depthsmith(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the installed command."""
    return subprocess.run(
        [COMMAND, *arguments], capture_output=True, text=True, timeout=120, check=False
    )


def test_version() -> None:
    done = depthsmith("--version")
    assert (done.returncode, done.stdout, done.stderr) == (
        0, f"depthsmith {_version.__version__}\n", "",
    )  # fmt: skip


def test_python_m_is_the_same() -> None:
    command = [sys.executable, "-m", "depthsmith", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == depthsmith("--version").stdout


def test_help_lists_verbs_and_exit_codes() -> None:
    done = depthsmith("--help")
    assert done.returncode == 0
    assert done.stderr == ""
    for verb in ("depth", "inspect", "models", "pull"):
        assert f"\n  {verb} " in done.stdout
    text = " ".join(done.stdout.split())
    for code in ExitCode:
        assert f" {code.value} " in text.split("Exit codes:")[1]


def test_no_arguments_show_the_help() -> None:
    done = depthsmith()
    assert done.returncode == ExitCode.USAGE
    assert done.stdout == ""
    assert "Commands:" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["depht"], "no such command 'depht' (Did you mean depth?); see `depthsmith --help`"),
        (["xyzzy"], "no such command 'xyzzy'; see `depthsmith --help`"),
        (["--fast"], "no such option: --fast"),
        (["pull"], "missing argument 'NAME'; see `depthsmith pull --help`"),
        (["pull", "a", "b"], "b"),
        (["models", "--jsn"], "no such option: --jsn (Possible options: --json)"),
        (["depth", "--provider", "gpu", "x.png"], "--provider"),
        (["depth", "--threads", "many", "x.png"], "--threads"),
        (["depth", "--threads", "0", "x.png"], "--threads"),
        (["pull", "no-such-model"], "no model is called 'no-such-model'"),
    ],
)
def test_wrong_usage_is_one_line_and_2(arguments: list[str], expected: str) -> None:
    done = depthsmith(*arguments)
    assert done.returncode == ExitCode.USAGE
    assert done.stdout == ""
    assert expected in done.stderr
    assert done.stderr.startswith("depthsmith: error: ")
    assert done.stderr.count("\n") == 1


def failing(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the verb ``models`` end with ``error``."""

    def known_models() -> None:
        raise error

    monkeypatch.setattr("depthsmith.model_store.known_models", known_models)


@pytest.mark.parametrize("kind", DepthsmithError.__subclasses__())
def test_each_error_has_its_code_and_one_line(
    kind: type[DepthsmithError],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    failing(kind("what is wrong; what to do"), monkeypatch)
    assert entry.run(["models"]) == kind.exit_code
    out, err = capsys.readouterr()
    assert (out, err) == ("", "depthsmith: error: what is wrong; what to do\n")


def test_the_documented_numbers() -> None:
    assert (ProviderError.exit_code, LicenseError.exit_code) == (6, 4)


def test_a_fault_of_ours_is_one_line_that_says_where_and_how_to_report(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failing(KeyError("depth\nmap"), monkeypatch)
    assert entry.run(["models"]) == ExitCode.INTERNAL
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "KeyError" in err and "models.py:" in err and "--debug" in err and entry.ISSUES in err


@pytest.mark.parametrize("arguments", [["--debug", "models"], ["models", "--debug"]])
def test_debug_shows_the_traceback(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failing(LicenseError("no"), monkeypatch)
    assert entry.run(arguments) == ExitCode.LICENSE
    err = capsys.readouterr().err
    assert err.startswith("Traceback (most recent call last)")
    assert err.endswith("depthsmith: error: no\n")


def test_interrupted_is_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failing(KeyboardInterrupt(), monkeypatch)
    assert entry.run(["models"]) == ExitCode.INTERRUPTED
    assert capsys.readouterr().err == "depthsmith: interrupted\n"


def test_out_of_memory_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failing(MemoryError(), monkeypatch)
    assert entry.run(["models"]) == ExitCode.BAD_INPUT
    assert "not enough memory" in capsys.readouterr().err


def test_a_closed_pipe_is_no_traceback() -> None:
    command = f"exec 3>&1; ({COMMAND} models; echo $? >&3) | true"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    # The reader may be quick or slow to leave.
    assert done.stdout.strip() in (str(int(ExitCode.OUTPUT)), "0")


def test_summaries_are_those_of_the_verbs() -> None:
    """The table that ``--help`` shows is kept apart from the functions it is about."""
    found = group.LazyGroup().list_commands(None)
    assert {"depth", "inspect", "models", "pull"} <= set(found)
    for verb in found:
        assert group.load(verb).help.split("\n")[0] == group.VERBS[verb]


def test_provider_choices_are_those_of_the_runtime() -> None:
    assert options.ProviderChoice.__args__ == PROVIDER_CHOICES  # type: ignore[attr-defined]


HEAVY = (
    "numpy", "cv2", "PIL", "onnx", "onnx_ir", "onnxruntime", "onnxscript", "safetensors",
    "huggingface_hub", "rich", "platformdirs", "torch",
)  # fmt: skip


@pytest.mark.parametrize(
    "program",
    [
        "import depthsmith; dir(depthsmith)",
        "from depthsmith.cli.entry import run; run(['--help'])",
        "from depthsmith.cli.entry import run; run(['depth', '--help'])",
        "from depthsmith.cli.entry import run; run(['dpeth'])",
    ],
)
def test_nothing_heavy_is_imported(program: str) -> None:
    check = f"{program}\nimport sys, json; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", check], capture_output=True, text=True, check=True
    )
    loaded = json.loads(done.stdout.splitlines()[-1])
    assert "depthsmith" in loaded
    assert [name for name in HEAVY if name in loaded] == []


@pytest.mark.parametrize(
    "arguments",
    [["depth", ""], ["depth", "a.png", "-o", ""], ["inspect", ""], ["export", "-m", ""]],
)
def test_an_empty_argument_does_not_mean_the_current_folder(arguments: list[str]) -> None:
    done = depthsmith(*arguments)
    assert done.returncode == ExitCode.USAGE
    assert done.stderr == (
        "depthsmith: error: an argument is empty; if it comes from a variable of the shell, "
        "that is not set\n"
    )


@pytest.mark.skipif(os.name == "nt", reason="there is no sh")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_lead_nowhere(closed: str, tmp_path: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        line = shlex.join([str(COMMAND), *arguments])
        return subprocess.run(
            ["sh", "-c", f"{line} {closed}"], capture_output=True, text=True, check=False
        )

    done = run("models")
    assert done.returncode == 0
    assert done.stderr == ""
    assert ("da2-small" in done.stdout) == (">&-" not in closed.split())
    missing = run("inspect", str(tmp_path / "a.onnx"))
    assert missing.returncode == ExitCode.BAD_INPUT
    assert ("there is no file" in missing.stderr) == ("2>&-" not in closed)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has /dev/full")
@pytest.mark.parametrize("arguments", [["models"], ["models", "--json"]])
def test_results_that_cannot_be_written(arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == ExitCode.OUTPUT
    assert done.stderr == (
        "depthsmith: error: cannot write to standard output: No space left on device\n"
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has /dev/full")
def test_errors_that_cannot_be_written_keep_the_status(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([COMMAND, "inspect", tmp_path / "a.onnx"], stderr=full, check=False)
    assert done.returncode == ExitCode.BAD_INPUT


def test_names_with_control_characters_stay_in_one_line() -> None:
    done = depthsmith("inspect", "new\nline \x1b[31m\u202e日本.onnx")
    assert done.returncode == ExitCode.BAD_INPUT
    assert done.stderr == (
        "depthsmith: error: there is no file new\\nline \\x1b[31m\\u202e日本.onnx\n"
    )
