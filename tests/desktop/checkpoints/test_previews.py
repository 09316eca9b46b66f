"""What is said of a checkpoint whose ghosts are on the chart."""

from __future__ import annotations

from desktop.checkpoints.previews import which
from tests.desktop import scenario


def test_a_name_that_was_given_is_quoted_and_its_step_beside_it() -> None:
    """“The checkpoint of my friend” would be a friend's."""
    assert which(scenario.checkpoint(1_182)) == "of step 1,182"
    assert which(scenario.checkpoint(1_182, name="my friend")) == "“my friend” (step 1,182)"
