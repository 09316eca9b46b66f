"""The share page of a run whose market, device and incidents have names from outside."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.domain.candle import Interval, Market
from core.domain.events import Incident, Severity
from core.domain.incident_kinds import IncidentKind
from core.evaluation.paper import TRADE_COST
from core.evaluation.report.page import shared_page
from core.evaluation.sharing import read_shared
from core.storage.database import open_database
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from core.storage.record_writer import TrainingRecord
from core.storage.runs import RunStore
from tests.core.evaluation.report.tree import require_self_contained

pytestmark = pytest.mark.hostile

NAME = "<img src='http://x' onerror=alert(1)></style><script>\u202e\x1b[31m"
SHOWN = NAME.translate({ord(mark): "\N{REPLACEMENT CHARACTER}" for mark in "\u202e\x1b"})


def test_names_from_outside_are_text(tmp_path: Path) -> None:
    DataFolder(tmp_path).ensure()
    db = open_database(DataFolder(tmp_path).database)
    try:
        runs, market = RunStore(db), Market("binance", NAME, Interval.parse("1m"))
        run = runs.create(
            market,
            "hostile",
            created_at_ms=1,
            seed=0,
            is_seeded=True,
            settings_json="{}",
            device=NAME,
            parameters=1,
        )
        with TrainingRecord(db, run.run_id, runs.acquire_fence(run.run_id)).write() as record:
            record.add_incident(Incident(run.run_id, 1, Severity.ERROR, IncidentKind("kind"), NAME, NAME, NAME, NAME))
        text = shared_page(read_shared(db, runs.get(run.run_id), TRADE_COST, ()))
    finally:
        db.close()
    tree = require_self_contained(text.replace("http:", ""))
    assert tree.text.count(SHOWN.replace("http:", "")) >= 5 and "\x1b" not in text and "\u202e" not in text


def test_damaged_settings_are_reported_in_a_sentence(tmp_path: Path) -> None:
    DataFolder(tmp_path).ensure()
    with open_database(DataFolder(tmp_path).database) as db:
        runs, market = RunStore(db), Market("binance", "BTC/USDT", Interval.parse("1m"))
        figures = {"created_at_ms": 1, "seed": 0, "is_seeded": True, "device": "CPU", "parameters": 1}
        run = runs.create(market, "hostile", settings_json='{"model": ', **figures)
        with pytest.raises(StorageError, match=f"settings of run {run.run_id} are damaged"):
            read_shared(db, run, TRADE_COST, ())
