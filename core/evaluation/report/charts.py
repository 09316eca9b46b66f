"""The plots of the report, each as one SVG element, or None if too few candles were judged."""

from __future__ import annotations

from itertools import pairwise
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import DAY_MS
from core.domain.counts import counted
from core.domain.dates import utc_text
from core.domain.quantities import BAND_50, BAND_90, LEVELS
from core.evaluation.details import Timeline
from core.evaluation.report import svg
from core.evaluation.report.figures import between, percent, share
from core.evaluation.sharing import NewestCandles
from core.forecast.experts import EXPERTS, MODEL
from core.forecast.sample_sizes import FEWEST_FOR_AN_ESTIMATE
from core.forecast.score import COVERAGE_WINDOW, NOMINAL_COVERAGE, quotient, rolling_means

_MOST_POINTS = 700
"""About one per pixel; the last one is always included."""
_TICKS = 6
_BODY_SHARE = 0.35
"""Half of a body's width, in candles."""
_SIGNIFICANT_DIGITS = 10


def loss_reduction(timeline: Timeline, name: str) -> Element | None:
    """Cumulative reduction of the reference's loss over time."""
    losses = timeline.losses[name]
    n, best = len(losses), losses.best_baseline
    total = float(losses.reference.sum())
    if best is None or n < FEWEST_FOR_AN_ESTIMATE or quotient(1.0, total, n) is None:
        return None
    lines = [
        (f"best baseline ({EXPERTS[best]})", "baseline", losses.of(best)),
        ("model alone", "model", losses.of(MODEL)),
        ("combination", "combination", losses.shown),
    ]
    # Over the whole record's loss, so that each ends at the skill.
    curves = [(label, kind, np.cumsum(losses.reference - each) / total) for label, kind, each in lines]
    rows = _thinned_rows(n)
    across = svg.across(0.0, float(n - 1))
    upward = svg.upward([0.0, *(float(value) for _, _, values in curves for value in (values.min(), values.max()))])
    ends = "; ".join(f"{label} ends at {percent(float(values[-1]))}" for label, _, values in curves)
    drawn = [
        *svg.scale_left(upward, _signed, "of its loss"),
        *_scale_of_time(timeline.target_open_time_ms, across),
        svg.line(svg.LEFT, upward.at(0.0), svg.RIGHT, upward.at(0.0), "zero"),
        *(
            svg.curve([(across.at(float(row)), upward.at(float(values[row]))) for row in rows], f"curve {kind}")
            for _, kind, values in curves
        ),
        *svg.legend((label, f"curve {kind}") for label, kind, _ in curves),
    ]
    return svg.chart(f"reduction-{name}", f"Loss reduction over time, {name}", f"{ends}; n = {n:,}.", drawn)


def skill_by_horizon(summary: dict[str, Any], name: str) -> Element | None:
    """Skill against the reference of each horizon, with its interval."""
    of_each = {horizon: of[name]["skill"] for horizon, of in summary["watched"]["horizons"].items()}
    rows = [(horizon, of["value"], of["ci95"]) for horizon, of in of_each.items() if of["ci95"] is not None]
    described = [f"{horizon}: {percent(value)}, {between(ci95)}" for horizon, value, ci95 in rows]
    return _intervals(f"horizons-{name}", f"Skill by candles ahead, {name}", rows, "candles ahead", described)


def skill_by_quarter(summary: dict[str, Any], name: str) -> Element | None:
    """Skill against the reference in each quarter of the candles, with its interval."""
    of = summary["pinball"][name]
    parts = zip(of["skill_of_quarters"], of["skill_of_quarters_ci95"], of["n_of_quarters"], strict=True)
    known = [(f"quarter {part} (n = {n:,})", value, ci95) for part, (value, ci95, n) in enumerate(parts, 1) if ci95]
    described = [f"{label}: {percent(value)}, {between(ci95)}" for label, value, ci95 in known]
    return _intervals(f"quarters-{name}", f"Skill by quarter of the candles, {name}", known, "in time order", described)


def reliability(timeline: Timeline) -> Element | None:
    """How often the close was at or below each quantile, against how often it should have been."""
    known = [(horizon, of) for horizon, of in timeline.reliability.items() if of and of[0].value is not None]
    if not known:
        return None
    across, upward = svg.across(0.0, 1.0), svg.Axis(0.0, 1.0, svg.BOTTOM, svg.TOP)
    drawn = [
        *svg.scale_left(upward, _share, "closes at or below it"),
        *svg.scale_below(across, [(level, f"{100.0 * level:g}") for level in LEVELS.tolist()], "quantile shown, in %"),
        svg.line(svg.LEFT, svg.BOTTOM, svg.RIGHT, svg.TOP, "zero"),
    ]
    described = []
    for (horizon, observed), kind in zip(known, ("combination", "model"), strict=False):
        points = []
        for level, found in zip(LEVELS, observed, strict=True):
            if found.value is not None and found.low is not None and found.high is not None:
                points.append((across.at(float(level)), upward.at(found.value)))
                drawn += svg.whisker(points[-1][0], upward.at(found.low), upward.at(found.high), f"curve {kind}")
                described.append(f"{horizon} ahead, {_share(float(level))}: {share(found.value)}")
        drawn.append(svg.curve(points, f"curve {kind}"))
    names = [f"{counted(horizon, 'candle')} ahead (n = {observed[0].n:,})" for horizon, observed in known]
    drawn += svg.legend(zip(names, ("curve combination", "curve model"), strict=False))
    return svg.chart("reliability", "Quantiles shown and actual closes", "; ".join(described) + ".", drawn)


def rolling_coverage(timeline: Timeline) -> Element | None:
    """How often the close was inside its 90 % band, over the candles before each."""
    shares = rolling_means(timeline.inside_90, COVERAGE_WINDOW)
    if not shares.size:
        return None
    n = timeline.inside_90.size
    across = svg.across(0.0, float(n - 1))
    upward = svg.upward([NOMINAL_COVERAGE - 0.05, NOMINAL_COVERAGE + 0.05, float(shares.min()), float(shares.max())])
    rows = _thinned_rows(shares.size)
    points = [(across.at(float(row + COVERAGE_WINDOW - 1)), upward.at(float(shares[row]))) for row in rows]
    nominal = upward.at(NOMINAL_COVERAGE)
    drawn = [
        *svg.scale_left(upward, _share, f"covered of the last {COVERAGE_WINDOW}"),
        *_scale_of_time(timeline.target_open_time_ms, across),
        svg.line(svg.LEFT, nominal, svg.RIGHT, nominal, "zero"),
        svg.curve(points, "curve combination"),
    ]
    described = f"Between {share(float(shares.min()))} and {share(float(shares.max()))}; promised 90 %; n = {n:,}."
    return svg.chart("coverage", "Coverage of the 90 % band over time", described, drawn)


def skill_of_experts(summary: dict[str, Any], name: str) -> Element | None:
    """The skill of each expert alone, and of the combination. A bar that does not fit ends in an arrow."""
    of = summary["pinball"][name]
    if of["skill"] is None or not of["reference"]:
        return None
    skills = {expert: 1.0 - loss / of["reference"] for expert, loss in of["experts"].items()}
    rows = sorted({"combination": of["skill"], **skills}.items(), key=lambda row: -row[1])
    limit = max(1.5 * max(abs(of["skill"]), *(value for _, value in rows)), 0.005)
    axis = svg.Axis(-limit, limit, svg.LEFT + 120.0, svg.RIGHT - 90.0)
    drawn = [svg.label(svg.LEFT, svg.TOP - 22.0, f"skill one candle ahead, n = {of['n']:,}", "start", "axis")]
    pitch = (svg.BOTTOM + 30.0 - svg.TOP) / len(rows)
    for row, (expert, value) in enumerate(rows):
        drawn += _expert(axis, svg.TOP + row * pitch, pitch, expert, value)
    zero = axis.at(0.0)
    drawn.append(svg.line(zero, svg.TOP - 6.0, zero, svg.BOTTOM + 30.0, "zero"))
    described = "; ".join(f"{expert}: {percent(value)}" for expert, value in rows) + "."
    return svg.chart(f"experts-{name}", f"Skill of each expert alone, {name}", described, drawn)


def newest_candles(newest: NewestCandles) -> Element | None:
    """The newest candles, the band that was forecast for each, and the ghosts after them; None without candles."""
    n = newest.open_time_ms.size
    if not n:
        return None
    across = svg.across(-0.5, n + len(newest.ghosts) - 0.5)
    levels: list[float] = []
    for ghost in newest.ghosts:
        levels += [ghost.low, ghost.high, *(ghost.close_quantiles[place] for place in BAND_90)]
    upward = svg.upward([*newest.prices.ravel().tolist(), *newest.band_90.ravel().tolist(), *levels])
    drawn = [
        *svg.scale_left(upward, price_text, "price"),
        *_scale_of_time(newest.open_time_ms, across),
        *_gaps(newest, across),
        *(
            _box(across, upward, float(row), low, high, "band-90")
            for row, (low, high) in enumerate(newest.band_90.T.tolist())
            if np.isfinite(low)
        ),
        *_bands(newest, across, upward),
        *_candles(newest, across, upward),
        *svg.legend([("ghosts", "curve ghost"), ("candles", "candle up")]),
    ]
    last = utc_text(int(newest.open_time_ms[-1]), "%Y-%m-%d %H:%M")
    closes = ", ".join(price_text(ghost.close) for ghost in newest.ghosts)
    described = (
        f"The candle of {last} UTC closed at {price_text(float(newest.prices[3, -1]))}. Forecast closes: {closes}."
    )
    return svg.chart("newest", "The newest candles and the ghosts after them", described, drawn)


def _expert(axis: svg.Axis, top: float, pitch: float, name: str, value: float) -> list[Element]:
    middle, low, high = top + pitch / 2.0, top + 3.0, top + pitch - 3.0
    kind = name if name in ("combination", "model") else "baseline"
    zero, end = axis.at(0.0), axis.at(max(value, axis.low))
    tip = [] if value >= axis.low else [(end - 10.0, middle)]
    return [
        svg.label(svg.LEFT + 96.0, middle + 4.0, name, "end", "name"),
        svg.area([(zero, low), (end, low), *tip, (end, high), (zero, high)], f"bar {kind}"),
        svg.label(svg.RIGHT, middle + 4.0, percent(value), "end", "name"),
    ]


def _intervals(
    key: str, title: str, rows: list[tuple[str, float, list[float]]], below: str, described: list[str]
) -> Element | None:
    """One point with its interval per row: name, value, interval."""
    if not rows:
        return None
    across = svg.across(-0.5, len(rows) - 0.5)
    upward = svg.upward([0.0, *(limit for _, _, ci95 in rows for limit in ci95)], 0.1)
    zero = upward.at(0.0)
    drawn = [
        *svg.scale_left(upward, _signed, "skill, with its 95 % interval"),
        *svg.scale_below(across, [(float(place), name) for place, (name, _, _) in enumerate(rows)], below),
        svg.line(svg.LEFT, zero, svg.RIGHT, zero, "zero"),
    ]
    for place, (_, value, ci95) in enumerate(rows):
        x = across.at(float(place))
        drawn += svg.whisker(x, upward.at(ci95[0]), upward.at(ci95[1]), "curve combination")
        drawn.append(svg.node("circle", cx=x, cy=upward.at(value), r=4.5, class_="dot combination"))
        drawn.append(svg.label(x, upward.at(ci95[1]) - 7.0, percent(value), class_="value"))
    return svg.chart(key, title, "; ".join(described) + ".", drawn)


def _scale_of_time(opened: NDArray[np.int64], across: svg.Axis) -> list[Element]:
    """The time axis of a chart whose row n is the candle that opened at opened[n]: days, or days and hours for a short
    period."""
    form = "%d %b %Y" if opened[-1] - opened[0] > _TICKS * DAY_MS else "%d %b %H:%M"
    rows = np.unique(np.linspace(0, opened.size - 1, _TICKS).astype(np.int64)[1:-1])
    names = [(float(row), utc_text(int(opened[row]), form)) for row in rows]
    return svg.scale_below(across, names, f"candles in time order (UTC), n = {opened.size:,}")


def _thinned_rows(n: int) -> list[int]:
    return [int(row) for row in np.unique(np.linspace(0, n - 1, min(n, _MOST_POINTS)).astype(np.int64))]


def _signed(value: float) -> str:
    """A round number without insignificant digits."""
    return "0 %" if abs(value) < 1e-9 else f"{round(100.0 * value, 6):+g} %"


def _share(value: float) -> str:
    return f"{round(100.0 * value, 6):g} %"


def price_text(price: float) -> str:
    """A price without insignificant digits and without an exponent."""
    return np.format_float_positional(price, precision=_SIGNIFICANT_DIGITS, unique=False, fractional=False, trim="-")


def _gaps(newest: NewestCandles, across: svg.Axis) -> list[Element]:
    """A dashed line at missing candles, as over a session break."""
    after = np.nonzero(np.diff(newest.open_time_ms) > newest.interval.duration_ms)[0]
    places = [across.at(float(row) + 0.5) for row in after]
    return [svg.line(x, svg.TOP, x, svg.BOTTOM, "zero") for x in places]


def _bands(newest: NewestCandles, across: svg.Axis, upward: svg.Axis) -> list[Element]:
    """The bands of the ghosts' closes, from the last close on."""
    first, close = newest.open_time_ms.size - 1, float(newest.prices[3, -1])
    drawn = []
    for (low, high), class_ in ((BAND_90, "band-90"), (BAND_50, "band-50")):
        ends = [(close, close), *((ghost.close_quantiles[low], ghost.close_quantiles[high]) for ghost in newest.ghosts)]
        for row, ((low_1, high_1), (low_2, high_2)) in enumerate(pairwise(ends), first):
            x_1, x_2 = across.at(float(row)), across.at(float(row + 1))
            corners = [(x_1, low_1), (x_1, high_1), (x_2, high_2), (x_2, low_2)]
            drawn.append(svg.area([(x, upward.at(price)) for x, price in corners], class_))
    return drawn


def _candles(newest: NewestCandles, across: svg.Axis, upward: svg.Axis) -> list[Element]:
    shown = [(prices, "candle up" if prices[3] >= prices[0] else "candle down") for prices in newest.prices.T.tolist()]
    shown += [([ghost.open, ghost.high, ghost.low, ghost.close], "candle ghost") for ghost in newest.ghosts]
    drawn = []
    for row, ((opened, high, low, close), class_) in enumerate(shown):
        x = across.at(float(row))
        drawn.append(svg.line(x, upward.at(high), x, upward.at(low), class_))
        drawn.append(_box(across, upward, float(row), min(opened, close), max(opened, close), class_))
    return drawn


def _box(across: svg.Axis, upward: svg.Axis, row: float, low: float, high: float, class_: str) -> Element:
    left, right = across.at(row - _BODY_SHARE), across.at(row + _BODY_SHARE)
    top, bottom = upward.at(high), upward.at(low)
    return svg.area([(left, top), (right, top), (right, bottom), (left, bottom)], class_)
