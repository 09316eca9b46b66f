"""Fallbacks for a model that gives no forecast: out of memory, a non-finite number, or an exception.

A candle is always forecast; if the model fails, the reference takes its place, and one incident reports it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum

from core.domain.events import Severity
from core.domain.incident_kinds import IncidentKind
from core.forecast.experts import Quantiles
from core.training.engine.device_faults import DeviceFault
from core.training.recovery.failure import Failure, failure_of
from core.training.recovery.incident_draft import IncidentDraft
from core.training.recovery.ladder import Recovered, RecoveryLadder
from core.training.recovery.step_watches import empty_caches

Forecasts = Sequence[Quantiles]
"""One of each market."""


class _Missing(StrEnum):
    """What the model lacks."""

    MEMORY = "memory"
    NUMBERS = "finite numbers"
    RESULT = "a pass that does not raise"


class ForecastGuard:
    """Remembers the model's newest failure, so that a lasting one is reported once and not with each candle."""

    def __init__(self, ladder: RecoveryLadder) -> None:
        self._ladder = ladder
        self._lasting: _Missing | None = None

    def forecast(self, make: Callable[[], Forecasts], step: int) -> tuple[Forecasts | None, Recovered]:
        """The model's forecasts of each market, all finite, tried twice if that can help; None if it gave none for any.
        Raises only errors that end the process."""
        made = _try(make)
        missing = _missing(made)
        if missing is None:
            self._lasting = None
        if missing is None or missing is self._lasting:
            return _done(made)
        return self._retry(make, step, made, missing)

    def resumed(self) -> None:
        """The user resumed training: a lasting failure is tried and reported again."""
        self._lasting = None

    def _retry(
        self, make: Callable[[], Forecasts], step: int, first: Forecasts | Failure, missing: _Missing
    ) -> tuple[Forecasts | None, Recovered]:
        back = self._prepare(missing, step)
        again = _try(make)
        left = _missing(again)
        if left is not None:
            self._lasting = left
            must_pause = back.must_pause or left is not _Missing.MEMORY
            return _done(again, (*back.incidents, _without_model(again, left)), must_pause)
        retried = (_retried(first, missing),) if isinstance(first, Failure) else ()
        return _done(again, (*back.incidents, *retried), back.must_pause)

    def _prepare(self, missing: _Missing, step: int) -> Recovered:
        """Do what may help before the second try."""
        if missing is _Missing.NUMBERS:
            return self._ladder.roll_back_model(step)
        if missing is _Missing.MEMORY:
            empty_caches()
        return Recovered((), must_pause=False)


def _try(make: Callable[[], Forecasts]) -> Forecasts | Failure:
    try:
        return make()
    except Exception as error:
        failure = failure_of(error)
        if failure.ends_process:
            raise
        return failure


def _missing(made: Forecasts | Failure) -> _Missing | None:
    if isinstance(made, Failure):
        return _Missing.MEMORY if made.fault is DeviceFault.OUT_OF_MEMORY else _Missing.RESULT
    return None if _are_finite(made) else _Missing.NUMBERS


def _are_finite(made: Forecasts) -> bool:
    return all(each.are_finite for each in made)


def _done(
    made: Forecasts | Failure, incidents: tuple[IncidentDraft, ...] = (), must_pause: bool = False
) -> tuple[Forecasts | None, Recovered]:
    sound = None if isinstance(made, Failure) or not _are_finite(made) else made
    return sound, Recovered(incidents, must_pause)


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


def _without_model(made: Forecasts | Failure, missing: _Missing) -> IncidentDraft:
    happened = f"The pass failed twice: {made.sentence}." if isinstance(made, Failure) else "It was not finite twice."
    further = (
        "The model is tried again for each candle."
        if missing is _Missing.MEMORY
        else "Training is paused. Restore an earlier checkpoint, or press Resume to try again."
    )
    return IncidentDraft(
        Severity.ERROR,
        IncidentKind.FORECAST_WITHOUT_MODEL,
        f"The model could not forecast. {happened}",
        f"The reference's forecast takes the place of the model's until the model has one again. {further}",
        "The model's skill in the meantime: it is that of the reference.",
        made.details if isinstance(made, Failure) else "",
    )
