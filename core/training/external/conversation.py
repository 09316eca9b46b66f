"""One life of a forecaster: greeting, history, then a question and an answer for each candle."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from core.domain.candle import Candle
from core.domain.clock import Clock
from core.training.external.protocol import (
    ExternalForecast,
    InvalidAnswerError,
    Wanted,
    candle_line,
    check_ready,
    decoded,
    forecast_of,
    history_line,
    shown,
)
from core.training.external.transport import Transport, TransportEndedError

_MOST_UNASKED = 100
"""Lines that are no answer to the question, after which it is ended."""
_MOST_UNANSWERED = 64
_MOST_SILENT_CLOSES = 3
_LONGEST_SILENCE_S = 30.0
"""A long history takes a while to be read."""

Question = tuple[str, int]
"""A market, and the opening time of its newest candle."""


class Conversation:
    """Raises TransportEndedError when the forecaster has ended, and when it must be ended."""

    def __init__(self, transport: Transport, wanted: Wanted, clock: Clock) -> None:
        self._transport = transport
        self._wanted = wanted
        self._clock = clock
        self._asked: dict[Question, float] = {}
        """Not answered yet, each with the time (s) when it was asked."""
        self._answers: dict[Question, dict[str, Any]] = {}
        """To candles of the newest close, as they came."""
        self.started_s = clock.monotonic_s()
        self.is_ready = False
        self.knows_history = False
        self.skipped = ""
        """The fault of the first line that was skipped at the newest question; completes "Its answer"."""
        self._silent_closes: set[int] = set()
        """Those that an answer was waited for in vain, since its newest one."""
        self._newest_answer_s = self.started_s
        transport.send(wanted.greeting())

    @property
    def is_hung(self) -> bool:
        """Whether it has answered nothing for too long, at several closes."""
        silent_s = self._clock.monotonic_s() - self._newest_answer_s
        return len(self._silent_closes) >= _MOST_SILENT_CLOSES and silent_s >= _LONGEST_SILENCE_S

    def await_ready(self, until_s: float) -> bool:
        """Wait for the answer to the greeting. False: there is none yet."""
        for _ in range(_MOST_UNASKED):
            line = self._transport.receive(max(until_s - self._clock.monotonic_s(), 0.0))
            if line is None:
                return False
            if not line.lstrip().startswith(b"{"):
                continue  # libraries print while they are imported
            check_ready(decoded(line))
            self.is_ready = True
            return True
        raise TransportEndedError(f"it wrote {_MOST_UNASKED} lines before it was ready")

    def tell_history(self, past: Callable[[str], Iterable[Candle]]) -> None:
        """Send the candles before the first question. past: those of a market, oldest first."""
        for market in self._wanted.markets:
            self._transport.send(history_line(market, past(market)))
        self.knows_history = True

    def ask(self, market: str, candle: Candle) -> None:
        """Send a candle that has closed."""
        if len(self._asked) >= _MOST_UNANSWERED:
            raise TransportEndedError(f"it owed the answers to {_MOST_UNANSWERED} candles")
        self._asked[market, candle.open_time_ms] = self._clock.monotonic_s()
        self._transport.send(candle_line(market, candle))

    def answer(self, question: Question, wait_s: float) -> ExternalForecast | None:
        """The answer, waited for until `wait_s` after the question; None if there is none by then. Lines that are no
        answer are skipped. Raises InvalidAnswerError."""
        asked_s = self._asked.get(question, 0.0)
        self.skipped = ""
        for _ in range(_MOST_UNASKED):
            if question in self._answers:
                return forecast_of(self._answers.pop(question), self._wanted.horizons)
            line = self._transport.receive(max(asked_s + wait_s - self._clock.monotonic_s(), 0.0))
            if line is None:
                self._silent_closes.add(question[1])
                return None
            self._take(line, question)
        raise TransportEndedError(f"it wrote {_MOST_UNASKED} lines that are no answer to the newest candle")

    def _take(self, line: bytes, awaited: Question) -> None:
        """Keep the answer to a candle of the newest close, and drop a late one."""
        try:
            message = decoded(line)
            answered = self._question_of(message)
        except InvalidAnswerError as error:
            self.skipped = self.skipped or str(error)
            return
        self._asked.pop(answered)
        self._silent_closes.clear()
        self._newest_answer_s = self._clock.monotonic_s()
        if answered[1] == awaited[1]:
            self._answers[answered] = message

    def _question_of(self, message: dict[str, Any]) -> Question:
        """Raises InvalidAnswerError if it is none of those that are not answered."""
        markets = self._wanted.markets
        market = message.get("market", markets[0] if len(markets) == 1 else None)
        opened_ms = message.get("open_time_ms")
        if type(market) is not str or type(opened_ms) is not int or (market, opened_ms) not in self._asked:
            raise InvalidAnswerError(f"names no candle that waits for one: {shown(market)} at {shown(opened_ms)}")
        return market, opened_ms
