"""Sweeps: many evaluations, and what the best of them is worth."""
