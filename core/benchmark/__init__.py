"""Benchmarks of training, for `ghostcandle bench`."""
