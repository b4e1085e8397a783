"""A program: V2-Small with random weights in hub layout, written by Transformers.

python -m benchmarks.upstream_small FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    import upstream  # type: ignore[import-not-found]  # of the tests

    upstream.save_transformers(upstream.transformers_model("small"), Path(sys.argv[1]))
