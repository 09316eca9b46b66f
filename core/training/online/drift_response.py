"""The response to a lasting rise of the loss: the detector, and the answer chosen in the settings."""

from __future__ import annotations

from typing import Any

from core.domain.events import DriftFound, Incident, Severity
from core.domain.incident_kinds import IncidentKind
from core.training.engine.engine import TrainingEngine
from core.training.online.drift import DriftDetector, Rise

ANSWER_STEPS = 300
_FASTER = 3.0


class DriftWatch:
    """Owns the detector. answer: see `OnlineSettings.drift`."""

    def __init__(self, answer: str, engine: TrainingEngine) -> None:
        self._answer = answer
        self._engine = engine
        self._detector = DriftDetector()

    def observe(self, loss: float) -> Rise | None:
        """Take the loss of the newest forecast, before learning from its candle."""
        return None if self._answer == "off" else self._detector.observe(loss)

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

    def state(self) -> dict[str, Any]:
        """The whole state, as JSON; a raised rate is part of the engine's."""
        return self._detector.state()

    def restore(self, state: dict[str, Any] | None) -> None:
        """Continue from what `state` returned, or from None as a new detector."""
        self._detector.restore(state)


def drift_incident(drift: DriftFound) -> Incident:
    """A drift as a row of Incidents."""
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
