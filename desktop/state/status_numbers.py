"""Numbers from the trainer's status: of the market on the chart, and the newest step."""

from __future__ import annotations

from dataclasses import replace

from core.domain.events import StepDone, TrainerStatus


def charted_status(status: TrainerStatus | None, run_id: str | None) -> TrainerStatus | None:
    """run_id: of the market on the chart; where the status does not have it, it stays as it is."""
    markets = () if status is None else status.markets
    found = next((each for each in markets if each.member.run_id == run_id), None)
    if status is None or found is None:
        return status
    return replace(
        status,
        position_ms=found.position_ms,
        accuracy=found.accuracy,
        accuracy_apart=found.accuracy_apart,
        online=found.online,
        shares=found.shares,
    )


def newest_step(status: TrainerStatus | None, last: StepDone | None) -> int | None:
    """A status comes now and then only: the newest step may be newer."""
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
