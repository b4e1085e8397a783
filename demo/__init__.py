"""What depthsmith does, on a real photo: ``make demo``."""
