"""The measurement of loading measures what it says; its figures are held to the bars by `ghostcandle bench chart`."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from desktop.commands.bench_chart.loading import measure_loading

CANDLES = 4_000
"""Twice as many as are shown at once."""


@pytest.mark.parametrize("with_everything", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_figures_are_of_a_load_that_took_place(qapp: QApplication, tmp_path: Path, with_everything: bool) -> None:
    figures = measure_loading(CANDLES, tmp_path, with_everything=with_everything)
    assert figures.candles == CANDLES
    if with_everything:
        assert figures.everything_painted_ms is not None
        assert figures.everything_painted_ms >= figures.all_painted_ms
    else:
        assert figures.everything_painted_ms is None
    assert 0 < figures.newest_painted_ms < figures.all_painted_ms < 30_000
    for times in (figures.while_loading, figures.before_loading):
        assert times.frames >= 30
        assert 0 < times.p50_ms <= times.p99_ms <= times.worst_ms
        assert times.cpu_worst_ms > 0
    assert list(tmp_path.iterdir()) == [], "the database is taken away"


def test_a_folder_that_is_not_there_is_no_figure(qapp: QApplication, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        measure_loading(10, tmp_path / "nowhere")
