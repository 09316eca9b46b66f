from __future__ import annotations

import pytest

from core.settings.tree import TrainingSettings
from desktop.window.rate_reason import rate_reason

SET = TrainingSettings(learning_rate=1e-3)


@pytest.mark.parametrize(
    ("training", "in_force", "now", "markets", "text"),
    [
        (SET, 1e-3, 1e-3, 1, ""),
        (SET, 1e-3, None, 1, ""),
        ({"schedule": "adaptive"}, 1e-3, 5e-4, 1, "now 0.0005, halved by the adaptive schedule"),
        ({"schedule": "adaptive"}, 1e-3, 2.5e-4, 1, "now 0.00025, lowered by the adaptive schedule"),
        ({"schedule": "cosine"}, 1e-3, 7e-4, 1, "now 0.0007, lowered by the cosine schedule"),
        ({"warmup_steps": 500}, 1e-3, 2e-4, 1, "now 0.0002, still warming up"),
        (SET, 1e-3, 2e-3, 4, "now 0.002, 4 markets share a step"),
        ({"schedule": "adaptive"}, 1e-3, 1e-3, 4, "halved by the adaptive schedule, 4 markets share a step"),
        (SET, 5e-4, 5e-4, 1, "halved by a rollback, set to 0.001"),
        (SET, 2.5e-4, 2.5e-4, 1, "lowered by rollbacks, set to 0.001"),
        (SET, 1e-3, 3e-3, 1, "now 0.003, raised for a while after a drift"),
        (SET, 7e-4, 7e-4, 1, ""),
    ],
)
def test_it_says_who_changed_the_rate(
    training: TrainingSettings | dict[str, object], in_force: float, now: float | None, markets: int, text: str
) -> None:
    """The last one is a rate that was typed, and that the trainer has not taken over yet."""
    chosen = TrainingSettings(learning_rate=1e-3, **training) if isinstance(training, dict) else training  # type: ignore[arg-type]
    assert rate_reason(chosen, in_force, now, 100, markets) == text
