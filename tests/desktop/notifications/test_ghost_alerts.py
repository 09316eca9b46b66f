"""Alerts on ghosts in a window: each fires once, on the desktop and for other devices, also across restarts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from core.alerts.service import Alert
from core.domain.candle import Market
from core.domain.events import Estimate, ForecastMode
from core.domain.price_lines import LineKind, PriceLine
from core.domain.quantities import FloatArray, Quantity
from core.storage.folder import DataFolder
from core.training.online.forecast_events import packed_quantiles
from desktop.notifications.ghost_alerts import GhostAlerts
from desktop.state.database import WindowDatabase
from tests.core.forecast.paths import spread_quantiles
from tests.desktop import scenario
from tests.desktop.conftest import Bench, MakeBench

MARKET, OTHER = (Market("binance", f"{name}/USDT", scenario.MINUTE) for name in ("BTC", "ETH"))
RUN_OF_OTHER = "run-of-eth"
CANDLES = scenario.market()
PAST = 1_000
"""Candles before the first forecast whose chances are looked at."""
LOST, KEPT = Estimate(0.8, 0.7, 0.88, 500), Estimate(0.9, 0.82, 0.95, 500)


class Desk:
    """A window with a run of two markets and its database."""

    def __init__(self, bench: Bench, database: WindowDatabase, folder: DataFolder) -> None:
        self.bench, self.database, self._folder = bench, database, folder
        self.fired: list[Alert] = []
        bench.window.messages.alerted.connect(self.fired.append)
        bench.state.markets.set_universe((MARKET, OTHER))
        bench.state.set_members(scenario.RUN, {scenario.RUN: MARKET, RUN_OF_OTHER: OTHER})
        self.alerts = GhostAlerts(bench.shell, bench.state, database, bench.window.messages, folder)
        self._origin_ms = CANDLES[-1].open_time_ms

    def restart(self) -> None:
        """Other alerts, which know what is stored."""
        self.bench.state.markets.changed.disconnect(self.alerts._on_market)
        self.bench.state.markets.drift_found.disconnect(self.alerts._on_drift)
        self.alerts.close()
        bench = self.bench
        self.alerts = GhostAlerts(bench.shell, bench.state, self.database, bench.window.messages, self._folder)

    def add(self, price: float, market: Market = MARKET) -> PriceLine:
        line = PriceLine(price, LineKind.ALERT, text="sell", is_armed=True)
        return self.database.lines.put(market.venue, market.symbol, line)

    def forecast(self, *shifts: float, run_id: str = scenario.RUN, mode: ForecastMode = ForecastMode.LIVE) -> None:
        """One after another, with prices that are shifted by these shares."""
        for shift in shifts:
            self._origin_ms += scenario.MINUTE.duration_ms
            made = scenario.forecast(CANDLES)
            ghosts = tuple(
                replace(ghost, close_quantiles=tuple(price * (1.0 + shift) for price in ghost.close_quantiles))
                for ghost in made.ghosts
            )
            self.bench.state.apply(
                replace(made, run_id=run_id, origin_open_time_ms=self._origin_ms, mode=mode, ghosts=ghosts)
            )

    def begin_chances(self, **changes: object) -> PriceLine:
        """Chance alerts alone, stored candles, and a line that a market without drift touches about once in two."""
        self.want(band_alerts="off", chance_alerts="8", **changes)
        self.database.candles.save(MARKET, CANDLES)
        self._origin_ms = CANDLES[PAST].open_time_ms
        return self.add(round(CANDLES[-1].close * 1.0025, 2))

    def look(self, qtbot: QtBot, *drifts: float, **changes: object) -> None:
        """Forecasts one after another, whose closes drift by these shares; wait until their chances were found."""
        for drift in drifts:
            self._origin_ms += scenario.MINUTE.duration_ms
            quantiles = packed_quantiles(drifting(drift))
            made = replace(scenario.forecast(CANDLES), origin_open_time_ms=self._origin_ms, quantiles=quantiles)
            with qtbot.waitSignal(self.alerts._chances._thread.answered):
                self.bench.state.apply(replace(made, **changes))  # type: ignore[arg-type]

    def cover(self, coverage: Estimate, market: Market = MARKET) -> None:
        status = scenario.market_status(market, accuracy=scenario.accuracy(newest_coverage_90=coverage))
        self.bench.state.markets.set_status(status)

    def want(self, **changes: object) -> None:
        settings = self.bench.shell.settings.current
        wanted = replace(settings.notifications, **changes)  # type: ignore[arg-type]
        self.bench.shell.settings.change(replace(settings, notifications=wanted))


def drifting(share: float) -> FloatArray:
    natural = spread_quantiles()
    natural[:, Quantity.CLOSE] += share
    return natural


@pytest.fixture
def desk(make_bench: MakeBench, tmp_path: Path) -> Iterator[Desk]:
    folder = DataFolder(tmp_path / "data")
    folder.ensure()
    database = WindowDatabase(folder)
    database.open()
    desk = Desk(make_bench(scenario.checkpoints(), is_shown=False), database, folder)
    yield desk
    desk.alerts.close()
    database.close()


@pytest.fixture
def price() -> float:
    """Inside the bands of a forecast that is not shifted."""
    return scenario.forecast(CANDLES).ghosts[0].close_quantiles[3]


def test_a_band_that_reaches_an_alert_line_fires_once(desk: Desk, price: float) -> None:
    desk.add(price)
    desk.forecast(0.2)
    assert desk.fired == [], "the band does not reach it"
    desk.forecast(0.0)
    (alert,) = desk.fired
    assert (alert.title, alert.market) == ("Band alert", "BTC/USDT 1m (binance)")
    assert alert.text.startswith("BTC/USDT: the 90 % band of the next 8 closes reaches") and alert.text.endswith("sell")
    notice = desk.bench.window.banner.shown
    assert notice is not None and notice.is_alert and alert.text in notice.text
    desk.forecast(0.2, 0.0)
    desk.restart()
    desk.forecast(0.2, 0.0)
    assert len(desk.fired) == 1


def test_a_line_inside_the_band_from_the_beginning_has_to_be_left_first(desk: Desk, price: float) -> None:
    desk.add(price)
    desk.forecast(0.0, 0.0)
    assert desk.fired == []
    desk.forecast(0.2)
    desk.restart()
    desk.forecast(0.0)
    assert len(desk.fired) == 1, "that it was left is known after a restart"


def test_a_moved_line_is_another_one_and_a_removed_one_is_forgotten(desk: Desk, price: float) -> None:
    line = desk.add(price)
    assert line.number is not None
    desk.forecast(0.2, 0.0)
    desk.database.lines.put(MARKET.venue, MARKET.symbol, replace(line, price=price * 1.0001))
    desk.forecast(0.2, 0.0)
    assert len(desk.fired) == 2
    desk.database.lines.remove(line.number)
    desk.forecast(0.2)
    assert desk.database.ghost_alerts.states() == {}


def test_each_market_of_the_run_has_its_own_lines(desk: Desk, price: float) -> None:
    desk.add(price, OTHER)
    desk.forecast(0.2, 0.0)
    assert desk.fired == []
    desk.forecast(0.2, 0.0, run_id=RUN_OF_OTHER)
    assert [alert.market for alert in desk.fired] == ["ETH/USDT 1m (binance)"]


def test_the_setting_chooses_the_band_and_past_candles_fire_nothing(desk: Desk, price: float) -> None:
    desk.add(price)
    desk.want(band_alerts="off")
    desk.forecast(0.2, 0.0)
    desk.want(band_alerts="50")
    desk.forecast(0.2, 0.0, mode=ForecastMode.CATCH_UP)
    assert desk.fired == []
    desk.forecast(0.2, 0.0)
    assert [" 50 % band" in alert.text for alert in desk.fired] == [True]


def test_a_chance_above_the_level_fires_once_until_it_was_low(desk: Desk, qtbot: QtBot) -> None:
    line = desk.begin_chances()
    desk.look(qtbot, 0.01, 0.01, 0.0)
    assert desk.fired == [], "it was above the level from the beginning"
    desk.look(qtbot, 0.01)
    (alert,) = desk.fired
    assert (alert.title, alert.market) == ("Chance alert", "BTC/USDT 1m (binance)")
    price = f"{line.price:,.2f}"
    assert alert.text == f"BTC/USDT: the chance that {price} is touched within 8 candles is above 60 %. sell"
    notice = desk.bench.window.banner.shown
    assert notice is not None and notice.is_alert and alert.text in notice.text
    desk.look(qtbot, 0.01, 0.0, 0.01)
    desk.restart()
    desk.look(qtbot, 0.0, 0.01)
    assert len(desk.fired) == 1, "a chance of about one half is not low"
    desk.look(qtbot, -0.01)
    desk.restart()
    desk.look(qtbot, 0.01, 0.01)
    assert len(desk.fired) == 2


def test_without_sample_paths_no_chance_fires(desk: Desk, qtbot: QtBot) -> None:
    desk.begin_chances()
    desk.look(qtbot, -0.01)
    desk.look(qtbot, 0.01, quantiles=None)
    desk.look(qtbot, 0.01, quantiles=packed_quantiles(drifting(0.01)[:3]))
    desk.look(qtbot, 0.01, origin_open_time_ms=CANDLES[-1].open_time_ms + 600_000)
    assert desk.fired == [], "no quantiles, fewer candles than 8, a candle that is not stored"


def test_chances_are_looked_at_only_if_an_alert_may_be_due(desk: Desk) -> None:
    line = desk.begin_chances()
    assert line.number is not None
    quantiles = packed_quantiles(drifting(0.01))
    made = replace(scenario.forecast(CANDLES), origin_open_time_ms=CANDLES[PAST].open_time_ms, quantiles=quantiles)
    desk.bench.state.apply(replace(made, mode=ForecastMode.CATCH_UP))
    desk.want(chance_alerts="off")
    desk.bench.state.apply(made)
    desk.want(chance_alerts="8")
    desk.database.lines.remove(line.number)
    desk.bench.state.apply(replace(made, origin_open_time_ms=CANDLES[PAST + 1].open_time_ms))
    assert not desk.alerts._chances._thread.isRunning()


def test_another_level_is_another_alert(desk: Desk, qtbot: QtBot) -> None:
    desk.begin_chances(chance_alert_percent=95)
    desk.look(qtbot, -0.01, 0.0)
    assert desk.fired == []
    desk.want(chance_alert_percent=20)
    desk.look(qtbot, -0.01, 0.0)
    assert [alert.text.endswith("is above 20 %. sell") for alert in desk.fired] == [True]


def test_lost_coverage_fires_once_until_it_is_back(desk: Desk) -> None:
    desk.cover(Estimate(None, None, None, 499))
    desk.cover(KEPT)
    assert desk.fired == []
    desk.cover(LOST)
    desk.cover(replace(LOST, value=0.801))
    desk.restart()
    desk.cover(replace(LOST, value=0.802))
    (alert,) = desk.fired
    assert alert.title == "Coverage lost" and "only 80.0 % of the newest 500 closes" in alert.text
    desk.cover(KEPT)
    assert desk.bench.shell.banner.shown is None, "what it said no longer holds"
    desk.cover(LOST)
    assert len(desk.fired) == 2
    desk.want(coverage_lost=False)
    desk.cover(LOST, OTHER)
    assert len(desk.fired) == 2


def test_a_drift_fires_once_also_if_a_restarted_trainer_finds_it_again(desk: Desk) -> None:
    drift = scenario.drift()
    desk.bench.state.apply(drift)
    desk.bench.state.apply(drift)
    desk.restart()
    desk.bench.state.apply(drift)
    (alert,) = desk.fired
    assert alert.title == "Drift" and drift.what_was_done in alert.text
    desk.want(drift_found=False)
    desk.bench.state.apply(replace(drift, candle_open_time_ms=drift.candle_open_time_ms + 60_000))
    desk.want(drift_found=True)
    desk.bench.state.apply(replace(drift, run_id=RUN_OF_OTHER))
    assert [each.market for each in desk.fired[1:]] == ["ETH/USDT 1m (binance)"]


def test_what_cannot_be_stored_fires_once_all_the_same(desk: Desk, price: float) -> None:
    desk.add(price)
    desk.forecast(0.2)
    desk.database.db.conn.execute("PRAGMA query_only = ON")
    desk.forecast(0.0, 0.2, 0.0)
    assert len(desk.fired) == 1
