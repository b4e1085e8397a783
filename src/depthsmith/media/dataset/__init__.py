"""Photos with measured depth, in the layouts that data sets are published in.

One file for each layout; `open_dataset` chooses. A layout tells which files belong together;
nothing is read before its turn comes.
"""

from __future__ import annotations

from depthsmith.media.dataset.open import LAYOUTS, open_dataset
from depthsmith.media.dataset.sample import Dataset, Missing, PointPairs, Sample, Truth

__all__ = ["LAYOUTS", "Dataset", "Missing", "PointPairs", "Sample", "Truth", "open_dataset"]
