"""DA-2K (Yang et al. 2024, arXiv:2406.09414): pairs of points instead of depth.

``annotations.json`` maps a photo's path to a list of pairs: ``point1`` and ``point2`` as
``[row, column]``, and ``closer_point``, the name of the nearer one.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from depthsmith.errors import DatasetError
from depthsmith.media.dataset.camera import text_of
from depthsmith.media.dataset.sample import Dataset, Missing, PointPairs, Sample
from depthsmith.media.dataset.tree import Tree
from depthsmith.media.photo import read_photo

ANNOTATIONS = "annotations.json"


def read_da2k(tree: Tree, units_per_metre: float | None) -> Dataset:
    """Photos with annotated pairs of points.

    Raises:
        DatasetError: if the annotations are damaged.
    """
    files = set(tree.files)
    samples: list[Sample] = []
    missing: list[Missing] = []
    for file in tree.named(ANNOTATIONS):
        path = tree.path(file)
        try:
            entries = [
                (file.parent / name, _pairs(records))
                for name, records in json.loads(text_of(path)).items()
            ]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DatasetError(f"{path} is damaged, or not in the form of DA-2K") from error
        for photo, pairs in entries:
            name = str(PurePosixPath(photo).with_suffix(""))
            if photo not in files:
                missing.append(Missing(str(photo), f"the photo {photo} is not there"))
            else:
                reader = partial(read_photo, tree.path(photo))
                samples.append(Sample(name, reader, pairs=pairs))
    return Dataset("da2k", tree.root, tuple(samples), tuple(missing))


def _pairs(records: list[dict[str, Any]]) -> PointPairs:
    result = []
    for record in records:
        points = {name: _point(record[name]) for name in ("point1", "point2")}
        nearer = record["closer_point"]
        farther = {"point1": "point2", "point2": "point1"}[nearer]
        result.append((points[nearer], points[farther]))
    return tuple(result)


def _point(value: Any) -> tuple[int, int]:
    row, column = value
    return int(row), int(column)
