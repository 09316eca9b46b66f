"""The machine: its load, and its GPU's requirements for CUDA. No torch."""
