"""Stage: official weights, from the hub or from disk, to checked tensors under our names."""
