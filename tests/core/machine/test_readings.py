"""Machine readings of this machine, and of a compiled fake driver that the real NVML package loads."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import psutil
import pytest
import torch

from core.machine import readings as machine_readings
from core.machine.readings import MachineProbe, cuda_of_torch

READ = """
import dataclasses, json
from core.machine.readings import MachineProbe
probe = MachineProbe()
first = probe.read().gpus
import os
os.environ["TEST_GPU_LOST"] = "1"
lost = probe.read().gpus
print(json.dumps([[dataclasses.asdict(gpu) for gpu in gpus] for gpus in (first, lost)]))
probe.close()
"""


def test_cores_and_memory_are_those_of_this_machine() -> None:
    probe = MachineProbe()
    reading = probe.read()
    probe.close()
    assert 0.0 <= reading.cpu_percent <= 100.0
    assert reading.memory_total_bytes == psutil.virtual_memory().total
    used = reading.memory_total_bytes - psutil.virtual_memory().available
    assert reading.memory_used_bytes == pytest.approx(used, abs=0.1 * reading.memory_total_bytes)


def test_the_torch_build_is_known_without_importing_torch() -> None:
    asked = (
        "import sys, core.machine.readings as m; "
        "print(m.is_torch_for_cpu_only(), m.cuda_of_torch(), 'torch' in sys.modules)"
    )
    printed = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout.split()
    assert printed == [str(torch.version.cuda is None), str(torch.version.cuda), "False"]


@pytest.mark.parametrize(
    ("line", "cuda"), [("cuda: Optional[str] = '13.0'", "13.0"), ("cuda: Optional[str] = None", None)]
)
def test_the_cuda_of_torch_is_read_from_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, cuda: str | None
) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").touch()
    (tmp_path / "torch" / "version.py").write_text(f"__version__ = '2.13.0'\n{line}\nhip: Optional[str] = '7.0'\n")
    monkeypatch.setattr(machine_readings, "find_spec", lambda name: PathFinder.find_spec(name, [str(tmp_path)]))
    assert cuda_of_torch() == cuda


@pytest.fixture(scope="module")
def readings(tmp_path_factory: pytest.TempPathFactory) -> Any:
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("a C compiler on Linux is needed to make a driver")
    folder = tmp_path_factory.mktemp("driver")
    source = Path(__file__).with_name("nvml_driver.c")
    made = folder / "libnvidia-ml.so.1"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(made), str(source)], check=True)
    environment = {**os.environ, "LD_LIBRARY_PATH": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", READ], env=environment, check=True, capture_output=True, text=True, timeout=60
    )
    return json.loads(done.stdout)


def test_a_gpu_is_read_through_its_driver(readings: Any) -> None:
    assert readings[0][0] == {
        "name": "Talkative",
        "utilisation_percent": 61.0,
        "temperature_c": 54.0,
        "memory_used_bytes": 3_200_000_000,
        "memory_total_bytes": 24_000_000_000,
        "is_asleep": False,
        "capability": [8, 9],
        "driver": "580.95.05",
    }


def test_missing_gpu_readings_are_none(readings: Any) -> None:
    assert readings[0][1]["name"] == "Little"
    assert {value for key, value in readings[0][1].items() if key not in ("name", "is_asleep", "driver")} == {None}


def test_a_lost_gpu_is_no_error(readings: Any) -> None:
    assert readings[1] == []
