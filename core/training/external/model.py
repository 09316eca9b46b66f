"""A forecaster in a separate process, across its restarts.

A fault of the forecaster is reported as an incident and costs its forecast, nothing else. How fast it answers does not
change its forecast; an answer after the deadline is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from core.domain.candle import Candle
from core.domain.clock import Clock
from core.domain.counts import counted
from core.domain.events import Severity
from core.domain.incident_kinds import IncidentKind
from core.training.external.protocol import (
    ExternalForecast,
    ForecastRequest,
    InvalidAnswerError,
    candle_line,
    check_ready,
    decoded,
    forecast_of,
    history_line,
    shown,
)
from core.training.external.transport import Transport, TransportEndedError
from core.training.recovery.incident_draft import IncidentDraft

_START_S = 60.0
"""Imports and weights are loaded before the greeting is answered."""
MOST_DEATHS = 5
RECOVERED_AFTER = 20
"""Candles answered in time after which earlier deaths no longer count."""
_MOST_UNASKED = 100
"""Lines that are no answer to the question, after which it is ended."""
_MOST_UNANSWERED = 64
_MOST_SILENT_CLOSES = 3
_LONGEST_SILENCE_S = 30.0
"""A long history takes a while to be read."""

Question = tuple[str, int]
"""A market, and the opening time of its newest candle."""


class Conversation:
    """One life of a forecaster: greeting, history, then a question and an answer for each candle. Raises
    TransportEndedError when the forecaster has ended, and when it must be ended."""

    def __init__(self, transport: Transport, wanted: ForecastRequest, clock: Clock) -> None:
        self._transport = transport
        self._wanted = wanted
        self._clock = clock
        self._asked: dict[Question, float] = {}
        """Unanswered questions, each with the time (s) when it was asked."""
        self._answers: dict[Question, dict[str, Any]] = {}
        """Answers for candles of the newest close, as received."""
        self.started_s = clock.monotonic_s()
        self.is_ready = False
        self.knows_history = False
        self.skipped = ""
        """The fault of the first line that was skipped at the newest question; completes "Its answer"."""
        self._silent_closes: set[int] = set()
        """Closes that timed out since the newest answer."""
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

    def send_history(self, past: Callable[[str], Iterable[Candle]]) -> None:
        """Send the candles before the first question. past: a market's candles, oldest first."""
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
            self._handle_line(line, question)
        raise TransportEndedError(f"it wrote {_MOST_UNASKED} lines that are no answer to the newest candle")

    def _handle_line(self, line: bytes, awaited: Question) -> None:
        """Store the answer to a candle of the newest close, and drop a late one."""
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
        """The question that the message answers. Raises InvalidAnswerError if it answers none."""
        markets = self._wanted.markets
        market = message.get("market", markets[0] if len(markets) == 1 else None)
        opened_ms = message.get("open_time_ms")
        if type(market) is not str or type(opened_ms) is not int or (market, opened_ms) not in self._asked:
            raise InvalidAnswerError(f"names no candle that waits for one: {shown(market)} at {shown(opened_ms)}")
        return market, opened_ms


class ExternalModel:
    """A model in another process. At each close: `observe` its candles, then `forecast` their markets. Used from one
    thread only.

    start: starts the forecaster; raises TransportEndedError if that fails. past: the candles of a market that opened
    before this time (ms), oldest first.
    """

    def __init__(
        self,
        name: str,
        wanted: ForecastRequest,
        start: Callable[[], Transport],
        past: Callable[[str, int], Iterable[Candle]],
        clock: Clock,
    ) -> None:
        self.name = name
        self._wanted = wanted
        self._start = start
        self._past = past
        self._clock = clock
        self._wait_s = 0.0
        self._lives = Lives()
        self._transport: Transport | None = None
        self._conversation: Conversation | None = None
        self._unclaimed: list[Question] = []
        """The questions of the newest close whose forecasts were not taken."""
        self._history_ends: dict[str, int] = {}
        """The time right after the newest candle sent for each market (ms)."""
        self._incidents: list[IncidentDraft] = []

    def begin(self) -> None:
        try:
            self._transport = self._start()
            self._conversation = Conversation(self._transport, self._wanted, self._clock)
        except TransportEndedError as error:
            self._died(str(error))

    def get_ready(self, wait_s: float = _START_S) -> bool:
        """Whether it has answered the greeting within `wait_s` seconds. That it never will is an incident."""
        talk = self._conversation
        if talk is None:
            return False
        now_s, at_the_latest_s = self._clock.monotonic_s(), talk.started_s + _START_S
        try:
            if talk.await_ready(min(now_s + wait_s, at_the_latest_s)):
                return True
        except InvalidAnswerError as error:
            self._died(f"its answer {error}")
        except TransportEndedError as error:
            self._died(str(error))
        else:
            if self._clock.monotonic_s() >= at_the_latest_s:
                self._died(f'it did not answer "hello" with "type": "ready" within {_START_S:.0f} s')
        return False

    def observe(self, closed: Sequence[tuple[str, Candle]], *, is_live: bool) -> None:
        """Send the candles of one close, each with its market. A forecaster that is due is started first.

        is_live: candles follow in real time, so that an answer is waited for no longer than the deadline.
        """
        for market, opened_ms in tuple(self._unclaimed):  # its answers keep pace with its questions
            self.forecast(market, opened_ms)
        wanted = self._wanted
        self._wait_s = (wanted.deadline_ms if is_live else max(wanted.deadline_ms, wanted.unhurried_ms)) / 1000.0
        if self._conversation is None and self._lives.may_start():
            self.begin()
        talk = self._conversation
        if talk is not None and (talk.is_ready or self.get_ready(self._wait_s)):
            self._ask(talk, closed)
        self._history_ends |= {market: candle.open_time_ms + 1 for market, candle in closed}

    def forecast(self, market: str, open_time_ms: int) -> ExternalForecast | None:
        """The forecast after the candle that was sent; None if there is none. Every failure becomes an incident."""
        talk, question = self._conversation, (market, open_time_ms)
        if talk is None or question not in self._unclaimed:
            return None
        self._unclaimed.remove(question)
        try:
            found = talk.answer(question, self._wait_s)
        except InvalidAnswerError as error:
            self._incidents.append(_missing(self.name, f"Its answer {error}."))
            return None
        except TransportEndedError as error:
            self._died(str(error))
            return None
        if found is None:
            wrong = f"Its answer {talk.skipped}." if talk.skipped else ""
            happened = wrong or f"It did not answer within {1000.0 * self._wait_s:,.0f} ms."
            self._incidents.append(_missing(self.name, happened))
            if talk.is_hung:
                self._died("it stopped answering")
            return None
        self._lives.answered()
        if found.was_sorted:
            self._incidents.append(_sorted(self.name))
        return found

    def resume(self) -> None:
        """Try a suspended forecaster again with the next candle."""
        self._lives.resumed()

    def pop_incidents(self) -> tuple[IncidentDraft, ...]:
        """The incidents since the last call."""
        taken = tuple(self._incidents)
        self._incidents.clear()
        return taken

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()
        self._transport = self._conversation = None
        self._unclaimed.clear()

    def _ask(self, talk: Conversation, closed: Sequence[tuple[str, Candle]]) -> None:
        try:
            if not talk.knows_history:
                first_ms = closed[0][1].open_time_ms
                ends = self._history_ends | {market: candle.open_time_ms for market, candle in closed}
                talk.send_history(lambda market: self._past(market, ends.get(market, first_ms)))
            for market, candle in closed:
                talk.ask(market, candle)
                self._unclaimed.append((market, candle.open_time_ms))
        except TransportEndedError as error:
            self._died(str(error))

    def _died(self, reason: str) -> None:
        stderr_tail = "" if self._transport is None else self._transport.stderr_tail()
        self.close()
        self._lives.died()
        self._incidents.append(_ended(self.name, reason, self._lives, stderr_tail))


def _missing(name: str, happened: str) -> IncidentDraft:
    return IncidentDraft(
        Severity.WARNING,
        IncidentKind.CHALLENGER_WITHOUT_FORECAST,
        f"The challenger {name} gave no forecast. {happened}",
        "The forecast without any model takes its place.",
        "Its own figures at this candle. Nothing else is affected.",
    )


def _sorted(name: str) -> IncidentDraft:
    return IncidentDraft(
        Severity.WARNING,
        IncidentKind.CHALLENGER_SORTED,
        f"Quantiles of the challenger {name} crossed: one of a higher level was lower.",
        "They were put in ascending order.",
        "Nothing, if that is what it meant.",
    )


def _ended(name: str, reason: str, lives: Lives, stderr_tail: str) -> IncidentDraft:
    if lives.is_suspended:
        kind = IncidentKind.CHALLENGER_SUSPENDED
        done = f"After {MOST_DEATHS} ends without {RECOVERED_AFTER} answers in between it is not started again. Resume "
        done += "training, or start the run again, to try once more."
        cost = "Its forecasts from now on. Nothing else is affected."
    else:
        kind = IncidentKind.CHALLENGER_ENDED
        done = "It is started again " + (
            f"after {counted(lives.left_out, 'candle')}." if lives.left_out else "for the next candle."
        )
        cost = "Its forecasts until then. Nothing else is affected."
    details = f"Last lines of its stderr:\n{stderr_tail}" if stderr_tail else ""
    return IncidentDraft(
        Severity.ERROR, kind, f"The process of the challenger {name} ended: {reason}.", done, cost, details
    )


class Lives:
    """Starts again with the next candle, after a second death one candle later, then 3 and 7; after the fifth it is
    suspended."""

    def __init__(self) -> None:
        self._deaths = 0
        self._answered = 0
        self.left_out = 0
        """Candles to come without it."""

    @property
    def is_suspended(self) -> bool:
        return self._deaths >= MOST_DEATHS

    def died(self) -> None:
        self._answered = 0
        self.left_out = 2**self._deaths - 1
        self._deaths += 1

    def answered(self) -> None:
        """Count a candle forecast in time."""
        self._answered += 1
        if self._answered >= RECOVERED_AFTER:
            self._deaths = 0

    def may_start(self) -> bool:
        """Whether to start it with the close that has begun. To be asked once for each close without it."""
        if self.is_suspended:
            return False
        self.left_out -= 1
        return self.left_out < 0

    def resumed(self) -> None:
        """Forget all deaths: the user wants another attempt."""
        self._deaths = self.left_out = 0
