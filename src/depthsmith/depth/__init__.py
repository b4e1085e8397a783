"""From a photo to the network's input, from its output to a depth map: numpy and OpenCV."""
