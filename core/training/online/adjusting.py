"""Settings changed during training are used exactly as given, or refused with their valid range; never clamped."""

from __future__ import annotations

from dataclasses import replace

from pydantic import ValidationError

from core.domain.counts import decimal_text
from core.domain.events import Severity
from core.domain.incident_kinds import IncidentKind
from core.settings.faults import sentence_of
from core.settings.tree import Settings
from core.training.commands import SetClipNorm, SetLearningRate
from core.training.engine.engine import TrainingEngine
from core.training.recovery.incident_draft import IncidentDraft


def settings_in_force(settings: Settings, engine: TrainingEngine) -> Settings:
    """The settings with the changes made since the start, by users and by rollbacks."""
    return replace(
        settings,
        training=replace(settings.training, learning_rate=engine.rate_in_force),
        gradients=replace(settings.gradients, clip_norm=engine.clip_norm),
    )


def rejection_reason(command: SetLearningRate | SetClipNorm, in_force: Settings) -> IncidentDraft | None:
    """Why this value cannot be set, or None."""
    try:
        if isinstance(command, SetLearningRate):
            name, stays = "learning rate", in_force.training.learning_rate
            replace(in_force.training, learning_rate=command.learning_rate)
        else:
            name, stays = "clip threshold", in_force.gradients.clip_norm
            replace(in_force.gradients, clip_norm=command.clip_norm)
    except ValidationError as error:
        return IncidentDraft(
            Severity.WARNING,
            IncidentKind.SETTING_REFUSED,
            f"The {name} cannot be set: {sentence_of(error.errors()[0])}.",
            f"{stays:g} remains in effect.",
            "Nothing.",
        )
    return None


def rate_adapted(times: float, rate: float, candles: int) -> IncidentDraft:
    """times: factor on the rate of the steps; rate: the new rate; candles: on how many newest ones that is based."""
    happened, done = "The model forecasts better than without it again.", "doubled"
    if times < 1.0:
        happened, done = (
            "The model forecast worse than without it. That proves no harm, but learning slows down as a precaution.",
            "halved",
        )
    return IncidentDraft(
        Severity.INFO,
        IncidentKind.LEARNING_RATE_ADAPTED,
        f"{happened} Based on the newest {candles:,} candles.",
        f"The rate of the steps was {done}, to {decimal_text(rate)} (schedule adaptive). "
        "The configured rate is unchanged.",
        "Nothing.",
    )
