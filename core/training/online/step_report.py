"""A training step as reported: with a mark if it left the model not finite, and as a log line."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from core.domain.candle import Candle
from core.domain.diagnosis import NonFiniteOrigin
from core.domain.events import StepDone
from core.training.online.issued_forecast import Outcome

_log = logging.getLogger("ghostcandle.training")


def log_step(step: StepDone, outcomes: Sequence[Outcome], candle: Candle) -> None:
    """Log the forecast of the candle, its close, and the training loss."""
    one_step = next((outcome for outcome in outcomes if outcome.score.horizon == 1), None)
    forecast = "none" if one_step is None else f"{one_step.event.ghost.close:.8g}"
    overlap = "none" if one_step is None else f"{one_step.score.overlap:.3f}"
    loss = step.skipped_because or f"{step.loss:.5f}"
    _log.info(
        "step %d: forecast %s, actual %.8g, loss %s, candle accuracy %s",
        step.step,
        forecast,
        candle.close,
        loss,
        overlap,
    )


def with_non_finite_parameters(step: StepDone) -> StepDone:
    """The step, marked as having left parameters that are not finite; its own numbers did not show it."""
    if step.gradients is None:
        return step
    return replace(step, gradients=replace(step.gradients, non_finite=NonFiniteOrigin.PARAMETERS))
