"""The files of a sweep, and where their second part begins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.domain.candle import Interval
from core.domain.dates import utc_text
from core.sweeps.errors import SweepError
from core.sweeps.plan import plan_of
from core.sweeps.sources import find_files
from tests.support.candles import HOUR, MINUTE, random_walk, write_csv


def write(path: Path, count: int, seed: int, interval: Interval = MINUTE) -> list[int]:
    """Returns the opening times."""
    path.parent.mkdir(exist_ok=True)
    candles = random_walk(count, seed=seed, interval=interval)
    write_csv(path, candles)
    return [candle.open_time_ms for candle in candles]


def found(folder: Path, **plan: Any) -> Any:
    return find_files(plan_of({"files": "*.csv", **plan}), folder)


def test_files_are_found_once_and_in_order(tmp_path: Path) -> None:
    for seed, name in enumerate(("b", "a")):
        write(tmp_path / f"{name}.csv", 10, seed)
    files = found(tmp_path, files=["a*", "*.csv", str(tmp_path / "b.csv")])
    assert [file.name for file in files] == ["a.csv", "b.csv"]
    assert all(file.candles == 10 and file.interval_ms == 60_000 for file in files)


def test_names_of_two_folders_differ(tmp_path: Path) -> None:
    for seed, folder in enumerate(("x", "y")):
        write(tmp_path / folder / "btc.csv", 10, seed)
    assert [file.name for file in found(tmp_path, files="*/*.csv")] == ["x/btc.csv", "y/btc.csv"]


def test_a_name_with_brackets_is_a_file(tmp_path: Path) -> None:
    write(tmp_path / "btc[1m].csv", 10, 0)
    assert [file.name for file in found(tmp_path, files="btc[1m].csv")] == ["btc[1m].csv"]


@pytest.mark.parametrize(
    ("count", "share", "place"), [(10, 0.5, 5), (10, 0.2, 2), (1400, 0.5, 1200), (1500, 0.9, 1450)]
)
def test_a_share_is_of_the_candles_that_are_judged(tmp_path: Path, count: int, share: float, place: int) -> None:
    """Of a long file the first 1,000 are not."""
    times = write(tmp_path / "a.csv", count, 0)
    (file,) = found(tmp_path, first_part=share)
    assert file.split_ms == times[place]


def test_only_the_first_candles_count(tmp_path: Path) -> None:
    times = write(tmp_path / "a.csv", 40, 0)
    (file,) = found(tmp_path, candles=10)
    assert (file.candles, file.split_ms) == (10, times[5])


def test_the_second_part_may_begin_at_a_date(tmp_path: Path) -> None:
    times = write(tmp_path / "a.csv", 24 * 6, 0, HOUR)
    text = utc_text(times[50], "%Y-%m-%dT%H:%M")
    (file,) = found(tmp_path, first_part=text)
    assert file.split_ms == times[50]
    for wrong, sentence in (("1999-01-01", "does not divide the judged candles"), ("soon", "neither a share")):
        with pytest.raises(SweepError, match=sentence):
            found(tmp_path, first_part=wrong)


def test_what_cannot_be_used_is_a_sentence(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", 20, 0)
    write(tmp_path / "hourly.csv", 20, 1, HOUR)
    assert len(found(tmp_path)) == 2, "each alone they may differ"
    with pytest.raises(SweepError, match="have different intervals"):
        found(tmp_path, together=True)
    with pytest.raises(SweepError, match=r"no file in .* matches"):
        found(tmp_path, files=["*.csv", "absent/*.csv"])
    for nothing in ("", ".", tmp_path.anchor):
        with pytest.raises(SweepError, match="no file in"):
            found(tmp_path, files=nothing)
    with pytest.raises(SweepError, match="too few for two parts"):
        found(tmp_path, candles=2)
    (tmp_path / "copy.csv").write_bytes((tmp_path / "a.csv").read_bytes())
    with pytest.raises(SweepError, match="hold the same candles"):
        found(tmp_path)
    (tmp_path / "copy.csv").write_text("nonsense")
    with pytest.raises(SweepError, match=r"files: .*copy\.csv"):
        found(tmp_path)
