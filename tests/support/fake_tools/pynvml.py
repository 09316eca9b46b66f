"""NVIDIA's management library on the machine that FAKE_MACHINE describes."""

from __future__ import annotations

import sys

from tests.support.fake_nvml import FakeGpu, FakeNvml
from tests.support.machines import described

_machine = described()
_gpus = [
    FakeGpu(gpu.name, gpu.capability, is_lost=gpu.is_lost, mig_instances=gpu.mig_instances) for gpu in _machine.gpus
]
_nvml = FakeNvml(_gpus, _machine.driver or None, is_driver_replaced=_machine.is_driver_replaced)
sys.modules[__name__] = _nvml  # type: ignore[assignment]
