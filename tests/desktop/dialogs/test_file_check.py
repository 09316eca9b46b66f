from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pytestqt.qtbot import QtBot

from core.market.history.candle_file import CandleFile, read_candle_file
from core.market.history.candle_table import Watch
from desktop.dialogs import file_check
from desktop.dialogs.file_check import FilePicker, check_readable, check_replayable

MINUTE_MS = 60_000
START_MS = 1_600_000_000_000


@pytest.mark.parametrize(
    "form", ["parquet", pytest.param("csv", marks=pytest.mark.slow), pytest.param("feather", marks=pytest.mark.slow)]
)
def test_of_a_large_file_only_the_first_part_is_read(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    """It is read in the window's process: a Parquet file of 136 MiB was read to its end, for 1.6 s."""
    count = 560_000
    numbers = {name: np.full(count, 100.0) for name in ("open", "high", "low", "close", "volume")}
    table = pd.DataFrame({"time": START_MS + MINUTE_MS * np.arange(count, dtype=np.int64), **numbers})
    path = tmp_path / f"large.{form}"
    if form == "csv":
        table.to_csv(path, index=False)
    elif form == "feather":
        table.to_feather(path)
    else:
        table.to_parquet(path)
    looks, ends = [], []

    def watched(path: Path, watch: Watch) -> CandleFile:
        def both(done: int, total: int) -> None:
            looks.append(done)
            watch(done, total)

        found = read_candle_file(path, both)
        ends.append(found)
        return found

    monkeypatch.setattr(file_check, "read_candle_file", watched)
    picker = FilePicker(several=False, look=check_replayable)
    qtbot.addWidget(picker)
    with qtbot.waitSignal(picker.answered, timeout=20_000):
        picker.choose([path])
    assert picker.problem == ""
    assert looks and not ends, "it was read to its end"


@pytest.mark.parametrize(
    "typed",
    [
        "/a/one two.csv; /a/it's.csv",
        "/a/one two.csv ;/a/it's.csv;",
        """'/a/one two.csv' "/a/it's.csv\"""",
        """"/a/one two.csv";"/a/it's.csv\"""",
        '/a/one two.csv\n"/a/it\'s.csv"\r\n',
    ],
)
def test_several_files_may_be_typed_in_any_usual_form(qtbot: QtBot, typed: str) -> None:
    picker = FilePicker(several=True)
    qtbot.addWidget(picker)
    picker.line.setText(typed)
    assert picker.files() == [Path("/a/one two.csv"), Path("/a/it's.csv")]


@pytest.mark.parametrize("name", ["a; b.csv", "it's.csv", "a;b.csv", " c .csv", '"q".csv', "\"'.csv"])
def test_files_of_odd_names_are_those_that_were_chosen(qtbot: QtBot, tmp_path: Path, name: str) -> None:
    picker = FilePicker(several=True)
    qtbot.addWidget(picker)
    chosen = [tmp_path / name, tmp_path / "two.csv"]
    picker.choose(chosen)
    assert picker.files() == chosen


def test_of_several_files_the_first_unusable_one_is_reported(qtbot: QtBot, tmp_path: Path) -> None:
    sound, empty, lost = (tmp_path / f"{name}.csv" for name in ("sound", "empty", "lost"))
    sound.write_text("time\n")
    empty.touch()
    picker = FilePicker(several=True, look=check_readable)
    qtbot.addWidget(picker)
    for chosen, found in (
        ((sound, empty, lost), "empty.csv is empty"),
        ((sound, lost), "There is no file"),
        ((sound,), ""),
    ):
        with qtbot.waitSignal(picker.answered):
            picker.choose(chosen)
        problem = picker.problem
        assert problem is not None and problem.startswith(found) and bool(problem) is bool(found)
    picker.choose([empty])
    assert picker.problem is None, "that alone was not looked at yet"
