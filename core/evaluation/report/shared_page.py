"""The share page: what a run is, its newest candles, its figures, its incidents, and how to check them."""

from __future__ import annotations

import shlex
from typing import Any
from xml.etree.ElementTree import Element

from core.domain.candle import FILE_VENUE, Market
from core.domain.dates import utc_text
from core.evaluation.report import leaderboard_words, words
from core.evaluation.report.charts import newest_candles
from core.evaluation.report.page import document, figure, plots, results, table, tables
from core.evaluation.report.svg import node
from core.evaluation.sharing import SharedRun
from core.settings.tree import Settings, to_dict

_MINUTE = "%Y-%m-%d %H:%M"
_DAY = "%Y-%m-%d"
_OF_TRAINING = ("model", "training", "online", "gradients", "recovery")
_ORIGIN = {
    "simulated": "Its candles are simulated: random prices, which say nothing of a real market.",
    FILE_VENUE: "Its candles were replayed from a file, one by one.",
}
_ONE_LOOK = (
    "Intervals below are of one look, at a moment chosen beforehand. A run that is shared because it looks good is "
    "judged by those above."
)
_LIVE = "Its candles came from the exchange as they closed, and only forecasts made in time count."


def shared_page(shared: SharedRun) -> str:
    """The whole HTML file: no script, nothing from the network, the same bytes for the same record."""
    summary = shared.summary
    content = [
        *_top(shared),
        *figure(
            "The newest candles, and the ghosts after them",
            "Boxes behind candles are the 90 % bands that were forecast one candle before; after the last candle, the "
            "50 % and 90 % bands. Hollow candles rose. Dashed: candles are missing there.",
            None if shared.newest is None else newest_candles(shared.newest),
        ),
        *_leaderboard(summary),
        node("h2", "Results"),
        node("p", _ONE_LOOK, class_="lead"),
        *results(summary),
        *tables(summary),
        *plots(summary, shared.timeline),
        *_incidents(summary),
        *_reproduction(shared),
    ]
    return document(f"Run of {summary['file']}", content)


def _top(shared: SharedRun) -> list[Element]:
    market = shared.run.market
    promise = (
        "Ghostcandle forecasts the next candles, commits each forecast before any of its candles is seen, scores it "
        "once when they close, and then learns from them."
    )
    origin = _ORIGIN.get(market.venue, _LIVE)
    return [node("h1", shared.summary["file"]), node("p", f"{promise} {origin}", class_="lead"), _facts(shared)]


def _facts(shared: SharedRun) -> Element:
    summary, run = shared.summary, shared.run
    scored = f"{summary['candles']:,} candles, {summary['scored']:,} scored, {summary['judged']:,} evaluated"
    rows = [
        ("Market", f"{summary['file']}, candles of {run.market.interval}"),
        ("Model", _model(shared)),
        ("Since", _period(shared)),
        ("Size", scored + words.left_out(summary)),
        ("Run", run.run_id),
    ]
    return table(None, rows)


def _model(shared: SharedRun) -> str:
    model, run = shared.settings.model, shared.run
    size = f"width {model.width}, layers: {model.layers}, parameters: {run.parameters:,}"
    return f"{model.name}: {size}; sees {model.context} candles, forecasts {model.horizons}; {run.device}"


def _period(shared: SharedRun) -> str:
    if shared.first_ms is None or shared.newest is None:
        return "no forecast yet"
    last_ms = shared.newest.ghosts[0].open_time_ms
    return f"candles from {utc_text(shared.first_ms, _MINUTE)} to {utc_text(last_ms, _MINUTE)} UTC"


def _leaderboard(summary: dict[str, Any]) -> list[Element]:
    """First, as its intervals hold whenever somebody decides to share."""
    rows = summary["leaderboard"]["rows"]
    shown = [
        table(leaderboard_words.SKILLS_HEADER, map(leaderboard_words.skills, rows)),
        table(*leaderboard_words.others(rows)),
        node("p", leaderboard_words.EXPLAINED, class_="lead"),
    ]
    heading = node("h2", "What forecasts best, one candle ahead")
    return [heading, *(shown if rows else [node("p", leaderboard_words.EMPTY)])]


def _incidents(summary: dict[str, Any]) -> list[Element]:
    rows = [
        (
            utc_text(each["last_at_ms"], _MINUTE),
            each["severity"],
            each["what_happened"] + ("" if each["count"] == 1 else f" ({each['count']:,} times)"),
            each["what_was_done"],
        )
        for each in summary["incidents"]
    ]
    shown = table(("when (UTC)", "severity", "what happened", "response"), rows) if rows else node("p", "None.")
    return [node("h2", "Incidents"), shown]


def _reproduction(shared: SharedRun) -> list[Element]:
    run, digest = shared.run, shared.summary["forecasts_sha256"]
    own = [
        f"ghostcandle share run.html --run {run.run_id}",
        f"ghostcandle metrics --json --run {run.run_id}",
        f"ghostcandle export tables --forecasts --scores --run {run.run_id}",
    ]
    parts = [
        node("h2", "How to reproduce it"),
        node("p", f"All figures come from the run's stored record. Its forecasts have the digest sha256 {digest}."),
        node("p", "In the run's data folder, for this page, the digest, and the tables behind the figures:"),
        _commands(own),
    ]
    if run.market.venue not in _ORIGIN:
        parts += [
            node("p", "Anywhere, for a new model on the same candles, with the settings below in settings.json:"),
            _commands(_from_exchange(shared)),
        ]
    if shared.settings.model.challengers:
        names = ", ".join(shared.settings.model.challengers)
        parts.append(
            node("p", f"With --model for each of its challengers: {names}. Own ones are not part of this page.")
        )
    if run.is_seeded:
        parts.append(
            node("p", f"With seed {run.seed}, the same settings and the same candles give the same forecasts.")
        )
    return [*parts, *_settings(shared.settings)]


def _from_exchange(shared: SharedRun) -> list[str]:
    """As evaluate learns several markets: together."""
    since = "" if shared.first_ms is None else f" --since {utc_text(shared.first_ms, _DAY)}"
    is_one = len(shared.markets) == 1
    files = {market: "candles.csv" if is_one else f"candles-{n}.csv" for n, market in enumerate(shared.markets, 1)}
    lines = []
    for market, file in files.items():
        lines += [f"ghostcandle backfill {_named(market)}{since}", f"ghostcandle export {file} {_named(market)}"]
    how = "--report evaluation.html" if is_one else "--together --json"
    return [*lines, f"ghostcandle evaluate {' '.join(files.values())} --seed {shared.run.seed} {how}"]


def _named(market: Market) -> str:
    parts = ("--venue", market.venue, "--symbol", market.symbol, "--interval", str(market.interval))
    return shlex.join(parts)


def _commands(lines: list[str]) -> Element:
    return node("ol", None, [node("li", None, [node("code", line)]) for line in lines], class_="commands")


def _settings(settings: Settings) -> list[Element]:
    """The training settings that differ from the defaults."""
    own, default = to_dict(settings), to_dict(Settings())
    changed = [
        (f"{group}.{name}", _value(value), _value(default[group][name]))
        for group in _OF_TRAINING
        for name, value in own[group].items()
        if value != default[group][name]
    ]
    if not changed:
        return [node("p", "All settings of training are the defaults.")]
    return [node("p", "Settings that differ from the defaults:"), table(("setting", "value", "default"), changed)]


def _value(value: object) -> str:
    return "not set" if value is None else str(value)
