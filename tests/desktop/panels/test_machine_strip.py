from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from core.machine import GpuReading, MachineReading
from desktop.machine_watch import MachineWatch
from desktop.panels.machine_strip import MachineStrip
from desktop.theme import Theme
from tests.desktop.conftest import MakeBench

GPU = GpuReading("RTX", 61.0, 54.0, 3_200_000_000, 24_000_000_000)


def reading(*gpus: GpuReading) -> MachineReading:
    return MachineReading(34.4, 5_100_000_000, 16_000_000_000, gpus)


@pytest.fixture
def strip(qtbot: QtBot, theme: Theme) -> MachineStrip:
    strip = MachineStrip(theme)
    qtbot.addWidget(strip)
    strip.show()
    return strip


def texts(strip: MachineStrip) -> list[str]:
    return [label.text() for label in strip.labels]


def test_cores_and_memory_and_nothing_of_a_gpu_that_is_not_there(strip: MachineStrip) -> None:
    strip.show_reading(reading())
    assert texts(strip) == ["CPU 34 %", "Memory 5.1 of 16.0 GB"]


def test_a_gpu_comes_and_goes(strip: MachineStrip) -> None:
    strip.show_reading(reading(GPU))
    assert texts(strip)[0] == "GPU 61 %  54 °C  3.2 of 24.0 GB"
    strip.show_reading(reading(GPU, GpuReading("Little", None, None, None, None)))
    assert texts(strip)[:2] == ["GPU 0 61 %  54 °C  3.2 of 24.0 GB", "GPU 1 –  –  –"]
    strip.show_reading(reading())
    assert len(texts(strip)) == 2


def test_a_hot_gpu_has_the_colour_of_a_warning(strip: MachineStrip, theme: Theme) -> None:
    strip.show_reading(reading(GPU))
    calm = strip.labels[0].palette().windowText().color()
    strip.show_reading(reading(GpuReading("RTX", 99.0, 91.0, 3, 24)))
    assert strip.labels[0].palette().windowText().color() == theme.palette.warning != calm


def test_in_the_corner_of_the_menus_all_of_it_is_seen_from_the_first_reading_on(
    qtbot: QtBot, make_bench: MakeBench
) -> None:
    strip = make_bench().window.machine
    for each in (reading(), reading(GPU), reading(GPU, GPU), reading()):
        strip.show_reading(each)
        qtbot.waitUntil(lambda: all(label.visibleRegion().boundingRect() == label.rect() for label in strip.labels))
        assert all(label.width() >= label.sizeHint().width() for label in strip.labels)


def test_the_watch_tells_of_this_machine_and_ends(qtbot: QtBot, strip: MachineStrip) -> None:
    watch = MachineWatch()
    watch.told.connect(strip.show_reading)
    with qtbot.waitSignal(watch.told):
        watch.start()
    assert texts(strip)[-1].startswith("Memory ")
    assert watch.close()
