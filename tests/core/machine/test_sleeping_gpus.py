"""The meter and GPUs that sleep, are lost, or belong to someone else."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.machine import readings
from core.machine.readings import GpuReading, MachineProbe
from tests.support.fake_nvml import FakeGpu, FakeNvml, GpuIsLostError, NoPermissionError, add_pci_gpu

READS_OF_A_MINUTE = 30


def nvml(monkeypatch: pytest.MonkeyPatch, *gpus: FakeGpu) -> FakeNvml:
    fake = FakeNvml(gpus)
    monkeypatch.setattr(readings, "pynvml", fake)
    return fake


def gpus_of(probe: MachineProbe) -> tuple[GpuReading, ...]:
    return probe.read().gpus


def test_a_sleeping_gpu_is_shown_without_starting_nvml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = nvml(monkeypatch, FakeGpu())
    add_pci_gpu(tmp_path, status="suspended")
    probe = MachineProbe(tmp_path)
    shown = [gpus_of(probe) for _ in range(3 * READS_OF_A_MINUTE)]
    assert shown[-1] == (GpuReading("NVIDIA GPU", None, None, None, None, is_asleep=True),)
    assert fake.starts == 0


def test_an_idle_gpu_that_may_sleep_is_left_alone_for_a_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = FakeGpu()
    fake = nvml(monkeypatch, gpu)
    folder = add_pci_gpu(tmp_path)
    probe = MachineProbe(tmp_path)
    first = gpus_of(probe)
    assert first[0].utilisation_percent == 0.0 and not fake.is_open
    assert [gpus_of(probe) for _ in range(READS_OF_A_MINUTE)] == [first] * READS_OF_A_MINUTE
    assert fake.starts == 1, "each question would keep it awake"
    (folder / "power" / "runtime_status").write_text("suspended\n")
    assert gpus_of(probe) == (GpuReading(gpu.name, None, None, None, None, is_asleep=True),)
    (folder / "power" / "runtime_status").write_text("active\n")
    gpu.percent = 40
    assert [gpus_of(probe)[0].utilisation_percent for _ in range(3)] == [40.0] * 3, "it works: it is read each time"
    assert fake.starts == 4 and not fake.is_open


def test_where_no_gpu_may_sleep_nvml_stays_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on desktops and servers: starting it again for each reading costs tens of milliseconds."""
    fake = nvml(monkeypatch, FakeGpu())
    add_pci_gpu(tmp_path, control="on")
    add_pci_gpu(tmp_path, "0000:00:02.0", vendor="0x8086", status="suspended", driver="i915")
    add_pci_gpu(tmp_path, "0000:02:00.0", status="suspended", driver="nouveau")
    probe = MachineProbe(tmp_path)
    for _ in range(5):
        assert gpus_of(probe)[0].temperature_c == 41.0
    assert fake.is_open and fake.starts == 1
    probe.close()
    assert not fake.is_open


@pytest.mark.parametrize(
    "odd",
    [
        FakeGpu("Lost", is_lost=True),
        FakeGpu("Lost while it is read", fault=GpuIsLostError()),
        FakeGpu("MIG of another user", fault=NoPermissionError()),
    ],
    ids=lambda gpu: gpu.name,
)
def test_one_odd_gpu_hides_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odd: FakeGpu) -> None:
    nvml(monkeypatch, odd, FakeGpu("Fine", percent=7))
    first, second = gpus_of(MachineProbe(tmp_path))
    assert first.utilisation_percent is None
    assert (second.name, second.utilisation_percent) == ("Fine", 7.0)


def test_a_driver_that_was_replaced_is_asked_again_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = nvml(monkeypatch, FakeGpu())
    probe = MachineProbe(tmp_path)
    assert gpus_of(probe)
    fake.is_open = False  # as after an update: Uninitialized
    assert gpus_of(probe) == ()
    assert [bool(gpus_of(probe)) for _ in range(READS_OF_A_MINUTE + 1)][-1]
