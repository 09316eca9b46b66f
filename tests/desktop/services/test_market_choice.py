"""Markets chosen from the list, the finder and notices: a replay is continued, or begun again."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from core.domain.candle import FILE_VENUE, SIMULATED_VENUE, Interval, Market
from core.market.shown_names import SAMPLE_MARKET, replays_of
from core.settings.tree import MarketSettings, Settings
from desktop.services.market_choice import MarketChoice
from desktop.state.settings_store import SettingsStore

REPLAYED = Market(FILE_VENUE, "mine#dd2831", Interval.parse("15m"))
STORED = Market(FILE_VENUE, "my rates", Interval.parse("1m"))
SIMULATED = Market(SIMULATED_VENUE, "SIM-1", Interval.parse("1m"))


@pytest.fixture
def store(qapp: object) -> SettingsStore:
    return SettingsStore(Settings())


@pytest.fixture
def choice(store: SettingsStore) -> MarketChoice:
    return MarketChoice(store)


def replayed(store: SettingsStore, choice: MarketChoice, file: Path, market: Market = REPLAYED) -> None:
    """A file was replayed, then an exchange's market was shown."""
    choice.replay_file(file)
    choice.opened(market)
    store.change(replace(store.current, market=MarketSettings()))


def test_a_file_replayed_before_is_continued_from_a_list(
    store: SettingsStore, choice: MarketChoice, tmp_path: Path
) -> None:
    file = tmp_path / "mine.csv"
    replayed(store, choice, file)
    for choose in (choice.open_listed, choice.open_stored):
        choose(REPLAYED)
        chosen = store.current.market
        assert (chosen.feed, chosen.file, chosen.replayed_as) == ("replay", str(file), REPLAYED.symbol)
        assert chosen.interval == "15m" and (chosen.joined_to, chosen.inside) == ("15m", None)
    choice.opened(REPLAYED)
    choice.open_listed(STORED)
    assert (store.current.market.feed, store.current.market.symbol) == ("stored", "my rates"), "of no known file"


def test_the_place_where_a_file_was_last_is_remembered_and_the_oldest_files_are_not(
    store: SettingsStore, choice: MarketChoice, tmp_path: Path
) -> None:
    for number in range(120):
        replayed(store, choice, tmp_path / f"{number}.csv", replace(REPLAYED, symbol=f"{number}#dd2831"))
    replayed(store, choice, tmp_path / "moved.csv", replace(REPLAYED, symbol="50#dd2831"))
    files = store.current.watchlist.files
    assert len(files) == 100 and str(replace(REPLAYED, symbol="19#dd2831")) not in files
    assert files[str(replace(REPLAYED, symbol="50#dd2831"))] == str(tmp_path / "moved.csv")


def test_the_sample_is_continued_from_a_list_and_can_be_begun_again(store: SettingsStore, choice: MarketChoice) -> None:
    _, second, third = islice(replays_of(SAMPLE_MARKET), 3)
    choice.is_stored = [SAMPLE_MARKET, second].__contains__
    choice.open_stored(second)
    assert (store.current.market.feed, store.current.market.replayed_as) == ("sample", second.symbol)
    choice.replay_again(second)
    assert (store.current.market.feed, store.current.market.replayed_as) == ("sample", third.symbol)
    store.change(Settings())
    choice.replay_again(second)
    assert store.current.market.feed == "sample", "it was shown in place of an exchange's market"


def test_a_file_is_begun_again_as_another_market(store: SettingsStore, choice: MarketChoice, tmp_path: Path) -> None:
    choice.replay_file(tmp_path / "mine.csv")
    choice.is_stored = [REPLAYED].__contains__
    choice.replay_again(REPLAYED)
    chosen = store.current.market
    assert (chosen.feed, chosen.file) == ("replay", str(tmp_path / "mine.csv"))
    assert chosen.replayed_as == "mine, replay 2#dd2831"


def test_a_simulated_market_does_not_take_the_speed_of_a_replay(store: SettingsStore, choice: MarketChoice) -> None:
    store.change(replace(store.current, market=MarketSettings(feed="sample", speed=50.0)))
    choice.open_listed(SIMULATED)
    assert (store.current.market.feed, store.current.market.speed) == ("simulate", None)
    store.change(replace(store.current, market=replace(store.current.market, speed=5.0)))
    choice.open_listed(replace(SIMULATED, symbol="SIM-2"))
    assert store.current.market.speed == 5.0, "its own kind keeps it"
