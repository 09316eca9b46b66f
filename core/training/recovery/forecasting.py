"""What is done when the model gives no forecast: memory ran out, a number is not finite, or its pass raised.

A candle is forecast whatever happens; where the model can not, the reference does, and an incident says so once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from core.domain.events import Severity
from core.forecast.experts import Quantiles
from core.training.engine.device_faults import DeviceFault
from core.training.recovery.failure import Failure, failure_of
from core.training.recovery.incident_draft import Mishap
from core.training.recovery.ladder import Recovered, RecoveryLadder
from core.training.recovery.memory import empty_caches

WITHOUT_MODEL = "forecast without the model"


class _Want(StrEnum):
    """What the model lacks."""

    MEMORY = "memory"
    NUMBERS = "finite numbers"
    RESULT = "a pass that does not raise"


@dataclass(frozen=True, slots=True)
class GuardedForecast:
    """quantiles: all finite, or None where the model gave none."""

    quantiles: Quantiles | None
    recovered: Recovered


class ForecastGuard:
    """Owns what the model's newest forecast lacked, so that a lasting want is told once and not with each candle."""

    def __init__(self, ladder: RecoveryLadder) -> None:
        self._ladder = ladder
        self._lasting: _Want | None = None

    def forecast(self, make: Callable[[], Quantiles], step: int) -> GuardedForecast:
        """The model's forecast, made anew where that can help. Raises only what ends the process."""
        made = _try(make)
        want = _want(made)
        if want is None:
            self._lasting = None
        if want is None or want is self._lasting:
            return _done(made)
        return self._once_more(make, step, made, want)

    def resumed(self) -> None:
        """A person has looked: what lasts is tried again, and told again."""
        self._lasting = None

    def _once_more(
        self, make: Callable[[], Quantiles], step: int, first: Quantiles | Failure, want: _Want
    ) -> GuardedForecast:
        back = self._prepare(want, step)
        again = _try(make)
        left = _want(again)
        if left is not None:
            self._lasting = left
            must_pause = back.must_pause or left is not _Want.MEMORY
            return _done(again, (*back.mishaps, _without_model(again, left)), must_pause)
        told = (_made_anew(first, want),) if isinstance(first, Failure) else ()
        return _done(again, (*back.mishaps, *told), back.must_pause)

    def _prepare(self, want: _Want, step: int) -> Recovered:
        """Do what may help before the second try."""
        if want is _Want.NUMBERS:
            return self._ladder.model_is_spoiled(step)
        if want is _Want.MEMORY:
            empty_caches()
        return Recovered((), must_pause=False)


def _try(make: Callable[[], Quantiles]) -> Quantiles | Failure:
    try:
        return make()
    except Exception as error:
        failure = failure_of(error)
        if failure.ends_process:
            raise
        return failure


def _want(made: Quantiles | Failure) -> _Want | None:
    if isinstance(made, Failure):
        return _Want.MEMORY if made.fault is DeviceFault.OUT_OF_MEMORY else _Want.RESULT
    return None if made.are_finite else _Want.NUMBERS


def _done(made: Quantiles | Failure, mishaps: tuple[Mishap, ...] = (), must_pause: bool = False) -> GuardedForecast:
    is_sound = isinstance(made, Quantiles) and made.are_finite
    return GuardedForecast(made if isinstance(made, Quantiles) and is_sound else None, Recovered(mishaps, must_pause))


def _made_anew(failure: Failure, want: _Want) -> Mishap:
    freed = "Memory that was not in use was freed, and" if want is _Want.MEMORY else "Nothing was changed;"
    return Mishap(
        Severity.WARNING,
        "out of memory" if want is _Want.MEMORY else "forecast failed",
        f"The model's forecast failed: {failure.sentence}.",
        f"{freed} it was made once more, and went well.",
        "Nothing.",
        failure.details,
    )


def _without_model(made: Quantiles | Failure, want: _Want) -> Mishap:
    happened = f"The pass failed twice: {made.sentence}." if isinstance(made, Failure) else "It was not finite twice."
    further = (
        "The model is asked again for each candle."
        if want is _Want.MEMORY
        else "Training is paused. Restore an earlier checkpoint, or press Resume to try again."
    )
    return Mishap(
        Severity.ERROR,
        WITHOUT_MODEL,
        f"The model could not forecast. {happened}",
        f"The reference's forecast stands in the place of the model's until the model has one again. {further}",
        "The model's skill in the meantime: it is that of the reference.",
        made.details if isinstance(made, Failure) else "",
    )
