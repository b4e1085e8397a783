"""From the name of a model to an ONNX file: fetched, built, kept in the cache.

A file in the cache is named by the SHA-256 of the weights, the options of the build and the
version of depthsmith, so that whatever changes makes a new one.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from depthsmith._version import __version__
from depthsmith.atomic import atomic_path, writing
from depthsmith.catalog import ALLOWED_LICENSES, MODELS, ModelCard, find
from depthsmith.checkpoint.cache import cache_root, weights_sha256
from depthsmith.checkpoint.hub import Fetched, cached, fetch
from depthsmith.checkpoint.license_gate import check_license
from depthsmith.contract import Source
from depthsmith.errors import CheckpointError, FetchError, ModelError
from depthsmith.runtime import first_choice

AUTO = "auto"

# What `auto` takes among those in the cache, the best first: the larger and newer, and those
# made for one kind of scene, or without a better claim, last.
_PREFERENCE = (
    "da3mono-large",
    "da3metric-large",
    "da3-base",
    "da2-small",
    "da3-small",
    "da1-large",
    "da1-base",
    "da1-small",
    "da2-metric-indoor-small",
    "da2-metric-outdoor-small",
)
_FALLBACK = "da2-small"

# These compile the graph themselves, and know the standard's operations only: OpenVINO runs
# V2-Small three times as fast with them.
_NEEDS_PORTABLE = frozenset({"tensorrt", "coreml", "openvino"})
_WEIGHT_SUFFIXES = frozenset({".safetensors", ".pth", ".pt", ".bin"})


class Build(Protocol):
    """Build an ONNX file of dynamic size from weights (`depthsmith.build`)."""

    def __call__(
        self,
        weights: Path,
        target: Path,
        *,
        card: ModelCard | None,
        source: Source,
        attention: str,
    ) -> None: ...


@dataclass(frozen=True)
class Resolved:
    """An ONNX file that stands for what was asked for.

    Attributes:
        path: of the file.
        note: what was chosen or done that the user did not say, one clause; empty if nothing.
    """

    path: Path
    note: str = ""


@dataclass(frozen=True)
class KnownModel:
    """A model of the catalogue and what is on this machine of it.

    Attributes:
        card: the catalogue's entry.
        weights: the weight file in the hub cache, or None.
        size_bytes: of the weights, or None.
        license: recorded when the weights were fetched, else the catalogue's.
    """

    card: ModelCard
    weights: Path | None
    size_bytes: int | None
    license: str

    @property
    def permissive(self) -> bool:
        return self.license in ALLOWED_LICENSES


def known_models() -> list[KnownModel]:
    """Every model of the catalogue, without network."""
    return [_known(card) for card in MODELS.values()]


def pull(name: str, *, allow_license: str | None = None, progress: bool = False) -> Fetched:
    """Have the weights of the model ``name`` on disk, its licence passed first.

    Args:
        name: a model of the catalogue, or its hub id.
        allow_license: licence id that the user consents to.
        progress: show bars on stderr, if that is a terminal.

    Raises:
        UsageError: if no model is called so.
        LicenseError: if the licence is not allowed.
        FetchError: if the weights cannot be had.
    """
    card = find(name)
    return fetch(
        card.repository,
        allow_license=allow_license,
        expected_license=card.license,
        progress=progress,
    )


def resolve(
    name: str | Path,
    *,
    provider: str = AUTO,
    allow_license: str | None = None,
    progress: bool = False,
    build: Build | None = None,
) -> Resolved:
    """The ONNX file for ``name``: itself, or built from the weights that it names.

    Args:
        name: an ONNX file; a weight file or folder; a model of the catalogue; ``auto`` for
            the best model under a permissive licence that is in the cache, else da2-small
            from the hub.
        provider: that the file is for; some need a graph of standard operations only.
        allow_license: licence id that the user consents to.
        progress: show bars on stderr, if that is a terminal.
        build: in the place of `depthsmith.build`.

    Raises:
        UsageError: if no model is called so.
        ModelError: if a path does not exist.
        LicenseError: if the licence is not allowed.
        FetchError: if the weights cannot be had.
        CheckpointError, VerificationError, OutputError: if the file cannot be built.
    """
    attention = "portable" if first_choice(provider) in _NEEDS_PORTABLE else "fused"
    build = build or _build
    if name == AUTO:
        return _resolve_auto(attention, allow_license, progress, build)
    path = Path(name)
    if path.suffix.lower() in _WEIGHT_SUFFIXES or (path.is_dir() and str(name) not in MODELS):
        return _from_weights(path, attention, build)
    if path.suffix.lower() in (".onnx", ".ort") or path.is_file():
        if not path.exists():
            raise ModelError(f"there is no file {path}")
        return Resolved(path)
    return Resolved(_from_catalog(find(str(name)), attention, allow_license, progress, build))


def _resolve_auto(
    attention: str, allow_license: str | None, progress: bool, build: Build
) -> Resolved:
    known = {model.card.name: model for model in known_models()}
    for name in _PREFERENCE:
        if known[name].weights and known[name].permissive:
            path = _from_catalog(known[name].card, attention, allow_license, progress, build)
            return Resolved(path, f"using {name}, the best model in the cache")
    try:
        path = _from_catalog(MODELS[_FALLBACK], attention, allow_license, progress, build)
    except FetchError as error:
        raise FetchError(
            f"no model is here and {_FALLBACK} cannot be fetched ({error}); get one with "
            f"`depthsmith pull {_FALLBACK}`, or name a file with --model FILE.onnx"
        ) from error
    return Resolved(path, f"using {_FALLBACK}, fetched from the hub")


def _from_catalog(
    card: ModelCard, attention: str, allow_license: str | None, progress: bool, build: Build
) -> Path:
    here = cached(card.repository)
    if here is not None:
        target = _target(card.name, here.sha256, attention)
        if target.exists():
            # Nothing is fetched, so nobody is asked; consent is needed all the same.
            check_license(
                here.license or card.license,
                repository=card.repository,
                allow_license=allow_license,
            )
            return target
    fetched = pull(card.name, allow_license=allow_license, progress=progress)
    target = _target(card.name, fetched.sha256, attention)
    if not target.exists():
        source = Source(
            repository=fetched.repository,
            revision=fetched.revision,
            file=fetched.file,
            sha256=fetched.sha256,
            license=fetched.license,
            license_consent=fetched.license_consent,
        )
        _build_into(
            target, fetched.path, card=card, source=source, attention=attention, build=build
        )
    return target


def _from_weights(path: Path, attention: str, build: Build) -> Resolved:
    if not path.exists():
        raise CheckpointError(f"no weights at {path}")
    from depthsmith.checkpoint.load import weight_file

    file = weight_file(path)
    digest = weights_sha256(file)
    target = _target(file.stem, digest, attention)
    if not target.exists():
        source = Source(None, None, file.name, digest, license=None)
        _build_into(target, file, card=None, source=source, attention=attention, build=build)
    return Resolved(target)


def _build_into(
    target: Path,
    weights: Path,
    *,
    card: ModelCard | None,
    source: Source,
    attention: str,
    build: Build,
) -> None:
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(target) as part:
        build(weights, part, card=card, source=source, attention=attention)


def _target(stem: str, sha256: str, attention: str) -> Path:
    name = f"{stem.replace('-', '_')}-{sha256[:16]}-{attention}-{__version__}.onnx"
    return cache_root() / "models" / name


def _known(card: ModelCard) -> KnownModel:
    here = cached(card.repository)
    if here is None:
        return KnownModel(card, None, None, card.license)
    size = sum(p.stat().st_size for p in here.path.parent.glob("*.safetensors")) or (
        here.path.stat().st_size
    )
    return KnownModel(card, here.path, size, here.license or card.license)


def _build(
    weights: Path,
    target: Path,
    *,
    card: ModelCard | None,
    source: Source,
    attention: str,
) -> None:
    raise NotImplementedError
