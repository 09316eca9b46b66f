from __future__ import annotations

from pathlib import Path

import pytest

from core.sweeps.cell_report import write_cell_report
from core.sweeps.errors import SweepError
from core.sweeps.rows import Part
from core.sweeps.store import SweepStore
from tests.core.sweeps.stored import store_simulated


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("simulated")
    store_simulated(folder, failed=17)
    return folder


def test_a_cell_s_page_has_its_settings_skills_and_a_plot_of_each_part(sweep: Path) -> None:
    with SweepStore(sweep, readonly=True) as store:
        cell = store.read_cells()[4]
    text = write_cell_report(sweep, cell.number).read_text(encoding="utf-8")
    assert f"Cell {cell.number} of sweep" in text and text.count("<svg") == 2
    for key, value in cell.settings:
        assert f">{key}<" in text and f"{value:g}" in text
    assert cell.second is not None and cell.second.close.value is not None
    assert f"{100 * cell.second.close.value:.1f}" in text
    assert "market 0" in text and "http" not in text.replace("http-equiv", "")


def test_a_failed_cell_s_page_says_why_and_escapes_it(sweep: Path) -> None:
    text = write_cell_report(sweep, 17).read_text(encoding="utf-8")
    assert "It failed: The weights became infinite in step 12. Lower &lt;the&gt; learning rate." in text
    assert "<svg" not in text


def test_a_curve_ends_at_the_skill(sweep: Path) -> None:
    with SweepStore(sweep, readonly=True) as store:
        cell = store.read_cells()[0]
        losses = store.losses(cell.configuration.number, Part.FIRST)[0]
    saved = 1.0 - losses.forecast_close.sum(dtype=float) / losses.reference_close.sum(dtype=float)
    assert cell.first is not None and cell.first.close.value == pytest.approx(saved, abs=1e-4)
    assert f"close ends at {100 * saved:+.1f}" in write_cell_report(sweep, cell.number).read_text(encoding="utf-8")


def test_a_cell_that_does_not_exist_is_a_sentence(sweep: Path) -> None:
    with pytest.raises(SweepError, match="There is no cell 99"):
        write_cell_report(sweep, 99)
