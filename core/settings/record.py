"""How much of the record is kept, and how often it is copied."""

from __future__ import annotations

from pydantic.dataclasses import dataclass

from core.settings.group import CONFIG, setting


@dataclass(frozen=True, kw_only=True, config=CONFIG)
class BackupSettings:
    """Verified copies of the database, with the checkpoints needed to continue from it."""

    every_hours: int = setting(
        6, "Hours between backups", "Hours between backups, if there are changes; 0: off.", ge=0, le=8760
    )
    keep: int = setting(3, "Backups to keep", "Newest backups to keep, besides the most complete one.", ge=1, le=100)


@dataclass(frozen=True, kw_only=True, config=CONFIG)
class RecordSettings:
    """How much of a run's record is kept. Displayed forecasts and all scores are kept permanently."""

    keep_detail_days: int = setting(
        30,
        "Full detail for (days)",
        "Days of candles whose exact forecasts, experts' losses and gradients are kept; 0: all.",
        ge=0,
        le=36_500,
    )
    keep_detail_candles: int = setting(
        20_000,
        "Full detail, at least (candles)",
        "Newest candles whose details are kept, regardless of their age.",
        ge=1_000,
        le=100_000_000,
    )
