"""Official Depth Anything weights in, a verified ONNX graph out, depth maps from that graph.

    import depthsmith

    predictor = depthsmith.load("da2-small")
    depth = predictor.predict("photo.jpg")
    print(depth)  # DepthMap(1080x1920 inverse_depth, 0.2 to 31.4 relative)
    depthsmith.write_depth(Path("photo_depth.png"), depthsmith.to_near(depth))

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
    from depthsmith.depth.colormap import colorize
    from depthsmith.depth.convert import to_depth, to_inverse_depth, to_metres, to_near
    from depthsmith.errors import (
        CheckpointError,
        DatasetError,
        DepthsmithError,
        FetchError,
        ImageError,
        InputError,
        LicenseError,
        ModelError,
        OutputError,
        ProviderError,
        UsageError,
        VerificationError,
    )
    from depthsmith.inspection import Inspection, inspect
    from depthsmith.media.depth_file import read_depth, write_depth
    from depthsmith.media.photo import read_photo
    from depthsmith.model_store import pull
    from depthsmith.pipeline import Predictor
    from depthsmith.types import DepthKind, DepthMap, Photo, Size

_HOMES = {
    "depthsmith.api": ("load",),
    "depthsmith.catalog": ("MODELS",),
    "depthsmith.contract": ("Contract",),
    "depthsmith.depth.colormap": ("colorize",),
    "depthsmith.depth.convert": ("to_depth", "to_inverse_depth", "to_metres", "to_near"),
    "depthsmith.errors": (
        "CheckpointError",
        "DatasetError",
        "DepthsmithError",
        "FetchError",
        "ImageError",
        "InputError",
        "LicenseError",
        "ModelError",
        "OutputError",
        "ProviderError",
        "UsageError",
        "VerificationError",
    ),
    "depthsmith.inspection": ("Inspection", "inspect"),
    "depthsmith.media.depth_file": ("read_depth", "write_depth"),
    "depthsmith.media.photo": ("read_photo",),
    "depthsmith.model_store": ("pull",),
    "depthsmith.pipeline": ("Predictor",),
    "depthsmith.types": ("DepthKind", "DepthMap", "Photo", "Size"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "MODELS",
    "CheckpointError",
    "Contract",
    "DatasetError",
    "DepthKind",
    "DepthMap",
    "DepthsmithError",
    "FetchError",
    "ImageError",
    "InputError",
    "Inspection",
    "LicenseError",
    "ModelError",
    "OutputError",
    "Photo",
    "Predictor",
    "ProviderError",
    "Size",
    "UsageError",
    "VerificationError",
    "__version__",
    "colorize",
    "inspect",
    "load",
    "pull",
    "read_depth",
    "read_photo",
    "to_depth",
    "to_inverse_depth",
    "to_metres",
    "to_near",
    "write_depth",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'depthsmith' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
