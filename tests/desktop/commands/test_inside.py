"""Commands over candles whose finer candles are in a file, or stored."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.domain.candle import Interval
from core.market.history.candle_file import read_candle_file
from core.market.history.insides import joined
from tests.support import commands
from tests.support.candles import random_walk, write_csv

FIVE = Interval.parse("5m")
STORED = ("--feed", "stored", "--venue", "binance", "--symbol", "BTC/USDT", "--interval", "5m")


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """Of five minutes, and their minutes."""
    minutes = write_csv(tmp_path / "minutes.csv", random_walk(5 * 48))
    coarse = write_csv(tmp_path / "coarse.csv", joined(read_candle_file(minutes), FIVE).candles)
    return str(coarse), str(minutes)


@pytest.mark.parametrize("command", [("headless", "--file"), ("evaluate",)])
def test_each_candle_file_needs_one_of_finer_candles(
    tmp_path: Path, files: tuple[str, str], command: tuple[str, ...]
) -> None:
    coarse, minutes = files
    found = commands.invoke(
        *(*command, coarse, "--inside", minutes, "--inside", minutes, "--data-dir", str(commands.configure(tmp_path)))
    )
    assert found.returncode == 2
    assert "as many files with --inside as there are candle files" in found.stderr


def test_imported_minutes_are_what_a_file_of_them_is(tmp_path: Path, files: tuple[str, str]) -> None:
    coarse, minutes = files
    data, market = commands.configure(tmp_path / "data"), ("--venue", "binance", "--symbol", "BTC/USDT")
    for file in (coarse, minutes):
        commands.invoke_json("import", file, *market, "--data-dir", str(data))
    of_stored = commands.invoke_json("headless", *STORED, "--data-dir", str(data))
    replay = str(commands.configure(tmp_path / "replay"))
    of_file = commands.invoke_json("headless", "--file", coarse, "--inside", minutes, "--data-dir", replay)
    without = commands.invoke_json("headless", "--file", coarse, "--data-dir", replay)
    assert of_stored["forecasts_sha256"] == of_file["forecasts_sha256"] != without["forecasts_sha256"]


def test_candles_that_were_replayed_without_their_minutes_get_them_from_the_file(
    tmp_path: Path, files: tuple[str, str]
) -> None:
    """Regression: the run read no inside, as its candles were stored already."""
    coarse, minutes = files
    fresh, used = (str(commands.configure(tmp_path / name)) for name in ("fresh", "used"))
    commands.invoke_json("headless", "--file", coarse, "--data-dir", used)
    found, expected = (
        commands.invoke_json("headless", "--file", coarse, "--inside", minutes, "--data-dir", data)
        for data in (used, fresh)
    )
    assert found["forecasts_sha256"] == expected["forecasts_sha256"]
