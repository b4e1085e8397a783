"""The Python way in: a model by name or file, ready to predict."""

from __future__ import annotations

from pathlib import Path

from depthsmith.depth.fit import Method
from depthsmith.depth.sizes import Frames
from depthsmith.errors import ModelError
from depthsmith.model_store import AUTO, Announce, resolve, say_nothing
from depthsmith.pipeline import Predictor
from depthsmith.runtime import first_choice, open_session
from depthsmith.types import Size


def load(
    model: str | Path = AUTO,
    *,
    provider: str = "auto",
    fit: Method | None = None,
    resolution: int | None = None,
    threads: int | None = None,
    kind: str | None = None,
    normalization: str | None = None,
    family: str | None = None,
    allow_license: str | None = None,
    progress: bool = False,
    announce: Announce = say_nothing,
    frame_size: Size | None = None,
) -> Predictor:
    """A model that is ready to predict::

        depth = depthsmith.load("da2-small").predict("photo.jpg")

    Args:
        model: a name (``da2-small``; see `depthsmith.MODELS`), an ONNX file, a weight file or
            folder, or ``auto``: the best model under a permissive licence that is in the
            cache, else da2-small. What has a name is fetched and built on first use.
        provider: ``auto``, ``cpu``, ``cuda``, ``tensorrt``, ``directml``, ``coreml`` or
            ``openvino``. What was asked for and does not load is an error.
        fit: ``official`` resizes as the model's authors do, and is the default for files of
            free size; ``letterbox`` pads, the default for fixed sizes; ``stretch`` fills.
        resolution: target side of the network's input in pixels, for files of free size.
        threads: CPU threads; None for all cores.
        kind, normalization, family: of an ONNX file made elsewhere, what it does not tell:
            ``inverse-depth``, ``depth``, ``depth-m`` or ``canonical``; ``imagenet``,
            ``zero-one`` or ``none``; ``da1``, ``da2`` or ``da3``.
        allow_license: licence id that you consent to, for weights that are not under a
            permissive one.
        progress: show bars on stderr while fetching, if that is a terminal.
        announce: told, a clause each, what was chosen for you and what is taking time.
        frame_size: of a film whose frames are all that will be predicted. What is built is
            built for their aspect ratio, which providers that compile the graph need.

    Raises:
        UsageError: for a name or an option that does not exist, or contradicts the file.
        LicenseError, FetchError: if the weights may not, or cannot, be had.
        ModelError: if the file cannot be loaded, or does not tell what it means.
        ProviderError: if the provider is not there.
    """
    official = frame_size is not None and fit in (None, "official")
    frames = Frames(frame_size, resolution) if frame_size and official else None

    def find() -> Path:
        return resolve(
            model,
            frames=frames,
            provider=provider,
            allow_license=allow_license,
            progress=progress,
            announce=announce,
        )

    path, alone = find(), frame_size is None
    try:
        session = open_session(path, provider=provider, threads=threads, alone=alone)
    except ModelError:
        if path == Path(model):
            raise
        path.unlink(missing_ok=True)  # damaged in the cache: it is made anew
        path = find()
        session = open_session(path, provider=provider, threads=threads, alone=alone)
    for note in session.notes:
        announce(note)
    if provider == "auto" and first_choice(provider) != "cpu":  # else there was no choice
        announce(f"running on {session.provider}")
    return Predictor(
        session,
        # A file of a fixed size is else fed by letterbox.
        fit="official" if frames and path != Path(model) else fit,
        resolution=resolution,
        kind=kind,
        normalization=normalization,
        family=family,
    )
