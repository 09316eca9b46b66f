"""Whether the loss of forecasts has risen for longer than chance explains: Page's test on its logarithm.

Source: Page, Continuous inspection schemes (1954), as a cumulative sum of log-likelihood ratios; Hinkley, Inference
about the change-point from cumulative sum tests (1971), for the beginning of the change. On the logarithm, because
losses
are skewed: one candle with a hundredfold loss counts as one candle, and doubling is the same rise at any level.

`DriftWatch` answers a rise as chosen in the settings.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from core.domain.events import DriftFound, Incident, Severity
from core.domain.incident_kinds import IncidentKind
from core.training.engine.engine import TrainingEngine

ANSWER_STEPS = 300
_FASTER = 3.0
_RISE = math.log(1.5)
"""The rise of the log loss that the test is most sensitive to: by half. Half of that, by 22 %, is not reported."""
_THRESHOLD = 20.0
"""The required evidence, as a logarithm. Simulated over 600,000 candles each: no false alarm on independent
losses, gamma or log-normal, and one in 500,000 if the log loss has an autocorrelation of 0.3, like real losses."""
_WARM_UP = 200
"""Losses needed before the usual level is known well enough to compare others with it."""
_MEMORY = 2_000
"""Window of the usual level, in losses; older ones fade."""
_LARGEST_DEVIATIONS = 4.0
_SMALLEST_VARIANCE = 1e-4
_SMALLEST_LOSS = 1e-12


@dataclass(frozen=True, slots=True)
class Rise:
    """A rise found by the detector. Losses are geometric means."""

    candles: int
    """How many of the newest losses were higher."""
    loss_before: float
    loss_after: float


class DriftDetector:
    """Takes one loss a candle. After a rise it learns the usual level again."""

    def __init__(self) -> None:
        self._count = 0
        self._mean = 0.0
        """The mean of the log loss."""
        self._variance = 0.0
        self._evidence = 0.0
        self._risen = 0
        """Losses since the evidence was last at zero."""
        self._risen_sum = 0.0

    def observe(self, loss: float) -> Rise | None:
        """Append the next loss; non-finite ones are ignored. Returns a rise as soon as it is certain."""
        if not math.isfinite(loss):
            return None
        log_loss = math.log(max(loss, _SMALLEST_LOSS))
        if self._count >= _WARM_UP:
            self._weigh(log_loss)
        if self._evidence > _THRESHOLD:
            found = Rise(self._risen, math.exp(self._mean), math.exp(self._risen_sum / self._risen))
            self._begin()
            return found
        self._learn(log_loss)
        return None

    def _weigh(self, log_loss: float) -> None:
        variance = max(self._variance, _SMALLEST_VARIANCE)
        above = min(log_loss - self._mean, _LARGEST_DEVIATIONS * math.sqrt(variance))
        self._evidence = max(0.0, self._evidence + _RISE / variance * (above - _RISE / 2.0))
        self._risen = self._risen + 1 if self._evidence > 0.0 else 0
        self._risen_sum = self._risen_sum + log_loss if self._evidence > 0.0 else 0.0

    def _learn(self, log_loss: float) -> None:
        """All losses count equally until there are `_MEMORY` of them; then older ones fade."""
        self._count += 1
        weight = 1.0 / min(self._count, _MEMORY)
        off = log_loss - self._mean
        self._mean += weight * off
        self._variance = (1.0 - weight) * (self._variance + weight * off * off)

    def _begin(self) -> None:
        self._count, self._mean, self._variance = 0, 0.0, 0.0
        self._evidence, self._risen, self._risen_sum = 0.0, 0, 0.0

    def state(self) -> dict[str, Any]:
        """The whole state, as JSON; a raised learning rate is part of the engine's."""
        return {
            "usual": [self._count, self._mean, self._variance],
            "evidence": [self._evidence, self._risen, self._risen_sum],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from the result of `state`."""
        count, self._mean, self._variance = state["usual"]
        self._evidence, risen, self._risen_sum = state["evidence"]
        self._count, self._risen = int(count), int(risen)


class DriftWatch(DriftDetector):
    """Responds to drift. answer: see `OnlineSettings.drift`."""

    def __init__(self, answer: str, engine: TrainingEngine) -> None:
        super().__init__()
        self._answer = answer
        self._engine = engine

    def observe(self, loss: float) -> Rise | None:
        """Append the loss of the newest forecast, before learning from its candle."""
        return None if self._answer == "off" else super().observe(loss)

    def answer(self, *, is_learned: bool, is_paused: bool) -> str:
        """Respond to a rise. Returns a sentence for the incident. is_learned: the model learns from this market."""
        if self._answer != "learn":
            return "Nothing was changed: drifts are only marked."
        if not is_learned:
            return "Nothing was changed: the model does not learn from this market."
        if is_paused:
            return "Nothing was changed: training is paused."
        self._engine.schedule.boost(_FASTER, ANSWER_STEPS)
        return f"The learning rate was set to {_FASTER:g} times its value; it falls back over {ANSWER_STEPS} steps."


def drift_incident(drift: DriftFound) -> Incident:
    """A drift as a row of Events."""
    return Incident(
        drift.run_id,
        drift.at_ms,
        Severity.INFO,
        IncidentKind.DRIFT,
        f"Drift: the typical loss was {drift.loss_after:.3g} over the newest {drift.candles:,} candles, "
        f"{drift.loss_after / drift.loss_before:.1f} times the usual {drift.loss_before:.3g}.",
        drift.what_was_done,
        "Nothing was lost. Forecasts are worse until the model has adapted to the market. This is not an error.",
    )
