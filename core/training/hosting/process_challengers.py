"""Starts the processes of challengers, with the candles of the data folder as their history."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from core.domain.candle import Candle
from core.domain.challenger_sources import ChallengerSource
from core.domain.clock import Clock
from core.market.history.files import CandleRows
from core.storage.candles import CandleStore
from core.training.external.challenger import ProcessChallenger
from core.training.external.model import ExternalModel, Wanted
from core.training.external.transport import ProcessTransport
from core.training.online.trainer_spec import SessionSpec

HISTORY_CANDLES = 10_000
"""Sent to a new process, of each market."""
_LONGEST_WAIT_MS = 10_000
_SHARE_OF_HANG = 0.4
"""The trainer's own watchdog must not take a slow challenger for a hang of the trainer."""


class ProcessOpener:
    """Opens challengers of one session."""

    def __init__(self, spec: SessionSpec, candles: CandleStore, clock: Clock) -> None:
        self._markets = {str(market): market for market in spec.markets}
        self._candles = candles
        self._clock = clock
        recovery = spec.settings.recovery
        unhurried_ms = min(_LONGEST_WAIT_MS, round(1000.0 * _SHARE_OF_HANG * recovery.hang_seconds))
        self._wanted = Wanted(
            tuple(self._markets),
            spec.market.interval,
            spec.settings.model.horizons,
            recovery.challenger_deadline_ms,
            unhurried_ms,
        )

    def open(self, source: ChallengerSource) -> ProcessChallenger:
        """Start its process, without waiting until it is ready. A failure is an incident of it."""
        start = partial(ProcessTransport, source.command, source.name)
        model = ExternalModel(source.name, self._wanted, start, self._past, self._clock)
        model.begin()
        return ProcessChallenger(model, self._wanted.markets)

    def _past(self, market: str, before_ms: int) -> Iterable[Candle]:
        return CandleRows(self._candles.columns_before(self._markets[market], before_ms, HISTORY_CANDLES))
