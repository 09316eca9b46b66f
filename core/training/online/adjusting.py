"""What is set while it trains is used as it is, or refused with its range: never another value in its place. Where the
schedule `adaptive` makes another rate of it, that is said."""

from __future__ import annotations

from dataclasses import replace

from pydantic import ValidationError

from core.domain.events import Severity
from core.settings.faults import sentence_of
from core.settings.tree import Settings
from core.training.commands import SetClipNorm, SetLearningRate
from core.training.recovery.incident_draft import Mishap


def rejection_reason(command: SetLearningRate | SetClipNorm, in_force: Settings) -> Mishap | None:
    """None where the value can be set."""
    try:
        if isinstance(command, SetLearningRate):
            name, stays = "learning rate", in_force.training.learning_rate
            replace(in_force.training, learning_rate=command.learning_rate)
        else:
            name, stays = "clip threshold", in_force.gradients.clip_norm
            replace(in_force.gradients, clip_norm=command.clip_norm)
    except ValidationError as error:
        return Mishap(
            Severity.WARNING,
            "setting refused",
            f"The {name} cannot be set: {sentence_of(error.errors()[0])}.",
            f"{stays:g} stays in force.",
            "Nothing.",
        )
    return None


def rate_adapted(times: float, rate: float) -> Mishap:
    """times: what the rate of the steps was multiplied with; rate: what it is now."""
    happened, done = "The model forecasts better than without it again.", "doubled"
    if times < 1.0:
        happened, done = (
            "The model forecast worse than without it: no proof of harm, but enough for the schedule.",
            "halved",
        )
    return Mishap(
        Severity.INFO,
        "learning rate adapted",
        f"{happened} It looks at the newest 500 to 1,000 candles.",
        f"The rate of the steps was {done}, to {rate:g} (schedule adaptive). The rate that was set stays as it is.",
        "Nothing.",
    )
