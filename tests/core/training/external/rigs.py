"""Forecasters in memory, on virtual time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core.domain.candle import Candle
from core.domain.clock import ManualClock
from core.domain.incident_kinds import IncidentKind
from core.domain.quantities import LEVELS
from core.training.external.model import ExternalModel
from core.training.external.protocol import ExternalForecast, ForecastRequest
from core.training.external.transport import TransportEndedError
from tests.support.candles import MARKET, MINUTE

HORIZONS = 3
WANTED = ForecastRequest((str(MARKET),), MINUTE, HORIZONS)
Message = dict[str, Any]
Answer = tuple[float, bytes | None]
"""Seconds after the question, and a line; None: it ends."""
Behaviour = Callable[[Message], Iterable[Answer]]


def line(message: Message) -> bytes:
    return json.dumps(message).encode() + b"\n"


def close_after(candle: Message) -> list[list[float]]:
    """Quantiles that depend on the candle."""
    scale = abs(candle["close"] / candle["open"] - 1.0) + 1e-4
    return np.tile(scale * (LEVELS - 0.5), (HORIZONS, 1)).tolist()


def forecast(candle: Message, **quantities: object) -> bytes:
    given = quantities or {"close": close_after(candle)}
    return line({"type": "forecast", "market": candle["market"], "open_time_ms": candle["open_time_ms"], **given})


def sound(message: Message, after_s: float = 0.0) -> list[Answer]:
    """What a forecaster without a fault answers."""
    if message["type"] == "hello":
        return [(after_s, line({"type": "ready", "protocol": 1}))]
    return [(after_s, forecast(message))] if message["type"] == "candle" else []


@dataclass
class MemoryTransport:
    """Lines wait for their time on the clock; waiting for one moves the clock."""

    behaviour: Behaviour
    clock: ManualClock
    received: list[Message] = field(default_factory=list)
    is_closed: bool = False
    _waiting: list[Answer] = field(default_factory=list)

    def send(self, line: bytes) -> None:
        self.received.append(json.loads(line))
        now_s = self.clock.monotonic_s()
        self._waiting += [(now_s + after_s, text) for after_s, text in self.behaviour(self.received[-1])]

    def receive(self, timeout_s: float) -> bytes | None:
        until_s = self.clock.monotonic_s() + timeout_s
        if not self._waiting or self._waiting[0][0] > until_s:
            self.clock.sleep_s(timeout_s)
            return None
        due_s, text = self._waiting.pop(0)
        self.clock.sleep_s(max(due_s - self.clock.monotonic_s(), 0.0))
        if text is None:
            raise TransportEndedError("exit code 3")
        return text

    def stderr_tail(self) -> str:
        return "Segmentation fault"

    def close(self) -> None:
        self.is_closed = True


class Rig:
    """A model whose lives are in memory."""

    def __init__(self, behaviour: Behaviour = sound, wanted: ForecastRequest = WANTED, is_live: bool = True) -> None:
        self.clock = ManualClock(1_000_000)
        self.lives: list[MemoryTransport] = []
        self.behaviour = behaviour
        self.is_live = is_live
        self.taken: list[Candle] = []
        self.history_ends: dict[str, int] = {}
        """Of each market, where the history sent to the newest life ends."""
        self.model = ExternalModel("Test", wanted, self._start, self._past, self.clock)

    def _past(self, market: str, before_ms: int) -> list[Candle]:
        self.history_ends[market] = before_ms
        return [candle for candle in self.taken if candle.open_time_ms < before_ms]

    def _start(self) -> MemoryTransport:
        self.lives.append(MemoryTransport(self.behaviour, self.clock))
        return self.lives[-1]

    def open(self) -> bool:
        self.model.begin()
        return self.model.get_ready()

    def take(self, candle: Candle, market: str = str(MARKET)) -> ExternalForecast | None:
        self.taken.append(candle)
        self.model.observe([(market, candle)], is_live=self.is_live)
        return self.model.forecast(market, candle.open_time_ms)

    def take_all(self, candles: Iterable[Candle]) -> list[ExternalForecast | None]:
        return [self.take(candle) for candle in candles]

    def kinds(self) -> list[IncidentKind]:
        return [draft.kind for draft in self.model.pop_incidents()]

    def candles_of(self, life: int) -> list[int]:
        """The opening times that this life has seen, in order."""
        seen: list[int] = []
        for message in self.lives[life].received:
            if message["type"] == "history":
                seen += [candle[0] for candle in message["candles"]]
            elif message["type"] == "candle":
                seen.append(message["open_time_ms"])
        return seen


def same(one: ExternalForecast | None, other: ExternalForecast | None) -> bool:
    if one is None or other is None:
        return one is other
    pairs = zip(one.quantiles.items(), other.quantiles.items(), strict=True)
    return all(key == key2 and np.array_equal(table, table2) for (key, table), (key2, table2) in pairs)
