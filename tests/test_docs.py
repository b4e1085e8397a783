"""The documents against the program: commands, options, names, links and snippets."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import cv2
import numpy as np
import pytest
import skimage.data
from PIL import Image

import upstream
from depthsmith import contract
from depthsmith.catalog import ALLOWED_LICENSES, MODELS
from depthsmith.cli import entry
from depthsmith.cli.group import VERBS, load
from depthsmith.errors import ExitCode
from depthsmith.model_store import _PREFERENCE

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/*.md")])
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(page: Path, *languages: str) -> Iterator[str]:
    """Fenced blocks of a page in one of ``languages``."""
    text = page.read_text(encoding="utf-8")
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S):
        if language in languages:
            yield block


def commands() -> list[str]:
    """Every line of a shell block, and every ``$`` line of a transcript, that runs depthsmith."""
    found = []
    for page in PAGES:
        for block in blocks(page, "sh", ""):
            lines = (line.removeprefix("$ ").strip() for line in block.splitlines())
            found += [line for line in lines if line.startswith("depthsmith ")]
    return sorted(set(found))


@pytest.mark.parametrize("tool", ["cli_reference.py", "model_table.py", "api_reference.py"])
def test_generated_pages_are_fresh(tool):
    command = [sys.executable, str(ROOT / "tools" / tool), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_there_are_commands_to_check():
    verbs = {command.split()[1] for command in commands()}
    assert verbs >= VERBS.keys()


@pytest.mark.parametrize("command", commands())
def test_a_command_in_the_documents_parses(command):
    """Every option exists and every choice is one; nothing is run."""
    _, verb, *arguments = shlex.split(command, comments=True)
    parser = load(verb)
    with parser.make_context(f"depthsmith {verb}", arguments):
        pass


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_options_in_running_text_exist(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    options = {verb: {o for p in load(verb).params for o in (*p.opts, *p.secondary_opts)}
               for verb in VERBS}  # fmt: skip
    options["--help"] = {"--help", "--version", "--debug"}
    everywhere = set().union(*options.values())
    for span in re.findall(r"`((?:depthsmith )?[^`]*)`", text):
        words = span.split()
        verb = words[1] if words[0] == "depthsmith" and len(words) > 1 else None
        for option in re.findall(r"(?<!\S)--[a-z][a-z-]*", span):
            if verb is None and words[0] not in ("pip", "python", "make"):
                assert option in everywhere, span
            elif verb in options:
                assert option in options[verb] | {"--help", "--debug"}, span


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)#]*)(?:#[^)]*)?\)", text):
        if target and not target.startswith("https://"):
            assert (page.parent / target).exists(), target


def test_exit_codes_of_the_readme():
    table = README.split("## Exit codes")[1].split("##")[0]
    assert [int(code) for code in re.findall(r"^\| (\d+) \|", table, re.M)] == list(ExitCode)


def test_licences_of_the_readme():
    """The short table names every model, by wildcard at least, under its licence."""
    table = README.split("## Licences")[1].split("##")[0]
    rows = re.findall(r"^\| ([a-z].*?) \| (\S.*?) \|$", table, re.M)[1:]
    found = {}
    for names, license in rows:
        for pattern in names.split(", "):
            matcher = re.compile(re.escape(pattern).replace(r"\*", r"\w+"))
            fitting = [name for name in MODELS if matcher.fullmatch(name)]
            assert fitting, pattern
            found |= dict.fromkeys(fitting, license)
    assert found == {
        name: "Apache-2.0" if card.license in ALLOWED_LICENSES else "CC BY-NC 4.0"
        for name, card in MODELS.items()
    }


def test_extras_of_the_readme():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    extras = project.split("[project.optional-dependencies]")[1].split("\n[")[0]
    table = README.split("## Install")[1].split("##")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.M) == re.findall(r"^(\w+) =", extras, re.M)


def test_preference_of_auto():
    text = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    assert ", ".join(_PREFERENCE) in " ".join(text.split())


@pytest.mark.parametrize(
    ("section", "record"),
    [
        ("input", contract.InputSpec),
        ("size", contract.SizeRule),
        ("outputs", contract.OutputSpec),
        ("source", contract.Source),
        ("# The contract", contract.Contract),
    ],
)
def test_every_field_of_the_contract_is_described(section, record):
    text = (ROOT / "docs" / "contract.md").read_text(encoding="utf-8")
    part = text.split(section if section.startswith("#") else f"## {section}\n")[1]
    rows = re.findall(r"^\| (`.*?) \|", part.split("\n## ")[0], re.M)
    described = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    names = {field.name for field in fields(record)}
    if record is contract.InputSpec:
        names |= {"mean", "std"}
    if record is contract.Contract:
        names |= {"format"}
    assert described == names


def test_the_snippet_for_any_runtime_is_what_the_command_does(tmp_path, monkeypatch):
    """The README's DA3 example beside ``--fit stretch`` on the same file and photo."""
    (snippet,) = (b for b in blocks(ROOT / "README.md", "python") if "InferenceSession" in b)
    monkeypatch.chdir(tmp_path)
    upstream.save_da3(upstream.da3("da3-small"), Path("DA3/Small"), "da3-small")
    Image.fromarray(skimage.data.coffee()).save("photo.jpg")
    export = ["export", "--variant", "small", "--src-root", "DA3", "--out-dir", "models/DA3"]
    assert entry.run([*export, "--no-validate"]) == 0
    subprocess.run([sys.executable, "-c", snippet], check=True)
    model = ["--model", "models/DA3/da3_small.onnx", "--fit", "stretch"]
    assert entry.run(["depth", "photo.jpg", *model, "-o", "command.png"]) == 0
    shown, made = (
        cv2.imread(name, cv2.IMREAD_UNCHANGED).astype(int) for name in ("depth.png", "command.png")
    )
    # One level of 65535: the snippet normalises in float32.
    assert shown.shape == (400, 600)
    assert np.abs(shown - made).max() <= 1
    assert np.ptp(made) == 65535
