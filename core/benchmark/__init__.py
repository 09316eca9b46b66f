"""Benchmarks of training, its record and the history: what `ghostcandle bench` runs of core."""
