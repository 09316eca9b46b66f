"""Pictures of docs/first-hour.md that no other page needs."""

from __future__ import annotations

import asyncio
import dataclasses
from pathlib import Path

from core.machine.readings import MachineReading
from desktop.actions import ActionId
from desktop.app.composition import Application
from desktop.dialogs.welcome import WelcomeDialog
from tests.support.moving_picture import forecast_candle

_ACCURACY_SIZE = (460, 170)
_WINDOW_SIZE = (1400, 720)
"""The chart has room for its note."""
_ZOOM = 2.5
_SETTLED_S = 0.8
_PATIENCE_S = 600.0


async def shoot_early(application: Application, folder: Path) -> None:
    """The first page of Accuracy in the light theme, to be taken before there are enough candles for a verdict."""
    window = application.window
    _put_light(application)
    dock = window.docks[ActionId.SHOW_ACCURACY]
    dock.setFloating(True)
    dock.show()
    dock.resize(*_ACCURACY_SIZE)
    await asyncio.sleep(_SETTLED_S)
    assert dock.widget().grab().save(str(folder / "accuracy-now-light.png"))
    window.reset_layout()


async def shoot(application: Application, folder: Path) -> None:
    """The welcome page and the ghosts enlarged, in the light theme."""
    window, chart = application.window, application.chart
    settings = window.shell.settings
    _put_light(application)
    welcome = WelcomeDialog(settings.current, window)
    welcome.show_machine(MachineReading(0.0, 0, 0, ()))
    welcome.open()
    await asyncio.sleep(_SETTLED_S)
    assert welcome.grab().save(str(folder / "welcome-light.png"))
    welcome.blockSignals(True)  # nothing is chosen
    welcome.reject()
    window.shell.actions[ActionId.TRAVEL_PLAY].trigger()  # a trainer on a busy machine is behind the replay
    async with asyncio.timeout(_PATIENCE_S):
        while not forecast_candle(application):  # noqa: ASYNC110 - Qt state
            await asyncio.sleep(0.1)
    window.resize(*_WINDOW_SIZE)
    chart.zoom(_ZOOM)
    await asyncio.sleep(_SETTLED_S)
    assert chart.grab().save(str(folder / "ghosts-light.png"))
    chart.reset_view()
    window.shell.actions[ActionId.TRAVEL_PLAY].trigger()


def _put_light(application: Application) -> None:
    settings = application.window.shell.settings
    appearance = dataclasses.replace(settings.current.appearance, theme="light")
    settings.change(dataclasses.replace(settings.current, appearance=appearance))
