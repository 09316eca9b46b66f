"""Days stamped with the opening of a session, and whole days stamped with their end."""

import numpy as np
import pytest

from core.domain.candle import DAY_MS, Interval
from core.market.history.grids import days_at_date, ends_short_ms
from tests.core.market.history.test_grids import DAY, MONDAY_MS, opens, walls


@pytest.mark.parametrize("short_ms", [1, 1_000])
@pytest.mark.parametrize("name", ["3d", "1w"])
def test_whole_days_end_by_their_phase_too(name: str, short_ms: int) -> None:
    """Their grid does not begin at the epoch, but at some midnight."""
    assert ends_short_ms(opens(Interval.parse(name)) - short_ms, Interval.parse(name)) == short_ms


@pytest.mark.parametrize("zone", ["America/New_York", "Europe/Berlin"])
@pytest.mark.parametrize("has_offsets", [True, False])
@pytest.mark.parametrize("hour", [8, 9, 10])
def test_sessions_that_open_in_the_morning_are_put_at_their_date(zone: str, has_offsets: bool, hour: int) -> None:
    times = walls(24, zone, hour)
    dates = MONDAY_MS + DAY_MS * np.arange(times.size)
    offsets = dates + hour * 3_600_000 - times if has_offsets else np.zeros_like(times)
    assert days_at_date(times, offsets, DAY, are_days=False, has_zone=True).tolist() == dates.tolist()
