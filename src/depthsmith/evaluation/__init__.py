"""Score a model, or depth files, against photos with measured depth.

The protocol is the field's own for each kind of prediction (`depthsmith.depth.align`), the
largest depth and the crop are the data set's own, and each photo counts the same. A photo that
cannot be scored is no NaN in a mean: it is a `Failure`, listed and counted.
"""

from __future__ import annotations

from depthsmith.evaluation.predictions import FilePredictions, ModelPredictions, Predictions
from depthsmith.evaluation.run import Evaluation, Failure, ImageScore, Shown, evaluate
from depthsmith.media.dataset import open_dataset

__all__ = [
    "Evaluation",
    "Failure",
    "FilePredictions",
    "ImageScore",
    "ModelPredictions",
    "Predictions",
    "Shown",
    "evaluate",
    "open_dataset",
]
