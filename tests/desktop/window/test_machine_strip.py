from __future__ import annotations

from itertools import product

import pytest
from pytestqt.qtbot import QtBot

from core.machine.readings import GpuReading, MachineReading
from desktop.services.machine_watch import MachineWatch
from desktop.ui.theme import Theme
from desktop.window.machine_strip import MachineStrip
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


def test_without_a_gpu_only_cores_and_memory_are_shown(strip: MachineStrip) -> None:
    strip.show_reading(reading())
    assert texts(strip) == ["CPU 34 %", "Memory 5.1 of 16.0 GB"]


def test_a_gpu_comes_and_goes(strip: MachineStrip) -> None:
    strip.show_reading(reading(GPU))
    assert texts(strip)[0] == "GPU 61 %  54 °C  3.2 of 24.0 GB"
    strip.show_reading(reading(GPU, GpuReading("Little", None, None, None, None)))
    assert texts(strip)[:2] == ["GPU 0 61 %  54 °C  3.2 of 24.0 GB", "GPU 1 –  –  –"]
    strip.show_reading(reading())
    assert len(texts(strip)) == 2


def test_a_sleeping_gpu_is_named_as_such(strip: MachineStrip) -> None:
    strip.show_reading(reading(GPU, GpuReading("RTX", None, None, None, None, is_asleep=True)))
    assert texts(strip)[1] == "GPU 1 asleep" and "RTX" in strip.labels[1].toolTip()


def test_a_hot_gpu_has_the_colour_of_a_warning(strip: MachineStrip, theme: Theme) -> None:
    strip.show_reading(reading(GPU))
    calm = strip.labels[0].palette().windowText().color()
    strip.show_reading(reading(GpuReading("Little", None, None, None, None)))
    assert strip.labels[0].palette().windowText().color() == calm
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


def test_no_number_or_unit_is_cut_when_the_window_gets_another_size(qtbot: QtBot, make_bench: MakeBench) -> None:
    window = make_bench().window
    sizes, used = ((3840, 2160), (1280, 720), (1600, 900), (1280, 720)), (13.1e9, 3.1e9, 111.1e9, 3.1e9)
    for (width, height), memory_used_bytes in product(sizes, used):
        window.resize(width, height)
        window.machine.show_reading(MachineReading(5.0, int(memory_used_bytes), 151_300_000_000, ()))
        window.resize(width - 10, height)
        qtbot.waitUntil(lambda: window.menuBar().width() == window.width())
        for label in window.machine.labels:
            assert label.visibleRegion().boundingRect() == label.rect(), (label.text(), window.size())
            assert label.width() >= label.sizeHint().width(), (label.text(), window.size())


def test_the_watch_reports_this_machine_and_ends(qtbot: QtBot, strip: MachineStrip) -> None:
    watch = MachineWatch()
    watch.reading_changed.connect(strip.show_reading)
    with qtbot.waitSignal(watch.reading_changed):
        watch.start()
    assert texts(strip)[-1].startswith("Memory ")
    assert watch.close()
