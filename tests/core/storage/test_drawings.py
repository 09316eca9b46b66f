from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from core.domain.drawings import MOST_DRAWINGS, Anchor, Drawing, DrawingKind
from core.storage.database import open_database
from core.storage.errors import StorageError
from core.storage.placed import DrawingStore

LINE = Drawing(
    DrawingKind.TREND_LINE, (Anchor(60_000, 1e-8), Anchor(120_000, 19_712.5)), "", "#1fb6ff", 3, created_at_ms=10
)
TEXT = Drawing(DrawingKind.TEXT, (Anchor(180_000, 2.5),), "<b>Support</b> ✓", created_at_ms=5)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "drawings.sqlite"


def test_drawings_are_restored_in_drawing_order(path: Path) -> None:
    db = open_database(path)
    store = DrawingStore(db)
    line, text = store.put("binance", "BTC/USDT", LINE), store.put("binance", "BTC/USDT", TEXT)
    other = store.put("kraken", "BTC/USDT", TEXT)
    db.close()
    db = open_database(path)
    assert DrawingStore(db).list("binance", "BTC/USDT") == [text, line]
    assert DrawingStore(db).list("kraken", "BTC/USDT") == [other]
    assert DrawingStore(db).list("binance", "ETH/USDT") == []
    assert replace(line, number=None) == LINE
    db.close()


@pytest.mark.parametrize("kind", list(DrawingKind))
def test_each_kind_round_trips(path: Path, kind: DrawingKind) -> None:
    db = open_database(path)
    drawing = Drawing(kind, LINE.anchors[: kind.anchors], "words" if kind is DrawingKind.TEXT else "")
    assert DrawingStore(db).list("a", "b") == []
    stored = DrawingStore(db).put("a", "b", drawing)
    assert DrawingStore(db).list("a", "b") == [stored]
    db.close()


def test_changed_and_restored_drawings_keep_their_id(path: Path) -> None:
    db = open_database(path)
    store = DrawingStore(db)
    line = store.put("a", "b", LINE)
    changed = replace(line, anchors=(Anchor(0, 7.0), Anchor(60_000, 8.0)), colour="", width_px=1)
    assert store.put("a", "b", changed) == changed
    assert store.list("a", "b") == [changed]
    assert line.number is not None
    store.remove(line.number)
    store.remove(line.number)
    newer = store.put("a", "b", TEXT)
    assert newer.number != line.number
    store.put("a", "b", changed)
    assert store.list("a", "b") == [newer, changed]
    db.close()


@pytest.mark.parametrize(
    "spoilt", ["start_price = 9e999", "end_price = NULL", "kind = 'spiral'", "colour = 'x'", "width_px = 99"]
)
def test_an_invalid_row_is_explained(path: Path, spoilt: str) -> None:
    """As another program may have written it."""
    db = open_database(path)
    store = DrawingStore(db)
    store.put("a", "BTC/USDT", LINE)
    with db.conn:
        db.conn.execute(f"UPDATE drawings SET {spoilt}")
    with pytest.raises(StorageError, match="BTC/USDT"):
        store.list("a", "BTC/USDT")
    db.close()


def test_text_from_another_program_is_sanitised(path: Path) -> None:
    db = open_database(path)
    store = DrawingStore(db)
    store.put("a", "b", TEXT)
    with db.conn:
        db.conn.execute("UPDATE drawings SET text = ?", ("\u202eturned\nround " + "x" * 1_000,))
    (text,) = store.list("a", "b")
    assert text.text.startswith("turned round xxx") and len(text.text) <= 120
    db.close()


def test_a_table_of_a_million_rows_is_not_read(path: Path) -> None:
    db = open_database(path)
    store = DrawingStore(db)
    store.put("a", "b", LINE)
    with db.conn:
        db.conn.execute(
            "INSERT INTO drawings (venue, symbol, kind, start_ms, start_price, created_at_ms)"
            " WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)"
            " SELECT 'a', 'b', 'horizontal', 0, 1.0, i FROM n"
        )
    assert len(store.list("a", "b")) == MOST_DRAWINGS
    db.close()
