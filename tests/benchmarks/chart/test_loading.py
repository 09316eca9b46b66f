"""The load benchmark measures real loads; `python -m tests.benchmarks chart` compares its figures with the limits."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from tests.benchmarks.chart.loading import measure_loading

CANDLES = 4_000
"""Twice the number shown at first."""


@pytest.mark.parametrize("with_everything", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_figures_come_from_a_real_load(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_everything: bool
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    figures = measure_loading(CANDLES, with_everything=with_everything)
    assert figures["candles"] == CANDLES
    if with_everything:
        assert figures["everything_painted_ms"] >= figures["all_painted_ms"]
    else:
        assert figures["everything_painted_ms"] is None
    assert 0 < figures["newest_painted_ms"] < figures["all_painted_ms"]
    for times in (figures["while_loading"], figures["before_loading"]):
        assert times["frames"] >= 30
        assert 0 < times["p50_ms"] <= times["p99_ms"] <= times["worst_ms"]
        assert times["cpu_worst_ms"] > 0
    assert list(tmp_path.iterdir()) == [], "the database is removed"
