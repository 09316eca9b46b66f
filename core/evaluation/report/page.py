"""The report of `evaluate` and the page of `share`, from one template: no script, nothing from the network, the same
bytes for the same run."""

from __future__ import annotations

import shlex
from functools import cache
from importlib import resources
from typing import Any
from xml.etree.ElementTree import Element, tostring

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template
from markupsafe import Markup

from core.domain.candle import FILE_VENUE, Market
from core.domain.dates import utc_text
from core.evaluation.details import Timeline
from core.evaluation.report import answers, charts, figures, leaderboard_figures, paper_figures
from core.evaluation.sharing import SharedRun
from core.settings.tree import Settings, to_dict

_MINUTE = "%Y-%m-%d %H:%M"
_DAY = "%Y-%m-%d"
_OF_TRAINING = ("model", "training", "online", "gradients", "recovery")
_ORIGIN = {
    "simulated": "Its candles are simulated: random prices, which show nothing about a real market.",
    FILE_VENUE: "Its candles were replayed from a file, one by one.",
}
_LIVE = "Its candles came from the exchange as they closed, and only forecasts made in time count."


def page(summary: dict[str, Any], timeline: Timeline) -> str:
    """The complete HTML file. summary: the output of `evaluate --json` for the same run. Any text may be in it."""
    title = f"Evaluation: {summary['file']}"
    return _template().render(title=title, summary=summary, timeline=timeline, shared=None)


def shared_page(shared: SharedRun) -> str:
    """The page of a stored run, with a description, its newest candles, its incidents, and how to check the figures."""
    run, summary = shared.run, shared.summary
    about = {
        "run": run,
        "origin": _ORIGIN.get(run.market.venue, _LIVE),
        "facts": _facts(shared),
        "newest": None if shared.newest is None else charts.newest_candles(shared.newest),
        "incidents": [
            (
                utc_text(incident["last_at_ms"], _MINUTE),
                incident["severity"],
                incident["what_happened"] + ("" if incident["count"] == 1 else f" ({incident['count']:,} times)"),
                incident["what_was_done"],
            )
            for incident in summary["incidents"]
        ],
        "from_exchange": [] if run.market.venue in _ORIGIN else _from_exchange(shared),
        "challengers": shared.settings.model.challengers,
        "changed_settings": _changed(shared.settings),
    }
    title = f"Run of {summary['file']}"
    return _template().render(title=title, summary=summary, timeline=shared.timeline, shared=about)


def page_environment() -> Environment:
    """For a page from a template in resources; its texts may hold anything."""
    environment = Environment(
        loader=FunctionLoader(_resource),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
        keep_trailing_newline=True,
    )
    environment.filters["svg"] = _svg
    return environment


def _resource(name: str) -> str:
    return (resources.files("resources") / name).read_text(encoding="utf-8")


@cache
def _template() -> Template:
    environment = page_environment()
    environment.filters["ranked"] = leaderboard_figures.skills
    environment.globals |= {
        "answers": answers,
        "charts": charts,
        "leaderboard_figures": leaderboard_figures,
        "figures": figures,
        "paper_figures": paper_figures,
    }
    return environment.get_template("report.html")


def _printable(value: object) -> object:
    return figures.printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _svg(drawn: Element) -> Markup:
    for element in drawn.iter():
        element.text = element.text and figures.printable(element.text)
    return Markup(tostring(drawn, encoding="unicode", method="html"))  # ElementTree has escaped its texts


def _facts(shared: SharedRun) -> list[tuple[str, str]]:
    summary, run, model = shared.summary, shared.run, shared.settings.model
    size = f"width {model.width}, layers: {model.layers}, parameters: {run.parameters:,}"
    period = "no forecast yet"
    if shared.first_ms is not None and shared.newest is not None:
        last_ms = shared.newest.ghosts[0].open_time_ms
        period = f"candles from {utc_text(shared.first_ms, _MINUTE)} to {utc_text(last_ms, _MINUTE)} UTC"
    return [
        ("Market", f"{summary['file']}, candles of {run.market.interval}"),
        ("Model", f"{model.name}: {size}; sees {model.context} candles, forecasts {model.horizons}; {run.device}"),
        ("Since", period),
        ("Size", figures.size(summary) + figures.left_out(summary)),
        ("Run", run.run_id),
    ]


def _from_exchange(shared: SharedRun) -> list[str]:
    """The commands that repeat the run from public candles; several markets are learned together, as they were."""
    since = "" if shared.first_ms is None else f" --since {utc_text(shared.first_ms, _DAY)}"
    is_one = len(shared.markets) == 1
    files = {market: "candles.csv" if is_one else f"candles-{n}.csv" for n, market in enumerate(shared.markets, 1)}
    lines = []
    for market, file in files.items():
        lines += [f"ghostcandle backfill {_named(market)}{since}", f"ghostcandle export {file} {_named(market)}"]
    how = "--report evaluation.html" if is_one else "--together --json"
    return [*lines, f"ghostcandle evaluate {' '.join(files.values())} --seed {shared.run.seed} {how}"]


def _named(market: Market) -> str:
    return shlex.join(("--venue", market.venue, "--symbol", market.symbol, "--interval", str(market.interval)))


def _changed(settings: Settings) -> list[tuple[str, str, str]]:
    own, default = to_dict(settings), to_dict(Settings())
    return [
        (f"{group}.{name}", _value(value), _value(default[group][name]))
        for group in _OF_TRAINING
        for name, value in own[group].items()
        if value != default[group][name]
    ]


def _value(value: object) -> str:
    return "not set" if value is None else str(value)
