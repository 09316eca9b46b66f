"""The start and end of catch-up: at the end of the backlog, a failure, or a stop."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def estimates(
    clock: ManualClock, meter: CatchUpMeter, left: float, speed: float, arriving: float
) -> list[float | None]:
    """Of the time left, while so many candles are taken and arrive per second; for a minute or to the end."""
    found = []
    for quarter in range(1, 241):
        clock.advance_ms(250)
        now_left = left + int(arriving * quarter / 4) - int(speed * quarter / 4)
        report = meter.report(int(now_left))
        if report is None or report.done == report.total:
            break
        found.append(report.seconds_left)
    return found


@given(arriving=st.floats(0.0, 20.0), gain=st.floats(1.0, 20.0))
def test_the_time_left_follows_from_how_fast_what_is_left_shrinks(arriving: float, gain: float) -> None:
    """Regression: "about 50 s" that took 200 s, in a replay nearly as fast as the trainer. Its first candles are quick,
    for they are not learned from."""
    clock, speed = ManualClock(), arriving + gain
    meter = CatchUpMeter(clock)
    estimates(clock, meter, 20_000, speed + 80.0, arriving)
    found = estimates(clock, meter, 10_000, speed, arriving)
    for quarter, seconds in enumerate(found[160:], 161):
        assert seconds == pytest.approx((10_000 - gain * quarter / 4) / gain, rel=0.3)


@pytest.mark.parametrize("arriving", [4.98, 5.0, 8.0])
def test_no_time_left_is_estimated_while_candles_arrive_as_fast_as_they_are_taken(arriving: float) -> None:
    clock = ManualClock()
    meter = CatchUpMeter(clock)
    estimates(clock, meter, 1_000, 10.0, 0.0)
    assert estimates(clock, meter, 400, 5.0, arriving)[125:] == [None] * 115
    report = meter.report(400)
    assert report is not None and report.has_own_estimate, "else the window takes the average since the beginning"


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
