from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from core.machine.readings import GpuReading, MachineReading
from desktop.services.machine_watch import MachineWatch
from desktop.state.run_state import RunState
from desktop.ui.theme import Theme
from desktop.window.machine_load import load_lines
from desktop.window.status_bar import StatusPanel
from tests.desktop import scenario

GPU = GpuReading("RTX", 61.0, 54.0, 3_200_000_000, 24_000_000_000)


def reading(*gpus: GpuReading) -> MachineReading:
    return MachineReading(34.4, 5_100_000_000, 16_000_000_000, gpus)


def texts(*gpus: GpuReading) -> list[str]:
    return [text for text, _is_warning in load_lines(reading(*gpus))]


def test_without_a_gpu_only_cores_and_memory_are_shown() -> None:
    assert texts() == ["CPU 34 %", "Memory 5.1 of 16.0 GB"]


def test_gpus_are_numbered_if_there_are_several() -> None:
    assert texts(GPU)[0] == "GPU 61 %  54 °C  3.2 of 24.0 GB"
    two = texts(GPU, GpuReading("Little", None, None, None, None))
    assert two[:2] == ["GPU 0 61 %  54 °C  3.2 of 24.0 GB", "GPU 1 –  –  –"]


def test_a_sleeping_gpu_is_named_as_such() -> None:
    assert texts(GPU, GpuReading("RTX", None, None, None, None, is_asleep=True))[1] == "GPU 1 asleep: RTX"


@pytest.mark.parametrize(
    ("gpu", "is_warning"),
    [(GPU, False), (GpuReading("Little", None, None, None, None), False), (GpuReading("RTX", 99.0, 91.0, 3, 24), True)],
)
def test_a_hot_gpu_is_a_warning(gpu: GpuReading, is_warning: bool) -> None:
    assert load_lines(reading(gpu))[0][1] is is_warning


@pytest.fixture
def status(qtbot: QtBot, state: RunState, theme: Theme) -> StatusPanel:
    panel = StatusPanel(state, theme)
    qtbot.addWidget(panel)
    state.apply(scenario.status())
    return panel


def test_the_load_is_in_the_tooltip_of_the_device_and_takes_its_place_as_a_warning(
    status: StatusPanel, theme: Theme
) -> None:
    status.show_reading(reading(GPU))
    status.refresh()
    assert status.device.text() == "CPU, 1 thread" and "CPU 34\N{NO-BREAK SPACE}%" in status.device.toolTip()
    calm = status.device.palette().windowText().color()
    status.show_reading(reading(GpuReading("RTX", 99.0, 91.0, 3, 24)))
    status.refresh()
    assert "91 °C" in status.device.text() and "CPU, 1\N{NO-BREAK SPACE}thread" in status.device.toolTip()
    assert status.device.palette().windowText().color() == theme.palette.warning != calm


def test_the_watch_reports_this_machine_and_ends(qtbot: QtBot, status: StatusPanel) -> None:
    watch = MachineWatch()
    watch.reading_changed.connect(status.show_reading)
    with qtbot.waitSignal(watch.reading_changed):
        watch.start()
    status.refresh()
    assert "Memory " in status.device.toolTip()
    assert watch.close()
