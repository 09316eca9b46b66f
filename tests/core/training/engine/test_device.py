"""Which device training uses. torch's own calls are replaced where this machine has no GPU to refuse."""

from __future__ import annotations

import warnings

import pytest
import torch

from core.training.engine.device import choose_device
from core.training.engine.device_faults import DeviceError

OLD_DRIVER = (
    "CUDA initialization: The NVIDIA driver on your system is too old (found version 12040). "
    "(Triggered internally at c10/cuda/CUDAFunctions.cpp:109.)"
)


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """torch as if it had two GPUs; the ones that were made current. A product runs on the CPU."""
    current = [0]
    ones = torch.ones
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    monkeypatch.setattr("torch.cuda.current_device", lambda: current[-1])
    monkeypatch.setattr("torch.cuda.set_device", current.append)
    monkeypatch.setattr("torch.cuda.get_device_name", lambda device: f"GPU {device.index}")
    monkeypatch.setattr("torch.ones", lambda *size, device: ones(*size))
    return current


def fail(error: Exception) -> None:
    raise error


@pytest.mark.parametrize(
    "error",
    [
        torch.cuda.DeferredCudaCallError("CUDA call failed lazily at initialization"),
        torch.AcceleratorError("CUDA error: no kernel image is available"),
        AssertionError("Torch not compiled with CUDA enabled"),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("call", ["current_device", "get_device_name"])
def test_auto_falls_back_to_the_cpu_whatever_torch_raises(
    monkeypatch: pytest.MonkeyPatch, two_gpus: list[int], call: str, error: Exception
) -> None:
    monkeypatch.setattr(f"torch.cuda.{call}", lambda *_: fail(error))
    assert choose_device("auto").torch_device.type == "cpu"
    with pytest.raises(DeviceError, match=str(error)):
        choose_device("cuda")


def test_torchs_warning_of_an_old_driver_is_part_of_the_reason(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def is_available() -> bool:
        warnings.warn(OLD_DRIVER, stacklevel=1)
        return False

    assert choose_device("auto").torch_device.type == "cpu" and not caplog.messages, "there is no GPU to miss"
    monkeypatch.setattr("torch.cuda.is_available", is_available)
    assert choose_device("auto").torch_device.type == "cpu" and "too old" in caplog.messages[0]
    with pytest.raises(DeviceError, match="driver on your system is too old") as caught:
        choose_device("cuda")
    assert "Triggered internally" not in str(caught.value)


def test_a_gpu_is_chosen_by_number_and_becomes_the_current_one(two_gpus: list[int]) -> None:
    assert choose_device("cuda").torch_device == torch.device("cuda", 0)
    chosen = choose_device("cuda:1")
    assert (chosen.torch_device, chosen.label, two_gpus[-1]) == (torch.device("cuda", 1), "CUDA: GPU 1", 1)
    with pytest.raises(DeviceError, match="cuda:2 cannot be used: torch finds 2 GPUs"):
        choose_device("cuda:2")


def test_the_current_gpu_is_the_one_that_is_named(two_gpus: list[int]) -> None:
    two_gpus.append(1)  # as for the second of several processes
    assert choose_device("auto").label == "CUDA: GPU 1"


def test_rocm_is_not_taken_for_cuda(monkeypatch: pytest.MonkeyPatch, two_gpus: list[int]) -> None:
    monkeypatch.setattr(torch.version, "cuda", None)
    monkeypatch.setattr(torch.version, "hip", "6.4.43482")
    assert choose_device("auto").torch_device.type == "cpu"
    with pytest.raises(DeviceError, match="ROCm"):
        choose_device("cuda")
