"""Torch modules: the transformer, its heads, its losses, and the registry of models."""
