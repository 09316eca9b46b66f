"""The table of CUDA: which row fits a machine. The machines of the doctor's tests are not repeated here."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.machine.cuda_setup import CASES, CudaFacts, Gpu, case_of, filled_in

REFUSED = CudaFacts(
    system="Linux",
    torch="2.13.0+cu130",
    cuda="13.0",
    driver="580.95.05",
    gpus=(Gpu("NVIDIA GeForce RTX 4070", (8, 9)),),
    reason="no CUDA device was found",
)


def old(*capability: int) -> tuple[Gpu, ...]:
    return (Gpu("Old", (capability[0], capability[1])),)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (replace(REFUSED, driver=None, gpus=(), has_card=True), "ubuntu-drivers"),
        (replace(REFUSED, hidden_by=""), "CUDA_VISIBLE_DEVICES"),
        (replace(REFUSED, hidden_by="0"), "modprobe -r nvidia_uvm"),
        (replace(REFUSED, hidden_by="GPU-8932f937"), "modprobe -r nvidia_uvm"),
        (replace(REFUSED, hidden_by="7,0"), "CUDA_VISIBLE_DEVICES"),
        (replace(REFUSED, hidden_by="0", driver=None, gpus=(), has_card=True), "ubuntu-drivers"),
        (replace(REFUSED, reason="CUDA out of memory. Tried to allocate 2 MiB"), "nvidia-smi"),
        (replace(REFUSED, system="Windows"), "Restart the computer"),
        (replace(REFUSED, is_wsl=True), "Restart the computer"),
        (replace(REFUSED, gpus=old(3, 5), driver="470.256.02"), "on the CPU"),
        (replace(REFUSED, gpus=old(7, 0)), "cu126"),
        (replace(REFUSED, gpus=old(7, 0), driver="470.256.02"), "ubuntu-drivers"),
        (replace(REFUSED, cuda="12.6", torch="2.13.0+cu126", driver="550.120"), "modprobe"),
        (replace(REFUSED, gpus=(Gpu("Without an answer", None),)), "modprobe"),
        (replace(REFUSED, cuda=None, torch="2.13.0+cpu", is_packaged=True), "from source"),
        (replace(REFUSED, gpus=old(6, 1), torch="2.15.0+cu132", python_version=(3, 15)), "Use Python 3.14"),
        (replace(REFUSED, gpus=old(6, 1), torch="2.15.0+cu132", python_version=(3, 14)), "torch==2.14.0+cu126"),
        (replace(REFUSED, driver=None, gpus=(), is_driver_replaced=True), "Restart the computer"),
    ],
)
def test_the_advice_is_that_of_the_row_that_fits(facts: CudaFacts, words: str) -> None:
    assert words in filled_in(case_of(facts).advice, facts)


def test_no_row_is_hidden_by_those_before_it() -> None:
    windows = replace(REFUSED, system="Windows")
    machines = [
        replace(REFUSED, reason=""),
        replace(REFUSED, system="Darwin"),
        replace(REFUSED, other="ROCm"),
        replace(REFUSED, usable="cuda:1"),
        replace(REFUSED, hidden_by=""),
        replace(REFUSED, is_driver_replaced=True),
        replace(REFUSED, is_wsl=True, driver="550.120"),
        replace(REFUSED, driver=None, gpus=()),
        replace(REFUSED, gpus=old(3, 5)),
        replace(windows, driver="550.120"),
        replace(REFUSED, driver="550.120"),
        replace(REFUSED, cuda=None, is_packaged=True),
        replace(REFUSED, gpus=old(6, 1), python_version=(3, 15)),
        replace(REFUSED, gpus=old(6, 1)),
        replace(REFUSED, cuda=None),
        replace(REFUSED, reason="CUDA out of memory"),
        REFUSED,
        windows,
    ]
    assert [case_of(facts) for facts in machines] == list(CASES)


@pytest.mark.parametrize(
    ("gpus", "version"),
    [
        (old(8, 9), "version 580 or newer."),
        (old(6, 1), "exactly branch 580: newer ones do not support this GPU."),
        (old(6, 1) + old(8, 9), "exactly branch 580: newer ones do not support this GPU."),
        ((), "version 580 or newer (exactly branch 580 for GTX 745, 750, 900 and 10, Titan V and V100)."),
    ],
)
@pytest.mark.parametrize("system", ["Linux", "Windows"])
def test_old_gpus_need_the_last_driver_that_supports_them(system: str, gpus: tuple[Gpu, ...], version: str) -> None:
    facts = replace(REFUSED, system=system, driver="470.256.02" if gpus else None, gpus=gpus, has_card=True)
    assert f", {version}" in filled_in(case_of(facts).advice, facts)


def test_a_command_is_a_line_without_a_full_stop() -> None:
    lines = [line for case in CASES for line in filled_in(case.advice, REFUSED).splitlines()]
    commands = [line for line in lines if line.startswith("    ")]
    assert len(commands) >= 7 and not any("`" in line or line.endswith((".", ":")) for line in commands)
    assert all(line.endswith((".", ":")) for line in lines if line not in commands)
