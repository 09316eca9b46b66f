"""The doctor: its findings on this machine and on a broken one."""

from __future__ import annotations

import json
import os
import sys
import tarfile
from contextlib import closing
from pathlib import Path

import pytest

from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.folder import DataFolder
from desktop.commands import doctor
from desktop.commands.doctor import Finding, State, collect
from tests.desktop.app.test_older_folder import ARCHIVE as OLDER_FOLDER
from tests.support import commands
from tests.support.candles import MARKET, random_walk

CPU = {"version": "2.13.0+cpu", "cuda": None, "device": None}
GPU = {"version": "2.13.0+cu130", "cuda": "13.0", "device": "NVIDIA H100"}


@pytest.fixture(autouse=True)
def torch_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fakes the answer of the child process that imports torch, which takes seconds."""
    monkeypatch.setattr(doctor, "_torch_facts_from_child", lambda: CPU)
    monkeypatch.setattr("shutil.which", lambda name: None)


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


def test_a_database_that_the_next_start_converts_is_not_bad(tmp_path: Path) -> None:
    with tarfile.open(OLDER_FOLDER) as archive:
        archive.extractall(tmp_path / "data", filter="data")
    assert finding("Database", tmp_path / "data").state is State.WARN


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


@pytest.mark.parametrize(
    ("answer", "device", "has_driver", "state", "words"),
    [
        (CPU, "auto", False, State.OK, "CPU build"),
        (CPU, "cuda", False, State.BAD, "--device"),
        (CPU, "auto", True, State.WARN, "GPU that torch cannot use"),
        (GPU, "cuda", True, State.OK, "H100"),
    ],
)
def test_torchs_devices_are_compared_with_the_chosen_device(
    data_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    answer: dict[str, str],
    device: str,
    has_driver: bool,
    state: State,
    words: str,
) -> None:
    monkeypatch.setattr(doctor, "_torch_facts_from_child", lambda: answer)
    monkeypatch.setattr("shutil.which", lambda name: "nvidia-smi" if has_driver else None)
    found = finding("torch", data_dir, device)
    assert found.state is state and words in found.what + found.advice


def test_packages_with_the_programs_names_are_named(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert finding("Python path", data_dir).state is State.OK
    (data_dir.parent / "models.py").touch()
    (data_dir.parent / "core").mkdir()
    monkeypatch.syspath_prepend(data_dir.parent)
    found = finding("Python path", data_dir)
    assert found.state is State.WARN and found.advice
    assert str(data_dir.parent / "models.py") in found.what and str(data_dir.parent / "core") in found.what
