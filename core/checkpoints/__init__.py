"""Browsing kept checkpoints: their columns, the filter's language, comparing, and taking them out and in. No torch."""
