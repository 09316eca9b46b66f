"""Training really fails, and the user reads why."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from core.domain.clock import Clock
from core.settings.tree import MarketSettings
from core.storage.folder import DataFolder
from core.training.hosting import process_host
from core.training.hosting.host import Host
from core.training.hosting.process_host import ProcessHost
from core.training.online.trainer_spec import SessionSpec
from desktop.app.context import Context
from tests.stranger import screen
from tests.stranger.day import QUICK
from tests.stranger.program import has_ghosts_of_the_model, play
from tests.stranger.user import User
from tests.support import faulty_trainer
from tests.support.faulty_trainer import Fault, FaultKind

pytestmark = [pytest.mark.stranger, pytest.mark.slow, pytest.mark.faults, pytest.mark.timeout(400)]

INVENTED = replace(QUICK, market=MarketSettings(feed="simulate", speed=4.0, catch_up_candles=60))
FAULTS = (Fault(30, FaultKind.NAN_GRADIENTS, times=3), Fault(50, FaultKind.KILL))


def test_the_cause_of_an_incident_can_be_read(
    qt: QApplication, user: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gradient that is not finite three times in a row, then a trainer that is killed."""

    def breaking(_spec: SessionSpec, clock: Clock) -> object:
        def make(spec: SessionSpec) -> Host:
            return ProcessHost(spec, clock, entry=faulty_trainer.entry)

        return make

    monkeypatch.setattr(process_host, "host_maker", breaking)
    faulty_trainer.schedule(tmp_path, FAULTS)
    play(qt, Context(INVENTED, DataFolder(tmp_path), as_json=False), read_why, user, longest_s=300.0)


async def read_why(user: User) -> None:
    await user.read("The trainer process", patience_s=120.0)
    await user.picture("26-something-happened")
    await user.click("Show incidents")
    await user.read("not finite")
    await user.until(has_ghosts_of_the_model, "training again", patience_s=120.0)
    await user.picture("27-the-newest-incident")
    row = next(spot for spot in screen.spots() if "Events" in spot.places and "in a row" in spot.text)
    await user.click_on(row)
    await user.read("Action taken: Training was rolled back to the known good state", "Cost: ")
    await user.picture("28-why")
    await user.press("Ctrl+Q")
