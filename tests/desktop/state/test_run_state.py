from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from core.domain.candle import FILE_VENUE, Market
from core.domain.events import (
    CheckpointsChanged,
    EventBatch,
    FirstForecast,
    JobProgress,
    MarketStatus,
    MemberRun,
    TrainerEvent,
    TrainerFailed,
    TrainerState,
    TrainerStatus,
)
from core.domain.incident_kinds import IncidentKind
from core.market.feeds.base import CatchUpProgress, FeedState, FeedStatus
from core.settings.tree import MarketSettings
from core.training.hosting.catch_up import JOB_ID
from desktop.state.incident_history import INCIDENTS_KEPT
from desktop.state.job_list import JobState
from desktop.state.run_state import RunState
from desktop.state.training_words import is_finished
from tests.desktop import scenario
from tests.desktop.chart.support import outcome_of


@pytest.mark.parametrize(
    ("event", "signal"),
    [
        (next(scenario.steps(1)), "steps_changed"),
        (scenario.status(), "status_changed"),
        (scenario.diagnosis(), "diagnosis_changed"),
        (scenario.forecast(scenario.market(40)), "forecast_changed"),
        (CheckpointsChanged(scenario.RUN, None, ("gone",)), "checkpoints_changed"),
        (scenario.incidents()[0], "incidents_changed"),
        (scenario.ready(), "ready"),
        (TrainerFailed("It cannot continue."), "failed"),
        (JobProgress("job", "Working", 1, 2), "jobs_changed"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_event_emits_its_signal(qtbot: QtBot, state: RunState, event: TrainerEvent, signal: str) -> None:
    with qtbot.waitSignal(getattr(state, signal)):
        state.apply(event)


@pytest.mark.parametrize(
    ("event", "signal"), [(CatchUpProgress(3, 10), "jobs_changed"), (scenario.live_feed(), "feed_changed")]
)
def test_each_report_of_the_feed_emits_its_signal(
    qtbot: QtBot, state: RunState, event: FeedStatus | CatchUpProgress, signal: str
) -> None:
    with qtbot.waitSignal(getattr(state, signal)):
        state.markets.on_feed_event(scenario.MARKET, event)
    with qtbot.assertNotEmitted(getattr(state, signal)):
        state.markets.on_feed_event(MARKETS[2], event)


def test_a_batch_is_applied_in_order(state: RunState) -> None:
    state.apply(EventBatch(tuple(scenario.steps(5))))
    assert state.steps.column("step").tolist() == [11_541, 11_542, 11_543, 11_544, 11_545]


def test_an_unknown_event_is_refused(state: RunState) -> None:
    with pytest.raises(KeyError):
        state.apply("hello")  # type: ignore[arg-type]


def test_events_of_another_run_are_dropped(state: RunState) -> None:
    state.apply(scenario.ready())
    state.apply(replace(scenario.status(), run_id="another"))
    assert state.status is None


def test_a_new_run_replaces_the_former(state: RunState) -> None:
    state.apply(scenario.ready())
    state.apply(EventBatch(tuple(scenario.steps(5))))
    state.apply(scenario.incidents()[0])
    state.markets.on_feed_event(state.market, scenario.live_feed())
    state.apply(scenario.diagnosis())
    state.apply(scenario.ready("next"))
    assert state.run_id == "next"
    assert state.feed == scenario.live_feed()
    assert len(state.steps) == 0 and state.incidents == ()
    assert len(state.gradients) == 0 and state.diagnosis is None


def test_the_same_run_keeps_its_history_when_it_is_ready_again(state: RunState) -> None:
    scenario.watch(state)
    state.add_steps(scenario.steps(5))
    state.add_incidents(scenario.incidents())
    state.apply(scenario.ready())
    assert len(state.steps) == len(state.gradients) == 5 and len(state.incidents) == 3


def test_a_skipped_step_has_no_loss_and_is_not_zero(state: RunState) -> None:
    state.apply(EventBatch(tuple(scenario.steps(10))))
    assert np.isnan(state.steps.column("loss")).tolist() == [index == 5 for index in range(10)]


def test_a_status_from_before_a_requested_pause_does_not_revoke_it(state: RunState) -> None:
    state.trainer_starts(has_run=False)
    state.apply(scenario.ready())
    state.apply(scenario.status())
    state.request_pause(True)
    state.apply(scenario.status())
    assert state.is_paused and state.pause_requested
    state.apply(scenario.status(TrainerState.PAUSED))
    assert state.is_paused and state.pause_requested is None
    state.apply(scenario.status())
    assert not state.is_paused, "the trainer resumed by itself"


def test_incidents_are_bounded_and_newest_first(state: RunState) -> None:
    state.apply(scenario.ready())
    for index in range(INCIDENTS_KEPT + 10):
        state.apply(replace(scenario.incidents()[0], at_ms=index))
    times = [incident.at_ms for incident in state.incidents]
    assert len(times) == INCIDENTS_KEPT and times[0] == INCIDENTS_KEPT + 9
    assert times == sorted(times, reverse=True)


def test_history_is_merged_before_live_events_without_duplicates(state: RunState) -> None:
    first, second, third = scenario.incidents()
    happened: list[object] = []
    state.incident_happened.connect(happened.append)
    state.apply(third)
    state.add_incidents((first, second, third))
    assert state.incidents == (third, second, first)
    assert happened == [third]


def test_the_parents_crash_report_is_merged_with_the_recorded_one(state: RunState) -> None:
    """The parent may not know the run; the database does."""
    reported = replace(scenario.incidents()[2], run_id=None)
    state.apply(reported)
    state.add_incidents(scenario.incidents())
    assert state.incidents == (reported, *reversed(scenario.incidents()[:2]))


def test_a_failure_lasts_until_the_next_start(state: RunState) -> None:
    state.apply(scenario.status())
    state.apply(TrainerFailed("It cannot continue."))
    assert state.trainer_state is TrainerState.FAILED
    state.apply(scenario.status(TrainerState.STOPPED))
    assert state.trainer_state is TrainerState.FAILED
    state.apply(scenario.status(TrainerState.STARTING))
    assert state.trainer_state is TrainerState.STARTING


def test_the_checkpoint_in_use_is_the_one_last_loaded_or_saved(state: RunState) -> None:
    state.apply(scenario.ready())
    assert state.checkpoint_in_use == "checkpoint-11540"
    state.apply(CheckpointsChanged(scenario.RUN, scenario.checkpoint(12_340)))
    assert state.checkpoint_in_use == "checkpoint-12340"


def test_catch_up_is_a_job_that_ends(state: RunState) -> None:
    state.markets.on_feed_event(state.market, CatchUpProgress(3, 10))
    assert [(job.done, job.total) for job in state.jobs.running()] == [(3, 10)]
    state.markets.on_feed_event(state.market, CatchUpProgress(10, 10))
    assert state.jobs.running() == ()


@pytest.mark.parametrize("how", [FeedState.FAILED, FeedState.ENDED])
def test_catch_up_is_interrupted_by_the_end_of_its_feed(state: RunState, how: FeedState) -> None:
    state.markets.on_feed_event(state.market, CatchUpProgress(3, 10))
    state.markets.on_feed_event(state.market, FeedStatus(how, "It is over.", 0))
    assert [job.state for job in state.jobs.jobs()] == [JobState.ENDED]


def test_the_simple_rules_forecast_is_shown_until_the_trainer_reaches_its_candle(state: RunState) -> None:
    candles = scenario.market(60)
    behind, near = scenario.forecast(candles[:30]), scenario.forecast(candles)
    stopgap = replace(scenario.forecast(candles), is_by_simple_rules=True)
    state.apply(FirstForecast(stopgap, scenario.MARKET))
    assert state.shown_forecast == stopgap and state.forecast is None, "it is not committed"
    state.apply(scenario.ready())
    state.apply(behind)
    assert state.shown_forecast == stopgap and state.forecast == behind
    state.apply(near)
    assert state.shown_forecast == near
    state.begin(None)
    assert state.shown_forecast is None


ENDED = FeedStatus(FeedState.ENDED, "The end of walk was reached.", 0)


def test_a_run_is_finished_once_the_last_candle_of_an_ended_feed_is_learned(state: RunState) -> None:
    candles = scenario.market(40)
    last_ms = candles[-1].open_time_ms
    state.feed_record.opened(Market(FILE_VENUE, "walk#dd2831", scenario.MINUTE))
    state.feed_record.add_closed(candles)
    state.apply(scenario.status(position_ms=last_ms))
    assert not is_finished(state), "more candles may come"
    state.markets.on_feed_event(state.market, ENDED)
    assert is_finished(state)
    state.apply(scenario.status(position_ms=candles[-2].open_time_ms))
    assert not is_finished(state), "the last one is being learned from"
    state.apply(scenario.forecast(candles))
    assert is_finished(state), "a status is sent only occasionally"
    scenario.watch(state)
    state.markets.on_feed_event(state.market, ENDED)
    state.apply(scenario.status(TrainerState.CATCHING_UP, position_ms=last_ms))
    assert is_finished(state)
    for other in set(TrainerState) - {TrainerState.CATCHING_UP, TrainerState.TRAINING}:
        state.apply(scenario.status(other, position_ms=last_ms))
        assert not is_finished(state), other
    state.apply(scenario.status(position_ms=last_ms))
    state.set_break(is_on=True)
    assert not is_finished(state), "it ends, to free its device"
    state.set_break(is_on=False)
    state.begin(None)
    assert not is_finished(state)


def test_a_run_over_stored_candles_is_finished_after_the_catch_up(state: RunState) -> None:
    """The feed reports none of them again."""
    state.apply(scenario.status())
    state.apply(JobProgress(JOB_ID, "Learning from stored candles", 1, 1_000))
    state.markets.on_feed_event(state.market, ENDED)
    assert not is_finished(state)
    state.apply(JobProgress(JOB_ID, "Learning from stored candles", 1_000, 1_000))
    assert is_finished(state)


MARKETS = tuple(Market("binance", f"{name}/USDT", scenario.MINUTE) for name in "ABC")
MEMBERS = tuple(MemberRun(f"run-{market.symbol[0]}", market, True) for market in MARKETS)


def of_several(state: RunState, charted: int = 1) -> None:
    """A model of three markets, the second of them on the chart unless another is named."""
    state.markets.set_universe(MARKETS)
    state.begin(MARKETS[charted])
    state.apply(scenario.ready("run-A", *MEMBERS))


def statuses() -> TrainerStatus:
    """The markets differ in their scores."""
    markets = tuple(
        MarketStatus(member, 1_000 + at, scenario.accuracy(scored=100 + at), None, None, None)
        for at, member in enumerate(MEMBERS)
    )
    return scenario.status(run_id="run-A", markets=markets)


def test_the_market_on_the_chart_has_its_own_forecasts_and_scores_and_the_models_steps(state: RunState) -> None:
    of_several(state)
    scored: list[object] = []
    state.scored.connect(scored.append)
    own, other = (replace(scenario.forecast(scenario.market(60)), run_id=f"run-{name}") for name in "BC")
    state.apply(EventBatch((own, other, statuses(), *(replace(step, run_id="run-A") for step in scenario.steps(5)))))
    assert (state.run_id, state.head_id) == ("run-B", "run-A") and state.forecast == own and len(state.steps) == 5
    assert state.market_status is not None
    assert (state.market_status.accuracy.scored, state.market_status.position_ms) == (101, 1_001)
    outcome = outcome_of(scenario.market(60)[-1])
    state.apply(replace(outcome, run_id="run-C"))
    assert not scored
    state.apply(replace(outcome, run_id="run-B"))
    assert len(scored) == 1


def test_another_market_on_the_chart_takes_nothing_from_the_model(state: RunState) -> None:
    of_several(state)
    changed: list[str] = []
    state.run_changed.connect(lambda: changed.append("model"))
    state.record_changed.connect(lambda: changed.append("record"))
    state.apply(replace(scenario.forecast(scenario.market(60)), run_id="run-B"))
    state.apply(statuses())
    drift = scenario.drift(run_id="run-B")
    for event in (drift, replace(drift, run_id="run-C"), replace(drift, run_id="another")):
        state.apply(event)
    state.add_steps(scenario.steps(3))
    state.show_market(MARKETS[2], MarketSettings())
    assert changed == ["record"] and state.run_id == "run-C" and len(state.steps) == 3
    assert state.forecast is None and state.trainer is not None
    assert [each.run_id for each in state.drifts] == ["run-B", "run-C"], "of one candle, in two of its markets"
    assert state.market_status is not None and state.market_status.accuracy.scored == 102


def test_catch_up_of_a_market_that_leaves_the_chart_is_not_listed_as_interrupted(state: RunState) -> None:
    of_several(state)
    state.markets.on_feed_event(state.market, CatchUpProgress(3, 10))
    state.show_market(MARKETS[2], MarketSettings())
    assert state.jobs.jobs() == ()
    state.markets.on_feed_event(state.market, CatchUpProgress(4, 10))
    assert [job.state for job in state.jobs.jobs()] == [JobState.RUNNING]


def test_a_stopped_trainer_is_stopped_on_the_chart_of_any_market(state: RunState) -> None:
    of_several(state)
    state.apply(replace(statuses(), state=TrainerState.RESTARTING))
    state.trainer_is_over()
    state.show_market(MARKETS[2], MarketSettings())
    assert state.trainer_state is TrainerState.STOPPED
    assert state.market_status is not None and state.market_status.accuracy.scored == 102


def test_incidents_are_of_all_markets_of_the_model_and_a_drift_says_of_which(state: RunState) -> None:
    of_several(state)
    drift, skipped = (
        replace(scenario.incidents()[0], run_id="run-C", kind=kind, at_ms=at_ms)
        for at_ms, kind in enumerate((IncidentKind.DRIFT, IncidentKind.STEP_SKIPPED))
    )
    for incident in (drift, skipped, replace(skipped, run_id="another")):
        state.apply(incident)
    newest, oldest = state.incidents
    assert newest == skipped and oldest.what_happened == f"C/USDT 1m (binance): {drift.what_happened}"
    state.add_incidents([drift])
    assert len(state.incidents) == 2, "it is known already"


def test_the_stopgap_of_another_market_is_not_shown(state: RunState) -> None:
    of_several(state)
    made = replace(scenario.forecast(scenario.market(60)), is_by_simple_rules=True)
    state.apply(FirstForecast(made, MARKETS[0]))
    assert state.shown_forecast is None
    state.apply(FirstForecast(made, MARKETS[1]))
    assert state.shown_forecast == made
