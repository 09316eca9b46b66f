"""The axis of time of the Accuracy plots."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from pytestqt.qtbot import QtBot

from desktop.panels.accuracy.plots import TimeAxis

BERLIN = ZoneInfo("Europe/Berlin")

pytestmark = pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone of a process cannot be changed here")


@pytest.fixture(autouse=True)
def in_berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def seconds(month: int, day: int) -> float:
    return datetime(2026, month, day, 12, tzinfo=BERLIN).timestamp()


@pytest.mark.parametrize(("month", "first", "last"), [(3, 26, 31), (10, 22, 28)])
def test_days_begin_at_midnight_on_both_sides_of_a_change_of_the_clock(
    qtbot: QtBot, month: int, first: int, last: int
) -> None:
    axis = TimeAxis("bottom")
    ((spacing, ticks),) = axis.tickValues(seconds(month, first), seconds(month, last), 500.0)
    local = [datetime.fromtimestamp(tick, tz=BERLIN) for tick in ticks]
    assert [moment.day for moment in local] == list(range(first + 1, last + 1))
    assert {(moment.hour, moment.minute) for moment in local} == {(0, 0)}
    assert not any(":" in text for text in axis.tickStrings(ticks, 1.0, spacing))


def test_hours_are_marked_with_their_time(qtbot: QtBot) -> None:
    axis = TimeAxis("bottom")
    ((spacing, ticks),) = axis.tickValues(seconds(7, 1), seconds(7, 1) + 7_200.0, 500.0)
    assert len(ticks) >= 3 and all(":" in text for text in axis.tickStrings(ticks, 1.0, spacing))


def test_a_moment_has_no_marks(qtbot: QtBot) -> None:
    axis = TimeAxis("bottom")
    ((_spacing, ticks),) = axis.tickValues(seconds(7, 1), seconds(7, 1), 500.0)
    assert ticks == []
