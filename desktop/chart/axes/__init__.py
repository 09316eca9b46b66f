"""Mapping of times and values to pixels, and the round values to mark."""
