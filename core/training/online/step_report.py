"""A training step as it is told: with what it left spoiled, and as a line of the log."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from core.domain.candle import Candle
from core.domain.diagnosis import NonFiniteOrigin
from core.domain.events import StepDone
from core.training.online.issued import Outcome

_log = logging.getLogger("ghostcandle.training")


def log_step(step: StepDone, outcomes: Sequence[Outcome], candle: Candle) -> None:
    """What was forecast of the candle, what came, and what training on it lost."""
    one_step = next((outcome for outcome in outcomes if outcome.score.horizon == 1), None)
    forecast = "none" if one_step is None else f"{one_step.event.ghost.close:.8g}"
    overlap = "none" if one_step is None else f"{one_step.score.overlap:.3f}"
    loss = step.skipped_because or f"{step.loss:.5f}"
    _log.info(
        "step %d: forecast %s, came %.8g, loss %s, candle accuracy %s",
        step.step,
        forecast,
        candle.close,
        loss,
        overlap,
    )


def left_spoiled(step: StepDone) -> StepDone:
    """The step, where what it left was found not finite after it: its own numbers did not show that."""
    if step.gradients is None:
        return step
    return replace(step, gradients=replace(step.gradients, non_finite=NonFiniteOrigin.PARAMETERS))
