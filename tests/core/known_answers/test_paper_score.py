"""The real session on AR(1) markets, whose break-even cost is known.

`make soak` alone: the cost of 20,000 candles still varies by 2 to 4 % from seed to seed. With a share of 0.2 a run
found 13 % less than the known cost: its forecasts are too uncertain there.
"""

from __future__ import annotations

import math
import os
from dataclasses import replace
from pathlib import Path

import pytest

from core.domain.events import Estimate
from core.evaluation.judged_scores import judged_from_nth
from core.evaluation.paper import paper_score_of
from core.settings.record import RecordSettings
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.storage.runs import RunStore
from tests.core.known_answers.markets import DEVIATION, autoregressive
from tests.core.known_answers.sessions import SMALLEST, of_session
from tests.core.training.rigs import newest_run

IS_LONG = "GHOSTCANDLE_SOAK" in os.environ
CANDLES = 21_000
"""The first 1,000 do not count."""
SETTINGS = replace(SMALLEST, record=RecordSettings(keep_detail_days=0))


def known_cost(share: float) -> float:
    """The mean of |share x|, over 2 trades for each change of its sign, whose probability is acos(share) / pi."""
    spread = DEVIATION / math.sqrt(1.0 - share**2)
    return abs(share) * spread * math.sqrt(2.0 / math.pi) / (2.0 * math.acos(share) / math.pi)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.skipif(not IS_LONG, reason="make soak: many candles")
@pytest.mark.parametrize("share", [0.4, -0.3])
def test_the_session_finds_the_break_even_cost(tmp_path: Path, share: float) -> None:
    of_session(autoregressive(CANDLES, 1, share), tmp_path, SETTINGS, 1)
    found, known = _break_even(tmp_path), known_cost(share)
    print(f"AR(1) of {share}: {found}, known {known:.3g}")
    assert found.value == pytest.approx(known, rel=0.1) and found.low is not None and found.low > 0.0


def _break_even(root: Path) -> Estimate:
    db = open_database(DataFolder(root).database, readonly=True)
    try:
        run = RunStore(db).get(newest_run(db))
        reader = RecordReader(db, run.run_id)
        return paper_score_of(reader, run, judged_from_nth(reader.nth_origin)[0], 0.0).break_even
    finally:
        db.close()
