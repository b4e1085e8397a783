"""Official Depth Anything weights in, a verified ONNX graph out, depth maps from that graph.

    import depthsmith

    predictor = depthsmith.load("da2-small")
    depth = predictor.predict("photo.jpg")
    print(depth)  # DepthMap(1080x1920 inverse_depth, 0.2 to 31.4 relative)
    depthsmith.write_depth("photo_depth.png", depthsmith.to_near(depth))

Names are loaded when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from depthsmith._version import __version__

if TYPE_CHECKING:
    from depthsmith.api import load
    from depthsmith.catalog import MODELS
    from depthsmith.contract import Contract
    from depthsmith.depth import metrics
    from depthsmith.depth.align import align, valid_pixels
    from depthsmith.depth.boundary import edge_score
    from depthsmith.depth.colormap import colorize
    from depthsmith.depth.convert import to_depth, to_inverse_depth, to_metres, to_near
    from depthsmith.depth.ordinal import PointPair, ordinal_accuracy
    from depthsmith.depth.scores import Scores, mean_scores, row_baseline, score
    from depthsmith.depth.temporal import DepthSample, Stabilizer, SteadyDepth, SteadySettings
    from depthsmith.depth.temporal.flicker import FlickerReport, flicker
    from depthsmith.errors import (
        CheckpointError,
        DatasetError,
        DepthsmithError,
        FetchError,
        FilmError,
        ImageError,
        InputError,
        LicenseError,
        ModelError,
        OutputError,
        ProviderError,
        UsageError,
        VerificationError,
    )
    from depthsmith.evaluation import Evaluation, FilePredictions, ModelPredictions, evaluate
    from depthsmith.film import FilmInfo, Span
    from depthsmith.films import make_depth_film, make_stereo_film
    from depthsmith.inspection import Inspection, inspect
    from depthsmith.media.dataset import open_dataset
    from depthsmith.media.depth_file import read_depth, write_depth
    from depthsmith.media.film.probe import probe
    from depthsmith.media.film.sink import Written
    from depthsmith.media.mpo_file import write_mpo
    from depthsmith.media.photo import read_photo
    from depthsmith.media.rgb_file import write_rgb
    from depthsmith.media.wiggle_file import write_wiggle
    from depthsmith.model_store import pull
    from depthsmith.pipeline import Predictor
    from depthsmith.stereo import (
        Projector,
        StereoSettings,
        near_to_disparity,
        pack,
        render_pair,
        wiggle,
        with_depth,
    )
    from depthsmith.types import DepthKind, DepthMap, Photo, Size, StereoPair
    from depthsmith.video.coding import Coding
    from depthsmith.video.frames import predict_frames
    from depthsmith.video.make import Made
    from depthsmith.video.stereo_films import FilmLook

_HOMES = {
    "depthsmith.api": ("load",),
    "depthsmith.catalog": ("MODELS",),
    "depthsmith.contract": ("Contract",),
    "depthsmith.depth": ("metrics",),
    "depthsmith.depth.align": ("align", "valid_pixels"),
    "depthsmith.depth.boundary": ("edge_score",),
    "depthsmith.depth.colormap": ("colorize",),
    "depthsmith.depth.convert": ("to_depth", "to_inverse_depth", "to_metres", "to_near"),
    "depthsmith.depth.ordinal": ("PointPair", "ordinal_accuracy"),
    "depthsmith.depth.scores": ("Scores", "mean_scores", "row_baseline", "score"),
    "depthsmith.depth.temporal": ("DepthSample", "Stabilizer", "SteadyDepth", "SteadySettings"),
    "depthsmith.depth.temporal.flicker": ("FlickerReport", "flicker"),
    "depthsmith.errors": (
        "CheckpointError",
        "DatasetError",
        "DepthsmithError",
        "FetchError",
        "FilmError",
        "ImageError",
        "InputError",
        "LicenseError",
        "ModelError",
        "OutputError",
        "ProviderError",
        "UsageError",
        "VerificationError",
    ),
    "depthsmith.evaluation": ("Evaluation", "FilePredictions", "ModelPredictions", "evaluate"),
    "depthsmith.film": ("FilmInfo", "Span"),
    "depthsmith.films": ("make_depth_film", "make_stereo_film"),
    "depthsmith.inspection": ("Inspection", "inspect"),
    "depthsmith.media.dataset": ("open_dataset",),
    "depthsmith.media.depth_file": ("read_depth", "write_depth"),
    "depthsmith.media.film.probe": ("probe",),
    "depthsmith.media.film.sink": ("Written",),
    "depthsmith.media.mpo_file": ("write_mpo",),
    "depthsmith.media.photo": ("read_photo",),
    "depthsmith.media.rgb_file": ("write_rgb",),
    "depthsmith.media.wiggle_file": ("write_wiggle",),
    "depthsmith.model_store": ("pull",),
    "depthsmith.pipeline": ("Predictor",),
    "depthsmith.stereo": (
        "Projector",
        "StereoSettings",
        "near_to_disparity",
        "pack",
        "render_pair",
        "wiggle",
        "with_depth",
    ),
    "depthsmith.types": ("DepthKind", "DepthMap", "Photo", "Size", "StereoPair"),
    "depthsmith.video.coding": ("Coding",),
    "depthsmith.video.frames": ("predict_frames",),
    "depthsmith.video.make": ("Made",),
    "depthsmith.video.stereo_films": ("FilmLook",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
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


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'depthsmith' has no attribute {name!r}")
    home = import_module(_HOME_OF[name])
    if not hasattr(home, name):  # a module in a package, such as `metrics`
        import_module(f"{home.__name__}.{name}")
    value = getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
