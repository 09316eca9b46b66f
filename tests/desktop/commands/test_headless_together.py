"""`ghostcandle headless` with several markets or files."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.runs import RunStore
from tests.desktop.commands.walk_files import COUNT, write
from tests.support import commands
from tests.support.candles import HOUR


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    return [str(write(tmp_path / f"{name}.csv", seed)) for seed, name in enumerate(("alpha", "beta", "gamma"))]


def headless(data: Path, *arguments: str) -> tuple[str, ...]:
    if not data.exists():
        commands.configure(data)
    return ("headless", *arguments, "--data-dir", str(data))


def named(files: list[str]) -> list[str]:
    return [part for file in files for part in ("--file", file)]


def test_several_files_are_learned_by_one_model_in_any_order_and_continued(tmp_path: Path, files: list[str]) -> None:
    files = files[:2]
    found = commands.invoke_json(*headless(tmp_path / "data", *named(files)))
    *markets, pooled = found.values()
    assert [name.partition("#")[0] for name in found] == ["alpha", "beta", "pooled"]
    assert [each["candles"] for each in markets] == [COUNT] * 2 and pooled["candles"] == 2 * COUNT
    assert pooled["scored"] == 2 * (COUNT - 1) and pooled["steps"] == COUNT - 1 and pooled["markets"] == 2
    assert pooled["notices"] == [] and pooled["wall_s"] > 0.0
    digest = pooled["forecasts_sha256"]
    turned = commands.invoke_json(*headless(tmp_path / "turned", *named(files[::-1])))
    assert turned["pooled"]["forecasts_sha256"] == digest
    judged = commands.invoke_json("evaluate", *files, "--together", "--data-dir", str(tmp_path / "data"))
    assert judged["pooled"]["forecasts_sha256"] == digest, "the feeds and the driver change nothing"
    again = commands.invoke_json(*headless(tmp_path / "data", *named(files)))
    assert [each["run_id"] for each in list(again.values())[:2]] == [each["run_id"] for each in markets]
    assert again["pooled"]["forecasts_sha256"] == digest


@pytest.mark.hostile
def test_rows_that_were_left_out_are_among_the_notices(tmp_path: Path, files: list[str]) -> None:
    rows = Path(files[0]).read_text().splitlines(keepends=True)
    time, *_ = rows[9].split(",")
    Path(files[0]).write_text("".join([*rows[:9], f"{time},1,-1,1,1,1\n", *rows[10:]]))
    found = commands.invoke_json(*headless(tmp_path / "data", "--file", files[0], "--candles", "20"))
    (notice,) = found["notices"]
    assert "alpha" in notice and "1" in notice and "skipped" in notice


def test_a_market_that_was_switched_off_in_the_window_is_learned_again(tmp_path: Path) -> None:
    simulated = ("--feed", "simulate", "--symbol", "SIM-7", "--symbol", "SIM-3", "--interval", "1m")
    commands.invoke_json(*headless(tmp_path / "data", *simulated, "--candles", "40"))
    with closing(open_database(DataFolder(tmp_path / "data").database)) as db:
        (off,) = (run.run_id for run in RunStore(db).list() if run.market.symbol == "SIM-7")
        db.execute("UPDATE runs SET is_learned = 0 WHERE run_id = ?", [off])
        db.conn.commit()
        found = commands.invoke_json(*headless(tmp_path / "data", *simulated, "--candles", "50"))
        assert off in {each.get("run_id") for each in found.values()}, "the same run"
        assert [run.is_learned for run in RunStore(db).list()] == [True, True]


def test_one_file_is_learned_as_before(tmp_path: Path, files: list[str]) -> None:
    found = commands.invoke_json(*headless(tmp_path / "data", "--feed", "replay", "--file", files[0]))
    alone = commands.invoke_json("evaluate", files[0], "--data-dir", str(tmp_path / "data"))
    assert found["forecasts_sha256"] == alone["forecasts_sha256"] and "pooled" not in found


def test_several_simulated_markets_are_named_by_their_numbers(tmp_path: Path) -> None:
    symbols = ("--symbol", "SIM-7", "--symbol", "SIM-3")
    found = commands.invoke_json(
        *headless(tmp_path / "data", "--feed", "simulate", *symbols, "--candles", "52", "--interval", "1m")
    )
    assert list(found) == ["SIM-3 1m (simulated)", "SIM-7 1m (simulated)", "pooled"]
    assert {each["candles"] for name, each in found.items() if name != "pooled"} == {52}
    boards = commands.invoke_json("leaderboard", "--data-dir", str(tmp_path / "data"))
    assert [{row["n"] for row in board["rows"]} for board in boards.values()] == [{50, 51}, {50, 51}, {100, 102}]


def test_the_table_has_a_row_for_each_market(tmp_path: Path, files: list[str]) -> None:
    shown = commands.invoke(*headless(tmp_path / "data", *named(files[:2])))
    assert shown.returncode == 0
    lines = shown.stdout.splitlines()
    assert [line.split()[0] for line in lines[1:4]] == ["alpha", "beta", "All"]
    assert [line.split("  ")[0] for line in lines[5:7]] == ["alpha 1m (file)", "beta 1m (file)"]
    assert [line.split("  ")[0] for line in lines[7:10]] == ["All markets", "close", "range"]
    shown_figures = [line.count("not enough candles") for line in (*lines[1:4], *lines[5:7], *lines[8:10])]
    assert shown_figures == [2, 2, 2, 2, 2, 1, 1], "what few candles show is not shown"
    assert f" {2 * COUNT} " in lines[3] and lines[10].startswith(f"Steps: {COUNT - 1}; loss ")


def test_metrics_are_of_all_markets_or_of_the_named_one(tmp_path: Path, files: list[str]) -> None:
    where = ("--data-dir", str(tmp_path / "data"))
    found = commands.invoke_json(*headless(tmp_path / "data", *named(files[:2])))
    metrics = commands.invoke_json("metrics", *where)
    first, second = (found[name]["run_id"] for name in list(found)[:2])
    assert list(metrics) == list(found) and metrics["pooled"].items() <= found["pooled"].items()
    assert commands.invoke_json("metrics", "--run", first, *where) == metrics
    boards = commands.invoke_json("leaderboard", *where)
    assert list(boards) == list(found) and boards["pooled"]["markets"] == len(found) - 1
    assert commands.invoke_json("leaderboard", "--run", second, *where)["run_id"] == second
    one = commands.invoke_json("metrics", "--run", second, *where)
    assert one["head_run_id"] == first and one["candles"] == COUNT and not {"steps", "loss", "checkpoints"} & set(one)
    assert f"see run {first}" in " ".join(commands.invoke("metrics", "--run", second, *where).stdout.split())
    assert metrics["pooled"]["checkpoints"] == metrics[next(iter(found))]["checkpoints"]
    assert metrics["pooled"]["checkpoints"]["kept"] > 0
    shown = " ".join(commands.invoke("metrics", *where).stdout.split())
    assert "All markets" in shown and "Close and range count in equal parts" in shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--file", "alpha", "--file", "beta", "--symbol", "BTC/USDT"), "not both"),
        (("--file", "alpha", "--symbol", "SIM-1"), "not both"),
        (("--file", "alpha", "--file", "alpha"), "named twice"),
        (("--symbol", "SIM-1", "--symbol", "SIM-1"), "SIM-1 is named twice"),
        (("--file", "alpha", "--file", "copy"), "hold the same candles"),
        (("--file", "alpha", "--file", "hours"), "have different intervals"),
        (("--feed", "simulate", "--symbol", "SIM-1", "--symbol", "BTC/USDT"), "their names are SIM-"),
    ],
)
def test_what_cannot_be_learned_together_is_refused(
    tmp_path: Path, files: list[str], arguments: tuple[str, ...], words: str
) -> None:
    Path(tmp_path / "copy.csv").write_bytes(Path(files[0]).read_bytes())
    write(tmp_path / "hours.csv", 5, HOUR)
    given = [str(tmp_path / f"{each}.csv") if each.isalpha() and each != "simulate" else each for each in arguments]
    refused = commands.invoke(*headless(tmp_path / "data", *given))
    assert refused.returncode in (1, 2) and words in refused.stderr and "Traceback" not in refused.stderr
    assert refused.returncode == 2 or "simulate" in arguments


def test_the_summary_of_one_market_has_no_skill_before_it_has_an_interval(tmp_path: Path, files: list[str]) -> None:
    """It ended with an error between 30 and 750 candles."""
    shown = commands.invoke(*headless(tmp_path / "data", "--feed", "replay", "--file", files[0]))
    assert shown.returncode == 0 and "too early to tell" in shown.stdout
