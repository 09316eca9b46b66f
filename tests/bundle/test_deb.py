"""The Debian package, made from a small folder that has the bundle's form. `make deb-test` installs the real one."""

from __future__ import annotations

import configparser
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, ("dpkg-deb", "objdump"))), reason="Debian packages are built with Debian's tools"
)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    bundle = tmp_path_factory.mktemp("dist") / "ghostcandle"
    shutil.copytree(ROOT / "resources", bundle / "_internal" / "resources")
    shutil.copy(ROOT / "LICENSE", bundle / "_internal")
    shutil.copy(ROOT / "resources" / "ghostcandle.desktop", bundle)
    (bundle / "BUILD_INFO.json").touch()
    for name in ("ghostcandle", "_internal/library.so.1"):
        shutil.copy(shutil.which("true") or "", bundle / name)
        (bundle / name).chmod(0o775)
    subprocess.run([sys.executable, str(ROOT / ".ci" / "deb.py"), str(bundle)], check=True, capture_output=True)
    (made,) = bundle.parent.glob("*.deb")
    return made


def answer(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def entries(package: Path) -> Iterator[tuple[str, str, str]]:
    """Mode, owner and path of each file."""
    for line in answer("dpkg-deb", "--contents", package).splitlines():
        mode, owner, _, _, _, path = line.split(maxsplit=5)
        yield mode, owner, path.removeprefix("./")


def test_files_belong_to_root_and_only_programs_can_be_run(package: Path) -> None:
    listed = list(entries(package))
    assert {owner for _, owner, _ in listed} == {"root/root"}
    modes = {path: mode for mode, _, path in listed}
    assert modes["usr/lib/ghostcandle/ghostcandle"] == "-rwxr-xr-x"
    assert modes["usr/lib/ghostcandle/_internal/library.so.1"] == "-rw-r--r--"
    assert {mode for path, mode in modes.items() if path.endswith("/")} == {"drwxr-xr-x"}
    assert modes["usr/bin/ghostcandle -> ../lib/ghostcandle/ghostcandle"].startswith("l")


def test_the_menu_finds_the_program_and_its_icon(package: Path, tmp_path: Path) -> None:
    answer("dpkg-deb", "--extract", package, tmp_path)
    entry = configparser.ConfigParser(interpolation=None)
    entry.read(tmp_path / "usr/share/applications/ghostcandle.desktop")
    assert (tmp_path / "usr/bin" / entry["Desktop Entry"]["Exec"]).resolve().is_file()
    icons = {
        path.parts[-3] for path in tmp_path.glob(f"usr/share/icons/hicolor/*/apps/{entry['Desktop Entry']['Icon']}.*")
    }
    assert {"scalable", "48x48", "256x256"} <= icons
    assert "MIT" in (tmp_path / "usr/share/doc/ghostcandle/copyright").read_text()


def test_it_depends_on_what_qt_links_under_old_and_new_names(package: Path) -> None:
    depends = answer("dpkg-deb", "--field", package, "Depends").strip().split(", ")
    assert {"libegl1", "libxcb-cursor0", "libglib2.0-0t64 | libglib2.0-0"} <= set(depends)
    assert depends[0].startswith("libc6 (>= 2.")


def test_installing_and_removing_runs_nothing(package: Path, tmp_path: Path) -> None:
    """So nothing of it can touch anyone's data."""
    answer("dpkg-deb", "--control", package, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"control", "md5sums"}
