"""What is set while it trains is used as it is, or refused with its range: never another value in its place."""

from __future__ import annotations

from dataclasses import replace

from pydantic import ValidationError

from core.commands import SetClipNorm, SetLearningRate
from core.events import Severity
from core.setting_faults import sentence_of
from core.settings import Settings
from core.training.recovery.mishap import Mishap


def refusal_of(command: SetLearningRate | SetClipNorm, in_force: Settings) -> Mishap | None:
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
