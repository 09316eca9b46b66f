"""Other people's packages with the names of the program's, on PYTHONPATH and in the working folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from desktop.jobs.child import ChildProcess
from tests.support import commands
from tests.support.commands import ROOT

FORMS = ("import", "--forms", "--json")
OWN_MODEL = "from models.nlinear import NLinear as Own\n"
IN_A_CHILD = {**commands.TINY, "training": {**commands.TINY["training"], "host": "process"}}


@pytest.fixture
def others(tmp_path: Path) -> Path:
    """A folder of packages that leave a file behind when they are imported."""
    folder = tmp_path / "others"
    for name in ("models.py", "core/__init__.py", "resources/__init__.py"):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("open(__file__ + '.imported', 'w').close()\n")
    return folder


@pytest.fixture
def script(tmp_path: Path) -> list[str]:
    """The command as an installer writes it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, function = project["scripts"]["ghostcandle"].partition(":")
    file = tmp_path / "bin" / "ghostcandle"
    file.parent.mkdir()
    file.write_text(f"from {module} import {function}\nif __name__ == '__main__':\n    {function}()\n")
    return [sys.executable, str(file)]


def run(command: list[str], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env={**os.environ, **environment}, check=False
    )


def imported(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*.imported")]


def test_the_command_uses_its_own_packages(others: Path, script: list[str]) -> None:
    (others / "desktop.py").write_text((others / "models.py").read_text())
    done = run([*script, *FORMS], others, PYTHONPATH=str(others))
    assert done.returncode == 0 and json.loads(done.stdout), done.stderr
    assert not imported(others)


def test_the_package_run_by_name_uses_its_own_packages(others: Path) -> None:
    done = run([sys.executable, "-m", "desktop", *FORMS], others)
    assert done.returncode == 0 and json.loads(done.stdout), done.stderr
    assert not imported(others)


def test_a_job_uses_the_programs_packages(qtbot: QtBot, others: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (others / "desktop.py").write_text((others / "models.py").read_text())
    monkeypatch.chdir(others)
    monkeypatch.setenv("PYTHONPATH", str(others))
    owner = QObject()
    child = ChildProcess(FORMS, {}, owner)
    with qtbot.waitSignal(child.over) as signal:
        child.start()
    assert signal.args[0].summary, signal.args[0].sentence
    assert not imported(others)


@pytest.mark.slow
def test_a_trainer_in_a_child_process_and_a_models_file_use_the_programs_packages(
    others: Path, script: list[str], tmp_path: Path
) -> None:
    (tmp_path / "own.py").write_text(OWN_MODEL)
    data = commands.configure(tmp_path / "data", IN_A_CHILD)
    options = ("--feed", "simulate", "--candles", "15", "--model", f"{tmp_path / 'own.py'}:Own", "--json")
    done = run([*script, "headless", *options, "--data-dir", str(data)], others, PYTHONPATH=str(others))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["steps"] == 14 and not imported(others)
