"""The recovery of a diverged model, from stored data; in a real session in test_divergence_recovery.py."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from core.domain.checkpoint_info import CheckpointInfo
from core.domain.diagnosis import Diagnosis, Disease, DivergenceRecovery, SettingChange
from core.settings.tree import Settings
from core.training.doctor.divergence_rule import Divergence
from core.training.hosting.divergence_recovery import differing_settings, diverged_since, with_recovery
from tests.core.storage.samples import checkpoint

RATE = 3e-5
TENTH = SettingChange("training", "learning_rate", RATE / 10.0)
VERDICT = Diagnosis("run", 350, Disease.DIVERGED, "It lost.", "Lower the rate.", TENTH)
FOUND = Divergence(300, 0.4, 0.2, 0.7, 300, -0.05, -0.05)
"""Since a change at step 300."""


def kept(number: int, health: Disease | None = Disease.HEALTHY, rate: float = RATE) -> CheckpointInfo:
    return replace(checkpoint("run", number), health=None if health is None else health.value, settings_id=str(rate))


def settings_of(settings_id: str) -> dict[str, Any]:
    return {"training": {"learning_rate": float(settings_id)}, "gradients": {"clip_norm": 1.0}}


def with_rate(rate: float) -> Settings:
    settings = Settings()
    return replace(settings, training=replace(settings.training, learning_rate=rate))


def recovery(found: Divergence, rate: float, *newest_first: CheckpointInfo) -> DivergenceRecovery:
    way = with_recovery(VERDICT, newest_first, found, with_rate(rate), settings_of).recovery
    assert way is not None
    return way


def test_a_change_is_reverted_with_the_checkpoint_before_it() -> None:
    way = recovery(FOUND, 1.0, kept(32, None, 1.0), kept(30))
    assert [change.value for change in way.changes] == [RATE] and way.checkpoint_step == 300


def test_an_already_reverted_change_leaves_only_the_restore() -> None:
    """The button set the rate back from 0.00003 to 0.000003."""
    assert recovery(FOUND, RATE, kept(30)) == DivergenceRecovery((), "run-30", 300)


def test_without_a_change_a_tenth_of_the_rate_is_tried() -> None:
    assert recovery(replace(FOUND, changed_at=None), RATE, kept(30)) == DivergenceRecovery((TENTH,), "run-30", 300)
    assert recovery(replace(FOUND, sound_until=None), RATE, kept(30, Disease.DIVERGED)) == DivergenceRecovery((TENTH,))


@pytest.mark.parametrize("disease", [Disease.VANISHING, Disease.DEAD_LAYERS, Disease.EXPLODING])
def test_an_unhealthy_checkpoint_is_not_restored(disease: Disease) -> None:
    assert recovery(FOUND, 1.0, kept(29, disease), kept(28)).checkpoint_step == 280


def test_settings_unaffected_by_a_restore_are_known() -> None:
    left = differing_settings(kept(30), with_rate(0.9), settings_of, set_back=())
    assert left == {"learning_rate": (0.9, RATE)}
    assert differing_settings(kept(30), with_rate(0.9), settings_of, set_back=("learning_rate",)) == {}
    assert differing_settings(kept(30), with_rate(RATE), settings_of, set_back=()) == {}
    assert differing_settings(None, with_rate(0.9), settings_of, set_back=()) == {}


def test_a_resumed_diverged_run_is_known_from_the_record() -> None:
    """Resumed as one that corrects nothing it would be as good as its anchor, and healthy."""
    before, again, wreck = (replace(kept(number), reason="change") for number in (30, 31, 36))
    newest_first = [kept(40, Disease.DIVERGED), replace(wreck, health="diverged"), kept(32), again, before, kept(20)]
    assert diverged_since(newest_first, "run-40") == 300, "several changes in a row count as one"
    assert diverged_since(newest_first, "run-32") is None, "not of a model that was well"
    assert diverged_since(newest_first, None) is None
    assert diverged_since([kept(40, Disease.DIVERGED), kept(20)], "run-40") is None, "nothing was changed"
