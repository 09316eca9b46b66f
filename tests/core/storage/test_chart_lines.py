from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from core.domain.price_lines import Direction, KnownCandle, LineKind, PriceLine
from core.storage.database import open_database
from core.storage.errors import StorageError
from core.storage.placed import ChartLineStore

ALERT = PriceLine(
    19_712.5, LineKind.ALERT, "Take profit", Direction.UP, 10, 20, None, True, known=KnownCandle(10, 1.5, 2.5)
)
NOTE = PriceLine(1e-8, LineKind.NOTE, "Support ✓", created_at_ms=5)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lines.sqlite"


def test_lines_are_restored_in_drawing_order(path: Path) -> None:
    db = open_database(path)
    store = ChartLineStore(db)
    alert, note = store.put("binance", "BTC/USDT", ALERT), store.put("binance", "BTC/USDT", NOTE)
    other = store.put("kraken", "BTC/USDT", NOTE)
    db.close()
    db = open_database(path)
    assert ChartLineStore(db).list("binance", "BTC/USDT") == [note, alert]
    assert ChartLineStore(db).list("kraken", "BTC/USDT") == [other]
    assert ChartLineStore(db).list("binance", "ETH/USDT") == []
    assert replace(alert, number=None) == ALERT
    db.close()


def test_changed_and_restored_lines_keep_their_id(path: Path) -> None:
    db = open_database(path)
    store = ChartLineStore(db)
    line = store.put("a", "b", ALERT)
    crossed = replace(line, price=2.0, text="", direction=Direction.DOWN, crossed_at_ms=99, is_armed=False)
    crossed = replace(crossed, crossed_within_ms=60)
    assert store.put("a", "b", crossed) == crossed
    assert store.list("a", "b") == [crossed]
    assert line.number is not None
    store.remove(line.number)
    store.remove(line.number)
    newer = store.put("a", "b", NOTE)
    assert newer.number != line.number
    store.put("a", "b", crossed)
    assert store.list("a", "b") == [newer, crossed]
    db.close()


def test_armed_alerts_are_listed_by_market(path: Path) -> None:
    db = open_database(path)
    store = ChartLineStore(db)
    armed = replace(ALERT, is_armed=True)
    bitcoin = store.put("binance", "BTC/USDT", armed)
    store.put("binance", "BTC/USDT", replace(NOTE, is_armed=True))
    store.put("binance", "BTC/USDT", replace(ALERT, is_armed=False, crossed_at_ms=5))
    ether = tuple(store.put("kraken", "ETH/EUR", each) for each in (armed, replace(armed, price=7.0)))
    assert store.armed() == {("binance", "BTC/USDT"): (bitcoin,), ("kraken", "ETH/EUR"): ether}
    db.close()


def test_an_invalid_row_is_explained(path: Path) -> None:
    """SQLite accepts an infinite price, which other programs may write."""
    db = open_database(path)
    store = ChartLineStore(db)
    store.put("a", "BTC/USDT", ALERT)
    with db.conn:
        db.conn.execute("UPDATE chart_lines SET price = 9e999")
    with pytest.raises(StorageError, match="BTC/USDT"):
        store.list("a", "BTC/USDT")
    db.close()
