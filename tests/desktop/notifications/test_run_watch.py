from __future__ import annotations

from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from core.domain.events import CheckpointsChanged, Incident, Severity, TrainerState
from core.market.feeds.base import FeedState, FeedStatus
from desktop.notifications.run_watch import RunWatch
from desktop.state.job_list import Job, JobState
from tests.desktop import scenario
from tests.desktop.conftest import Bench, MakeBench


@pytest.fixture
def bench(make_chart_bench: MakeBench) -> Bench:
    made = make_chart_bench(is_shown=False)
    made.state.apply(scenario.ready())
    made.state.apply(scenario.status(TrainerState.TRAINING))
    return made


@pytest.fixture
def watch(bench: Bench) -> RunWatch:
    return RunWatch(bench.shell, bench.state, bench.window.messages)


def fire_away_timer(watch: RunWatch) -> None:
    """Fire the timer of the tolerated outage, if it runs."""
    if watch._patience.isActive():
        watch._patience.stop()
        watch._patience.timeout.emit()


@pytest.fixture
def titles(bench: Bench, watch: RunWatch) -> list[str]:
    titles: list[str] = []
    bench.window.messages.sent.connect(lambda title, _text: titles.append(title))
    return titles


def feed(bench: Bench, state: FeedState) -> None:
    bench.state.markets.on_feed_event(
        bench.state.market, FeedStatus(state, f"The feed is {state.value}.", bench.clock.now_ms())
    )


def incident(severity: Severity = Severity.WARNING) -> Incident:
    return replace(scenario.incidents()[0], severity=severity)


def save(bench: Bench, reason: str) -> None:
    bench.state.apply(CheckpointsChanged(scenario.RUN, scenario.checkpoint(12_400, reason=reason)))


def change(bench: Bench, **changes: bool) -> None:
    settings = bench.shell.settings.current
    bench.shell.settings.change(replace(settings, notifications=replace(settings.notifications, **changes)))


def test_a_lasting_feed_loss_and_its_recovery_are_notified(bench: Bench, titles: list[str], watch: RunWatch) -> None:
    feed(bench, FeedState.LIVE)
    feed(bench, FeedState.RECONNECTING)
    assert titles == [], "it may be back at once"
    fire_away_timer(watch)
    assert titles == ["Feed lost"]
    feed(bench, FeedState.CONNECTING)
    feed(bench, FeedState.LIVE)
    assert titles == ["Feed lost", "Feed restored"]


def test_a_short_feed_loss_is_not_notified(bench: Bench, titles: list[str], watch: RunWatch) -> None:
    feed(bench, FeedState.LIVE)
    feed(bench, FeedState.RECONNECTING)
    feed(bench, FeedState.LIVE)
    fire_away_timer(watch)
    assert titles == []


def test_a_failed_feed_is_notified_at_once_unless_it_was_never_live(bench: Bench, titles: list[str]) -> None:
    feed(bench, FeedState.CONNECTING)
    feed(bench, FeedState.FAILED)
    assert titles == [], "the banner says that it could not begin"
    feed(bench, FeedState.LIVE)
    feed(bench, FeedState.FAILED)
    assert titles == ["Feed lost"]


def test_switching_the_market_is_not_a_feed_loss(bench: Bench, titles: list[str], watch: RunWatch) -> None:
    feed(bench, FeedState.LIVE)
    feed(bench, FeedState.RECONNECTING)
    bench.state.begin(None)
    fire_away_timer(watch)
    assert titles == []


def test_incidents_are_notified_once_a_minute_and_minor_ones_never(bench: Bench, titles: list[str]) -> None:
    bench.state.apply(incident(Severity.INFO))
    assert titles == []
    for _ in range(5):
        bench.state.apply(incident())
    assert titles == ["Training incident"]
    bench.clock.advance_ms(61_000)
    bench.state.apply(incident(Severity.ERROR))
    assert titles == ["Training incident"] * 2


def test_a_new_best_is_notified_while_candles_are_live(bench: Bench, titles: list[str]) -> None:
    save(bench, "best")
    assert titles == [], "not live yet"
    feed(bench, FeedState.LIVE)
    save(bench, "periodic")
    assert titles == []
    save(bench, "best")
    assert titles == ["New best checkpoint"]
    bench.state.apply(scenario.status(TrainerState.CATCHING_UP))
    save(bench, "best")
    assert titles == ["New best checkpoint"]


def finished(bench: Bench, state: JobState = JobState.DONE) -> Job:
    bench.state.jobs.begin("own job 1", "Import x.csv")
    job = bench.state.jobs.finish("own job 1", state, "3 candles stored.")
    assert job is not None
    return job


def test_a_finished_job_is_notified_unless_the_window_is_active(
    bench: Bench, watch: RunWatch, titles: list[str], qtbot: QtBot
) -> None:
    watch.notify_of_job(finished(bench, JobState.FAILED))
    assert titles == ["Job failed"]
    titles.clear()
    job = finished(bench)
    bench.window.show()
    bench.window.activateWindow()
    qtbot.waitUntil(bench.window.isActiveWindow)
    watch.notify_of_job(job)
    assert titles == []
    change(bench, while_in_front=True)
    watch.notify_of_job(job)
    assert titles == ["Job done"]


def test_each_can_be_turned_off(bench: Bench, titles: list[str], watch: RunWatch) -> None:
    change(bench, incidents=False, new_best=False, feed=False, jobs=False)
    feed(bench, FeedState.LIVE)
    save(bench, "best")
    bench.state.apply(incident())
    feed(bench, FeedState.FAILED)
    feed(bench, FeedState.RECONNECTING)
    fire_away_timer(watch)
    feed(bench, FeedState.LIVE)
    watch.notify_of_job(finished(bench))
    assert titles == []
