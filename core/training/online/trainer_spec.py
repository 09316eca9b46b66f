"""What a trainer gets when it starts. Imports no torch: the window's process makes these."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from core.domain.candle import FILE_VENUE, Market
from core.domain.events import ForecastMode
from core.settings.tree import Settings, to_dict


def own_mode_of(market: Market) -> ForecastMode:
    """The mode of a run's own forecasts, which the headline numbers cover."""
    if market.is_simulated:
        return ForecastMode.SIMULATED
    return ForecastMode.REPLAY if market.venue == FILE_VENUE else ForecastMode.LIVE


@dataclass(frozen=True, slots=True)
class StartingPoint:
    """A checkpoint that a new run starts from, instead of a new model."""

    file: Path
    sha256: str
    checkpoint_id: str
    learned_until_ms: int
    """Forecasts of candles that open before this are scored separately: it may have learned from them."""
    counts_seen: bool = False
    """Whether they count anyway."""
    learns: bool = True
    """False: the weights stay fixed."""


@dataclass(frozen=True, slots=True)
class SessionSpec:
    """A run is bound to a market; by default the newest run with the same fingerprint is continued."""

    root: Path
    """The data folder."""
    market: Market
    settings: Settings
    new_run: bool = False
    start: StartingPoint | None = None

    @property
    def own_mode(self) -> ForecastMode:
        return own_mode_of(self.market)

    @property
    def fingerprint(self) -> str:
        """What must be equal for a run to be continued: the model's shape and the seed."""
        parts = {
            "model": to_dict(self.settings)["model"],
            "seed": self.settings.training.seed,
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]
