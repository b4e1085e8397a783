"""Options that several verbs share, so that they mean and say the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Optional

import typer

ProviderChoice = Literal["auto", "cpu", "cuda", "tensorrt", "directml", "coreml", "openvino"]
KindChoice = Literal["inverse-depth", "depth", "depth-m", "canonical"]
NormalizationChoice = Literal["imagenet", "zero-one", "none"]
FamilyChoice = Literal["da1", "da2", "da3"]
SteadyChoice = Literal["off", "fast", "quality"]
CodecChoice = Literal["h264", "hevc", "ffv1", "av1"]
HardwareChoice = Literal["off", "auto", "nvenc", "qsv", "videotoolbox", "vaapi", "amf"]
ProgressChoice = Literal["auto", "json", "none"]
FitChoice = Literal["official", "letterbox", "stretch"]

Model = Annotated[
    str,
    typer.Option(
        "--model",
        "-m",
        metavar="NAME|FILE",
        help="A model (see `depthsmith models`), an ONNX file, weights on disk, or auto: the "
        "best one here.",
    ),
]
Provider = Annotated[
    ProviderChoice,
    typer.Option(
        "--provider",
        help="Where to run. What was asked for and does not load is an error.",
    ),
]
Threads = Annotated[
    Optional[int],  # noqa: UP045 - typer evaluates it on Python 3.10 too
    typer.Option("--threads", min=1, metavar="N", help="CPU threads; all cores by default."),
]
AllowLicense = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        "--allow-license",
        metavar="ID",
        help="Accept this licence, for a model that is not under a permissive one.",
    ),
]
Kind = Annotated[
    Optional[KindChoice],  # noqa: UP045
    typer.Option(
        "--kind",
        help="What an ONNX file made elsewhere gives: inverse-depth (larger is nearer), depth "
        "(larger is farther), depth-m (metres), canonical (metres at a focal length of 300).",
    ),
]
Normalization = Annotated[
    Optional[NormalizationChoice],  # noqa: UP045
    typer.Option(
        "--normalization",
        help="What an ONNX file made elsewhere takes: imagenet (mean and std), zero-one "
        "(0 to 1), none (0 to 255).",
    ),
]
Family = Annotated[
    Optional[FamilyChoice],  # noqa: UP045
    typer.Option("--family", help="Whose resizing `--fit official` follows, where unknown."),
]
Fit = Annotated[
    Optional[FitChoice],  # noqa: UP045
    typer.Option(
        "--fit",
        help="official: resize as the model's authors do (default for files of free size); "
        "letterbox: keep the aspect ratio and pad (default for fixed sizes); stretch.",
    ),
]
Resolution = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(
        "--resolution",
        min=14,
        metavar="N",
        help="Side of the network's input in pixels; larger is finer and slower. "
        "By default the model's own (518 or 504).",
    ),
]
FocalPx = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option(
        "--focal-px", metavar="PX", help="Focal length in pixels of the picture, for metres."
    ),
]
Fov = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option("--fov", metavar="DEG", help="Horizontal field of view instead of --focal-px."),
]
Recursive = Annotated[
    bool, typer.Option("--recursive", "-r", help="Look into the folders of folders.")
]
SkipExisting = Annotated[
    bool, typer.Option("--skip-existing", help="Leave out what has its output.")
]
MaxPixels = Annotated[
    int,
    typer.Option(
        "--max-pixels", min=0, metavar="N", help="Refuse larger pictures; 0 for no limit."
    ),
]
AllowTruncated = Annotated[
    bool, typer.Option("--allow-truncated", help="Take what there is of a truncated file.")
]
Stabilize = Annotated[
    SteadyChoice,
    typer.Option(
        "--stabilize",
        help="quality follows motion; fast follows the camera only; off leaves each frame as the "
        "network gave it, in one range for each shot.",
    ),
]
Live = Annotated[
    bool, typer.Option("--live", help="Never look ahead: as it would be on a live picture.")
]
Every = Annotated[
    int,
    typer.Option(
        "--every",
        min=1,
        max=12,
        metavar="N",
        help="Run the network on every Nth frame, and carry depth along the motion between.",
    ),
]
Batch = Annotated[
    int, typer.Option("--batch", min=1, metavar="N", help="Frames that the network takes at once.")
]
Start = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--start", metavar="TIME", help="Begin here: seconds, M:SS or H:MM:SS."),
]
Duration = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--duration", metavar="TIME", help="Take so much."),
]
Segment = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(
        "--segment", metavar="A-B", help="A part, as 1:00-2:00; may be given several times."
    ),
]
Codec = Annotated[
    Optional[CodecChoice],  # noqa: UP045
    typer.Option(
        "--codec",
        help="h264: 8 bits, plays everywhere (default); hevc: 10 bits; ffv1: 16 bits, lossless, "
        "in mkv; av1: 10 bits.",
    ),
]
Crf = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option("--crf", min=0, max=63, metavar="N", help="Quality; smaller is better."),
]
Preset = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--preset", metavar="NAME", help="The encoder's own, as veryfast or slow."),
]
BitRate = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--bitrate", metavar="RATE", help="Instead of --crf: 8M, 500k."),
]
Hardware = Annotated[
    HardwareChoice,
    typer.Option(
        "--hardware",
        help="Encode on hardware: auto takes what opens, a name that does not is an error.",
    ),
]
NoTracks = Annotated[
    bool,
    typer.Option("--no-tracks", help="Leave out audio, subtitles, chapters, attachments."),
]
Resume = Annotated[
    bool,
    typer.Option("--resume", help="Continue what a stopped run has left; leave what is finished."),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Stop at a damaged frame; by default it is skipped.")
]
ProgressWay = Annotated[
    ProgressChoice,
    typer.Option("--progress", help="json: a line for each event on standard error."),
]
Reference = Annotated[
    Literal["oracle", "torch"],
    typer.Option("--reference", help="torch: compare with upstream PyTorch code as well."),
]
Vendor = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option(
        "--vendor",
        metavar="PATH",
        help="DA3 source tree with depth_anything_3/; implies --reference torch.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
