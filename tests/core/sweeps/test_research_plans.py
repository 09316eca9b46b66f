"""The plans of docs/research: each is valid, and one of them is run on few candles."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from core.settings.tree import Settings
from core.sweeps.grid import base_of, cells_of, configurations_of, sources_of
from core.sweeps.plan import SweepFile, SweepPlan, plan_of, read_plan
from core.sweeps.plan_text import plan_text
from core.sweeps.pool import LocalPool
from core.sweeps.proposals import NoProposals
from core.sweeps.report import page, read_figures
from core.sweeps.rows import CellState
from core.sweeps.runner import SweepRunner
from core.sweeps.sources import find_files
from core.sweeps.start import begin, draft_of
from core.sweeps.store import SweepStore
from tests.core.evaluation.report.tree import require_self_contained

ROOT = Path(__file__).resolve().parents[3]
PLANS = sorted((ROOT / "docs" / "research").glob("*.toml"))
PAGE = (ROOT / "docs" / "research" / "sweeps.md").read_text(encoding="utf-8")
SAMPLE = ROOT / "resources" / "sample_eurusd_1h.csv"
CANDLES = 700
"""Just enough that 300 are judged in each part."""


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_a_plan_is_valid(path: Path) -> None:
    plan = read_plan(path)
    sources_of(plan)
    configurations = configurations_of(plan, base_of(Settings()))
    assert configurations[0].is_default, "the first has the default settings"
    assert all(pattern.startswith("../../../shared/data/") for pattern in plan.files)


@pytest.mark.needs_data
@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_a_plan_finds_its_files_and_has_the_cells_of_its_page(path: Path, shared_data: Path) -> None:
    plan = read_plan(path)
    names = tuple(str(shared_data / pattern.removeprefix("../../../shared/data/")) for pattern in plan.files)
    files = find_files(replace(plan, files=names), ROOT)
    assert cells_on_the_page(path) == number_of_cells(plan, files)


def cells_on_the_page(path: Path) -> int:
    row = re.search(rf"^\| `{path.name}` \|.*\| (\d+) \|$", PAGE, re.MULTILINE)
    assert row is not None, f"{path.name} is missing in docs/research/sweeps.md"
    return int(row[1])


def number_of_cells(plan: SweepPlan, files: tuple[SweepFile, ...]) -> int:
    return len(cells_of(configurations_of(plan, base_of(Settings())), files, plan))


@pytest.mark.slow
@pytest.mark.timeout(1_200)
def test_the_replay_of_older_samples_is_swept_again(tmp_path: Path) -> None:
    """The real engine on two processes: the setting has an effect, and the verdict compares both values."""
    pytest.importorskip("arch", reason="needs the library arch: pip install 'ghostcandle[sweeps]'")
    plan = read_plan(ROOT / "docs" / "research" / "replay.toml")
    small = replace(plan, files=(str(SAMPLE),), candles=CANDLES, seeds=plan.seeds[:1])
    (tmp_path / "SWEEP.toml").write_text(plan_text(small), encoding="utf-8")
    folder = tmp_path / "sweep"
    folder.mkdir()
    run(tmp_path / "SWEEP.toml", folder)
    found = read_figures(folder)
    assert [cell.state for cell in found.cells] == [CellState.DONE] * 2
    assert len({cell.digest for cell in found.cells}) == 2
    assert [standing.configuration for standing in found.verdict.standings] == [1, 2]
    assert found.verdict.default == 1 and found.verdict.best in (1, 2)
    assert found.verdict.any_better_p is not None
    require_self_contained(page(found))


def run(path: Path, folder: Path) -> None:
    draft, executor = draft_of(path, Settings()), LocalPool(2)
    try:
        with SweepStore(folder) as store:
            head = begin(store, draft)
            SweepRunner(store, head, draft.models, executor, NoProposals(), lambda *_: None).run(lambda: False)
    finally:
        executor.close()


def test_the_reference_page_has_every_key_of_a_plan_and_a_valid_example() -> None:
    text = (ROOT / "docs" / "sweeps.md").read_text(encoding="utf-8")
    keys = {name for name in SweepPlan.__dataclass_fields__ if name != "settings"}
    assert keys == set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))
    example = re.search(r"```toml\n(.*?)```", text, re.DOTALL)
    assert example is not None
    configurations_of(plan_of(tomllib.loads(example[1])), base_of(Settings()))
