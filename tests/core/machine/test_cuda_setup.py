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
        (
            replace(REFUSED, gpus=old(6, 1), torch="2.15.0+cu132", python_version=(3, 15)),
            "PYTHON=python3.14",
        ),
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
        replace(REFUSED, driver=None, gpus=(), has_card=True),
        replace(REFUSED, driver="550.120"),
        replace(REFUSED, gpus=(Gpu("NVIDIA GPU", None, is_lost=True),)),
        replace(REFUSED, gpus=(Gpu("NVIDIA A100", (8, 0), lacks_mig_instance=True),)),
        replace(REFUSED, cuda=None, is_packaged=True),
        replace(REFUSED, gpus=old(6, 1), python_version=(3, 15)),
        replace(REFUSED, gpus=old(6, 1)),
        replace(REFUSED, cuda=None),
        replace(REFUSED, reason="CUDA out of memory"),
        REFUSED,
        windows,
    ]
    assert [case_of(facts) for facts in machines] == list(CASES)


NEW, OLD = (Gpu("New", (8, 9)),), old(6, 1)
ON_UBUNTU = "ubuntu-drivers install nvidia:580"


@pytest.mark.parametrize(
    ("gpus", "version", "commands"),
    [
        (NEW, "version 580 or newer.", [f"{ON_UBUNTU}-open"]),
        (OLD, "exactly branch 580: newer ones do not support Old.", [ON_UBUNTU]),
        (OLD + NEW, "exactly branch 580: newer ones do not support Old.", [ON_UBUNTU]),
        ((), "version 580 or newer (exactly branch 580 for GTX 745,", [f"{ON_UBUNTU}-open", ON_UBUNTU]),
    ],
    ids=["new", "old", "both", "not known"],
)
def test_each_gpu_gets_a_driver_that_supports_it(gpus: tuple[Gpu, ...], version: str, commands: list[str]) -> None:
    """From Blackwell on the open modules alone do, before Turing the others alone."""
    facts = replace(REFUSED, driver="470.256.02" if gpus else None, gpus=gpus, has_card=True)
    advice = filled_in(case_of(facts).advice, facts)
    assert f", {version}" in advice
    assert [line.split("sudo ")[-1] for line in advice.splitlines() if "ubuntu-drivers" in line] == commands


def test_a_command_is_a_line_without_a_full_stop() -> None:
    lines = [line for case in CASES for line in filled_in(case.advice, REFUSED).splitlines()]
    commands = [line for line in lines if line.startswith("    ")]
    assert len(commands) >= 7 and not any("`" in line or line.endswith((".", ":")) for line in commands)
    assert all(line.endswith((".", ":")) for line in lines if line not in commands)
