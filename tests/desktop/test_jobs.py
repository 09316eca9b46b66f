from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from core.clock import ManualClock
from core.events import JobProgress
from desktop.jobs import JobBar, JobList


def test_a_job_ends_with_its_last_report(clock: ManualClock) -> None:
    jobs = JobList(clock)
    jobs.apply(JobProgress("a", "First", 0, 10))
    jobs.apply(JobProgress("b", "Second", 0, 10))
    jobs.apply(JobProgress("a", "First", 10, 10))
    assert [job.job_id for job in jobs.running()] == ["b"]
    jobs.end("b")
    jobs.end("never heard of")
    assert len(jobs) == 0


def test_a_job_that_was_given_up_is_over_though_not_done(clock: ManualClock) -> None:
    jobs = JobList(clock)
    jobs.apply(JobProgress("a", "First", 3, 10))
    jobs.apply(JobProgress("a", "First", 3, 10, is_over=True))
    assert len(jobs) == 0


def test_the_time_left_comes_from_the_pace(clock: ManualClock) -> None:
    jobs = JobList(clock)
    jobs.apply(JobProgress("a", "First", 20, 100))
    clock.advance_ms(4_000)
    jobs.apply(JobProgress("a", "First", 40, 100))
    assert jobs.running()[0].seconds_left == pytest.approx(12.0)


def test_no_time_is_told_before_there_is_a_pace(clock: ManualClock) -> None:
    jobs = JobList(clock)
    jobs.apply(JobProgress("a", "First", 20, 100))
    clock.advance_ms(1_000)
    jobs.apply(JobProgress("a", "First", 40, 100))
    assert jobs.running()[0].seconds_left is None


def test_the_bar_hides_when_nothing_is_under_way(qtbot: QtBot) -> None:
    bar = JobBar()
    qtbot.addWidget(bar)
    bar.show_jobs((JobProgress("a", "First", 1, 2),))
    assert not bar.isHidden()
    bar.show_jobs(())
    assert bar.isHidden()
