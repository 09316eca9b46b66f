from __future__ import annotations

from core.domain.clock import ManualClock
from core.domain.events import JobProgress
from core.training.pretraining.run import Meter


def test_all_parts_share_one_count_but_have_separate_rates() -> None:
    clock, reports = ManualClock(), list[JobProgress]()
    meter = Meter("job", "Reading", 100, clock, reports.append, rest=90, pace_of_rest=9.0)
    clock.advance_ms(5_000)
    meter.at(5)
    meter.next_part("Learning", 10, 100)
    clock.advance_ms(1_000)
    meter.at(9)
    assert [(job.title, job.done, job.total, job.seconds_left) for job in reports] == [
        ("Reading", 5, 100, 15.0),
        ("Learning", 19, 100, 9.0),
    ]
