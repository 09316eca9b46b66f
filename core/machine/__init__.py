"""The machine that this runs on: its load, and what its GPU needs for CUDA. No torch."""
