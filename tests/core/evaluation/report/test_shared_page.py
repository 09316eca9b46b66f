"""The share page has the numbers of the record, is self-contained, and shows texts of others literally."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.domain.candle import Market
from core.domain.quantities import BAND_90
from core.evaluation.paper import TRADE_COST
from core.evaluation.report import figures, leaderboard_figures
from core.evaluation.report.answers import answers
from core.evaluation.report.charts import newest_candles, price_text
from core.evaluation.report.page import shared_page
from core.evaluation.sharing import SharedRun, _without, read_shared
from core.settings.tree import from_dict, to_dict
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.runs import RunStore
from tests.core.evaluation.report.recorded_run import CANDLES, recorded
from tests.core.evaluation.report.tree import Tree, require_self_contained
from tests.support.candles import MINUTE
from tests.support.synthetic_run import made_up

NAMES = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style></title><b>",
    "a\x1b[31m\u202e\udcff&amp;",
    "$(touch x)'; rm -rf .",
]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> SharedRun:
    return recorded(tmp_path_factory.mktemp("shared"))


def live(shared: SharedRun, symbol: str = "BTC/USDT", venue: str = "binance") -> SharedRun:
    market = Market(venue, symbol, MINUTE)
    return replace(shared, run=replace(shared.run, market=market), markets=(market,))


def test_it_shows_the_figures_of_the_record_and_where_they_come_from(shared: SharedRun) -> None:
    seen = require_self_contained(shared_page(shared)).text
    for _, answer in answers(shared.summary):
        assert answer in seen
    assert shared.run.run_id in seen and shared.summary["forecasts_sha256"] in seen
    assert "119 candles, 118 scored" in seen and "TEST (file), candles of 1m" in seen
    assert "candles from 2020-12-01 00:00 to 2020-12-01 02:00 UTC" in seen
    assert "replayed from a file" in seen and "backfill" not in seen
    assert "was not written" in seen and "With seed 0" in seen


def test_it_ranks_by_intervals_that_hold_at_every_moment(shared: SharedRun) -> None:
    board = shared.summary["leaderboard"]
    assert board["leader"] == board["rows"][0]["name"] and len(board["rows"]) > 5
    seen = require_self_contained(shared_page(shared)).text
    assert leaderboard_figures.EXPLAINED in seen and leaderboard_figures.skills(board["rows"][0])[2] in seen
    assert (
        seen.index(leaderboard_figures.EXPLAINED) < seen.index("judged by the others") < seen.index("Direction right")
    )


def test_no_figure_is_repeated_with_another_interval(shared: SharedRun) -> None:
    seen, of = Tree(shared_page(shared)).text, shared.summary["pinball"]["close"]
    for key in ("skill", "model_gain"):
        assert figures.between(of[f"{key}_ci95"]) not in seen, "it is on the page of `evaluate` only"
    assert figures.between(of["skill_vs_best_ci95"]) in seen, "no other table has it"
    assert "Diebold-Mariano" not in seen
    no_change = {
        **of,
        "best_baseline_name": "reference",
        "skill_vs_best": of["skill"],
        "skill_vs_best_ci95": [0.1, 0.2],
    }
    best = replace(shared, summary={**shared.summary, "pinball": {**shared.summary["pinball"], "close": no_change}})
    assert "10.0 to 20.0" not in Tree(shared_page(best)).text, "against “no change” it is the skill"


def test_a_run_of_an_exchange_can_be_repeated_from_public_candles(shared: SharedRun) -> None:
    seen = Tree(shared_page(live(shared))).text
    assert "ghostcandle export candles.csv --venue binance --symbol BTC/USDT --interval 1m" in seen
    assert "only forecasts made in time count" in seen
    simulated = Tree(shared_page(live(shared, "SIM-1", "simulated"))).text
    assert "random prices" in simulated and "backfill" not in simulated


def test_several_markets_are_repeated_together_and_with_their_challengers(shared: SharedRun) -> None:
    one = live(shared)
    model = replace(one.settings.model, challengers=("gru", "OwnModel"))
    several = replace(
        one,
        markets=(one.run.market, Market("binance", "ETH/USDT", MINUTE)),
        settings=replace(one.settings, model=model),
    )
    seen = Tree(shared_page(several)).text
    assert "ghostcandle export candles-2.csv --venue binance --symbol ETH/USDT --interval 1m" in seen
    assert "ghostcandle evaluate candles-1.csv candles-2.csv --seed 0 --together --json" in seen
    assert "--model for each of its challengers: gru, OwnModel" in seen


def test_the_same_record_gives_the_same_bytes(shared: SharedRun) -> None:
    assert shared_page(shared) == shared_page(shared)


def test_the_chart_has_the_newest_candles_their_bands_and_the_ghosts(shared: SharedRun) -> None:
    newest = shared.newest
    assert newest is not None and newest.open_time_ms[-1] == CANDLES[-1].open_time_ms
    assert newest.prices[3].tolist() == [candle.close for candle in CANDLES[-60:]]
    assert [ghost.open_time_ms for ghost in newest.ghosts] == [
        CANDLES[-1].open_time_ms + step * MINUTE.duration_ms for step in (1, 2, 3)
    ]
    low, high = newest.band_90
    assert bool((low < high).all()), "each candle had a forecast"
    inside = (newest.prices[3] >= low) & (newest.prices[3] <= high)
    after_gap = int(np.argmax(np.diff(newest.open_time_ms))) + 1
    assert np.delete(inside, after_gap).tolist() == shared.timeline.inside_90[-59:].tolist()
    drawn = newest_candles(newest)
    assert drawn is not None
    kinds = [part.get("class") for part in drawn]
    assert kinds.count("candle ghost") == 2 * 3 and kinds.count("band-90") == 60 + 3 and kinds.count("zero") == 1
    assert price_text(newest.ghosts[0].close) in str(drawn.findtext("desc"))
    assert newest.ghosts[0].close_quantiles[BAND_90[0]] < newest.ghosts[0].close


def test_a_candle_without_a_forecast_has_no_band(shared: SharedRun) -> None:
    assert shared.newest is not None
    band = shared.newest.band_90.copy()
    band[:, :10] = np.nan
    drawn = newest_candles(replace(shared.newest, band_90=band))
    assert drawn is not None and [part.get("class") for part in drawn].count("band-90") == 50 + 3


@pytest.mark.parametrize(("price", "text"), [(0.1 + 0.2, "0.3"), (64_250.0, "64250"), (1.2e-7, "0.00000012")])
def test_prices_have_no_exponent(price: float, text: str) -> None:
    assert price_text(price) == text


@pytest.mark.parametrize("name", NAMES)
def test_hostile_names_are_shown_literally(shared: SharedRun, name: str) -> None:
    incident = {**shared.summary["incidents"][0], "what_happened": name, "what_was_done": name, "severity": name}
    hostile = replace(
        live(shared, symbol=name, venue=name),
        summary={**shared.summary, "file": name, "device": name, "incidents": [incident]},
    )
    hostile = replace(hostile, run=replace(hostile.run, device=name))
    text = shared_page(hostile)
    text.encode()
    plain, tree = Tree(shared_page(live(shared))), require_self_contained(text)
    assert tree.tags == plain.tags and tree.attributes == plain.attributes
    assert tree.text.count(figures.printable(name)) >= 6
    assert "\x1b" not in text and "\u202e" not in text


def test_a_hostile_symbol_is_one_argument_of_the_command(shared: SharedRun) -> None:
    seen = Tree(shared_page(live(shared, NAMES[-1]))).text
    assert """--symbol '$(touch x)'"'"'; rm -rf .' --interval 1m""" in seen


def test_no_path_of_the_machine_is_shown(tmp_path: Path) -> None:
    shared = recorded(tmp_path, ("/home/alice",))
    text = shared_page(shared)
    assert "alice" not in text and "The checkpoint …/data/x was not written." in text


def test_challengers_are_named_without_their_files_and_commands(tmp_path: Path) -> None:
    recorded(tmp_path)
    db = open_database(DataFolder(tmp_path).database)
    try:
        (run,) = RunStore(db).list()
        settings, _ = from_dict(json.loads(run.settings_json))
        challengers = ("gru", "/srv/secret/own.py:OwnModel", "mine=process:python /srv/f.py --token=SECRET")
        settings = replace(settings, model=replace(settings.model, challengers=challengers))
        text = shared_page(read_shared(db, replace(run, settings_json=json.dumps(to_dict(settings))), TRADE_COST, ()))
    finally:
        db.close()
    assert "OwnModel" in text and "mine" in text and "gru" in text
    assert "secret" not in text.lower() and "srv" not in text


def test_a_run_without_forecasts_is_a_page_without_numbers(tmp_path: Path) -> None:
    run_id = made_up(tmp_path, [])
    db = open_database(DataFolder(tmp_path).database)
    try:
        seen = Tree(shared_page(read_shared(db, RunStore(db).get(run_id), TRADE_COST, ()))).text
    finally:
        db.close()
    assert leaderboard_figures.EMPTY in seen
    assert "no forecast yet" in seen and figures.NOT_ENOUGH in seen and "nan" not in seen.lower().replace("finance", "")


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("There is no file /srv/models/own.py.", "There is no file own.py."),
        ("“/opt/bin/model” could not be started", "“model” could not be started"),
        (r"C:\Users\me\own.py is missing", "own.py is missing"),
        (
            "BTC/USDT and ETH/USDT at 3/4 or https://example.org/a/b",
            "BTC/USDT and ETH/USDT at 3/4 or https://example.org/a/b",
        ),
    ],
)
def test_of_a_path_only_the_files_name_is_shown(said: str, shown: str) -> None:
    assert _without({"incidents": [said]}, ()) == {"incidents": [shown]}
