"""From the name of a model to an ONNX file: fetched, built, kept in the cache.

A file in the cache is named by the SHA-256 of the weights, the options of the build and the
version of depthsmith, so that whatever changes makes a new one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from depthsmith._version import __version__
from depthsmith.atomic import writing
from depthsmith.catalog import ALLOWED_LICENSES, MODELS, ModelCard, find
from depthsmith.checkpoint.cache import cache_root, make_room, note_use, weights_sha256
from depthsmith.checkpoint.hub import Fetched, cached, fetch
from depthsmith.checkpoint.license_gate import check_license
from depthsmith.contract import Source
from depthsmith.depth.sizes import Frames
from depthsmith.errors import FetchError, ModelError
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


Announce = Callable[[str], None]
"""Is told, one clause at a time, what a user may want to know."""


def say_nothing(text: str) -> None:
    """The `Announce` that keeps silent."""


class Build(Protocol):
    """Build an ONNX file from weights; atomically, as `build_for_cache`."""

    def __call__(
        self,
        weights: Path,
        target: Path,
        *,
        card: ModelCard | None,
        source: Source,
        attention: str,
        frames: Frames | None,
    ) -> None: ...


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
    announce: Announce = say_nothing,
    frames: Frames | None = None,
    build: Build | None = None,
) -> Path:
    """The ONNX file for ``name``: itself, or built from the weights that it names.

    Args:
        name: an ONNX file; a weight file or folder; a model of the catalogue; ``auto`` for
            the best model under a permissive licence that is in the cache, else da2-small
            from the hub.
        provider: that the file is for; some need a graph of standard operations only.
        allow_license: licence id that the user consents to.
        progress: show bars on stderr, if that is a terminal.
        announce: told what was chosen and what takes time.
        frames: what is built takes these only; by default it takes any size.
        build: in the place of `depthsmith.build.build_for_cache`.

    Raises:
        UsageError: if no model is called so.
        ModelError, CheckpointError: if a path does not exist, or the weights are not usable.
        LicenseError: if the licence is not allowed.
        FetchError: if the weights cannot be had.
        VerificationError, OutputError: if the file cannot be built.
    """
    attention = "portable" if first_choice(provider) in _NEEDS_PORTABLE else "fused"
    store = _Store(attention, frames, allow_license, progress, announce, build)
    if name == AUTO:
        return store.best()
    path = Path(name)
    if path.suffix.lower() in _WEIGHT_SUFFIXES or (path.is_dir() and str(name) not in MODELS):
        return store.from_weights(path)
    if path.suffix.lower() in (".onnx", ".ort") or path.is_file():
        if not path.exists():
            raise ModelError(f"there is no file {path}")
        return path
    return store.from_catalog(find(str(name)))


@dataclass(frozen=True)
class _Store:
    attention: str
    frames: Frames | None
    allow_license: str | None
    progress: bool
    announce: Announce
    build: Build | None

    def best(self) -> Path:
        known = {model.card.name: model for model in known_models()}
        for name in _PREFERENCE:
            if known[name].weights and known[name].permissive:
                self.announce(f"using {name}, the best model here")
                return self.from_catalog(known[name].card)
        self.announce(f"no model is here; using {_FALLBACK}")
        try:
            return self.from_catalog(MODELS[_FALLBACK])
        except FetchError as error:
            raise FetchError(
                f"no model is here, and {_FALLBACK} could not be fetched: {error}"
            ) from None

    def from_catalog(self, card: ModelCard) -> Path:
        here = cached(card.repository)
        if here is not None:
            target = self._target(card.name, here.sha256, here.config)
            if target.exists():
                # Nothing is fetched, so nobody is asked; consent is needed all the same.
                check_license(
                    here.license or card.license,
                    repository=card.repository,
                    allow_license=self.allow_license,
                )
                note_use(target)
                return target
        fetched = pull(card.name, allow_license=self.allow_license, progress=self.progress)
        if fetched.note:
            self.announce(fetched.note)
        source = Source(
            repository=fetched.repository,
            revision=fetched.revision,
            file=fetched.file,
            sha256=fetched.sha256,
            license=fetched.license,
            license_consent=fetched.license_consent,
        )
        return self._built(card.name, fetched.path, fetched.config, card, source)

    def from_weights(self, path: Path) -> Path:
        from depthsmith.checkpoint.load import weight_file

        file = weight_file(path)
        source = Source(None, None, file.name, weights_sha256(file), license=None)
        config = file.with_name("config.json")
        return self._built(file.stem, file, config if config.is_file() else None, None, source)

    def _built(
        self,
        stem: str,
        weights: Path,
        config: Path | None,
        card: ModelCard | None,
        source: Source,
    ) -> Path:
        target = self._target(stem, source.sha256, config)
        if not target.exists():
            self.announce(f"building {stem} for its first use")
            with writing(target):
                target.parent.mkdir(parents=True, exist_ok=True)
            build = self.build or _builder()
            build(
                weights,
                target,
                card=card,
                source=source,
                attention=self.attention,
                frames=self.frames,
            )
            make_room(target)
        note_use(target)
        return target

    def _target(self, stem: str, sha256: str, config: Path | None) -> Path:
        """Where a file built from weights lies. The same weights under another ``config.json``
        are another network: V1 or V2, relative or in metres.
        """
        key = sha256.encode() + (config.read_bytes() if config else b"")
        digest = hashlib.sha256(key).hexdigest()[:16]
        form = f"{self.frames.key}-{self.attention}" if self.frames else self.attention
        name = f"{stem.replace('-', '_')}-{digest}-{form}-{__version__}.onnx"
        return cache_root() / "models" / name


def _builder() -> Build:
    # Half a second of imports that a file which is there already does not need.
    from depthsmith.build import build_for_cache

    return build_for_cache


def _known(card: ModelCard) -> KnownModel:
    here = cached(card.repository)
    if here is None:
        return KnownModel(card, None, None, card.license)
    size = sum(p.stat().st_size for p in here.path.parent.glob("*.safetensors")) or (
        here.path.stat().st_size
    )
    return KnownModel(card, here.path, size, here.license or card.license)
