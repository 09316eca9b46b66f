from __future__ import annotations

import errno
import fcntl
import os
import stat
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from core.market.history.table_file import exact_floats
from core.run_data import open_run
from core.run_data.files import TABLES, Format, export_tables
from core.storage.errors import StorageError

READERS = {"parquet": pd.read_parquet, "csv": partial(pd.read_csv, **exact_floats())}


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_written_table_is_read_back_to_the_last_digit(folder: Path, tmp_path: Path, form: Format) -> None:
    with open_run(folder) as data:
        written = export_tables(data, list(TABLES), tmp_path / "new" / "out", form)
        for (path, rows), table in zip(written.items(), TABLES.values(), strict=True):
            found, expected = READERS[form](path), table(data)
            assert len(found) == rows == len(expected) > 0
            assert list(found.columns) == list(expected.columns)
            for column in expected.columns[expected.dtypes == "float64"]:
                pd.testing.assert_series_equal(found[column], expected[column], check_exact=True, check_dtype=False)
    assert sorted(path.name for path in (tmp_path / "new" / "out").iterdir()) == sorted(
        f"{name}.{form}" for name in TABLES
    )


def test_a_file_that_is_there_is_kept_unless_asked_otherwise(folder: Path, tmp_path: Path) -> None:
    kept = tmp_path / "steps.csv"
    kept.write_text("mine")
    with open_run(folder) as data:
        with pytest.raises(StorageError, match="exists already"):
            export_tables(data, ["scores", "steps"], tmp_path, "csv")
        assert kept.read_text() == "mine" and [*tmp_path.iterdir()] == [kept], "nothing was begun"
        export_tables(data, ["steps"], tmp_path, "csv", overwrites=True)
    assert kept.read_text().startswith("candle_open_time_ms,step,loss")


def test_files_are_synced_as_windows_allows_it(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def sync(handle: int) -> None:
        if stat.S_ISREG(os.fstat(handle).st_mode) and fcntl.fcntl(handle, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(errno.EBADF, "Bad file descriptor")

    monkeypatch.setattr(os, "fsync", sync)
    with open_run(folder) as data:
        assert export_tables(data, ["steps"], tmp_path, "csv")


def test_a_folder_that_cannot_be_made_is_named(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with open_run(folder) as data, pytest.raises(StorageError, match="cannot be written"):
        export_tables(data, ["steps"], tmp_path / "file" / "out", "csv")


def test_a_full_disk_leaves_no_part_of_a_file(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_self: object, _path: Path, **_options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_csv", full)
    with open_run(folder) as data, pytest.raises(StorageError, match="No space left on device"):
        export_tables(data, ["steps"], tmp_path / "out", "csv")
    assert not list((tmp_path / "out").iterdir())
