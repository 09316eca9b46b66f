"""The newest step and the learning rate in use, from the trainer's status and its steps."""

from __future__ import annotations

from core.domain.events import StepDone, TrainerStatus


def newest_step(status: TrainerStatus | None, last: StepDone | None) -> int | None:
    """The newest step, which may be newer than the rare status."""
    if status is None or last is None:
        return last.step if last is not None else None if status is None else status.step
    last_step_ms = status.last_step_at_ms
    is_behind = status.step == 0 if last_step_ms is None else last_step_ms < last.at_ms
    return last.step if is_behind else status.step


def rate_in_use(status: TrainerStatus | None, last: StepDone | None, step_before: int | None) -> float | None:
    """step_before: the newest step when the learning rate was set; until there is a later one, the status has it."""
    if status is not None and (last is None or last.step == step_before):
        return status.learning_rate
    return None if last is None else last.learning_rate
