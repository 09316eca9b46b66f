"""The report as one page: no script, nothing from the network, the same bytes for the same run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from xml.etree.ElementTree import Element, tostring

from core.evaluation.details import Timeline
from core.evaluation.report import charts, touched_words, words
from core.evaluation.report.style import STYLE
from core.evaluation.report.svg import node


def page(summary: dict[str, Any], timeline: Timeline) -> str:
    """The whole HTML file. summary: the output of `evaluate --json` for the same run."""
    return document(f"Evaluation: {summary['file']}", [*_top(summary), *tables(summary), *plots(summary, timeline)])


def document(title: str, content: Iterable[Element]) -> str:
    """A whole HTML file without scripts or anything from the network. Any text may be in it."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    head = node(
        "head",
        None,
        [
            node("meta", charset="utf-8"),
            node("meta", http_equiv="Content-Security-Policy", content=policy),
            node("meta", name="viewport", content="width=device-width, initial-scale=1"),
            node("meta", name="color-scheme", content="light dark"),
            node("title", title),
            node("style", STYLE),
        ],
    )
    body = node("body", None, [node("main", None, content)])
    html = node("html", None, [head, body], lang="en")
    for element in html.iter():
        if element.text is not None and element.tag != "style":
            element.text = words.printable(element.text)
    return "<!doctype html>\n" + tostring(html, encoding="unicode", method="html") + "\n"


def _top(summary: dict[str, Any]) -> list[Element]:
    learned = (
        "forecast the next ones before it saw them, and learned."
        if words.learns(summary)
        else "and forecast the next ones before it saw them."
    )
    ghost = f"Ghostcandle looked at each candle once, in order, {learned}"
    start = words.start(summary)
    return [
        node("h1", "Evaluation"),
        node("p", None, [node("bdi", f"{words.heading(summary)}; {words.circumstances(summary)}.")], class_="lead"),
        node("p", f"{ghost} The results of those forecasts follow."),
        *([node("p", None, [node("bdi", start)])] if start else []),
        *results(summary),
    ]


def results(summary: dict[str, Any]) -> list[Element]:
    """The main figures in sentences, with their verdicts."""
    return [
        node("ul", None, [node("li", words.in_a_sentence(summary, name)) for name in words.QUANTITIES]),
        node("p", words.online(summary)),
        node("p", words.EXPLAINED),
    ]


def tables(summary: dict[str, Any]) -> list[Element]:
    """All figures, with their headings."""
    ahead = ("candles ahead", *words.QUANTITIES, "n")
    touched = touched_words.touched(summary)
    by_chance = "Out of so many intervals, about one in 20 misses 0 by chance."
    return [
        *_section("One candle ahead", ("", *words.QUANTITIES), words.findings(summary)),
        table(words.ALSO_DRAWN_HEADER, words.also_drawn(summary)),
        *_section("Challengers", words.CHALLENGERS_HEADER, words.challengers(summary)),
        *_section("Direction and coverage", None, words.of_the_close(summary)),
        *_paper(summary),
        *_section(
            "One candle ahead, by what the market was like",
            *(words.REGIME_HEADER, words.regimes(summary), words.REGIMES_EXPLAINED),
        ),
        node("h2", "After a gap or a session break"),
        node("p", words.after_gap(summary)),
        *_section("Skill further ahead", ahead, words.horizons(summary, "skill")),
        *_section("What the model adds further ahead", ahead, words.horizons(summary, "model_gain"), by_chance),
        *_section("The chance of a price", touched_words.HEADER, touched, touched_words.EXPLAINED),
        *_drifts(summary),
    ]


def _section(
    title: str, header: tuple[str, ...] | None, rows: Sequence[tuple[str, ...]], explained: str = ""
) -> list[Element]:
    """A table with its heading; nothing without rows."""
    note = [node("p", explained, class_="lead")] if explained else []
    return [node("h2", title), table(header, rows), *note] if rows else []


def _paper(summary: dict[str, Any]) -> list[Element]:
    headline = node("p", None, [node("strong", words.paper_headline(summary))])
    rows = words.paper(summary)
    explained = node("p", words.PAPER_EXPLAINED, class_="lead")
    return [node("h2", "Paper score"), headline, *([table(None, rows)] if rows else []), explained]


def _drifts(summary: dict[str, Any]) -> list[Element]:
    """The drifts: where the loss of the ghosts rose for longer than chance explains."""
    none = "No drift was found: the loss of the ghosts never rose for longer than chance explains."
    header = ("candle (UTC)", "loss before", "loss after", "response")
    return _section("Drifts", header, words.drifts(summary)) or [node("h2", "Drifts"), node("p", none)]


def plots(summary: dict[str, Any], timeline: Timeline) -> list[Element]:
    """All charts, with their heading."""
    drawn = [node("h2", "Plots")]
    for name in words.QUANTITIES:
        drawn += figure(
            f"The {name}: cumulative loss reduction against “no change”",
            "A line that rises forecasts better than the reference; it ends at the skill.",
            charts.loss_reduction(timeline, name),
        )
    for name in words.QUANTITIES:
        drawn += figure(f"The {name}: skill by candles ahead", "", charts.skill_by_horizon(summary, name))
    drawn += figure(
        "Is the close inside as often as promised?",
        "On the dashed line each quantile is reached as often as it should be. Bars are 95 % intervals.",
        charts.reliability(timeline),
    )
    drawn += figure(
        "Coverage of the 90 % band, over the 500 candles before each",
        "The dashed line is what the band promises.",
        charts.rolling_coverage(timeline),
    )
    for name in words.QUANTITIES:
        drawn += figure(
            f"The {name}: each expert alone, and their combination",
            "Skill against “no change”. A bar with an arrow is longer than drawn; its number is exact.",
            charts.skill_of_experts(summary, name),
        )
    for name in words.QUANTITIES:
        drawn += figure(f"The {name}: skill by quarter of the candles", "", charts.skill_by_quarter(summary, name))
    return drawn


def figure(title: str, explained: str, drawn: Element | None) -> list[Element]:
    """A chart with its caption; None: that there are not enough candles for it."""
    shown = node("p", f"{words.NOT_ENOUGH} to draw this.".capitalize(), class_="missing") if drawn is None else drawn
    caption = node("figcaption", None, [node("strong", title)])
    caption[-1].tail = f" {explained}" if explained else None
    return [node("figure", None, [caption, shown])]


def table(header: tuple[str, ...] | None, rows: Iterable[tuple[str, ...]]) -> Element:
    """The first cell of a row is its heading."""
    head = [] if header is None else [node("thead", None, [_row(header, "th", "col")])]
    return node("table", None, [*head, node("tbody", None, [_row(row, "td", "row") for row in rows])])


def _row(cells: tuple[str, ...], tag: str, scope: str) -> Element:
    first = node("th", cells[0], scope=scope) if cells[0] else node("td")
    rest = [node("th", cell, scope=scope) if tag == "th" else node("td", cell) for cell in cells[1:]]
    return node("tr", None, [first, *rest])
