"""The leaderboard as text, for the terminal and the share page. Takes rows of `core.evaluation.leaderboard.as_data`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.domain.dates import utc_text
from core.evaluation.leaderboard import REFERENCE_NAME
from core.evaluation.report.figures import floored_percent, measured, missing, percent
from core.storage.evidence_blocks import COMBINATION

SKILLS_HEADER = ("Rank", "", "Skill, close", "Skill, range", "Behind the leader")
_OTHERS = ("", "90 % band", "Direction", "ms a candle", "n", "Since")
EMPTY = "No scores yet: the first numbers come after 50 candles."
EXPLAINED = (
    "A rank is one more than the number of rows that are proven better; there is none before any row is "
    "proven better than another. Intervals hold however often one looks: that "
    "of a skill for its row alone, ranks and what is behind the leader for all rows together."
)
_MISSING = "–"
_NAMES = {COMBINATION: "ghosts", REFERENCE_NAME: "no change"}


def skills(row: dict[str, Any]) -> tuple[str, ...]:
    """The cells under SKILLS_HEADER."""
    rank = _MISSING if row["rank"] is None else str(row["rank"])
    return rank, shown_name(row), _skill(row["close"]), _skill(row["range"]), _behind(row)


def shown_name(row: dict[str, Any]) -> str:
    name: str = row["name"]
    return _NAMES.get(name, name)


def other_figures(rows: Sequence[dict[str, Any]]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The header and cells of the figures other than skills; with the share of answers if any row has one."""
    if all(row["answered"] is None for row in rows):
        return _OTHERS, [_others(row) for row in rows]
    cells = []
    for row in rows:
        answered = row["answered"]
        cells.append((*_others(row), _MISSING if answered is None else f"{floored_percent(answered):.1f} %"))
    return (*_OTHERS, "Answered"), cells


def _others(row: dict[str, Any]) -> tuple[str, ...]:
    cost = _MISSING if row["cost_ms"] is None else f"{row['cost_ms']:.1f}"
    since = _MISSING if row["since_ms"] is None else utc_text(row["since_ms"], "%Y-%m-%d %H:%M")
    return shown_name(row), _share(row["coverage_90"]), _share(row["direction"]), cost, f"{row['n']:,}", since


def _skill(found: dict[str, Any] | None) -> str:
    """A skill with its interval; the value alone before there is one."""
    if found is None:
        return _MISSING
    if found["value"] is None:
        return missing(found["n"])
    return percent(found["value"]) if found["ci95"] is None else measured(found["value"], found["ci95"], found["n"])


def _share(found: dict[str, Any] | None) -> str:
    if found is None or found["value"] is None:
        return _MISSING
    ends = "" if found["ci95"] is None else " ({:.1f} to {:.1f})".format(*(100.0 * each for each in found["ci95"]))
    return f"{100.0 * found['value']:.1f} %{ends}"


def _behind(row: dict[str, Any]) -> str:
    if row["behind_leader"] is None:
        return "the leader" if row["rank"] is not None else _MISSING
    if row["indistinguishable"] is None:
        return "too early to say"
    return "indistinguishable" if row["indistinguishable"] else _skill(row["behind_leader"])
