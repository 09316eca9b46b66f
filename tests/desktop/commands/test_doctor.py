"""The doctor: what it finds on this machine, and what it says of one that is ill."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.storage.database import open_database
from core.storage.folder import DataFolder
from desktop.commands.doctor import Finding, State, collect
from tests.support import commands

ALL = "Python Qt Display Fonts torch ccxt Database"


def finding(name: str, data_dir: Path) -> Finding:
    return next(found for found in collect(DataFolder(data_dir)) if found.name == name)


def test_this_machine_is_well(data_dir: Path) -> None:
    answer = commands.run_json("doctor", "--data-dir", str(data_dir))
    findings = {found["name"]: found for found in answer["findings"]}
    assert answer["ok"] and {*ALL.split(), "System libraries", "Data folder"} <= set(findings)
    assert "build" in findings["torch"]["what"] and "offscreen" in findings["Qt"]["what"]


def test_whoever_asks_stays_without_torch(data_dir: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from core.storage.folder import DataFolder;"
        "from desktop.commands.doctor import collect; collect(DataFolder(Path(sys.argv[1])));"
        "print('torch' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(data_dir)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=commands.ROOT)
    assert done.stdout.strip() == "False"


def test_a_whole_database_is_told_apart_from_a_damaged_one(data_dir: Path) -> None:
    folder = DataFolder(data_dir)
    folder.ensure()
    open_database(folder.database).close()
    assert finding("Database", data_dir).state is State.OK
    whole = folder.database.read_bytes()
    folder.database.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    found = finding("Database", data_dir)
    assert found.state is State.BAD and found.advice


def test_a_data_folder_that_is_a_file_is_bad(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    found = finding("Data folder", tmp_path / "taken")
    assert found.state is State.BAD and "--data-dir" in found.advice


def test_a_platform_that_qt_lacks_is_named(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "carrierpigeon")
    found = finding("Qt", data_dir)
    assert found.state is State.BAD and "carrierpigeon" in found.what


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="fontconfig is how Linux finds fonts")
def test_no_font_is_bad(tmp_path: Path) -> None:
    empty = tmp_path / "fonts.conf"
    empty.write_text('<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig></fontconfig>')
    done = commands.run("doctor", "--json", "--data-dir", str(tmp_path / "data"), FONTCONFIG_FILE=os.fspath(empty))
    fonts = next(found for found in json.loads(done.stdout)["findings"] if found["name"] == "Fonts")
    assert done.returncode == 1 and fonts["state"] == "bad"


def test_a_folder_that_cannot_be_written_is_one_finding_among_all(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    done = commands.run("doctor", "--json", "--data-dir", str(tmp_path / "taken"))
    findings = {found["name"]: found["state"] for found in json.loads(done.stdout)["findings"]}
    assert done.returncode == 1 and findings["Data folder"] == "bad" and findings["Python"] == "ok"


def test_dropped_settings_are_named(data_dir: Path) -> None:
    data_dir.mkdir()
    (data_dir / "settings.json").write_text('{"gradients": {"clip_norm": -1}}')
    found = finding("Settings", data_dir)
    assert found.state is State.WARN and "gradients.clip_norm" in found.what and found.advice


def test_cuda_that_is_asked_for_and_not_there_is_bad(data_dir: Path) -> None:
    found = next(found for found in collect(DataFolder(data_dir), "cuda") if found.name == "torch")
    if "no CUDA device" not in found.what:
        pytest.skip("this machine has CUDA")
    assert found.state is State.BAD and "--device" in found.advice
