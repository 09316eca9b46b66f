"""The whole window over several markets that one model learns: simulated ones, each with its own candles."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from core.domain.candle import Market
from core.domain.clock import Clock
from core.domain.events import ForecastMade, ForecastScored, TrainerState
from core.domain.watchlist import WatchedMarket
from core.market.feeds.base import CorrectedCandle, FeedError, FeedEvent, FeedState
from core.market.feeds.rate_limits import RateLimitHold
from core.settings.window import WatchlistSettings
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.runs import RunStore
from core.training.commands import RescoreCandle, SetPaused, ShowMarket
from desktop.app.composition import Application
from tests.desktop import scenario
from tests.desktop.app.played_feed import PlayedFeed
from tests.desktop.app.three_markets import (
    FIRST,
    MARKETS,
    MINUTE,
    SECOND,
    THIRD,
    has_caught_up,
    simulated,
)
from tests.desktop.whole_window import CATCH_UP, CandleGate, context, run_window, until
from tests.support.candles import random_walk, write_csv

_TICKS = 24
"""Of a simulated candle."""


def opens_ms(index: int) -> int:
    """The opening time of a simulated candle, from 0."""
    return MINUTE.open_time_ms(1_700_000_000_000) + index * MINUTE.duration_ms


def switch(application: Application, market: Market, *, is_learned: bool) -> None:
    """As the list does it."""
    store = application.settings
    rows = tuple(
        dataclasses.replace(row, is_learned=is_learned) if row.market == market else row
        for row in store.current.watchlist.markets
    )
    store.change(dataclasses.replace(store.current, watchlist=WatchlistSettings(markets=rows)))


def test_each_candle_of_each_market_is_scored_once_and_the_chart_switches_between_them(
    qapp: QApplication, tmp_path: Path, gate: CandleGate
) -> None:
    scored: Counter[tuple[str, int]] = Counter()
    made: dict[str, int] = {}

    async def story(application: Application) -> None:
        runs, state, chart = application.runs, application.state, application.chart

        def count(batch: object) -> None:
            for event in batch.events:  # type: ignore[attr-defined]
                if isinstance(event, ForecastScored) and event.horizon == 1:
                    scored[event.run_id, event.target_open_time_ms] += 1
                if isinstance(event, ForecastMade):
                    made[event.run_id] = event.origin_open_time_ms

        application.trainer.begins.connect(lambda _run: application.trainer.worker.batch.connect(count))  # type: ignore[union-attr]
        await until(lambda: has_caught_up(application), "the catch-up of all three")
        assert tuple(application.watched.asked) == MARKETS and state.market == SECOND
        trainer, worker = state.trainer, application.trainer.worker
        assert trainer is not None and [each.member.market for each in trainer.markets] == list(MARKETS)
        ids = {each.member.market: each.member.run_id for each in trainer.markets}
        assert state.run_id == ids[SECOND] and state.head_id == ids[FIRST]
        gate.release(2 * _TICKS)
        await until(lambda: list(made.values()) == [opens_ms(CATCH_UP + 1)] * 3, "their forecasts")
        steps = len(state.steps)
        for market in (THIRD, FIRST):
            runs.show(market)
            assert state.run_id == ids[market] and chart.model.title.startswith(market.symbol)
            assert application.series is not None and len(application.series) >= CATCH_UP
            assert state.forecast is not None and state.forecast.run_id == ids[market]
            assert chart.model.forecast == state.forecast
            assert state.forecast.origin_close == application.series[-1].close, "the ghosts begin at its own price"
            await until(
                lambda: state.market_status is not None and state.market_status.accuracy.scored > 0, "its scores"
            )
            assert application.settings.current.market.symbol == market.symbol
        assert application.trainer.worker is worker and state.trainer is trainer and len(state.steps) >= steps
        gate.release(_TICKS)
        await until(lambda: list(made.values()) == [opens_ms(CATCH_UP + 2)] * 3, "the next forecasts")
        assert state.forecast is not None and state.forecast.origin_open_time_ms == made[ids[FIRST]]
        assert state.forecast.run_id == ids[FIRST]

    run_window(qapp, simulated(tmp_path, FIRST, THIRD, speed=None, catch_up_candles=CATCH_UP), story)
    assert len({run_id for run_id, _ in scored}) == 3 and set(scored.values()) == {1}


def members(root: Path) -> dict[str, tuple[str, bool]]:
    """Of each market of the newest model its run, and whether it is learned."""
    with closing(open_database(DataFolder(root).database, readonly=True)) as db:
        head = RunStore(db).list()[0]
        return {run.market.symbol: (run.run_id, run.is_learned) for run in RunStore(db).members(head.head_id)}


def test_a_switched_on_market_joins_and_one_that_is_switched_off_is_learned_from_no_longer(
    qapp: QApplication, tmp_path: Path, gate: CandleGate
) -> None:
    """Also after a restart, with the same runs."""
    chosen = simulated(tmp_path, FIRST, speed=None, catch_up_candles=CATCH_UP)
    unseeded = dataclasses.replace(chosen.settings.training, seed=None)
    chosen = dataclasses.replace(chosen, settings=dataclasses.replace(chosen.settings, training=unseeded))
    before: dict[str, tuple[str, bool]] = {}
    titles: list[str] = []

    def learned(application: Application) -> list[bool]:
        status = application.state.status
        return [] if status is None else [each.member.is_learned for each in status.markets]

    async def first(application: Application) -> None:
        state = application.state
        await until(lambda: learned(application) == [True, True], "two markets")
        head, candles = state.head_id, application.series
        application.chart.series_changed.connect(lambda: titles.append(application.chart.model.title))
        switch(application, THIRD, is_learned=True)
        await until(lambda: learned(application) == [True] * 3, "the third")
        assert tuple(application.watched.asked) == MARKETS and state.head_id == head, "the same model"
        assert application.series is candles and not titles, "the chart was left alone"
        switch(application, FIRST, is_learned=False)
        gate.release(_TICKS)
        await until(lambda: learned(application) == [False, True, True], "that it is switched off")
        switch(application, FIRST, is_learned=True)
        switch(application, THIRD, is_learned=False)
        await until(lambda: learned(application) == [True, True, False], "that it is learned again")

    async def second(application: Application) -> None:
        await until(lambda: learned(application) == [True, True], "the same two")
        assert tuple(application.watched.asked) == (FIRST, SECOND)

    run_window(qapp, chosen, first)
    before = members(tmp_path)
    assert {name: is_learned for name, (_, is_learned) in before.items()} == {
        "SIM-3": True,
        "SIM-5": True,
        "SIM-7": False,
    }
    run_window(qapp, chosen, second)
    assert members(tmp_path) == before


@pytest.mark.usefixtures("idle_trainer", "gate")
def test_a_market_that_joins_leaves_rates_rules_and_a_pause_as_they_were_set(
    qapp: QApplication, tmp_path: Path
) -> None:
    """The trainer starts again for it. Another model waits for the user's next start: it would be another run."""

    async def story(application: Application) -> None:
        store = application.settings
        await until(lambda: application.trainer.is_running, "a trainer")
        before, first = store.current, application.trainer.worker
        changed = dataclasses.replace(
            before,
            model=dataclasses.replace(before.model, layers=2),
            training=dataclasses.replace(before.training, learning_rate=1e-5, duty_percent=50),
            gradients=dataclasses.replace(before.gradients, clip_norm=0.5),
            checkpoints=dataclasses.replace(before.checkpoints, every_steps=20),
        )
        store.change(changed)
        application.state.apply(scenario.status(TrainerState.PAUSED, run_id=str(application.state.head_id)))
        switch(application, THIRD, is_learned=True)
        await until(lambda: tuple(application.watched.asked) == MARKETS and application.trainer.is_running, "the third")
        worker = application.trainer.worker
        assert worker is not None and worker is not first
        used = worker._spec.settings
        assert (used.training, used.gradients, used.checkpoints) == (
            changed.training,
            changed.gradients,
            changed.checkpoints,
        )
        assert used.model == before.model and SetPaused(True) in worker.commands()  # type: ignore[attr-defined]

    run_window(qapp, simulated(tmp_path, FIRST, speed=None, catch_up_candles=CATCH_UP), story)


@pytest.mark.usefixtures("idle_trainer", "gate")
@pytest.mark.parametrize("is_ended", [False, True], ids=["try again", "after a full disk"])
def test_a_market_that_is_opened_again_stays_paused(qapp: QApplication, tmp_path: Path, is_ended: bool) -> None:
    async def story(application: Application) -> None:
        runs = application.runs
        await until(lambda: application.trainer.is_running, "a trainer")
        first = application.trainer.worker
        application.state.apply(scenario.status(TrainerState.PAUSED, run_id=str(application.state.head_id)))
        if is_ended:
            application.trainer.stop()
            await until(lambda: not application.trainer.is_running, "its end")
            runs.restart_stopped(application.settings.current, feed=True, training=True)
        else:
            runs.try_again()
        await until(
            lambda: application.trainer.is_running and application.trainer.worker is not first, "another trainer"
        )
        worker = application.trainer.worker
        assert worker is not None and SetPaused(True) in worker.commands()  # type: ignore[attr-defined]

    run_window(qapp, simulated(tmp_path, FIRST, speed=None, catch_up_candles=CATCH_UP), story)


@pytest.mark.usefixtures("idle_trainer")
def test_after_stop_and_start_a_changed_setting_restarts_nothing(
    qapp: QApplication, tmp_path: Path, gate: CandleGate
) -> None:
    async def story(application: Application) -> None:
        await until(lambda: application.trainer.is_running and application.series is not None, "a trainer")
        opened = application.watched.settings.market
        application.trainer.stop()
        await until(lambda: not application.trainer.is_running, "its end")
        application.window.start_requested.emit()
        await until(lambda: application.trainer.is_running, "another trainer")
        worker = application.trainer.worker
        application.settings.change_chart(interval="1h")
        assert application.watched.settings.market == opened
        gate.release(_TICKS)
        await until(lambda: application.series is not None and len(application.series) > CATCH_UP, "a candle")
        assert application.trainer.worker is worker

    run_window(qapp, simulated(tmp_path, FIRST, speed=None, catch_up_candles=CATCH_UP), story)


@pytest.mark.usefixtures("idle_trainer", "gate")
def test_a_market_that_is_switched_on_while_another_opens_joins_it(qapp: QApplication, tmp_path: Path) -> None:
    async def story(application: Application) -> None:
        application.watched.opening.connect(lambda _asked: switch(application, THIRD, is_learned=True))
        await until(lambda: tuple(application.watched.asked) == MARKETS and application.trainer.is_running, "the third")

    run_window(qapp, simulated(tmp_path, FIRST, speed=None, catch_up_candles=CATCH_UP), story)


@pytest.mark.usefixtures("idle_trainer", "gate")
def test_a_rate_that_is_set_while_a_market_opens_is_its_trainers(qapp: QApplication, tmp_path: Path) -> None:
    async def story(application: Application) -> None:
        store = application.settings

        def set_rate() -> None:
            training = dataclasses.replace(store.current.training, learning_rate=1e-5)
            store.change(dataclasses.replace(store.current, training=training))

        application.watched.opening.connect(lambda _asked: set_rate())
        await until(lambda: application.trainer.is_running, "a trainer")
        worker = application.trainer.worker
        assert worker is not None and worker._spec.settings.training.learning_rate == 1e-5

    run_window(qapp, simulated(tmp_path, FIRST, speed=None, catch_up_candles=CATCH_UP), story)


@pytest.mark.usefixtures("idle_trainer")
def test_files_of_the_command_line_are_opened_together_and_switched_without_reading_them_again(
    qapp: QApplication, tmp_path: Path, gate: CandleGate
) -> None:
    files = [write_csv(tmp_path / f"{name}.csv", random_walk(60, seed=seed)) for seed, name in enumerate("ab")]
    chosen = context(tmp_path / "data", file=str(files[0]), speed=2.0, catch_up_candles=20)
    other = dataclasses.replace(chosen.settings.market, file=str(files[1]))

    async def story(application: Application) -> None:
        runs, chart = application.runs, application.chart
        await until(lambda: len(application.watched.asked) == 2 and chart.model.count == 20, "the first file")
        worker = application.trainer.worker
        assert worker is not None and [each.symbol[0] for each in worker._spec.markets] == ["a", "b"]
        application.settings.change(dataclasses.replace(application.settings.current, market=other))
        application.market_choice.chosen.emit(other)
        assert chart.model.title.startswith("b ") and not runs.is_opening, "at once"
        await until(lambda: chart.model.count == 20, "the second file")
        gate.release(1)
        await until(lambda: chart.model.count == 21, "a candle of each")
        runs.show(next(iter(application.watched.asked)))
        assert chart.model.title.startswith("a ")
        await until(lambda: chart.model.count == 21, "the candle of the first file")
        assert application.trainer.worker is worker

    run_window(qapp, dataclasses.replace(chosen, others=(other,)), story)


class Failing(PlayedFeed):
    """Ends at once, as its exchange does not have the market."""

    async def events(self, after_ms: int | None = None, known: object = None) -> AsyncIterator[FeedEvent]:
        if self.market.symbol == "ETH/USDT":
            raise FeedError("ETH/USDT is not listed.")
        async for event in super().events(after_ms, known):
            yield event


@pytest.mark.usefixtures("idle_trainer")
def test_a_market_without_candles_leaves_the_others_running_and_is_named(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[PlayedFeed] = []

    def make(market: Market, clock: Clock, *_rest: object, **_options: object) -> PlayedFeed:
        made.append(Failing(market, clock, gate=RateLimitHold(clock)))
        return made[-1]

    monkeypatch.setattr("core.market.feeds.many.ExchangeFeed", make)
    monkeypatch.setattr("desktop.services.quote_feed.QuoteFeed.set_wanted", lambda *_: None)
    chosen = context(tmp_path, feed="live", venue="binance", symbol="BTC/USDT", interval="1m", file=None)
    rows = tuple(WatchedMarket("binance", f"{name}/USDT", "1m", is_learned=True) for name in ("BTC", "ETH", "SOL"))
    settings = dataclasses.replace(chosen.settings, watchlist=WatchlistSettings(markets=rows))

    async def story(application: Application) -> None:
        banner = application.window.banner
        await until(lambda: "ETH/USDT 1m (binance)" in banner.text.text(), "the failure's market")
        assert "is not listed" in banner.text.text() and application.trainer.is_running and len(made) == 3
        bitcoin = next(feed for feed in made if feed.market.symbol == "BTC/USDT")
        bitcoin.close_candles(*random_walk(20))
        await until(lambda: application.series is not None and len(application.series) == 20, "its candles")
        worker = application.trainer.worker
        _, ether, solana = application.watched.asked
        assert worker is not None and worker.inbox.ended == {ether}
        application.market_choice.watch(rows[2])
        assert application.chart.model.title.startswith("SOL/USDT") and application.trainer.worker is worker
        assert ShowMarket(solana) in worker.commands(), "for the ghosts of the simple rules"  # type: ignore[attr-defined]
        corrected = random_walk(20)[4]
        bitcoin.send(CorrectedCandle(dataclasses.replace(corrected, close=corrected.high), corrected))
        await until(
            lambda: RescoreCandle(corrected.open_time_ms, bitcoin.market) in worker.commands(), "the correction"
        )  # type: ignore[attr-defined]
        assert application.series is not None and len(application.series) == 0, "and not on another's chart"

    run_window(qapp, dataclasses.replace(chosen, settings=settings), story)


@pytest.mark.usefixtures("idle_trainer")
@pytest.mark.parametrize("name", ["../data/a.csv", "copy.csv"])
def test_a_file_named_twice_is_refused_with_a_sentence(qapp: QApplication, tmp_path: Path, name: str) -> None:
    """It was learned once without a word, and a copy of it twice."""
    data = tmp_path / "data"
    data.mkdir()
    first = write_csv(data / "a.csv", random_walk(60))
    (data / "copy.csv").write_bytes(first.read_bytes())
    chosen = context(tmp_path / "run", file=str(first))
    other = dataclasses.replace(chosen.settings.market, file=str(data / name))

    async def story(application: Application) -> None:
        state = application.state
        await until(lambda: state.feed is not None and state.feed.state is FeedState.FAILED, "the refusal")
        assert state.feed is not None and "hold the same candles" in state.feed.sentence
        assert not application.watched.asked

    run_window(qapp, dataclasses.replace(chosen, others=(other,)), story)
