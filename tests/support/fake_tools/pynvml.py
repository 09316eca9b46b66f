"""NVIDIA's management library on the machine that FAKE_MACHINE describes."""

from __future__ import annotations

import sys

from tests.support.fake_nvml import FakeGpu, FakeNvml
from tests.support.machines import described

_machine = described()
_gpus = [FakeGpu(gpu.name, gpu.capability) for gpu in _machine.gpus]
sys.modules[__name__] = FakeNvml(_gpus, _machine.driver or None)  # type: ignore[assignment]
