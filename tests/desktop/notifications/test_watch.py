from __future__ import annotations

from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from core.domain.events import CheckpointsChanged, Incident, Severity, TrainerState
from core.market.feeds.base import FeedState, FeedStatus
from desktop.notifications.watch import RunWatch
from desktop.state.job_list import Job, JobState
from tests.desktop import scenario
from tests.desktop.conftest import Bench, MakeBench


@pytest.fixture
def bench(make_bench: MakeBench) -> Bench:
    made = make_bench(scenario.checkpoints(), is_shown=False)
    made.state.apply(scenario.ready())
    made.state.apply(scenario.status(TrainerState.TRAINING))
    return made


@pytest.fixture
def watch(bench: Bench) -> RunWatch:
    return RunWatch(bench.shell, bench.state, bench.window.messages)


def fire_away_timer(watch: RunWatch) -> None:
    """So long as a feed may be away is over, where one is waited for."""
    if watch._patience.isActive():
        watch._patience.stop()
        watch._patience.timeout.emit()


@pytest.fixture
def told(bench: Bench, watch: RunWatch) -> list[str]:
    titles: list[str] = []
    bench.window.messages.sent.connect(lambda title, _text: titles.append(title))
    return titles


def feed(bench: Bench, state: FeedState) -> None:
    bench.state.apply(FeedStatus(state, f"The feed is {state.value}.", bench.clock.now_ms()))


def incident(severity: Severity = Severity.WARNING) -> Incident:
    return replace(scenario.incidents()[0], severity=severity)


def save(bench: Bench, reason: str) -> None:
    bench.state.apply(CheckpointsChanged(scenario.RUN, scenario.checkpoint(12_400, reason=reason)))


def change(bench: Bench, **changes: bool) -> None:
    settings = bench.shell.settings.current
    bench.shell.settings.change(replace(settings, notifications=replace(settings.notifications, **changes)))


def test_a_live_feed_that_stays_away_is_told_and_its_return_too(bench: Bench, told: list[str], watch: RunWatch) -> None:
    feed(bench, FeedState.LIVE)
    feed(bench, FeedState.RECONNECTING)
    assert told == [], "it may be back at once"
    fire_away_timer(watch)
    assert told == ["Feed lost"]
    feed(bench, FeedState.CONNECTING)
    feed(bench, FeedState.LIVE)
    assert told == ["Feed lost", "Feed restored"]


def test_a_feed_that_is_soon_back_is_not_worth_a_word(bench: Bench, told: list[str], watch: RunWatch) -> None:
    feed(bench, FeedState.LIVE)
    feed(bench, FeedState.RECONNECTING)
    feed(bench, FeedState.LIVE)
    fire_away_timer(watch)
    assert told == []


def test_a_feed_that_fails_is_told_at_once_and_one_that_never_was_live_is_not(bench: Bench, told: list[str]) -> None:
    feed(bench, FeedState.CONNECTING)
    feed(bench, FeedState.FAILED)
    assert told == [], "the banner says that it could not begin"
    feed(bench, FeedState.LIVE)
    feed(bench, FeedState.FAILED)
    assert told == ["Feed lost"]


def test_another_market_is_no_loss(bench: Bench, told: list[str], watch: RunWatch) -> None:
    feed(bench, FeedState.LIVE)
    feed(bench, FeedState.RECONNECTING)
    bench.state.begin(None)
    fire_away_timer(watch)
    assert told == []


def test_incidents_are_told_once_a_minute_and_those_that_need_nobody_never(bench: Bench, told: list[str]) -> None:
    bench.state.apply(incident(Severity.INFO))
    assert told == []
    for _ in range(5):
        bench.state.apply(incident())
    assert told == ["Training incident"]
    bench.clock.advance_ms(61_000)
    bench.state.apply(incident(Severity.ERROR))
    assert told == ["Training incident"] * 2


def test_a_new_best_is_told_while_candles_are_live(bench: Bench, told: list[str]) -> None:
    save(bench, "best")
    assert told == [], "not live yet"
    feed(bench, FeedState.LIVE)
    save(bench, "periodic")
    assert told == []
    save(bench, "best")
    assert told == ["New best checkpoint"]
    bench.state.apply(scenario.status(TrainerState.CATCHING_UP))
    save(bench, "best")
    assert told == ["New best checkpoint"]


def finished(bench: Bench, state: JobState = JobState.DONE) -> Job:
    bench.state.jobs.begin("own job 1", "Import x.csv")
    job = bench.state.jobs.finish("own job 1", state, "3 candles stored.")
    assert job is not None
    return job


def test_a_job_is_told_but_not_to_someone_who_uses_the_window(
    bench: Bench, watch: RunWatch, told: list[str], qtbot: QtBot
) -> None:
    watch.notify_of_job(finished(bench, JobState.FAILED))
    assert told == ["Job failed"]
    told.clear()
    job = finished(bench)
    bench.window.show()
    bench.window.activateWindow()
    qtbot.waitUntil(bench.window.isActiveWindow)
    watch.notify_of_job(job)
    assert told == []
    change(bench, while_in_front=True)
    watch.notify_of_job(job)
    assert told == ["Job done"]


def test_each_can_be_turned_off(bench: Bench, told: list[str], watch: RunWatch) -> None:
    change(bench, incidents=False, new_best=False, feed=False, jobs=False)
    feed(bench, FeedState.LIVE)
    save(bench, "best")
    bench.state.apply(incident())
    feed(bench, FeedState.FAILED)
    feed(bench, FeedState.RECONNECTING)
    fire_away_timer(watch)
    feed(bench, FeedState.LIVE)
    watch.notify_of_job(finished(bench))
    assert told == []


def test_a_window_that_is_used_says_it_itself_unless_asked_to_tell_all_the_same(
    bench: Bench, told: list[str], qtbot: QtBot
) -> None:
    bench.window.show()
    bench.window.activateWindow()
    qtbot.waitUntil(bench.window.isActiveWindow)
    bench.state.apply(incident())
    assert told == []
    change(bench, while_in_front=True)
    bench.clock.advance_ms(61_000)
    bench.state.apply(incident())
    assert told == ["Training incident"]
