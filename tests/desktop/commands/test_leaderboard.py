"""`leaderboard`: the same rows as JSON and as tables, ranked as asked."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from core.evaluation.leaderboard import Ranking
from core.evaluation.report import leaderboard_figures as figures
from core.forecast.experts import EXPERTS
from tests.desktop import scenario
from tests.support import commands
from tests.support.candles import random_walk
from tests.support.synthetic_run import made_up


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of a run of 230 candles; the tests only read it."""
    folder = commands.configure(tmp_path_factory.mktemp("data"))
    made_up(folder, random_walk(230, seed=5))
    return folder


@pytest.mark.parametrize("ranking", Ranking)
def test_json_and_tables_have_the_same_rows(data: Path, ranking: Ranking) -> None:
    where = ("--by", ranking.value, "--data-dir", str(data))
    found = commands.invoke_json("leaderboard", *where)
    assert found["ranked_by"] == ranking.value and found["leader"] == found["rows"][0]["name"]
    assert {row["n"] for row in found["rows"]} == {200, 229} and "seasonal" not in {
        row["name"] for row in found["rows"]
    }
    assert [figures.skills(row)[-1] for row in found["rows"][:2]] == ["–", "too early to say"], "no rank yet"
    text = commands.invoke("leaderboard", *where).stdout
    assert "too early to say" in text and f"{100 * found['rows'][0]['range']['value']:+.1f} %" in text
    assert all(text.count(figures.shown_name(row)) >= 2 for row in found["rows"]) and set(EXPERTS) - {"seasonal"} <= {
        row["name"] for row in found["rows"]
    }


def test_the_share_of_answers_is_shown_where_there_are_challengers() -> None:
    rows = [asdict(row) for row in scenario.leaderboard().rows]
    estimates = ("close", "range", "coverage_90", "direction", "behind_leader")
    plain = [row | dict.fromkeys(estimates) for row in rows]
    header, cells = figures.other_figures(plain)
    assert header[-1] == "Answered" and {of[0]: of[-1] for of in cells if of[0] in ("HAR", "gru", "my_model")} == {
        "HAR": "–",
        "gru": "100.0 %",
        "my_model": "97.1 %",
    }
    header, cells = figures.other_figures([row for row in plain if row["answered"] is None])
    assert "Answered" not in header and {len(of) for of in cells} == {len(header)}


def test_a_run_without_blocks_says_when_numbers_come(tmp_path: Path) -> None:
    commands.configure(tmp_path)
    made_up(tmp_path, random_walk(20))
    assert commands.invoke_json("leaderboard", "--data-dir", str(tmp_path))["rows"] == []
    assert "after 50 candles" in commands.invoke("leaderboard", "--data-dir", str(tmp_path)).stdout


def test_without_a_run_it_says_how_to_start_one(tmp_path: Path) -> None:
    done = commands.invoke("leaderboard", "--data-dir", str(tmp_path))
    assert done.returncode != 0 and "Traceback" not in done.stderr
