"""Every photo of a data set scored, those that cannot be named."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthsmith.depth.align import Alignment, default_alignment, valid_pixels
from depthsmith.depth.ordinal import PointPair
from depthsmith.depth.scores import Scores, mean_scores, row_baseline, score, score_pairs
from depthsmith.depth.truth_grid import check_crop, crop_mask, resize_to_truth
from depthsmith.errors import DatasetError, DepthsmithError, InputError, ModelError, UsageError
from depthsmith.evaluation.predictions import FilePredictions, ModelPredictions, Predictions
from depthsmith.media.dataset import Dataset, Sample, Truth
from depthsmith.pipeline import Predictor
from depthsmith.types import BoolArray, DepthKind, Size

_NO_CAP_M = 1e6
"""For predictions of depth: to cap them at the farthest truth would be a help from it."""


@dataclass(frozen=True)
class ImageScore:
    """One photo.

    Attributes:
        name: `Sample.name`.
        scores: of the prediction.
        baseline: of `row_baseline`, aligned by scale and shift in inverse depth.
        scale, shift: of the alignment; see `depthsmith.depth.align.Aligned`.
        clipped: valid pixels that had to be brought between the limits.
        reversed: whether the alignment turned near and far around.
    """

    name: str
    scores: Scores
    baseline: Scores
    scale: float | None = None
    shift: float | None = None
    clipped: int = 0
    reversed: bool = False


@dataclass(frozen=True)
class Failure:
    """A photo that could not be scored, and why."""

    name: str
    error: DepthsmithError


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What a whole data set says of a model.

    Attributes:
        model: name of the model, or of the folder of predictions.
        kind: what was predicted.
        layout, folder: of the data set.
        align: how predictions were aligned; None for point pairs alone.
        cap_m: largest depth that counted; None for all.
        crop: what was cut off.
        images: scored, in order.
        failures: not scored.
    """

    model: str
    kind: DepthKind | None
    layout: str
    folder: Path
    align: Alignment | None
    cap_m: float | None
    crop: str
    images: tuple[ImageScore, ...]
    failures: tuple[Failure, ...]

    @property
    def protocol(self) -> str:
        """How predictions were compared, in a line."""
        if self.align is None:
            return "order of point pairs"
        inverse = self.kind is not None and self.kind.larger_is_nearer
        space = "inverse depth" if inverse else "depth"
        parts = ["not aligned" if self.align == "none" else f"{self.align} in {space}"]
        parts.append("no cap" if self.cap_m is None else f"up to {self.cap_m:g} m")
        parts.append("no crop" if self.crop == "none" else f"crop {self.crop}")
        return ", ".join(parts)

    @property
    def mean(self) -> Scores:
        """Over the photos that were scored.

        Raises:
            DatasetError: if none was.
        """
        return mean_scores([image.scores for image in self.images])

    @property
    def baseline(self) -> Scores:
        """The same of the prediction that looks at nothing but the row."""
        return mean_scores([image.baseline for image in self.images])

    def count(self, measure: str) -> int:
        """In how many photos ``measure`` could be taken."""
        return sum(getattr(image.scores, measure) is not None for image in self.images)


@dataclass(frozen=True, eq=False)
class Shown:
    """What an observer of the evaluation sees of one photo.

    Attributes:
        sample, image: as elsewhere.
        prediction: ``(H, W)``: aligned metres on the pixels of the truth; for point pairs the
            prediction itself on the pixels of the photo.
        kind: what ``prediction`` means.
        truth_m: ``(H, W)`` metres; None for point pairs.
        valid: ``(H, W)`` bool, the pixels that counted; None for point pairs.
    """

    sample: Sample
    image: ImageScore
    prediction: NDArray[Any]
    kind: DepthKind
    truth_m: NDArray[Any] | None = None
    valid: BoolArray | None = None


def evaluate(
    predictions: Predictions | Predictor,
    dataset: Dataset,
    *,
    align: Alignment | None = None,
    cap_m: float | None = None,
    crop: str | None = None,
    advance: Callable[[str], None] = lambda next_name: None,
    observe: Callable[[Shown], None] = lambda shown: None,
) -> Evaluation:
    """Score every photo of ``dataset``.

    A prediction is resized to the size of the truth (`resize_to_truth`) and aligned over the
    valid pixels. Beside it, the row baseline is scored in the same pixels.

    Args:
        predictions: a network, with or without a focal length, or `FilePredictions`.
        dataset: from `depthsmith.media.dataset.open_dataset`.
        align: None for `default_alignment` of the kind.
        cap_m: largest depth that counts, also the largest a prediction can have; None for
            the data set's own, infinity for none. Without one, inverse depth that is not above
            0 after alignment, and what is near it, is as far as the photo's farthest truth.
        crop: see `crop_mask`; None for the data set's own.
        advance: called after each photo with the name of the next one.
        observe: called with each photo that was scored.

    Raises:
        UsageError: if an option is none, or does not go with the kind of prediction.
        ModelError: if the network fails on the first photo; later that is a failure.
    """
    if isinstance(predictions, Predictor):
        predictions = ModelPredictions(predictions)
    chosen_crop = dataset.crop if crop is None else crop
    if dataset.layout == "nyu" and chosen_crop == "eigen":
        chosen_crop = "nyu"  # what is called Eigen's there
    check_crop(chosen_crop)
    cap_m = dataset.cap_m if cap_m is None else cap_m
    if cap_m is not None and not cap_m > 0:
        raise UsageError(f"--cap-m {cap_m:g} must be positive")
    cap_m = None if cap_m == np.inf else cap_m
    rule = _Rule(predictions, align, cap_m, chosen_crop)
    rule.check(predictions.kind)
    failures = [Failure(m.name, DatasetError(m.why)) for m in dataset.missing]
    images: list[ImageScore] = []
    for sample, next_name in _with_next(dataset.samples):
        try:
            shown = rule.score(sample)
        except (InputError, UsageError) as error:
            if isinstance(error, ModelError) and not images:
                raise  # every photo would fail in the same way
            failures.append(Failure(sample.name, error))
        else:
            images.append(shown.image)
            observe(shown)
        advance(next_name)
    pairs_only = all(sample.read_truth is None for sample in dataset.samples)
    how = None if pairs_only or predictions.kind is None else rule.how(predictions.kind)
    return Evaluation(
        predictions.name, predictions.kind, dataset.layout, dataset.folder,
        how, cap_m, chosen_crop, tuple(images), tuple(failures),
    )  # fmt: skip


@dataclass(frozen=True)
class _Rule:
    """How each photo is scored."""

    predictions: Predictions
    align: Alignment | None
    cap_m: float | None
    crop: str

    def how(self, kind: DepthKind) -> Alignment:
        return self.align or default_alignment(kind)

    def check(self, kind: DepthKind | None) -> None:
        """Refuse at once what would fail on every photo."""
        metric = (None, DepthKind.DEPTH_M, DepthKind.CANONICAL)
        if self.align == "none" and kind not in metric:
            raise UsageError(
                f"--align none compares with metres, and {self.predictions.name} gives "
                f"{kind.value if kind else ''}, which has no unit; use scale-shift"
            )

    def score(self, sample: Sample) -> Shown:
        if sample.read_truth is None:
            return self._score_pairs(sample)
        return self._score_depth(sample, sample.read_truth())

    def _score_depth(self, sample: Sample, truth: Truth) -> Shown:
        inside = crop_mask(truth.size, self.crop)
        mask = inside if truth.mask is None else inside & truth.mask
        valid = valid_pixels(truth.depth_m, mask, cap_m=self.cap_m or np.inf)
        in_metres = self.align in (None, "none")
        depth = self.predictions.of(sample, in_metres=in_metres, focal_px=truth.focal_px)
        values = resize_to_truth(depth.values, truth.size)
        farthest_m = self.cap_m
        if farthest_m is None and not depth.kind.larger_is_nearer:
            farthest_m = _NO_CAP_M
        scores, aligned = score(
            values, truth.depth_m, valid, kind=depth.kind, how=self.align, cap_m=farthest_m
        )
        baseline, _ = score(
            row_baseline(*truth.size), truth.depth_m, valid,
            kind=DepthKind.INVERSE_DEPTH, how="scale-shift", cap_m=self.cap_m,
        )  # fmt: skip
        image = ImageScore(
            sample.name, scores, baseline,
            aligned.scale, aligned.shift, aligned.clipped, aligned.reversed,
        )  # fmt: skip
        return Shown(sample, image, aligned.depth_m, DepthKind.DEPTH_M, truth.depth_m, valid)

    def _score_pairs(self, sample: Sample) -> Shown:
        depth = self.predictions.of(sample, in_metres=False, focal_px=None)
        size = depth.size
        if isinstance(self.predictions, FilePredictions):
            size = sample.read_photo().size  # the points are those of the photo
        values = resize_to_truth(depth.values, size)
        image = ImageScore(
            sample.name,
            score_pairs(values, point_pairs(sample), kind=depth.kind),
            _baseline_of_pairs(size, sample),
        )
        return Shown(sample, image, values, depth.kind)


def point_pairs(sample: Sample) -> list[PointPair]:
    """The annotated pairs of a sample."""
    return [PointPair(nearer, farther) for nearer, farther in sample.pairs]


def _baseline_of_pairs(size: Size, sample: Sample) -> Scores:
    return score_pairs(row_baseline(*size), point_pairs(sample), kind=DepthKind.INVERSE_DEPTH)


def _with_next(samples: Sequence[Sample]) -> Iterator[tuple[Sample, str]]:
    names = [sample.name for sample in samples[1:]]
    yield from zip(samples, [*names, ""], strict=True)
