"""When settings take effect, and what of a change a running trainer takes."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from core.settings.tree import Settings
from core.settings.when_applied import SENT_TO_TRAINER, WhenApplied, when_applied, with_changes_at_once
from core.training.commands import SETTING_COMMANDS


@pytest.mark.parametrize(
    ("group", "name", "when"),
    [
        ("appearance", "theme", WhenApplied.AT_ONCE),
        ("appearance", "font", WhenApplied.NEXT_PROGRAM_START),
        ("training", "learning_rate", WhenApplied.AT_ONCE),
        ("training", "replay_samples", WhenApplied.NEXT_TRAINING),
        ("checkpoints", "keep_newest", WhenApplied.AT_ONCE),
        ("checkpoints", "every_steps", WhenApplied.NEXT_TRAINING),
        ("model", "width", WhenApplied.NEW_RUN),
    ],
)
def test_a_setting_takes_effect(group: str, name: str, when: WhenApplied) -> None:
    assert when_applied(group, name) is when
    assert hasattr(getattr(Settings(), group), name)


def test_there_is_a_command_for_each_setting_that_is_sent_to_a_trainer() -> None:
    assert set(SETTING_COMMANDS) == set(SENT_TO_TRAINER)


def test_of_a_change_a_running_trainer_takes_what_takes_effect_at_once() -> None:
    used = Settings()
    changed = replace(
        used,
        training=replace(used.training, learning_rate=0.01, duty_percent=40, replay_samples=3),
        model=replace(used.model, width=2 * used.model.width),
    )
    merged = with_changes_at_once(used, changed)
    assert merged.training == replace(used.training, learning_rate=0.01, duty_percent=40)
    assert merged.model == used.model
    assert {field.name for field in fields(Settings) if getattr(merged, field.name) != getattr(used, field.name)} == {
        "training"
    }
