"""``python -m depthsmith``."""

from __future__ import annotations

from depthsmith.cli import main

if __name__ == "__main__":
    main()
