"""Lines, drawings and states of alerts are restored, replaced and removed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.domain.drawings import MOST_DRAWINGS, Anchor, Drawing, DrawingKind
from core.domain.price_lines import Direction, KnownCandle, LineKind, PriceLine
from core.storage.chart_stores import ChartLineStore, DrawingStore, GhostAlertStore
from core.storage.database import open_database
from core.storage.errors import StorageError

ALERT = PriceLine(
    19_712.5, LineKind.ALERT, "Take profit", Direction.UP, 10, 20, None, True, known=KnownCandle(10, 1.5, 2.5)
)
CROSSED = replace(
    ALERT, price=2.0, text="", direction=Direction.DOWN, crossed_at_ms=99, is_armed=False, crossed_within_ms=60
)
NOTE = PriceLine(1e-8, LineKind.NOTE, "Support ✓", created_at_ms=5)
TREND = Drawing(
    DrawingKind.TREND_LINE, (Anchor(60_000, 1e-8), Anchor(120_000, 19_712.5)), "", "#1fb6ff", 3, created_at_ms=10
)
MOVED = replace(TREND, anchors=(Anchor(0, 7.0), Anchor(60_000, 8.0)), colour="", width_px=1)
TEXT = Drawing(DrawingKind.TEXT, (Anchor(180_000, 2.5),), "<b>Support</b> ✓", created_at_ms=5)
KINDS = pytest.mark.parametrize(
    ("make", "late", "early", "changed"), [(ChartLineStore, ALERT, NOTE, CROSSED), (DrawingStore, TREND, TEXT, MOVED)]
)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Any]:
    with open_database(tmp_path / "placed.sqlite") as opened:
        yield opened


@KINDS
def test_they_are_restored_in_drawing_order(tmp_path: Path, make: Any, late: Any, early: Any, changed: Any) -> None:
    with open_database(tmp_path / "closed.sqlite") as db:
        store = make(db)
        first, second = store.put("binance", "BTC/USDT", late), store.put("binance", "BTC/USDT", early)
        other = store.put("kraken", "BTC/USDT", early)
    with open_database(tmp_path / "closed.sqlite") as db:
        assert make(db).list("binance", "BTC/USDT") == [first, second]
        assert make(db).list("kraken", "BTC/USDT") == [other]
        assert make(db).list("binance", "ETH/USDT") == []
    assert replace(first, number=None) == late


@KINDS
def test_changed_and_restored_ones_keep_their_id(db: Any, make: Any, late: Any, early: Any, changed: Any) -> None:
    store = make(db)
    first = store.put("a", "b", late)
    changed = replace(changed, number=first.number)
    assert store.put("a", "b", changed) == changed
    assert store.list("a", "b") == [changed]
    assert first.number is not None
    store.remove(first.number)
    store.remove(first.number)
    newer = store.put("a", "b", early)
    assert newer.number != first.number
    store.put("a", "b", changed)
    assert store.list("a", "b") == [changed, newer]


@pytest.mark.parametrize(
    ("make", "stored", "spoilt"),
    [
        (ChartLineStore, ALERT, "price = 9e999"),
        *(
            (DrawingStore, TREND, spoilt)
            for spoilt in (
                "start_price = 9e999",
                "end_price = NULL",
                "kind = 'spiral'",
                "colour = 'x'",
                "width_px = 99",
            )
        ),
    ],
)
def test_an_invalid_row_is_explained(db: Any, make: Any, stored: Any, spoilt: str) -> None:
    """SQLite accepts an infinite price, for example, which another program may write."""
    make(db).put("a", "BTC/USDT", stored)
    with db.conn:
        db.conn.execute(f"UPDATE {make.table} SET {spoilt}")
    with pytest.raises(StorageError, match="BTC/USDT"):
        make(db).list("a", "BTC/USDT")


def test_armed_alerts_are_listed_by_market(db: Any) -> None:
    store = ChartLineStore(db)
    armed = replace(ALERT, is_armed=True)
    bitcoin = store.put("binance", "BTC/USDT", armed)
    store.put("binance", "BTC/USDT", replace(NOTE, is_armed=True))
    store.put("binance", "BTC/USDT", replace(ALERT, is_armed=False, crossed_at_ms=5))
    ether = tuple(store.put("kraken", "ETH/EUR", each) for each in (armed, replace(armed, price=7.0)))
    assert store.armed() == {("binance", "BTC/USDT"): (bitcoin,), ("kraken", "ETH/EUR"): ether}


@pytest.mark.parametrize("kind", list(DrawingKind))
def test_each_kind_of_drawing_round_trips(db: Any, kind: DrawingKind) -> None:
    anchors = (*TREND.anchors, Anchor(90_000, 0.1 + 0.2))[: kind.anchors]
    drawing = Drawing(kind, anchors, "words" if kind is DrawingKind.TEXT else "")
    assert DrawingStore(db).list("a", "b") == []
    stored = DrawingStore(db).put("a", "b", drawing)
    assert DrawingStore(db).list("a", "b") == [stored]


def test_text_from_another_program_is_sanitised(db: Any) -> None:
    store = DrawingStore(db)
    store.put("a", "b", TEXT)
    with db.conn:
        db.conn.execute("UPDATE drawings SET text = ?", ("\u202eturned\nround " + "x" * 1_000,))
    (text,) = store.list("a", "b")
    assert text.text.startswith("turned round xxx") and len(text.text) <= 120


def test_a_table_of_a_million_rows_is_not_read(db: Any) -> None:
    store = DrawingStore(db)
    store.put("a", "b", TREND)
    with db.conn:
        db.conn.execute(
            "INSERT INTO drawings (venue, symbol, kind, start_ms, start_price, created_at_ms)"
            " WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)"
            " SELECT 'a', 'b', 'horizontal', 0, 1.0, i FROM n"
        )
    assert len(store.list("a", "b")) == MOST_DRAWINGS


def test_states_of_alerts_survive_a_restart(tmp_path: Path) -> None:
    with open_database(tmp_path / "alerts.sqlite") as db:
        store = GhostAlertStore(db)
        assert store.states() == {}
        store.put("line 1", "armed", 1)
        store.put("drift", "fired", 2)
        store.put("line 1", "fired", 3)
    with open_database(tmp_path / "alerts.sqlite") as db:
        store = GhostAlertStore(db)
        assert store.states() == {"line 1": "fired", "drift": "fired"}
        store.remove(["drift", "unknown"])
        assert store.states() == {"line 1": "fired"}


@pytest.mark.parametrize("text", ["", "5", "x y", "5 1e99", "5 nan", "1 2 3"])
def test_an_invalid_third_anchor_is_explained(db: Any, text: str) -> None:
    store = DrawingStore(db)
    store.put("a", "BTC/USDT", Drawing(DrawingKind.CHANNEL, (*TREND.anchors, Anchor(0, 1.0))))
    with db.conn:
        db.conn.execute("UPDATE drawings SET text = ?", (text,))
    with pytest.raises(StorageError, match="BTC/USDT"):
        store.list("a", "BTC/USDT")
