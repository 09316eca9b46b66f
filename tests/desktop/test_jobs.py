from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton
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


def test_cancel_names_the_job_that_is_shown(qtbot: QtBot) -> None:
    bar = JobBar()
    qtbot.addWidget(bar)
    bar.show_jobs((JobProgress("a", "First", 1, 2, can_cancel=True), JobProgress("b", "Second", 1, 2)))
    with qtbot.waitSignal(bar.cancel_requested) as cancelled:
        qtbot.mouseClick(bar.findChild(QToolButton), Qt.MouseButton.LeftButton)
    assert cancelled.args == ["a"]


def test_what_cannot_be_cancelled_has_no_button(qtbot: QtBot) -> None:
    bar = JobBar()
    qtbot.addWidget(bar)
    bar.show_jobs((JobProgress("a", "First", 1, 2),))
    assert bar.findChild(QToolButton).isHidden()
