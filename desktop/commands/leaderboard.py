"""`ghostcandle leaderboard`: which expert of a run forecasts best, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click
from rich.console import Console
from rich.text import Text
from sqlite_utils import Database

from core.domain.candle import Market
from core.domain.dates import utc_text
from core.evaluation.expert_table import ExpertRecord, Ranking
from core.evaluation.leaderboard import as_data, leaderboard
from core.evaluation.report.words import measured, percent
from core.market.shown_names import shown_market
from core.storage.database import open_database
from core.storage.runs import Run, RunStore
from desktop.app.context import Context
from desktop.commands.metrics import chosen_run
from desktop.commands.options import common_options, print_json, with_context
from desktop.commands.text import text_table

_POOLED, _MISSING = "pooled", "–"
_RANKED_BY = {"both": "close and range in equal parts", "close": "close", "range": "range"}
_EXPLAINED = (
    "A rank is one more than the number of rows that are proven better. All intervals hold at every moment and all "
    "together: of the skills, any is wrong at any time in at most 5 % of runs, likewise of the comparisons."
)


@click.command("leaderboard")
@click.option("--run", "run_id", help="The run's id; the newest without it.")
@click.option(
    "--by",
    "ranked_by",
    type=click.Choice([ranking.value for ranking in Ranking]),
    default=Ranking.BOTH.value,
    help="What ranks: close and range in equal parts, or one of them.",
)
@common_options
@with_context
def leaderboard_command(context: Context, run_id: str | None, ranked_by: str) -> None:
    """Show which of a run's models and baselines forecasts best, with intervals that hold however often one looks.

    Of a model of several markets it shows each market, and all as one; with the id of one other than the first that
    market.
    """
    db = open_database(context.folder.database, readonly=True)
    try:
        found = _boards(db, chosen_run(RunStore(db), run_id), Ranking(ranked_by))
    finally:
        db.close()
    if context.as_json:
        print_json(found[next(iter(found))] if len(found) == 1 else found)
    else:
        _print(found)


def _boards(db: Database, run: Run, ranking: Ranking) -> dict[str, dict[str, Any]]:
    """By market, and of several `_POOLED`."""
    members = RunStore(db).members(run.head_id)
    of_all = run.head_id == run.run_id and len(members) > 1
    runs = members if of_all else (run,)
    found = {
        str(each.market): {"run_id": each.run_id, "market": str(each.market)} | _board(db, [each], ranking)
        for each in runs
    }
    return found | ({_POOLED: {"markets": len(runs)} | _board(db, runs, ranking)} if of_all else {})


def _board(db: Database, runs: Sequence[Run], ranking: Ranking) -> dict[str, Any]:
    record = ExpertRecord(db, runs)
    for _ in record.read_more():
        pass
    return as_data(leaderboard(record, ranking))


def _print(found: Mapping[str, dict[str, Any]]) -> None:
    console = Console(markup=False)
    for name, board in found.items():
        title = f"All {board['markets']} markets as one" if name == _POOLED else shown_market(Market.parse(name))
        console.print(Text(f"{title}, ranked by {_RANKED_BY[board['ranked_by']]}"))
        if not board["rows"]:
            console.print(Text("No scores yet: the first numbers come after 50 candles."))
            continue
        console.print(
            text_table(("Rank", "", "Skill, close", "Skill, range", "Behind the leader"), map(_skills, board["rows"]))
        )
        console.print(
            text_table(("", "90 % band", "Direction", "ms a candle", "n", "Since"), map(_others, board["rows"]))
        )
    console.print(Text(_EXPLAINED))


def _skills(row: dict[str, Any]) -> tuple[str, ...]:
    rank = _MISSING if row["rank"] is None else str(row["rank"])
    return rank, row["name"], _skill(row["close"]), _skill(row["range"]), _behind(row)


def _others(row: dict[str, Any]) -> tuple[str, ...]:
    cost = _MISSING if row["cost_ms"] is None else f"{row['cost_ms']:.1f}"
    since = _MISSING if row["since_ms"] is None else utc_text(row["since_ms"], "%Y-%m-%d %H:%M")
    return row["name"], _share(row["coverage_90"]), _share(row["direction"]), cost, f"{row['n']:,}", since


def _skill(found: dict[str, Any] | None) -> str:
    """The value alone before there is an interval."""
    if found is None or found["value"] is None:
        return _MISSING
    return percent(found["value"]) if found["ci95"] is None else measured(found["value"], found["ci95"])


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
