"""Where the depth maps that are scored come from: a network, or files."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from depthsmith.errors import InputError, UsageError
from depthsmith.media.dataset import Sample
from depthsmith.media.depth_file import SUFFIXES, read_depth
from depthsmith.pipeline import Predictor, Wanted
from depthsmith.types import DepthKind, DepthMap


class Predictions(Protocol):
    """Where depth maps come from."""

    @property
    def name(self) -> str:
        """Of the model, or of the folder."""
        ...

    @property
    def kind(self) -> DepthKind | None:
        """What the values mean; None until the first was read."""
        ...

    def of(self, sample: Sample, *, in_metres: bool, focal_px: float | None) -> DepthMap:
        """The depth map of one photo.

        Args:
            sample: the photo.
            in_metres: convert `DepthKind.CANONICAL` to metres.
            focal_px: of the photo, as the data set knows it.
        """
        ...


@dataclass(frozen=True)
class ModelPredictions:
    """What a network makes of the photos.

    Attributes:
        predictor: ready to run.
        focal_px: focal length in pixels of every photo; None for the data set's or EXIF's.

    Raises:
        UsageError: if the focal length is not positive and finite.
    """

    predictor: Predictor
    focal_px: float | None = None

    def __post_init__(self) -> None:
        Wanted("depth-m", focal_px=self.focal_px)  # raises if there is no such focal length

    @property
    def name(self) -> str:
        return self.predictor.contract.model

    @property
    def kind(self) -> DepthKind | None:
        return self.predictor.contract.kind

    def of(self, sample: Sample, *, in_metres: bool, focal_px: float | None) -> DepthMap:
        photo = sample.read_photo()
        if not (in_metres and self.kind is DepthKind.CANONICAL):
            return self.predictor.predict_photo(photo).depth
        wanted = Wanted("depth-m", focal_px=self.focal_px or focal_px)
        if wanted.focal_of(photo) is None:
            raise UsageError(
                f"{self.name} needs the focal length for metres, and neither the data set nor the "
                "photo says it; give --focal-px, or align with --align scale"
            )
        return self.predictor.predict_photo(photo).as_wanted(wanted)


@dataclass(frozen=True)
class FilePredictions:
    """Depth files that were made before.

    The file for the photo ``a/b.jpg`` is ``a/b_depth.*``, as ``depthsmith depth -o`` writes
    it, or ``a/b.*``; or the same without ``a/``, where no other photo is called ``b``.

    Args:
        folder: of the files.
        kind_of_files: what their values mean; None if they say it themselves.

    Raises:
        InputError: if the folder does not exist.
    """

    folder: Path
    kind_of_files: DepthKind | None = None
    _files: dict[str, list[Path]] = field(default_factory=dict)
    _kinds: list[DepthKind] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.folder.is_dir():
            raise InputError(f"the folder {self.folder} of the predictions does not exist")
        for path in sorted(self.folder.rglob("*")):
            if path.suffix.lower() in (*SUFFIXES.values(), ".tif") and path.is_file():
                key = path.relative_to(self.folder).with_suffix("").as_posix()
                self._files.setdefault(key, []).append(path)

    @property
    def name(self) -> str:
        return str(self.folder)

    @property
    def kind(self) -> DepthKind | None:
        return self._kinds[0] if self._kinds else self.kind_of_files

    def of(self, sample: Sample, *, in_metres: bool, focal_px: float | None) -> DepthMap:
        depth = read_depth(self._file(sample.name), self.kind_of_files)
        self._kinds[:] = self._kinds or [depth.kind]
        if depth.kind is not self._kinds[0]:
            raise InputError(
                f"its prediction is {depth.kind.value}, the first one {self._kinds[0].value}"
            )
        return depth

    def _file(self, name: str) -> Path:
        base = name.rsplit("/", 1)[-1]
        for key in (f"{name}_depth", name, f"{base}_depth", base):
            files = self._files.get(key, [])
            if len(files) == 1:
                return files[0]
            if files:
                raise InputError(f"{files[0]} and {files[1]} are both predictions for {name}")
        raise InputError(f"{self.folder} holds no {name}_depth.png or other prediction for it")
