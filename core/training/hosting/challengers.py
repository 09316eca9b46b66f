"""Opens the challengers that the settings name: torch modules, and processes."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor, nn

from core.domain.candle import Candle
from core.domain.challenger_sources import ChallengerError, ChallengerSource, script_of, source_of
from core.domain.clock import Clock
from core.domain.events import ForecastMode
from core.domain.quantities import SMALLEST_VOLUME_SHARE, FloatArray, Quantity
from core.market.history.candle_file import CandleRows
from core.storage.candles import CandleStore
from core.training.commands import MarketCandle
from core.training.engine.engine import TrainingEngine
from core.training.external.model import ExternalModel
from core.training.external.protocol import ExternalForecast, ForecastRequest
from core.training.external.transport import ProcessTransport
from core.training.online.challenger import Challenger, MarketInputs, TorchChallenger, UnusableError
from core.training.online.forecast_mode import live_within_ms
from core.training.online.trainer_spec import SessionSpec
from core.training.recovery.incident_draft import IncidentDraft
from models.contract import ContractError, build_checked, find_model
from models.shape import ModelShape

HISTORY_CANDLES = 10_000
"""Sent to a new process, of each market."""
_LONGEST_WAIT_MS = 10_000
_SHARE_OF_LIVE = 0.5
_SHARE_OF_HANG = 0.4
"""The trainer's own watchdog must not take a slow challenger for a hang of the trainer."""
EngineMaker = Callable[[Callable[[ModelShape], nn.Module]], TrainingEngine]
"""Makes an engine with the model that its argument makes from a shape."""
_LARGEST_SCRIPT_BYTES = 1_000_000
ProcessStarter = Callable[[ChallengerSource], Challenger]
_LEAST_VOLUME = math.log(SMALLEST_VOLUME_SHARE)


def open_challengers(
    wanted: Sequence[str], make_engine: EngineMaker, start: ProcessStarter, seed: int, *, is_new_run: bool
) -> list[Challenger]:
    """The challengers of the settings, in order. If one cannot be opened, a new run raises ChallengerError; an existing
    run continues without it, and keeps its stored state."""
    members: list[Challenger] = []
    with ExitStack() as opened:
        for source in map(source_of, wanted):
            try:
                members.append(start(source) if source.command else _opened(source, make_engine, seed))
            except ContractError as error:
                if is_new_run:
                    raise ChallengerError(str(error)) from error
                members.append(AbsentChallenger(source.name, str(error)))
            opened.callback(members[-1].close)
        for member in members:  # their processes start at the same time
            if isinstance(member, ProcessChallenger) and not member.get_ready() and is_new_run:
                first, *_ = member.pop_incidents()
                raise ChallengerError(" ".join(part for part in (first.happened, first.details) if part))
        opened.pop_all()
    return members


def process_starter(spec: SessionSpec, candles: CandleStore, clock: Clock) -> ProcessStarter:
    """Starts the processes of one session, without waiting until they are ready. A failure is an incident of it."""
    markets, wanted = {str(market): market for market in spec.markets}, request_to_processes(spec)

    def past(market: str, before_ms: int) -> Iterable[Candle]:
        return CandleRows(candles.columns_before(markets[market], before_ms, HISTORY_CANDLES))

    def start(source: ChallengerSource) -> ProcessChallenger:
        open_transport = partial(ProcessTransport, source.command, source.name)
        model = ExternalModel(source.name, wanted, open_transport, past, clock)
        model.begin()
        return ProcessChallenger(model, wanted.markets)

    return start


def request_to_processes(spec: SessionSpec) -> ForecastRequest:
    """The request to each process. They are awaited one after the other, and the run's own forecast must be live after
    all."""
    settings, interval = spec.settings, spec.market.interval
    processes = max(1, sum(bool(source_of(each).command) for each in settings.model.challengers))
    longest_ms = round(_SHARE_OF_LIVE * live_within_ms(interval) / processes)
    unhurried_ms = round(1000.0 * _SHARE_OF_HANG * settings.recovery.hang_seconds / processes)
    return ForecastRequest(
        tuple(str(market) for market in spec.markets),
        interval,
        settings.model.horizons,
        min(settings.recovery.challenger_deadline_ms, longest_ms),
        min(_LONGEST_WAIT_MS, unhurried_ms),
    )


def program_of(source: ChallengerSource) -> str:
    """A digest of its class's file, or of its script and arguments, wherever absolute paths lie; empty for a model
    without a file, or if the file cannot be read."""
    file = source.file or (script_of(source.command) if source.command else None)
    if file is None:
        return ""
    try:
        is_script = Path(file).stat().st_size <= _LARGEST_SCRIPT_BYTES  # else a compiled program
        parts = [Path(file).read_bytes() if is_script else Path(file).name.encode()]
    except (OSError, ValueError):
        if source.file or len(Path(file).parts) > 1:
            return ""
        parts = [file.encode()]  # the system finds it, or an interpreter does
    parts += [(Path(word).name if Path(word).is_absolute() else word).encode() for word in source.command[1:]]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def _opened(source: ChallengerSource, make_engine: EngineMaker, seed: int) -> Challenger:
    """Raises ContractError."""
    make = find_model(source.name, source.file)
    engine = make_engine(lambda shape: build_checked(make, source.name, shape, seed))
    return TorchChallenger(source.name, engine, seed)


class ProcessChallenger(Challenger):
    """A forecaster in a process. It learns by itself, if at all, from no samples. Its state is its process's: after a
    restart it gets the history again; a restore does not change a running one."""

    def __init__(self, model: ExternalModel, markets: Sequence[str]) -> None:
        """markets: the names that the forecaster knows, by their place in the run."""
        self.name = model.name
        self._model = model
        self._markets = markets

    def get_ready(self) -> bool:
        return self._model.get_ready()

    def observe(self, closed: Sequence[MarketCandle]) -> None:
        is_live = any(each.mode is ForecastMode.LIVE for each in closed)
        self._model.observe([(str(each.market), each.candle) for each in closed], is_live=is_live)

    def forecast(self, markets: Sequence[MarketInputs]) -> list[FloatArray | None]:
        made = [self._model.forecast(self._markets[of.market], of.open_time_ms) for of in markets]
        return [
            _normalised(each, of) if each is not None and each.quantiles else None
            for each, of in zip(made, markets, strict=True)
        ]

    def resume(self) -> None:
        self._model.resume()

    def pop_incidents(self) -> tuple[IncidentDraft, ...]:
        return self._model.pop_incidents()

    def close(self) -> None:
        self._model.close()


def _normalised(forecast: ExternalForecast, of: MarketInputs) -> FloatArray:
    """[H, Q, L]. Quantities that it does not forecast repeat the forecast without any model."""
    quantiles: FloatArray = of.without_model.copy()
    for quantity, natural in forecast.quantiles.items():
        normalised = (natural - of.offset[:, quantity, None]) / of.factor[:, quantity, None]
        least = _LEAST_VOLUME if quantity is Quantity.VOLUME else -np.inf
        quantiles[:, quantity] = np.maximum(normalised, least)
    return quantiles


class AbsentChallenger(Challenger):
    """Replaces a challenger that could not be opened. It is suspended at once, and keeps the state for its return."""

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
        self._reason = reason
        self._tensors: dict[str, Tensor] = {}
        self._scalars: dict[str, Any] = {}

    def observe(self, closed: Sequence[MarketCandle]) -> None:
        raise UnusableError(self._reason)

    def forecast(self, markets: Sequence[MarketInputs]) -> Sequence[FloatArray | None]:
        raise UnusableError(self._reason)

    def tensors(self) -> dict[str, Tensor]:
        return self._tensors

    def scalars(self) -> dict[str, Any]:
        return self._scalars

    def restore(self, tensors: Mapping[str, Tensor], scalars: Mapping[str, Any]) -> None:
        self._tensors, self._scalars = dict(tensors), dict(scalars)
