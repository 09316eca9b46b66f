"""The fallback order and the watchlist in the settings: validated and stored."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import ValidationError

from core.domain.watchlist import WatchedMarket
from core.settings.paper import PaperSettings
from core.settings.tree import MarketSettings, Settings, from_dict, load, save, to_dict, to_record
from core.settings.window import NotificationSettings, WatchlistSettings


@pytest.mark.parametrize(
    ("venue", "order", "offered"),
    [
        ("binance", ("binance", "kraken", "coinbase"), "kraken"),
        ("kraken", ("binance", "kraken", "coinbase"), "coinbase"),
        ("coinbase", ("binance", "kraken", "coinbase"), "binance"),
        ("okx", ("binance", "kraken"), "binance"),
        ("okx", ("okx",), None),
        ("okx", (), None),
    ],
)
def test_the_next_venue_follows_in_the_order(venue: str, order: tuple[str, ...], offered: str | None) -> None:
    assert MarketSettings(venue=venue, fallback_venues=order).next_venue() == offered


@pytest.mark.parametrize("order", [("kraken", "kraken"), ("Kraken",), ("kra ken",), ("",)])
def test_an_invalid_fallback_order_is_refused(order: tuple[str, ...]) -> None:
    with pytest.raises(ValidationError):
        MarketSettings(fallback_venues=order)


def test_order_and_watchlist_round_trip_through_a_file(tmp_path: Path) -> None:
    settings = Settings(
        market=MarketSettings(fallback_venues=("okx", "kraken")),
        watchlist=WatchlistSettings(markets=(WatchedMarket("kraken", "ETH/EUR", "15m"),)),
    )
    save(settings, tmp_path / "settings.json")
    assert load(tmp_path / "settings.json") == (settings, ())


def test_a_trade_pays_the_fee_half_the_spread_and_the_slippage() -> None:
    assert PaperSettings().of_a_trade == pytest.approx(5e-4)
    assert PaperSettings(fee_bp=25.0, spread_bp=2.0, slippage_bp=1.0).of_a_trade == pytest.approx(27e-4)
    settings, (warning,) = from_dict({"paper": {"fee_bp": 3.0, "spread_bp": -1.0}})
    assert (settings.paper.fee_bp, settings.paper.spread_bp) == (3.0, 1.0) and "paper.spread_bp" in warning


def test_older_settings_read_on_without_chance_alerts() -> None:
    settings, warnings = from_dict({"notifications": {"band_alerts": "50", "alert_sound": False}})
    assert warnings == () and settings.notifications.band_alerts == "50"
    assert (settings.notifications.chance_alerts, settings.notifications.chance_alert_percent) == ("off", 60)
    settings, (warning,) = from_dict({"notifications": {"chance_alerts": "1", "chance_alert_percent": 100}})
    assert settings.notifications.chance_alerts == "1" and "notifications.chance_alert_percent" in warning


SECRET = "s3cr3t-t0ken"


def test_alert_urls_are_in_the_settings_file_and_nowhere_else(tmp_path: Path) -> None:
    urls = f"https://hooks.example.com/{SECRET}?token={SECRET} tgram://123456789:{SECRET}/1 http://[::1]:8080/{SECRET}"
    settings = Settings(notifications=NotificationSettings(alert_urls=urls))
    save(settings, tmp_path / "settings.json")
    assert load(tmp_path / "settings.json") == (settings, ())
    assert SECRET not in json.dumps(to_record(settings)), "that is stored with a run, and in every backup"
    assert set(to_dict(settings)["notifications"]) - set(to_record(settings)["notifications"]) == {"alert_urls"}


@pytest.mark.parametrize(
    "urls",
    [
        SECRET,
        f"tgram:{SECRET}",
        f"://{SECRET}",
        f"jsons://a.example {SECRET}",
        f"jsons://a.example/{SECRET}\n",
        f"jsons://a.example/{SECRET}{'x' * 10_000}",
        f"http://hooks.example.com/{SECRET}",
        f"ntfy://a-topic JSON://user:{SECRET}@192.168.1.5/",
    ],
)
def test_alert_urls_of_another_form_are_refused_without_repeating_them(urls: str) -> None:
    settings, (warning,) = from_dict({"notifications": {"alert_urls": urls, "feed": False}})
    assert settings.notifications.alert_urls is None and not settings.notifications.feed
    assert "notifications.alert_urls" in warning and SECRET not in warning


def test_an_invalid_watchlist_row_is_named_and_the_others_kept() -> None:
    good = {"venue": "kraken", "symbol": "ETH/EUR", "interval": "15m"}
    settings, warnings = from_dict({"watchlist": {"markets": [good, {**good, "symbol": "no market"}]}})
    assert settings.watchlist.markets == (WatchedMarket("kraken", "ETH/EUR", "15m"),)
    assert warnings and all("watchlist.markets.1" in warning for warning in warnings)


def test_a_market_that_is_listed_twice_keeps_the_list_and_its_switches() -> None:
    first, last = ({"venue": "kraken", "symbol": f"{name}/EUR", "is_learned": True} for name in ("ETH", "LTC"))
    settings, warnings = from_dict({"watchlist": {"markets": [{**first, "is_learned": False}, last, first]}})
    assert not warnings and [each.symbol for each in settings.watchlist.markets] == ["ETH/EUR", "LTC/EUR"]
    assert all(each.is_learned for each in settings.watchlist.markets)


def test_an_empty_watchlist_stays_empty(tmp_path: Path) -> None:
    settings = replace(Settings(), watchlist=WatchlistSettings(markets=()))
    save(settings, tmp_path / "settings.json")
    assert load(tmp_path / "settings.json")[0].watchlist.markets == ()


def test_a_watchlist_of_an_older_version_has_no_market_that_is_learned(tmp_path: Path) -> None:
    older = {"venue": "kraken", "symbol": "ETH/EUR", "interval": "15m"}
    settings, warnings = from_dict({"watchlist": {"markets": [older]}})
    assert not warnings and not settings.watchlist.markets[0].is_learned
    learned = replace(settings.watchlist.markets[0], is_learned=True)
    save(replace(settings, watchlist=WatchlistSettings(markets=(learned,))), tmp_path / "settings.json")
    assert load(tmp_path / "settings.json")[0].watchlist.markets[0].is_learned
