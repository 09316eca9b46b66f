"""The doctor: its findings on this machine and on a broken one."""

from __future__ import annotations

import json
import os
import shlex
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from core.machine.cuda_setup import CudaFacts, Gpu
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.folder import DataFolder
from desktop.commands import doctor
from desktop.commands.doctor import Finding, State, collect
from tests.support import commands, older_folder
from tests.support.candles import MARKET, random_walk
from tests.support.machines import GTX_1080, RTX_4070, Card, FakeMachine, environment

ASK_A_CHILD = doctor._facts_from_child


@pytest.fixture(autouse=True)
def torch_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fakes the answer of the child process that imports torch, which takes seconds."""
    facts = CudaFacts(system="Linux", torch="2.13.0+cpu", cuda=None, reason="this build of torch has no CUDA")
    monkeypatch.setattr(doctor, "_facts_from_child", lambda requested: facts)


def finding(name: str, data_dir: Path, device: str | None = None) -> Finding:
    return next(found for found in collect(DataFolder(data_dir), device) if found.name == name)


def test_a_damaged_database_is_distinguished_from_an_intact_one(data_dir: Path) -> None:
    folder = DataFolder(data_dir)
    folder.ensure()
    with closing(open_database(folder.database)) as db:
        CandleStore(db).save(MARKET, random_walk(2_000))
    assert finding("Database", data_dir).state is State.OK
    with folder.database.open("rb+") as file:  # a page of candles, which nothing reads at the opening
        file.seek(folder.database.stat().st_size // 2 // 4096 * 4096)
        file.write(b"\xff" * 4096)
    found = finding("Database", data_dir)
    assert found.state is State.BAD and found.advice


def test_a_database_of_an_older_version_is_bad(tmp_path: Path) -> None:
    folder = older_folder.unpack(tmp_path / "data")
    found = finding("Database", folder.root)
    assert found.state is State.BAD and "ghostcandle export" in found.advice


def test_a_missing_qt_platform_is_named(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "carrierpigeon")
    found = finding("Qt", data_dir)
    assert found.state is State.BAD and "carrierpigeon" in found.what


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="fontconfig is how Linux finds fonts")
def test_no_font_is_bad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert finding("Fonts", tmp_path / "data").state is State.OK
    empty = tmp_path / "fonts.conf"
    empty.write_text('<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig></fontconfig>')
    monkeypatch.setenv("FONTCONFIG_FILE", os.fspath(empty))
    assert finding("Fonts", tmp_path / "data").state is State.BAD


def test_a_read_only_folder_is_a_finding_and_sets_the_exit_code(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    done = commands.invoke("doctor", "--json", "--data-dir", str(tmp_path / "taken"))
    answer = json.loads(done.stdout)
    findings = {found["name"]: found for found in answer["findings"]}
    assert done.returncode == 1 and not answer["ok"]
    assert findings["Data folder"]["state"] == "bad" and "--data-dir" in findings["Data folder"]["advice"]
    assert findings["Python"]["state"] == "ok"


def test_dropped_settings_are_named(data_dir: Path) -> None:
    commands.configure(data_dir, {"gradients": {"clip_norm": -1}})
    found = finding("Settings", data_dir)
    assert found.state is State.WARN and "gradients.clip_norm" in found.what and found.advice


UBUNTU_26 = "7.0.0-14-generic"
WSL2 = "6.6.87.2-microsoft-standard-WSL2"
CPU_WHEEL = FakeMachine(torch="2.13.0+cpu", cuda=None)
WINDOWS = replace(CPU_WHEEL, system="Windows", release="11")
MIXED = FakeMachine(gpus=(GTX_1080, RTX_4070), cuda_order=(0, 1))
TORCH_FOR_PASCAL = FakeMachine(gpus=(GTX_1080,), torch="2.13.0+cu126", cuda="12.6")
ROCM = FakeMachine(torch="2.13.0+rocm6.4", cuda=None, hip="6.4", driver="", gpus=())
NEWEST_TORCH = FakeMachine(gpus=(GTX_1080,), torch="2.15.0+cu132", cuda="13.2")
NO_CARD = replace(CPU_WHEEL, gpus=(), driver="")
A100 = Card("NVIDIA A100-SXM4-40GB", (8, 0), mig_instances=0)
PROGRAM = shlex.quote(os.fspath(Path(sys.executable).with_name("ghostcandle")))
AGAIN = f"check again:\n    {PROGRAM} doctor"
ON_UBUNTU = "    sudo apt update && sudo ubuntu-drivers install nvidia:580"
NEW_DRIVER = f"580 or newer. On Ubuntu, the command is:\n{ON_UBUNTU}-open\nThen restart the computer, and {AGAIN}"
PIP = f"first; the command is:\n    {shlex.quote(sys.executable)} -m pip install torch=="
FOR_PASCAL = (
    f"a few gigabytes. Close Ghostcandle {PIP}2.13.0+cu126 --index-url https://download.pytorch.org/whl/cu126\nThen "
    f"{AGAIN}"
)
ONLY_CPU = "Choose --device cpu, or auto."


@pytest.mark.parametrize(
    ("machine", "device", "state", "to_do"),
    [
        pytest.param(FakeMachine(driver="550.120"), "auto", "warn", NEW_DRIVER, id="driver 550"),
        pytest.param(FakeMachine(driver="550.120"), "cuda", "bad", NEW_DRIVER, id="driver 550, cuda"),
        pytest.param(FakeMachine(gpus=(GTX_1080,)), "auto", "warn", FOR_PASCAL, id="GTX 1080"),
        pytest.param(FakeMachine(gpus=(GTX_1080,)), "cpu", "ok", "", id="GTX 1080, cpu"),
        pytest.param(FakeMachine(gpus=(GTX_1080,), driver="550.120"), "auto", "warn", FOR_PASCAL, id="both"),
        pytest.param(TORCH_FOR_PASCAL, "cuda", "ok", "", id="GTX 1080 with its torch"),
        pytest.param(
            NEWEST_TORCH, "auto", "warn", "torch==2.14.0+cu126 ", id="GTX 1080, a torch without a build for it"
        ),
        pytest.param(replace(NEWEST_TORCH, python="3.15.2"), "auto", "warn", "PYTHON=python3.14", id="GTX 1080, 3.15"),
        pytest.param(
            FakeMachine(gpus=(GTX_1080,), driver="470.256.02"),
            "auto",
            "warn",
            "exactly branch 580: newer",
            id="GTX 1080, 470",
        ),
        pytest.param(FakeMachine(driver=""), "auto", "warn", ON_UBUNTU, id="no driver"),
        pytest.param(
            FakeMachine(is_driver_replaced=True), "auto", "warn", "Restart the computer.", id="updated, no restart"
        ),
        pytest.param(
            *(WINDOWS, "auto", "warn", f"{PIP}2.13.0+cu130 --index-url https://download.pytorch.org/whl/cu130\n"),
            id="Windows, CPU wheel",
        ),
        pytest.param(
            replace(WINDOWS, driver="566.36"),
            *("auto", "warn", f"for your GPU. Then restart the computer, and {AGAIN}"),
            id="Windows, old driver and CPU wheel",
        ),
        pytest.param(
            *(replace(WINDOWS, driver=""), "auto", "warn", "Install the newest driver"),
            id="Windows, no driver",
            marks=pytest.mark.skipif(os.name == "nt", reason="the fake PowerShell is a shell script"),
        ),
        pytest.param(replace(WINDOWS, driver="", gpus=()), "auto", "ok", "", id="Windows, no GPU"),
        pytest.param(FakeMachine(release=WSL2, driver="566.36"), "auto", "warn", "wsl --shutdown", id="WSL2"),
        pytest.param(
            FakeMachine(release=WSL2, driver="", gpus=()), "auto", "ok", "wsl --shutdown", id="WSL2, no driver"
        ),
        pytest.param(FakeMachine(gpus=(A100,), cuda_order=()), "auto", "warn", "nvidia-smi -mig 0", id="MIG, empty"),
        pytest.param(FakeMachine(gpus=(replace(A100, mig_instances=1),)), "auto", "ok", "", id="MIG"),
        pytest.param(
            *(FakeMachine(gpus=(replace(RTX_4070, is_lost=True),), cuda_order=()), "auto", "warn", "power cables"),
            id="lost",
        ),
        pytest.param(MIXED, "auto", "warn", f"    {PROGRAM} run --device cuda:1", id="laptop, two GPUs"),
        pytest.param(MIXED, "cuda", "bad", "--device cuda:1", id="laptop, two GPUs, the first"),
        pytest.param(MIXED, "cuda:1", "ok", "", id="laptop, two GPUs, the second"),
        pytest.param(replace(MIXED, cuda_order=(1, 0)), "auto", "ok", "", id="laptop, the fast one first"),
        pytest.param(FakeMachine(), "cuda:1", "bad", "--device cuda:0", id="a number too many"),
        pytest.param(NO_CARD, "auto", "ok", "", id="no GPU"),
        pytest.param(NO_CARD, "cuda", "bad", ONLY_CPU, id="no GPU, cuda"),
        pytest.param(replace(NO_CARD, system="Darwin"), "cuda", "bad", ONLY_CPU, id="macOS"),
        pytest.param(ROCM, "cuda", "bad", ONLY_CPU, id="ROCm"),
    ],
)
def test_what_a_gpu_owner_is_to_do(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, machine: FakeMachine, device: str, state: str, to_do: str
) -> None:
    """The real command and the real question to torch, on tools that answer as on that machine."""
    monkeypatch.setattr(doctor, "_facts_from_child", ASK_A_CHILD)
    done = commands.invoke("doctor", "--json", "--device", device, "--data-dir", str(data_dir), **environment(machine))
    found = next(each for each in json.loads(done.stdout)["findings"] if each["name"] == "GPU")
    assert found["state"] == state and to_do in found["advice"] and bool(found["advice"]) == bool(to_do), found
    assert found["advice"].startswith("Ghostcandle works now, on the CPU.") == (state == "warn")
    assert to_do != ONLY_CPU or found["advice"] == ONLY_CPU
    answering = [gpu for gpu in machine.gpus if not gpu.is_lost]
    for gpu in answering if machine.driver and not machine.is_driver_replaced else ():
        assert "{} (compute capability {}.{})".format(gpu.name, *gpu.capability) in found["details"]
    assert machine.is_driver_replaced or machine.driver in found["details"]


def test_ubuntu_with_python_3_14_needs_nothing(data_dir: Path) -> None:
    """As a separate process: the row of Python is about the one that runs the doctor."""
    machine = FakeMachine(release=UBUNTU_26, driver="595.58.03", python="3.14.4")
    done = commands.run("doctor", "--json", "--data-dir", str(data_dir), **environment(machine))
    found = {each["name"]: each for each in json.loads(done.stdout)["findings"]}
    assert found["Python"]["what"].startswith(f"3.14.4 on Linux {UBUNTU_26}"), found["Python"]
    for name in ("Python", "torch", "GPU"):
        assert found[name]["state"] == "ok" and not found[name]["advice"], found[name]


@pytest.mark.parametrize(
    ("machine", "what", "details"),
    [
        (FakeMachine(driver="550.120"), "driver 550.120 is too old: 580 is needed", "driver on your system is too old"),
        (FakeMachine(driver=""), "no working NVIDIA driver", "no CUDA device was found"),
        (FakeMachine(gpus=(GTX_1080,)), "this torch is not for NVIDIA GeForce GTX 1080", "torch: Found GPU0 NVIDIA"),
        (FakeMachine(gpus=(GTX_1080,)), "this torch is not for NVIDIA GeForce GTX 1080", "torch has code for sm_75"),
        (MIXED, "the first GPU cannot be used, but cuda:1 (NVIDIA GeForce RTX 4070) can", "torch: Found GPU0 NVIDIA"),
    ],
)
def test_the_fault_is_short_and_torchs_own_reason_is_in_the_details(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, machine: FakeMachine, what: str, details: str
) -> None:
    monkeypatch.setattr(doctor, "_facts_from_child", ASK_A_CHILD)
    for name, value in environment(machine).items():
        monkeypatch.setenv(name, value)
    found = finding("GPU", data_dir)
    assert found.what == what
    assert details in found.details and ("too old" in found.details) == ("too old" in what)


@pytest.mark.parametrize("columns", ["40", "80", "200"])
def test_a_command_can_be_copied_at_any_width(data_dir: Path, monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    monkeypatch.setattr(doctor, "_facts_from_child", ASK_A_CHILD)
    machine = environment(FakeMachine(gpus=(GTX_1080,)))
    done = commands.invoke("doctor", "--data-dir", str(data_dir), COLUMNS=columns, **machine)
    pip = f"{shlex.quote(sys.executable)} -m pip install torch==2.13.0+cu126"
    assert f"    {pip} --index-url https://download.pytorch.org/whl/cu126" in done.stdout.splitlines(), done.stdout
    assert "For support: torch 2.13.0+cu130" in done.stdout and "sm_75" in done.stdout


def test_the_package_works_on_the_cpu_and_has_no_pip(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    card = (Gpu("NVIDIA GeForce RTX 4070", (8, 9)),)
    facts = CudaFacts(
        system="Linux", torch="2.13.0+cpu", cuda=None, driver="595.58", gpus=card, reason="no CUDA", is_packaged=True
    )
    monkeypatch.setattr(doctor, "_facts_from_child", lambda requested: facts)
    advice = finding("GPU", data_dir).advice
    assert advice.startswith("Ghostcandle works now, on the CPU.") and "from source" in advice
    assert "pip" not in advice and advice.count("Install") == 1


def test_a_torch_that_cannot_be_imported_is_bad(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('libcudart.so.13 is missing')")
    monkeypatch.setattr(doctor, "_facts_from_child", ASK_A_CHILD)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    found = finding("torch", data_dir)
    assert found.state is State.BAD and "libcudart" in found.what and found.advice


def test_packages_with_the_programs_names_are_named(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert finding("Python path", data_dir).state is State.OK
    (data_dir.parent / "models.py").touch()
    (data_dir.parent / "core").mkdir()
    monkeypatch.syspath_prepend(data_dir.parent)
    found = finding("Python path", data_dir)
    assert found.state is State.WARN and found.advice
    assert str(data_dir.parent / "models.py") in found.what and str(data_dir.parent / "core") in found.what
