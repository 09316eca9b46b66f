"""Device errors are distinguished by their number; with real errors if this machine can raise them."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch

from core.training.engine.device_faults import DeviceFault, classify


def accelerator_error(code: int) -> torch.AcceleratorError:
    """As torch makes it: the number is set after the text (torch/csrc/Exceptions.cpp)."""
    error = torch.AcceleratorError(f"CUDA error: number {code}")
    error.error_code = code  # type: ignore[attr-defined]
    return error


@pytest.mark.parametrize("code", [226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911, 214, 220, 709])
def test_a_broken_context_is_sticky(code: int) -> None:
    assert classify(accelerator_error(code)) is DeviceFault.STICKY


@pytest.mark.parametrize("code", [3, 46, 100, 101, 304, 803, 999])
def test_a_missing_device_is_gone(code: int) -> None:
    assert classify(accelerator_error(code)) is DeviceFault.GONE


def test_code_2_is_memory_and_not_sticky() -> None:
    assert classify(accelerator_error(2)) is DeviceFault.OUT_OF_MEMORY
    assert classify(torch.OutOfMemoryError("CUDA out of memory.")) is DeviceFault.OUT_OF_MEMORY


@pytest.mark.parametrize("code", [1, 9, 98, 209, 701, 720, 801, 900])
def test_programming_errors_are_no_device_faults(code: int) -> None:
    assert classify(accelerator_error(code)) is DeviceFault.NONE


@pytest.mark.parametrize(
    ("state", "fault"),
    [
        ("CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm(handle, m, n)`", DeviceFault.STICKY),
        ("CUDA error: CUBLAS_STATUS_INTERNAL_ERROR when calling `cublasGemmEx(handle)`", DeviceFault.STICKY),
        ("CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`", DeviceFault.STICKY),
        ("cuDNN error: CUDNN_STATUS_EXECUTION_FAILED", DeviceFault.STICKY),
        ("cuDNN error: CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER", DeviceFault.STICKY),
        ("cuDNN error: CUDNN_STATUS_INTERNAL_ERROR", DeviceFault.STICKY),
        ("cuDNN error: CUDNN_STATUS_MAPPING_ERROR", DeviceFault.STICKY),
        ("cuDNN error: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED", DeviceFault.OUT_OF_MEMORY),
        ("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`", DeviceFault.OUT_OF_MEMORY),
        ("CUDA error: CUBLAS_STATUS_INVALID_VALUE when calling `cublasSgemm(handle)`", DeviceFault.NONE),
        ("cuDNN error: CUDNN_STATUS_NOT_SUPPORTED", DeviceFault.NONE),
    ],
)
def test_cublas_and_cudnn_states_are_classified(state: str, fault: DeviceFault) -> None:
    """torch raises them as a RuntimeError without a number."""
    assert classify(RuntimeError(state)) is fault


def test_real_failed_allocations_are_recognised() -> None:
    with pytest.raises(RuntimeError) as refused:
        torch.empty(1 << 58)
    assert classify(refused.value) is DeviceFault.OUT_OF_MEMORY
    with pytest.raises(MemoryError) as too_large:
        np.empty(1 << 58)
    assert classify(too_large.value) is DeviceFault.OUT_OF_MEMORY


def test_other_real_errors_are_no_device_faults() -> None:
    with pytest.raises(RuntimeError) as mismatch:
        torch.ones(2, 3) @ torch.ones(2, 3)
    assert classify(mismatch.value) is DeviceFault.NONE
    assert classify(ValueError("an illegal memory access was encountered")) is DeviceFault.NONE


@pytest.mark.skipif(torch.cuda.is_available(), reason="a machine without CUDA")
def test_a_machine_without_cuda_has_no_device() -> None:
    if torch.version.cuda is None:
        pytest.skip("this build of torch has no CUDA")
    with pytest.raises(RuntimeError) as none:
        torch.ones(1, device="cuda")
    assert classify(none.value) is DeviceFault.GONE


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device was found")
@pytest.mark.parametrize(
    ("work", "fault"),
    [
        ("torch.zeros(2, device='cuda')[torch.tensor([5], device='cuda')].sum().item()", DeviceFault.STICKY),
        ("torch.empty(1 << 50, device='cuda')", DeviceFault.OUT_OF_MEMORY),
    ],
)
def test_a_real_error_of_a_gpu_is_classified(work: str, fault: DeviceFault) -> None:
    """In another process: this one's context would be lost."""
    program = f"""
import torch
from core.training.engine.device_faults import classify
try:
    {work}
except RuntimeError as error:
    print(classify(error).value)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.split("\n")[-2:] == [fault.value, ""], done.stderr


def test_the_cause_chain_counts_and_cycles_end() -> None:
    try:
        try:
            raise accelerator_error(700)
        except RuntimeError as cause:
            raise ValueError("the step failed") from cause
    except ValueError as error:
        assert classify(error) is DeviceFault.STICKY
        assert error.__cause__ is not None
        error.__cause__.__cause__ = error
        assert classify(error) is DeviceFault.STICKY
    one, other = ValueError("one"), ValueError("other")
    one.__cause__, other.__cause__ = other, one
    assert classify(one) is DeviceFault.NONE


def test_classification_imports_no_torch() -> None:
    code = (
        "import sys; from core.training.engine.device_faults import classify; classify(RuntimeError());"
        "print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
