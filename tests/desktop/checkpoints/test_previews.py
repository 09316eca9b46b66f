"""The question whether to restore a checkpoint."""

from __future__ import annotations

from dataclasses import replace

from core.domain.diagnosis import Disease
from desktop.checkpoints.previews import offer, which
from tests.desktop import scenario


def test_a_named_checkpoint_is_quoted_with_its_step() -> None:
    """“The checkpoint of my friend” would be a friend's."""
    assert which(scenario.checkpoint(1_182)) == "of step 1,182"
    assert which(scenario.checkpoint(1_182, name="my friend")) == "“my friend” (step 1,182)"


def test_a_diverged_checkpoint_is_called_so_first() -> None:
    """Regression: a diverged model was offered for restore like any other."""
    sound = replace(scenario.checkpoint(1_100), health=Disease.HEALTHY)
    wreck = offer(replace(sound, health=Disease.DIVERGED))
    assert wreck.startswith("The model had diverged when it was saved. Expect it to be worse than an untrained one. ")
    assert wreck.endswith(offer(sound)) and offer(sound).startswith("Restore the checkpoint of step 1,100?")
    assert "was skipping steps" in offer(replace(sound, is_known_good=False))
