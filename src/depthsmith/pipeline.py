"""A photo through a network: read, fit, run, restore."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union, get_args

import cv2
import numpy as np
from numpy.typing import NDArray

from depthsmith.depth.convert import Span, Target, convert, focal_at_network, fov_to_focal_px
from depthsmith.depth.fit import Fitted, Method, fit, fit_by_area, to_input
from depthsmith.depth.restore import restore, restore_mask
from depthsmith.depth.sky import is_sky, push_sky_away
from depthsmith.errors import InputError, ModelError, UsageError
from depthsmith.inspection import contract_of, unknown
from depthsmith.media.photo import read_photo
from depthsmith.runtime import Session
from depthsmith.types import (
    BoolArray,
    ByteArray,
    DepthMap,
    FloatArray,
    Photo,
    Placement,
    Size,
)

if TYPE_CHECKING:
    from PIL.Image import Image

ImageLike = Union[Photo, Path, str, bytes, "Image", NDArray[Any]]
"""A photo; a path; the bytes of a file; a Pillow image; an array ``(H, W, 3)`` uint8 RGB."""


@dataclass(frozen=True)
class Wanted:
    """What a depth map shall be, and what is known of the camera.

    Attributes:
        as_: ``raw`` (the network's own kind), ``near``, ``inverse-depth``, ``depth`` or
            ``depth-m``; see `depthsmith.depth.convert`.
        span: what becomes 0 and 1 of ``near``: ``exact``, ``robust``, or two inverse depths.
        focal_px: focal length in pixels of the photo.
        fov_deg: horizontal field of view, instead.

    Raises:
        UsageError: if both focal length and field of view are given, or cannot be.
    """

    as_: Target = "raw"
    span: Span = "exact"
    focal_px: float | None = None
    fov_deg: float | None = None

    def __post_init__(self) -> None:
        if self.focal_px is not None and self.fov_deg is not None:
            raise UsageError("--focal-px and --fov say the same thing; give one")
        if self.focal_px is not None and not 0 < self.focal_px < np.inf:
            raise UsageError(
                f"the focal length is {self.focal_px:g} px; it must be positive and finite"
            )
        if self.fov_deg is not None:
            fov_to_focal_px(self.fov_deg, Size(1, 1))  # raises if it cannot be

    def focal_of(self, photo: Photo) -> float | None:
        """Focal length in pixels of ``photo``: as given, else from EXIF, else None."""
        if self.fov_deg is not None:
            return fov_to_focal_px(self.fov_deg, photo.size)
        return self.focal_px or photo.focal_px()


RAW = Wanted()


@dataclass(frozen=True, eq=False)
class Estimate:
    """What the network says of one picture, at the size of its input, padding included.

    Attributes:
        values: ``(h, w)`` float32 in the network's own kind, sky pushed away.
        sky: ``(h, w)`` bool, or None without a sky head.
        confidence: ``(h, w)`` float, or None.
    """

    values: FloatArray
    sky: BoolArray | None = None
    confidence: NDArray[Any] | None = None


@dataclass(frozen=True, eq=False)
class Prediction:
    """A depth map together with its photo.

    Attributes:
        photo: as read.
        depth: in the network's own kind.
        placement: of the photo in the network's input.
    """

    photo: Photo
    depth: DepthMap
    placement: Placement

    def as_wanted(self, wanted: Wanted) -> DepthMap:
        """The depth map as ``wanted``.

        Raises:
            UsageError: if it cannot be had from this kind, or needs a focal length.
        """
        focal_px = wanted.focal_of(self.photo)
        network_focal_px = None
        if focal_px is not None:
            network_focal_px = focal_at_network(focal_px, self.placement)
        return convert(self.depth, wanted.as_, span=wanted.span, network_focal_px=network_focal_px)


class Predictor:
    """A network that is ready to run.

    Args:
        session: the open ONNX file.
        fit: ``official`` (the default for files of free size), ``letterbox`` (the default
            for fixed sizes) or ``stretch``; see `load`.
        resolution: target side in pixels, for files of free size.
        kind, normalization, family: what a file made elsewhere does not tell itself; see
            `load`.

    Attributes:
        contract: what goes in and what comes out.
        session: as given.
        fit: what was chosen.

    Raises:
        ModelError: if something that matters is not known of the file.
        UsageError: for an option that does not exist, or contradicts the file.
    """

    def __init__(
        self,
        session: Session,
        *,
        fit: Method | None = None,
        resolution: int | None = None,
        kind: str | None = None,
        normalization: str | None = None,
        family: str | None = None,
    ) -> None:
        self.session = session
        self.contract = contract_of(session, kind=kind, normalization=normalization, family=family)
        rule = self.contract.size
        free = rule.height is None and rule.width is None
        if fit is not None and fit not in get_args(Method):
            raise UsageError(f"photos are fitted by {', '.join(get_args(Method))}, not {fit!r}")
        self.fit: Method = fit or ("official" if free else "letterbox")
        self.resolution = resolution
        if self.fit == "official" and self.contract.preprocessing is None:
            question = unknown(self.contract)["family"]
            raise ModelError(
                f"{session.name} does not say {question}; say it, or pass --fit letterbox"
            )

    def __repr__(self) -> str:
        kind = self.contract.depth.kind
        return f"Predictor({self.contract.model}, {kind}, {self.session.provider}, {self.fit})"

    def predict(
        self,
        image: ImageLike,
        *,
        as_: Target = "raw",
        span: Span = "exact",
        focal_px: float | None = None,
        fov_deg: float | None = None,
    ) -> DepthMap:
        """The depth map of ``image``, at its size.

        Args:
            image: path of a file, the bytes of one, a Pillow image, an array ``(H, W, 3)`` uint8
                RGB, or a `Photo`; see `read_photo`.
            as_: ``raw``, the network's own kind; ``near``, 0 to 1 and 1 is nearest;
                ``inverse-depth``, ``depth``, or ``depth-m``, metres.
            span: what becomes 0 and 1 of ``near``, see `to_near`.
            focal_px: focal length in pixels of the photo, for metres of da3metric-large. By
                default that of the photo's EXIF.
            fov_deg: horizontal field of view, instead.

        Raises:
            ImageError: if the picture cannot be read.
            UsageError: if what is asked for cannot be had from this network.
            ModelError: if the network fails, or gives values that are not finite or a size
                that is not its input's.
            InputError: if memory runs out.
        """
        wanted = Wanted(as_, span, focal_px, fov_deg)
        self.check(wanted)
        return self.predict_photo(_photo(image)).as_wanted(wanted)

    def check(self, wanted: Wanted) -> None:
        """Make sure that depth maps can be had as ``wanted``, before any work is done.

        A focal length that a photo may still bring along is not missed.

        Raises:
            UsageError: if they cannot.
        """
        kind = self.contract.kind
        assert kind is not None  # `contract_of` has made sure
        any_map = DepthMap(
            np.ones((1, 1), np.float32), kind, Size(1, 1), model=self.contract.model
        )
        convert(any_map, wanted.as_, span=wanted.span, network_focal_px=1.0)

    def predict_photo(self, photo: Photo) -> Prediction:
        """The same for a photo that was read already, kept with it."""
        return self._run([photo], [self._fit(photo)])[0]

    def predict_many(
        self, images: Iterable[ImageLike], *, wanted: Wanted = RAW, batch_size: int = 1
    ) -> Iterator[DepthMap]:
        """The depth map of each of ``images``, in order, as they come.

        Args:
            images: are read when their turn comes.
            wanted: what each shall be.
            batch_size: run up to so many neighbours of one input size together; on a CPU
                that is not faster.

        Raises:
            as `predict`.
        """
        self.check(wanted)
        photos: list[Photo] = []
        fitted: list[Fitted] = []
        limit = 1 if self.contract.size.batch else max(1, batch_size)
        for image in images:
            photo = _photo(image)
            next_one = self._fit(photo)
            other_size = fitted and fitted[0].placement.network != next_one.placement.network
            if len(fitted) == limit or other_size:
                yield from (p.as_wanted(wanted) for p in self._run(photos, fitted))
                photos, fitted = [], []
            photos.append(photo)
            fitted.append(next_one)
        if fitted:
            yield from (p.as_wanted(wanted) for p in self._run(photos, fitted))

    def fit_frame(self, rgb: ByteArray) -> Fitted:
        """A frame of a film for `estimate`.

        Like `predict` fits a photo, but always in 8 bits and shrinking by area: the official
        way of V1 and V2 skips pixels when it shrinks, so that fine patterns flicker, and takes
        four times as long.

        Args:
            rgb: ``(H, W, 3)`` uint8.
        """
        preprocessing, rule = self.contract.preprocessing, self.contract.size
        if self.fit != "official" or preprocessing is None:
            return fit(
                rgb,
                method=self.fit,
                preprocessing=preprocessing,
                rule=rule,
                resolution=self.resolution,
            )
        return fit_by_area(rgb, preprocessing, rule, self.resolution)

    def estimate(self, fitted: Sequence[Fitted]) -> list[Estimate]:
        """Run the network on pictures of one input size, at most as many as it takes at once.

        Raises:
            ModelError, InputError: as `predict`.
        """
        pixels = [f.pixels for f in fitted]
        wanted = self.contract.size.batch or len(pixels)
        batch = to_input([*pixels, *pixels[:1] * (wanted - len(pixels))], self.contract.input)
        outputs = self.session.run(batch)
        maps = {
            name: self._maps(outputs[name], name, fitted[0].placement)
            for name in (spec.name for spec in self.contract.outputs)
        }
        return [
            self._estimate({name: m[i] for name, m in maps.items()}, f.placement)
            for i, f in enumerate(fitted)
        ]

    def _fit(self, photo: Photo) -> Fitted:
        with _noticing_memory(photo):
            return fit(
                photo.rgb,
                method=self.fit,
                preprocessing=self.contract.preprocessing,
                rule=self.contract.size,
                resolution=self.resolution,
            )

    def _run(self, photos: Sequence[Photo], fitted: Sequence[Fitted]) -> list[Prediction]:
        with _noticing_memory(photos[0]):
            return self._predictions(photos, fitted)

    def _predictions(self, photos: Sequence[Photo], fitted: Sequence[Fitted]) -> list[Prediction]:
        estimates = self.estimate(fitted)
        return [
            self._prediction(photo, f.placement, estimate)
            for photo, f, estimate in zip(photos, fitted, estimates, strict=True)
        ]

    def _maps(self, values: NDArray[Any], name: str, placement: Placement) -> NDArray[Any]:
        """One output as ``(N, h, w)``, checked."""
        size = tuple(placement.network)
        if values.ndim == 4 and values.shape[1] == 1:
            values = values[:, 0]  # (N, 1, h, w): a channel, or the views axis
        if values.shape[1:] != size:
            raise ModelError(
                f"output {name!r} of {self.session.name} is {values.shape} for an input of "
                f"{placement.network}; it does not follow its input (`depthsmith verify` tells "
                "which sizes it can do)"
            )
        bad = int(values.size - np.isfinite(values).sum())
        if bad:
            provider = self.session.provider
            hint = "" if provider == "cpu" else "; use --provider cpu"
            raise ModelError(
                f"{bad} of {values.size} values of {name!r} are not finite: {self.session.name} "
                f"does not work on {provider}{hint}"
            )
        return values

    def _estimate(self, maps: dict[str, NDArray[Any]], placement: Placement) -> Estimate:
        contract = self.contract
        values = maps[contract.depth.name].astype(np.float32, copy=False)
        sky_spec, confidence_spec = contract.output("sky"), contract.output("confidence")
        sky = None
        if sky_spec is not None:
            sky = is_sky(maps[sky_spec.name])
            inside = placement.rows, placement.columns  # padding is no part of the scene
            values = values.copy()
            values[inside] = push_sky_away(values[inside], sky[inside])
        return Estimate(values, sky, maps[confidence_spec.name] if confidence_spec else None)

    def _prediction(self, photo: Photo, placement: Placement, estimate: Estimate) -> Prediction:
        kind = self.contract.kind
        assert kind is not None  # `contract_of` has made sure
        sky, confidence = estimate.sky, estimate.confidence
        depth = DepthMap(
            values=restore(estimate.values, placement),
            kind=kind,
            source_size=photo.size,
            sky=None if sky is None else restore_mask(sky, placement),
            confidence=None if confidence is None else restore(confidence, placement),
            model=self.contract.model,
            notes=photo.notes,
        )
        return Prediction(photo, depth, placement)


@contextlib.contextmanager
def _noticing_memory(photo: Photo) -> Iterator[None]:
    """Turn the ways in which libraries say that memory ran out into an `InputError`."""
    try:
        yield
    except (MemoryError, cv2.error) as error:
        if isinstance(error, cv2.error) and error.code != cv2.Error.StsNoMem:
            raise
        raise InputError(
            f"not enough memory for the {photo.size.wxh} photo; use a smaller --resolution"
        ) from error


def _photo(image: ImageLike) -> Photo:
    return image if isinstance(image, Photo) else read_photo(image)
