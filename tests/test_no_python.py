"""The command that `make setup` names where no Python fits, by the tools that a machine has."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parents[1]
NO_PYTHON = ROOT / ".ci" / "no_python"
APT_OF = {
    release: {"apt-get": "", "apt-cache": f"echo '  Candidate: {python}'"}
    for release, python in (("ubuntu 22.04", "3.10.6-1~22.04"), ("ubuntu 26.04", "3.14.3-0ubuntu2"))
}
pytestmark = pytest.mark.skipif(os.name == "nt", reason="the fake tools are shell scripts")


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A folder of programs, which begins with those that any system has."""
    for name in ("sh", "sed", "grep"):
        (tmp_path / name).symlink_to(str(shutil.which(name)))
    return tmp_path


def install(machine: Path, tools: dict[str, str]) -> None:
    for name, script in tools.items():
        (machine / name).write_text(f"#!/bin/sh\n{script}\n")
        (machine / name).chmod(0o755)


@pytest.mark.parametrize(
    ("tools", "system", "command"),
    [
        (APT_OF["ubuntu 26.04"], "", "sudo apt-get install python3 python3-venv"),
        (APT_OF["ubuntu 22.04"], "", "wget -qO- https://astral.sh/uv/install.sh | sh && "),
        (APT_OF["ubuntu 22.04"] | {"uv": ""}, "", "uv python install 3.13"),
        ({"brew": ""}, "", "brew install uv && uv python install 3.13"),
        ({}, "Windows_NT", "winget install --id=astral-sh.uv -e"),
        (APT_OF["ubuntu 26.04"] | {"python3.14": ""}, "", "sudo apt-get install python3.14-venv"),
        (APT_OF["ubuntu 26.04"] | {"python3": "", "uv": ""}, "", "sudo apt-get install python3-venv"),
        (
            APT_OF["ubuntu 22.04"] | {"python3": "exit 1", "curl": ""},
            "",
            "curl -LsSf https://astral.sh/uv/install.sh | sh && ",
        ),
        ({"dnf": "", "curl": ""}, "", "curl -LsSf https://astral.sh/uv/install.sh | sh && "),
    ],
)
def test_one_command_is_named(machine: Path, tools: dict[str, str], system: str, command: str) -> None:
    install(machine, tools)
    done = subprocess.run(
        [NO_PYTHON], env={"PATH": str(machine), "OS": system}, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[1].strip().startswith(command), done.stdout


@pytest.mark.skipif(shutil.which("make") is None, reason="no make here")
@pytest.mark.parametrize(("version", "has_venv"), [("3.10", True), ("3.15", True), ("3.15", False)])
def test_make_looks_for_a_python_where_uv_puts_it(machine: Path, version: str, *, has_venv: bool) -> None:
    """The fake answers as a Python of that version would, and then says that it was chosen."""
    (machine / "make").symlink_to(str(shutil.which("make")))
    own = machine / ".local" / "bin"
    own.mkdir(parents=True)
    install(
        own,
        {"python3.15": f'[ {version} = 3.15 ] && case "$1 $2" in *ensurepip*) {str(has_venv).lower()};; -c*) ;; esac'},
    )
    shutil.copy(ROOT / "Makefile", machine)
    (machine / ".ci").mkdir()
    for script in ("no_python", "pythons"):
        shutil.copy(NO_PYTHON.with_name(script), machine / ".ci")
    for name in ("requirements.lock", "pyproject.toml"):
        (machine / name).touch()
    done = subprocess.run(
        ["make", "--dry-run", "setup"],
        env={"PATH": str(machine), "HOME": str(machine)},
        cwd=machine,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (f"{own}/python3.15 -m venv" in done.stdout) == (version == "3.15" and has_venv), done.stdout + done.stderr


@pytest.mark.parametrize("minor", range(10, 17))
def test_the_scripts_accept_the_pythons_of_the_program(machine: Path, minor: int) -> None:
    """The fake says that it is of that version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    is_accepted = SpecifierSet(project["requires-python"]).contains(f"3.{minor}.0")
    script = f'. {NO_PYTHON.with_name("pythons")}; fitting_python os; echo "$PYTHONS"; echo "$DEBIAN_PYTHONS"'
    for name in (f"python3.{minor}", "python3"):
        fake = f'exec {sys.executable} -IS -c "import sys; sys.version_info = (3, {minor}, 0); $2"'
        install(machine, {name: fake})
        done = subprocess.run(
            ["sh", "-c", script], env={"PATH": str(machine)}, capture_output=True, text=True, check=True
        )
        *found, shown, pattern = done.stdout.splitlines()
        assert found == ([str(machine / name)] if is_accepted else []), done
        (machine / name).unlink()
    first, last = (int(python.removeprefix("3.")) for python in shown.split(" to "))
    assert is_accepted == (first <= minor <= last) == bool(re.match(pattern, f"3.{minor}.5-1"))
