"""What a trainer is told when it starts. Imports no torch: the window's process makes these."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from core.events import ForecastMode
from core.market.candle import Market
from core.settings import Settings, to_dict


@dataclass(frozen=True, slots=True)
class SessionSpec:
    """A run is bound to a market; it goes on with the newest run of the same fingerprint unless told otherwise.

    own_mode: the mode of the run's own forecasts: LIVE on an exchange, REPLAY over a file, SIMULATED else.
    """

    root: Path
    """The data folder."""
    market: Market
    settings: Settings
    own_mode: ForecastMode
    new_run: bool = False

    @property
    def fingerprint(self) -> str:
        """What must be the same for a run to go on: the model's shape, the seed, and the kind of forecasts."""
        parts = {
            "model": to_dict(self.settings)["model"],
            "seed": self.settings.training.seed,
            "mode": self.own_mode.value,
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]
