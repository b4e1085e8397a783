"""Write docs/api.md from the docstrings of every public name: ``make docs``.

    python tools/api_reference.py [--check]

``--check`` writes nothing and exits with 1 when the file is not what it should be.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from enum import Enum
from pathlib import Path
from typing import Any

import depthsmith

TARGET = Path(__file__).parents[1] / "docs" / "api.md"

_HEAD = """\
# Python

<!-- Written by tools/api_reference.py from the docstrings; change those and run `make docs`. -->

Every public name of `depthsmith`, as `help()` shows it. Importing the package is cheap: a name is
loaded when it is first used. Sizes are `height, width`, of arrays as of networks' inputs; messages
about pictures say width x height, as in 1920x1080. Colour is RGB. All errors derive from
`DepthsmithError`.

| for | there is |
|---|---|
| depth of photos | `load`, `Predictor.predict`, `Predictor.predict_many`, `read_photo` |
| what depth means | `DepthMap`, `to_near`, `to_metres`, `to_depth`, `to_inverse_depth` |
| files and colours | `write_depth`, `read_depth`, `colorize`, `write_rgb` |
| films | `make_depth_film`, `make_stereo_film`, `SteadySettings`, `Coding`, `Span`, `probe` |
| live pictures | `predict_frames`; with depth from elsewhere, `Stabilizer` |
| two eyes | `near_to_disparity`, `render_pair`, `pack`, `Projector`, `write_mpo` |
| without glasses | `wiggle`, `write_wiggle` |
| ONNX files | `inspect`, `Contract`, `pull`, `MODELS` |
| scores | `open_dataset`, `evaluate`, `align`, `score`, `metrics`; of films `flicker` |
"""


def reference() -> str:
    """The whole page."""
    names = [name for name in depthsmith.__all__ if not name.startswith("__")]
    groups = {
        "Functions": [n for n in names if inspect.isfunction(getattr(depthsmith, n))],
        "Classes": [n for n in names if _is_class(n) and not _is_error(n)],
        "Errors": [n for n in names if _is_error(n)],
    }
    known = {name for group in groups.values() for name in group}
    groups["Modules and tables"] = [n for n in names if n not in known]
    parts = [_HEAD]
    for title, members in groups.items():
        parts += [f"## {title}\n", *(_entry(name, getattr(depthsmith, name)) for name in members)]
    return "\n".join(parts)


def _is_class(name: str) -> bool:
    return inspect.isclass(getattr(depthsmith, name))


def _is_error(name: str) -> bool:
    return _is_class(name) and issubclass(getattr(depthsmith, name), Exception)


def _entry(name: str, value: Any) -> str:
    if inspect.isfunction(value):
        return _section(name, _signature(name, value), value)
    if inspect.isclass(value):
        if issubclass(value, Exception):
            code = value.exit_code
            return _section(name, f"{name}  # exit code {int(code)}", value)
        if issubclass(value, Enum):
            return _section(name, f"class {name}: {', '.join(m.name for m in value)}", value)
        methods = [_method(name, member) for member in _public_methods(value)]
        return "\n".join([_section(name, f"class {_signature(name, value)}", value), *methods])
    if inspect.ismodule(value):
        functions = [n for n, f in vars(value).items() if _is_own_function(value, n, f)]
        listed = "\n".join(
            _section(
                f"{name}.{n}", _signature(f"{name}.{n}", getattr(value, n)), getattr(value, n)
            )
            for n in functions
        )
        return f"### {name}\n\n```text\n{inspect.getdoc(value)}\n```\n\n{listed}"
    return f"### {name}\n\nA `dict`: {', '.join(f'`{key}`' for key in value)}.\n"


def _is_own_function(module: Any, name: str, value: Any) -> bool:
    return (
        inspect.isfunction(value)
        and value.__module__ == module.__name__
        and not name.startswith("_")
    )


def _public_methods(value: type) -> list[tuple[str, Any]]:
    """Documented ones of the class itself, in order; being called is one."""
    found = []
    for name, member in vars(value).items():
        function = getattr(member, "__func__", member)
        public = name == "__call__" or not name.startswith("_")
        if public and inspect.isfunction(function) and function.__doc__:
            found.append((name, function))
    return found


def _method(owner: str, member: tuple[str, Any]) -> str:
    name, function = member
    return _section(f"{owner}.{name}", _signature(f"{owner}.{name}", function), function)


def _section(name: str, code: str, value: Any) -> str:
    text = inspect.getdoc(value) or ""
    level = "####" if "." in name else "###"
    return f"{level} {name}\n\n```text\n{code}\n\n{text}\n```\n"


def _signature(name: str, value: Any) -> str:
    signature = inspect.signature(value)
    parameters = [p for n, p in signature.parameters.items() if n not in ("self", "cls")]
    parameters = [p for p in parameters if not p.name.startswith("_")]
    returns = signature.return_annotation
    tail = "" if returns in (inspect.Signature.empty, "None", None) else f" -> {returns}"
    short = f"{name}({', '.join(map(_parameter, parameters))}){tail}"
    if len(short) <= 88:
        return short
    stars: list[str] = []
    for p in parameters:
        if p.kind is p.KEYWORD_ONLY and "*" not in stars:
            stars.append("*")
        stars.append(_parameter(p))
    return "\n".join([f"{name}(", *(f"    {s}," for s in stars), f"){tail}"])


def _parameter(parameter: inspect.Parameter) -> str:
    plain = parameter.replace(annotation=inspect.Parameter.empty, default=inspect.Parameter.empty)
    text = str(plain)
    if parameter.annotation is not inspect.Parameter.empty:
        text += f": {parameter.annotation}"  # a string, as nothing is evaluated
    default = parameter.default
    if default is inspect.Parameter.empty:
        return text
    if inspect.isfunction(default):
        shown = default.__name__
    elif dataclasses.is_dataclass(default):
        shown = _as_written(default)
    else:
        shown = repr(default)
    return f"{text} = {'...' if shown in ('<lambda>', '<factory>') else shown}"


def _as_written(value: Any) -> str:
    """How a data class is made, without what is as by default."""
    plain = type(value)()
    fields = [f.name for f in dataclasses.fields(value)]
    changed = [n for n in fields if getattr(value, n) != getattr(plain, n)]
    given = ", ".join(f"{n}={getattr(value, n)!r}" for n in changed)
    return f"{type(value).__name__}({given})"


def main() -> int:
    text = reference()
    if "--check" not in sys.argv[1:]:
        TARGET.write_text(text, encoding="utf-8")
        return 0
    if TARGET.is_file() and TARGET.read_text(encoding="utf-8") == text:
        return 0
    print(f"{TARGET} is not what the docstrings say; run `make docs`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
