"""Feeds: one contract (`base`), three sources (`exchange`, `replay`, `simulated`) and their choice."""
