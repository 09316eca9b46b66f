"""The start and end of catch-up: at the end of the backlog, a failure, or a stop."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.domain.clock import ManualClock
from core.domain.events import JobProgress, StepDone, TrainerEvent
from core.training.hosting.catch_up import CatchUpMeter
from core.training.hosting.host import HostDiedError
from tests.support import driven
from tests.support.candles import random_walk
from tests.support.driven import Driven

CANDLES = random_walk(60)


def is_last(report: JobProgress | None) -> bool:
    return report is not None and (report.is_over or report.done == report.total)


def test_catch_up_ends_in_step_with_a_continuous_feed() -> None:
    """Six candles per second: one to three of them are always under way."""
    clock = ManualClock()
    meter = CatchUpMeter(clock)
    reports = []
    for behind in (400, 200, 60, 3, 1, 2, 3, 1, 2, 0, 4):
        clock.advance_ms(250)
        reports.append(meter.report(behind))
    assert [report and (report.done, report.total) for report in reports[:4]] == [
        (0, 400),
        (200, 400),
        (340, 400),
        (400, 400),
    ]
    assert reports[4:] == [None] * 7


def test_catch_up_does_not_flap() -> None:
    meter = CatchUpMeter(ManualClock())
    reports = [meter.report(behind) for behind in (12, 19, 9, 15, 19, 11, 8, 18)]
    assert reports == [None] * 8


def test_the_time_left_falls() -> None:
    clock = ManualClock()
    meter = CatchUpMeter(clock)
    meter.report(100)
    clock.advance_ms(10_000)
    report = meter.report(50)
    assert report is not None and report.seconds_left == pytest.approx(10.0)


def test_a_cancelled_catch_up_reports_only_its_real_progress() -> None:
    meter = CatchUpMeter(ManualClock())
    assert meter.give_up() is None
    meter.report(100)
    meter.report(70)
    report = meter.give_up()
    assert report is not None and report.is_over and (report.done, report.total) == (30, 100)
    assert meter.give_up() is None


def progress_of(run: Driven) -> list[JobProgress]:
    return [event for event in run.events if isinstance(event, JobProgress)]


def test_a_stop_ends_catch_up(tmp_path: Path) -> None:
    driven.store_candles(tmp_path, CANDLES)
    run = Driven(tmp_path, kind="thread")

    def stop(event: TrainerEvent) -> None:
        if isinstance(event, StepDone) and event.step == 5:
            run.inbox.stop()

    run.run(stop)
    progress = progress_of(run)
    assert progress and not any(is_last(report) for report in progress[:-1])
    assert progress[-1].is_over


def test_a_failure_ends_catch_up(tmp_path: Path) -> None:
    """A death that no other start would mend."""
    driven.store_candles(tmp_path, CANDLES)
    run = Driven(tmp_path, kind="thread")

    def die(event: TrainerEvent) -> None:
        if isinstance(event, StepDone) and event.step == 5:
            raise HostDiedError("It died.", is_final=True)

    run.run(die)
    assert len(run.failures) == 1
    assert progress_of(run)[-1].is_over
