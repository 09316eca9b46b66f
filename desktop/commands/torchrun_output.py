"""Who speaks where torchrun starts a command in several processes. Light: the entry reads it."""

from __future__ import annotations

import os


def speaks() -> bool:
    """Only the first process prints: what is wrong is wrong in all of them, and stdout takes one object."""
    return "WORLD_SIZE" not in os.environ or os.environ.get("RANK", "0") == "0"
