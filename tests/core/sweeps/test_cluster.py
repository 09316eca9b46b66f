"""Cells on a local cluster of Dask whose scheduler is silent for a while."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.settings.tree import from_dict
from core.sweeps.start import Draft
from tests.core.sweeps.test_cell import jobs
from tests.desktop.commands.walk_files import write
from tests.support import commands
from tests.support.waiting import wait_until

pytest.importorskip("distributed", reason="needs the extra cluster")
from core.sweeps.cluster import open_cluster
from core.sweeps.executor import Outcome
from core.sweeps.grid import base_of, configurations_of
from core.sweeps.plan import plan_of
from core.sweeps.sources import find_files


@pytest.mark.slow
def test_a_scheduler_that_does_not_answer_once_costs_no_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: all running cells were cancelled and ran again."""
    write(tmp_path / "alpha.csv", 0)
    plan, base = plan_of({"files": "*.csv"}), base_of(from_dict(commands.TINY)[0])
    draft = Draft(plan, base, find_files(plan, tmp_path), {}, configurations_of(plan, base))
    executor = open_cluster(draft, None, 1, lambda said: None)
    done: list[Outcome] = []

    def silent(**_: Any) -> None:
        raise TimeoutError("no answer")

    try:
        executor.submit(jobs(tmp_path)[0])
        with monkeypatch.context() as patch:
            patch.setattr(executor._client, "scheduler_info", silent)
            assert executor.wait(0.1) == [] and executor.free() == 0
        wait_until(lambda: bool(done.extend(executor.wait(0.5)) or done), "the cell", 300.0)
        assert done[0].result is not None and executor.free() == 1
    finally:
        executor.close()
