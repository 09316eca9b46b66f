"""Faults of the surroundings that pass: what they stop is tried again, and continues."""

from __future__ import annotations

from enum import Enum


class PassingFault(Enum):
    """Why nothing can be stored at present."""

    FULL_DISK = "the disk is full"
    HELD = "another program holds the database"
    AWAY = "the disk does not answer"
