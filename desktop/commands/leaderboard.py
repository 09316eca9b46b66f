"""`ghostcandle leaderboard`: which expert of a run forecasts best, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import Any

import click
from rich.console import Console
from rich.text import Text
from sqlite_utils import Database

from core.domain.candle import Market
from core.evaluation.leaderboard import Ranking, as_data, stored_leaderboard
from core.evaluation.report import leaderboard_figures as figures
from core.market.shown_names import shown_market
from core.storage.database import open_database
from core.storage.runs import Run, RunStore
from desktop.app.context import Context
from desktop.commands.options import common_options, print_json, with_stored_context
from desktop.commands.text import text_table

_POOLED = "pooled"
_RANKED_BY = {"both": "close and range in equal parts", "close": "close", "range": "range"}


@click.command("leaderboard")
@click.option("--run", "run_id", help="The run's id. Default: the newest run.")
@click.option(
    "--by",
    "ranked_by",
    type=click.Choice([ranking.value for ranking in Ranking]),
    default=Ranking.BOTH.value,
    help="Ranks by close and range in equal parts, or by one of them.",
)
@common_options
@with_stored_context
def leaderboard_command(context: Context, run_id: str | None, ranked_by: str) -> None:
    """Show which of a run's models and baselines forecasts best, with intervals that hold however often one looks.

    Of a model of several markets it shows each market, and all as one; with the id of one other than the first that
    market.
    """
    with closing(open_database(context.folder.database, readonly=True)) as db:
        found = _boards(db, RunStore(db).chosen(run_id), Ranking(ranked_by))
    if context.as_json:
        print_json(found[next(iter(found))] if len(found) == 1 else found)
        return
    console = Console(markup=False)
    for name, board in found.items():
        title = f"All {board['markets']} markets as one" if name == _POOLED else shown_market(Market.parse(name))
        console.print(Text(f"{title}, ranked by {_RANKED_BY[board['ranked_by']]}"))
        if not board["rows"]:
            console.print(Text(figures.EMPTY))
            continue
        console.print(text_table(figures.SKILLS_HEADER, map(figures.skills, board["rows"])))
        console.print(text_table(*figures.other_figures(board["rows"])))
    console.print(Text(figures.EXPLAINED))


def _boards(db: Database, run: Run, ranking: Ranking) -> dict[str, dict[str, Any]]:
    """The boards by market; of several markets, also `_POOLED`."""
    members = RunStore(db).members(run.head_id)
    of_all = run.head_id == run.run_id and len(members) > 1
    runs = members if of_all else (run,)

    def board(runs: Sequence[Run]) -> dict[str, Any]:
        return as_data(stored_leaderboard(db, runs, ranking))

    found = {str(each.market): {"run_id": each.run_id, "market": str(each.market)} | board([each]) for each in runs}
    return found | ({_POOLED: {"markets": len(runs)} | board(runs)} if of_all else {})
