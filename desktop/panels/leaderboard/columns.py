"""The columns of the leaderboard, and a row's numbers as text."""

from __future__ import annotations

from core.domain.events import Estimate
from core.evaluation.leaderboard import LeaderboardRow
from core.evaluation.report.words import floored_percent
from desktop.panels.accuracy.words import expert_name, measured, points, value_of
from desktop.ui.formatting import MISSING, format_count, format_number, format_time
from desktop.ui.tables import TitledColumn
from desktop.ui.translation import translate


class Column(TitledColumn):
    """From the left."""

    GHOSTS = "Ghosts", "Draws its ghosts beside the combination's. Click or Space: switch"
    RANK = "Rank", "One more than the number of rows that are proven better: equals share a rank"
    NAME = "Forecaster", "A model or a baseline alone, or the combination of all, whose ghosts are on the chart"
    CLOSE = (
        "Close skill, %",
        "How much smaller its loss of the next close is than that of “no change”, with the interval",
    )
    RANGE = "Range skill, %", "The same for the range of the next candle, from low to high"
    BEHIND = (
        "Behind the leader, %",
        "By how much it loses more than the leader, as a share of what “no change” loses. Indistinguishable: the "
        "interval includes 0",
    )
    BAND = "90 % band, %", "How often the next close was inside its 90 % band"
    DIRECTION = (
        "Direction, %",
        "How often the next close was on its side of the last one, without flat candles. Coin flip: 50 %",
    )
    COST = (
        "ms",
        "Milliseconds a candle: of the model a training step, of a challenger all its work. The baselines together "
        "take less than one and are not measured",
    )
    ANSWERED = (
        "Answered, %",
        "How many of the forecasts that were due a challenger gave, in all markets of its model. At the others the "
        "forecast without any model is scored in its place",
    )
    N = "n", "Scored candles, in full blocks of 50"
    SINCE = "Since", "The first of these candles"


BY_IMPORTANCE = (
    Column.NAME,
    Column.RANK,
    Column.CLOSE,
    Column.GHOSTS,
    Column.BEHIND,
    Column.RANGE,
    Column.BAND,
    Column.DIRECTION,
    Column.N,
    Column.COST,
    Column.ANSWERED,
    Column.SINCE,
)
"""Where there is no room for all columns, the last ones go; a row's tooltip has all of them."""
LEFT = frozenset({Column.NAME, Column.BEHIND})


def text(row: LeaderboardRow, column: Column) -> str:
    """What a cell shows."""
    match column:
        case Column.RANK:
            return MISSING if row.rank is None else format_count(row.rank)
        case Column.NAME:
            return expert_name(row.name)
        case Column.BEHIND:
            return _behind(row)
        case Column.COST:
            return format_number(row.cost_ms, 1)
        case Column.ANSWERED:
            return format_number(None if row.answered is None else floored_percent(row.answered), 1)
        case Column.N:
            return format_count(row.n)
        case Column.SINCE:
            return MISSING if row.since_ms is None else format_time(row.since_ms)
        case _:
            estimate = estimate_of(row, column)
            return "" if column is Column.GHOSTS else _measured(estimate, signed=column in _SKILLS)


_SKILLS = frozenset({Column.CLOSE, Column.RANGE})


def estimate_of(row: LeaderboardRow, column: Column) -> Estimate | None:
    """The number with its interval that a cell shows; None in other columns, and where there is none."""
    estimates = {
        Column.CLOSE: row.close,
        Column.RANGE: row.range,
        Column.BAND: row.coverage_90,
        Column.DIRECTION: row.direction,
    }
    return estimates.get(column)


def in_sentences(row: LeaderboardRow) -> str:
    """All cells, each with its title."""
    shown = (column for column in Column if column not in (Column.GHOSTS, Column.NAME))
    return "\n".join([text(row, Column.NAME), *(f"{column.title}: {text(row, column)}" for column in shown)])


def _measured(estimate: Estimate | None, *, signed: bool) -> str:
    """The value alone before there is an interval."""
    if estimate is None or estimate.value is None:
        return MISSING
    decimals = 2 if signed else 1
    if value_of(estimate) is None:
        return points(estimate.value, decimals, signed=signed)
    return measured(estimate, decimals, signed=signed)


def _behind(row: LeaderboardRow) -> str:
    if row.behind_leader is None:
        return MISSING if row.rank is None else translate("Panels", "leader")
    if row.is_indistinguishable is None:
        return translate("Panels", "too early to compare")
    if row.is_indistinguishable:
        return translate("Panels", "indistinguishable")
    return measured(row.behind_leader, 2, signed=False)
