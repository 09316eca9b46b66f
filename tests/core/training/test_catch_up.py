"""The bar of the catch-up: it appears, moves, and ends, also where the trainer is never behind by none."""

from core.clock import ManualClock
from core.training.catch_up import CatchUpMeter


def test_a_few_candles_are_no_catch_up() -> None:
    meter = CatchUpMeter(ManualClock())
    assert all(meter.report(behind) is None for behind in (0, 5, 19))


def test_the_time_left_follows_the_speed() -> None:
    clock = ManualClock()
    meter = CatchUpMeter(clock)
    meter.report(100)
    clock.advance_ms(2_000)
    progress = meter.report(80)
    assert progress is not None and (progress.done, progress.total) == (20, 100)
    assert progress.seconds_left == 8.0


def test_a_feed_in_step_with_the_training_ends_it() -> None:
    clock = ManualClock()
    meter = CatchUpMeter(clock)
    meter.report(100)
    clock.advance_ms(1_000)
    last = meter.report(2)
    assert last is not None and last.done == last.total
    assert all(meter.report(behind) is None for behind in (1, 2, 3, 2, 1))


def test_it_is_ended_however_the_run_ends_and_only_once() -> None:
    meter = CatchUpMeter(ManualClock())
    assert meter.end() is None
    meter.report(100)
    last = meter.end()
    assert last is not None and last.done == last.total
    assert meter.end() is None
