"""Torch modules: the transformer, its heads, its losses, and the registry that names them."""
