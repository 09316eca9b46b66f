"""The browser's benchmark, over a few checkpoints."""

from __future__ import annotations

import json

from click.testing import CliRunner
from PySide6.QtWidgets import QApplication

from tests.benchmarks.__main__ import benchmarks


def test_every_filter_and_sort_is_measured(qapp: QApplication) -> None:
    done = CliRunner().invoke(benchmarks, ["browser", "--rows", "1200", "--json"], catch_exceptions=False)
    answer = json.loads(done.stdout)
    assert answer["rows"] == 1_200
    for kind in ("filter_ms", "sort_ms"):
        assert len(answer[kind]) >= 4
        for figures in answer[kind].values():
            assert figures["cpu"] > 0.0 and 0.0 < figures["median"] <= figures["worst"]
    assert answer["page_ms"]["worst"] > 0.0
