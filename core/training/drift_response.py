"""What is done when the loss has risen for good: the detector, and the answer that the settings ask for."""

from __future__ import annotations

from typing import Any

from core.events import DRIFT, DriftFound, Incident, Severity
from core.training.drift import DriftDetector, Rise
from core.training.engine.engine import TrainingEngine
from core.training.forecaster import Forecaster

ANSWER_STEPS = 300
_FASTER = 3.0
_FORGOTTEN = 0.9
_SHORTEST = 64


class DriftWatch:
    """Owns the detector. answer: see `TrainingSettings.drift`."""

    def __init__(self, answer: str, engine: TrainingEngine, forecaster: Forecaster) -> None:
        self._answer = answer
        self._engine = engine
        self._forecaster = forecaster
        self._detector = DriftDetector()
        self._since = 0
        self._left = 0

    def observe(self, loss: float) -> Rise | None:
        """Take the loss of the newest forecast, before anything is learned from its candle."""
        if self._answer == "off":
            return None
        self._left = max(0, self._left - 1)
        self._since += 1
        return self._detector.observe(loss)

    def replay_window(self, usual: int) -> int:
        """How far back replay draws from now."""
        return min(usual, max(_SHORTEST, self._since)) if self._left else usual

    def answer(self, rise: Rise) -> str:
        """Do what is to be done. Returns a sentence."""
        if self._answer == "rate":
            self._engine.schedule.hurry(_FASTER, ANSWER_STEPS)
            return f"The learning rate was raised {_FASTER:g} times; it falls back over {ANSWER_STEPS} steps."
        if self._answer == "replay":
            self._left, self._since = ANSWER_STEPS, rise.candles
            return f"For {ANSWER_STEPS} candles only those since the rise are replayed."
        if self._answer == "experts":
            self._forecaster.forget(_FORGOTTEN)
            return "The experts' weights went back to what they were at the start."
        return "Nothing was changed: drifts are only marked."

    def state(self) -> dict[str, Any]:
        """All of it, as JSON."""
        return {"detector": self._detector.state(), "since": self._since, "left": self._left}

    def restore(self, state: dict[str, Any] | None) -> None:
        """Go on from what `state` returned; from None, as a new one."""
        self._detector.restore(None if state is None else state["detector"])
        self._since, self._left = (0, 0) if state is None else (int(state["since"]), int(state["left"]))


def drift_incident(drift: DriftFound) -> Incident:
    """The same as a row of Incidents."""
    return Incident(
        drift.run_id,
        drift.at_ms,
        Severity.INFO,
        DRIFT,
        f"Drift: the loss before learning was {drift.loss_after:.3g} over the newest {drift.candles:,} candles, "
        f"{drift.loss_after / drift.loss_before:.1f} times the usual {drift.loss_before:.3g}.",
        drift.what_was_done,
        "Nothing was lost. Forecasts are worse until the model has followed the market; no error, markets do that.",
    )
