"""What all groups of settings have in common."""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict

CONFIG = ConfigDict(extra="forbid", allow_inf_nan=False)
"""Of their dataclasses: nothing that they do not know, and no number that is none."""

OWN_DIALOG: dict[str, Any] = {"has_own_dialog": True}
"""Marks a setting that is changed where it is used: no form offers it."""
