from __future__ import annotations

import pytest

from core.domain.clock import ManualClock
from core.domain.events import JobProgress
from desktop.state.job_list import JobList, JobState


def test_a_job_ends_with_its_last_report(clock: ManualClock) -> None:
    jobs = JobList(clock)
    jobs.apply(JobProgress("a", "First", 0, 10))
    jobs.apply(JobProgress("b", "Second", 0, 10))
    jobs.apply(JobProgress("a", "First", 10, 10))
    assert [job.job_id for job in jobs.running()] == ["b"]
    jobs.end("b")
    jobs.end("unknown")
    assert len(jobs) == 0


def test_a_cancelled_job_is_over_though_not_done(clock: ManualClock) -> None:
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


def test_an_estimate_holds_for_two_seconds(clock: ManualClock) -> None:
    """Regression: the chart and the status bar, which are not painted together, showed two times for one job."""
    jobs, shown = JobList(clock), list[float | None]()
    for done in range(20, 70, 10):
        jobs.apply(JobProgress("a", "First", done, 100, 1_000.0 - done))
        shown.append(jobs.running()[0].seconds_left)
        clock.advance_ms(800)
    assert shown == [980.0, 980.0, 980.0, 950.0, 950.0]
    jobs.advance("a", "Another part", 1, 100, 7.0)
    assert jobs.running()[0].seconds_left == 7.0


def test_no_time_left_is_shown_before_there_is_a_pace(clock: ManualClock) -> None:
    jobs = JobList(clock)
    jobs.apply(JobProgress("a", "First", 20, 100))
    clock.advance_ms(1_000)
    jobs.apply(JobProgress("a", "First", 40, 100))
    assert jobs.running()[0].seconds_left is None


def test_the_pace_is_no_estimate_of_a_job_that_has_none(clock: ManualClock) -> None:
    """Catch-up in a replay as fast as the trainer: the pace of the beginning says nothing about the end."""
    jobs = JobList(clock)
    for done in (20, 40):
        jobs.apply(JobProgress("a", "First", done, 100, has_own_estimate=True))
        clock.advance_ms(4_000)
    assert jobs.running()[0].seconds_left is None


def test_finished_jobs_stay_in_the_list_with_their_result(clock: ManualClock) -> None:
    jobs = JobList(clock)
    jobs.begin("own", "Import a file")
    jobs.apply(JobProgress("a", "Catch-up", 1, 10))
    jobs.advance("own", "Storing", 5, 10, None)
    clock.advance_ms(3_000)
    jobs.finish("own", JobState.FAILED, "The file is empty.")
    running, over = jobs.jobs()
    assert running.job_id == "a" and running.state is JobState.RUNNING
    assert (over.state, over.result, over.ended_at_ms) == (JobState.FAILED, "The file is empty.", clock.now_ms())
    assert over.report.done == 5 and over.report.seconds_left is None
    jobs.clear_over()
    assert [job.job_id for job in jobs.jobs()] == ["a"]


def test_a_process_job_is_over_only_when_its_process_has_ended(clock: ManualClock) -> None:
    jobs = JobList(clock)
    jobs.begin("own", "Pretrain")
    jobs.advance("own", "Reading candles", 10, 10, 0.0)
    assert len(jobs) == 1
    jobs.finish("own", JobState.DONE, "Done.")
    assert len(jobs) == 0


def test_each_part_has_a_separate_pace(clock: ManualClock) -> None:
    jobs = JobList(clock)
    jobs.begin("own", "Pretrain")
    jobs.advance("own", "Reading candles", 0, 100, None)
    clock.advance_ms(10_000)
    jobs.advance("own", "Reading candles", 100, 100, None)
    jobs.advance("own", "Pretraining", 0, 1_000, None)
    assert jobs.running()[0].seconds_left is None, "nothing of it was measured yet"
    clock.advance_ms(4_000)
    jobs.advance("own", "Pretraining", 100, 1_000, None)
    assert jobs.running()[0].seconds_left == pytest.approx(36.0)


def test_ending_some_jobs_leaves_the_others(clock: ManualClock) -> None:
    jobs = JobList(clock)
    jobs.begin("own", "Pretrain")
    jobs.apply(JobProgress("catch-up", "Learning", 1, 10))
    jobs.end("catch-up")
    jobs.end("feed catch-up")
    assert [job.job_id for job in jobs.running()] == ["own"]
    assert [job.state for job in jobs.jobs()] == [JobState.RUNNING, JobState.ENDED]


def test_the_list_is_bounded(clock: ManualClock) -> None:
    jobs = JobList(clock)
    for number in range(200):
        jobs.begin(str(number), "Work")
        jobs.finish(str(number), JobState.DONE, "")
    kept = jobs.jobs()
    assert len(kept) == 50 and kept[0].job_id == "199", "the newest stay, the newest first"


def test_a_job_that_ends_on_request_is_cancelled(clock: ManualClock) -> None:
    jobs = JobList(clock)
    jobs.apply(JobProgress("catch-up", "Learning", 1, 10))
    jobs.cancelling("catch-up", "Start continues from there.")
    jobs.apply(JobProgress("catch-up", "Learning", 2, 10, 8.0))
    assert jobs.running()[0].seconds_left is None, "the time left is unknown"
    jobs.apply(JobProgress("catch-up", "Learning", 2, 10, is_over=True))
    (job,) = jobs.jobs()
    assert (job.state, job.result) == (JobState.CANCELLED, "Start continues from there.")
