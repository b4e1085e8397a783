"""Films: read and written with PyAV, shot by shot, track by track."""
