"""A forecaster that does everything wrong at random costs the forecasts at those candles, and nothing else."""

from __future__ import annotations

import pytest

from core.domain.incident_kinds import IncidentKind
from tests.core.training.external.rigs import HORIZONS, Message, Rig
from tests.support.candles import random_walk
from tests.support.chaos_forecaster import Answer, answers, fault_of

CANDLES = random_walk(400)
EXPECTED = {"crossed", "nothing", "garbage before the answer", None}
"""Faults at which there is a forecast, even if it is empty."""


@pytest.mark.parametrize("seed", range(5))
def test_chaos_costs_only_its_own_candles(seed: int) -> None:
    def chaos(message: Message) -> list[Answer]:
        return answers(seed, message, HORIZONS)

    rig = Rig(chaos, is_live=bool(seed % 2))
    found, again = rig.take_all(CANDLES), Rig(chaos, is_live=bool(seed % 2)).take_all(CANDLES)
    assert [made is None for made in found] == [made is None for made in again]
    faults = [fault_of(seed, {"open_time_ms": candle.open_time_ms}) for candle in CANDLES]
    given = [made is not None for made in found]
    unexpected = [fault for fault, has in zip(faults, given, strict=True) if has and fault not in EXPECTED]
    assert unexpected == [] and len(rig.lives) > 1
    lost = [fault for fault, has in zip(faults, given, strict=True) if not has and fault in EXPECTED]
    assert len(lost) < 0.1 * len(CANDLES), "candles beside the faults are forecast, except while it is started again"
    kinds = set(rig.kinds())
    assert {IncidentKind.CHALLENGER_WITHOUT_FORECAST, IncidentKind.CHALLENGER_ENDED} <= kinds
