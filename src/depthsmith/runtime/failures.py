"""ONNX Runtime's exceptions, many lines of C++ each, as one line that says what to do."""

from __future__ import annotations

import re
from pathlib import Path

from depthsmith.errors import DepthsmithError, InputError, ModelError

_LONGEST = 240

# A source position and the C++ signature that ORT_THROW puts before its message.
_POSITION = re.compile(
    r"""/?[\w./\\-]*\.(?:cc|cpp|cu|h):\d+\s                      # file.cc:46
        (?:[^()]*::[^()]*\((?:[^()]|\([^()]*\))*\)\s?(?:const\s)?  # void space::name(int) const
           (?:\[with\s[^\]]*\]\s?)?)?""",
    re.VERBOSE,
)
_STATUS = re.compile(r"\[ONNXRuntimeError\] : \d+ : [A-Z_ ]+ : ")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_OUT_OF_MEMORY = (
    "failed to allocate memory",
    "bad allocation",
    "bad_alloc",
    "out of memory",
    "alloc_failed",
    "8007000e",  # E_OUTOFMEMORY of DirectML
)

_LOAD_FAILURES = tuple(
    (re.compile(pattern, re.DOTALL), sentence)
    for pattern, sentence in (
        (
            r"xternal.*(?:out of bounds|cannot be read|can not be read)",
            "the weights file of {file} is cut short; get it again",
        ),
        (
            r"(?:xternal data|xternal initializer|GetFileLength)",
            "the weights of {file} are in a file beside it that is missing; "
            "get it too and keep both together",
        ),
        (
            r"No Op registered for (\S+)|error: (\S+?)(?:\(-?\d+\))? is not a registered",
            "{file} uses the operator {0}, which onnxruntime {version} does not have",
        ),
        (
            r"Opset (\d+) is under.*till opset (\d+)",
            "{file} has opset {0}, onnxruntime {version} reads up to {1}; "
            "upgrade onnxruntime, or export with a lower --opset",
        ),
        (
            r"Unsupported model IR version",
            "{file} is of a newer ONNX version than onnxruntime {version} reads; "
            "upgrade onnxruntime",
        ),
    )
)


def one_line(text: str) -> str:
    """``text`` without status codes, source positions, colours and line ends."""
    for pattern in (_COLOUR, _STATUS, _POSITION):
        text = pattern.sub("", text)
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def out_of_memory(error: BaseException) -> bool:
    """Whether ``error`` says that memory ran out, of the machine or of its GPU."""
    text = str(error).lower()
    return isinstance(error, MemoryError) or any(word in text for word in _OUT_OF_MEMORY)


def load_error(path: Path, error: Exception, version: str) -> DepthsmithError:
    """What to raise when ONNX Runtime ``version`` could not load ``path``."""
    text = str(error)
    if out_of_memory(error):
        return InputError(f"not enough memory to load {path.name}")
    if "Protobuf parsing failed" in text or "No graph was found" in text:
        return ModelError(f"{path} {_what_it_is(path)}")
    for pattern, sentence in _LOAD_FAILURES:
        if found := pattern.search(text):
            words = [word for word in found.groups() if word] or [""]
            return ModelError(sentence.format(*words, file=path.name, version=version))
    return ModelError(f"onnxruntime {version} cannot load {path.name}: {one_line(text)}")


def run_error(
    name: str, error: Exception, shape: tuple[int, ...], provider: str
) -> DepthsmithError:
    """What to raise when a run of the model ``name`` on a batch of ``shape`` failed."""
    if out_of_memory(error):
        size = "x".join(str(n) for n in shape)
        hint = "" if provider == "cpu" else ", or --provider cpu"
        return InputError(
            f"not enough memory to run {name} on {provider} with an input of {size}; "
            f"use a smaller --resolution{hint}"
        )
    return ModelError(f"{name} failed on {provider}: {one_line(str(error))}")


def _what_it_is(path: Path) -> str:
    with path.open("rb") as file:
        head = file.read(64)
    if not head:
        return "is empty"
    if head.startswith(b"version https://git-lfs"):
        return "is a Git LFS pointer, not the file itself; get it with `git lfs pull`"
    if head[0] != 0x08:  # field 1 of ModelProto, ir_version, is written first
        return "is not an ONNX file"
    return "is cut short or damaged; get it again"
