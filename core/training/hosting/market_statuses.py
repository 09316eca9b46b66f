"""The status of each market of the trainer's model."""

from __future__ import annotations

from core.domain.clock import Clock
from core.domain.events import MarketStatus, MemberRun, ResumePoint
from core.training.online.market_session import MarketSession
from core.training.online.session import TrainingSession

_RENEWED_EVERY_S = 1.0
"""Age limit of the further markets' statuses: a summary takes some milliseconds, and in catch-up a status comes four
times a second."""


class MarketStatuses:
    """The statuses of all markets: the first market's is always new, the others' are up to a second old."""

    def __init__(self, session: TrainingSession, clock: Clock) -> None:
        self._session, self._clock = session, clock
        self._others: tuple[MarketStatus, ...] = ()
        self._renewed_s: float | None = None
        self.are_older = False
        """Whether a market of the last statuses had an older one."""

    def resume_points(self) -> tuple[ResumePoint, ...]:
        return tuple(
            ResumePoint(_member(market), market.position_ms, market.recorded_until_ms)
            for market in self._session.markets
        )

    def statuses(self) -> tuple[MarketStatus, ...]:
        """The status of each market, in their order."""
        first, *others = self._session.markets
        now_s = self._clock.monotonic_s()
        self.are_older = self._renewed_s is not None and now_s - self._renewed_s < _RENEWED_EVERY_S and bool(others)
        if not self.are_older:
            self._renewed_s = now_s
            self._others = tuple(self._status(market) for market in others)
        return self._status(first), *self._others

    def forget(self) -> None:
        """The next statuses are all new."""
        self._renewed_s = None

    def _status(self, market: MarketSession) -> MarketStatus:
        reference = self._session.reference_model
        age = reference.age_at(self._session.closes)
        return MarketStatus(
            member=_member(market),
            position_ms=market.position_ms,
            accuracy=market.accuracy(),
            accuracy_apart=market.scores.other_summary(market.scored, market.live_scored),
            online=market.scores.evidence.online_gain(age, reference.age) if reference.age else None,
            shares=market.forecaster.shares(market.place),
        )


def _member(market: MarketSession) -> MemberRun:
    return MemberRun(market.run_id, market.market, market.is_learned)
