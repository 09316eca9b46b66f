"""Common configuration of all settings groups."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field

CONFIG = ConfigDict(extra="forbid", allow_inf_nan=False)
"""Of their dataclasses: no unknown keys, no NaN and no infinity."""

OWN_DIALOG: dict[str, Any] = {"has_own_dialog": True}
"""Marks a setting that is changed where it is used, not in the Preferences."""

SECRET: dict[str, Any] = {"is_secret": True}
"""Marks a setting that is written to the settings file alone, and not shown while nobody edits it."""

VenueId = Annotated[str, Field(pattern=r"^[a-z0-9_]{2,40}$")]
"""An exchange's ccxt id."""
