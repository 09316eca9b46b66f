"""Feeds: one contract (`base`), its sources (`exchange`, `replay`, `simulated`, `stored`), and their choice
(`auto`)."""
