"""Pictures in, depth files and pictures out: Pillow, OpenCV and OpenEXR."""
