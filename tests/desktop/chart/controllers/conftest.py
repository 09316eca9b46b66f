from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.storage.folder import DataFolder
from tests.desktop.chart.controllers.tools import ToolBench, opened
from tests.desktop.conftest import MakeBench


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "data"
    DataFolder(root).ensure()
    return root


@pytest.fixture
def bench(make_chart_bench: MakeBench, folder: Path) -> Iterator[ToolBench]:
    with opened(make_chart_bench, folder) as made:
        yield made
