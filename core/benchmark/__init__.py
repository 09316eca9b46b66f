"""Benchmarks of training, the record and the history, for `ghostcandle bench`."""
