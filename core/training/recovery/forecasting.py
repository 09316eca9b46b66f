"""Fallbacks for a model without a forecast: out of memory, a non-finite number, or an exception.

A candle is always forecast; if the model fails, the reference takes its place, and one incident reports it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.domain.events import Severity
from core.domain.incident_kinds import IncidentKind
from core.forecast.experts import Quantiles
from core.training.engine.device_faults import DeviceFault
from core.training.recovery.failure import Failure, survivable_failure
from core.training.recovery.incident_draft import IncidentDraft
from core.training.recovery.ladder import Recovered, RecoveryLadder
from core.training.recovery.step_watches import empty_caches

Forecasts = Sequence[Quantiles]
"""One set of quantiles for each market."""


class _Missing(StrEnum):
    """The part that the model lacks."""

    MEMORY = "memory"
    NUMBERS = "finite numbers"
    RESULT = "a pass that does not raise"


@dataclass(frozen=True, slots=True)
class _Try:
    """The model's output: forecasts if nothing is missing; else the failure of its pass, if it raised."""

    made: Forecasts | None
    missing: _Missing | None = None
    failure: Failure | None = None


class ForecastGuard:
    """Remembers the model's newest failure, so that a lasting one is reported once and not with each candle."""

    def __init__(self, ladder: RecoveryLadder) -> None:
        self._ladder = ladder
        self._lasting: _Missing | None = None

    def forecast(self, make: Callable[[], Forecasts], step: int) -> tuple[Forecasts | None, Recovered]:
        """The model's forecasts of each market, all finite, tried twice if that can help; None if any market has none.
        Raises only errors that end the process."""
        first = _try(make)
        if first.missing is None or first.missing is self._lasting:
            self._lasting = first.missing
            return first.made, Recovered((), must_pause=False)
        back = self._prepare(first.missing, step)
        again = _try(make)
        if again.missing is not None:
            self._lasting = again.missing
            must_pause = back.must_pause or again.missing is not _Missing.MEMORY
            return None, Recovered((*back.incidents, _without_model(again)), must_pause)
        retried = () if first.failure is None else (_retried(first.failure, first.missing),)
        return again.made, Recovered((*back.incidents, *retried), back.must_pause)

    def resumed(self) -> None:
        """The user resumed training: a lasting failure is tried and reported again."""
        self._lasting = None

    def _prepare(self, missing: _Missing, step: int) -> Recovered:
        """Prepare a second try."""
        if missing is _Missing.NUMBERS:
            return self._ladder.roll_back_model(step)
        if missing is _Missing.MEMORY:
            empty_caches()
        return Recovered((), must_pause=False)


def _try(make: Callable[[], Forecasts]) -> _Try:
    try:
        made = make()
    except Exception as error:
        failure = survivable_failure(error)
        is_short = failure.fault is DeviceFault.OUT_OF_MEMORY
        return _Try(None, _Missing.MEMORY if is_short else _Missing.RESULT, failure)
    return _Try(made) if all(each.are_finite for each in made) else _Try(None, _Missing.NUMBERS)


def _retried(failure: Failure, missing: _Missing) -> IncidentDraft:
    freed = "Unused memory was freed, and" if missing is _Missing.MEMORY else "Nothing was changed;"
    return IncidentDraft(
        Severity.WARNING,
        IncidentKind.OUT_OF_MEMORY if missing is _Missing.MEMORY else IncidentKind.FORECAST_FAILED,
        f"The model's forecast failed: {failure.sentence}.",
        f"{freed} the second try succeeded.",
        "Nothing.",
        failure.details,
    )


def _without_model(made: _Try) -> IncidentDraft:
    happened = f"The pass failed twice: {made.failure.sentence}." if made.failure else "It was not finite twice."
    further = (
        "The model is tried again for each candle."
        if made.missing is _Missing.MEMORY
        else "Training is paused. Restore an earlier checkpoint, or press Resume to try again."
    )
    return IncidentDraft(
        Severity.ERROR,
        IncidentKind.FORECAST_WITHOUT_MODEL,
        f"The model could not forecast. {happened}",
        f"The reference's forecast takes the place of the model's until the model has one again. {further}",
        "The model's skill in the meantime, which is the reference's.",
        made.failure.details if made.failure else "",
    )
