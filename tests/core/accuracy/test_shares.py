from __future__ import annotations

from pathlib import Path

import pytest

from core.events import TrainerStatus
from core.forecast.experts import EXPERTS, SPEAKS
from core.forecast.quantities import QUANTITIES
from tests.core.training import rigs
from tests.support.candles import random_walk


def test_the_trainer_tells_how_the_forecast_is_mixed(tmp_path: Path) -> None:
    session = rigs.service(tmp_path)
    before = session.status().shares
    told = [event for event in rigs.feed(session, random_walk(80)) if isinstance(event, TrainerStatus)]
    shares, weight = session.status().shares, session.status().accuracy.model_weight
    session.close()
    assert before is not None and shares is not None and told[-1].shares is not None
    assert shares.experts == EXPERTS and len(shares.quantities) == QUANTITIES and len(shares.shares) == 3
    for of_horizon in shares.shares:
        for quantity, of_quantity in enumerate(of_horizon):
            assert sum(of_quantity) == pytest.approx(1.0)
            assert [share == 0.0 for share in of_quantity] == (~SPEAKS[:, quantity]).tolist()
    assert shares.shares[0][0][0] == weight
    assert shares != before
