"""The packaged program alone, without the environment or the checkout's .venv."""

from __future__ import annotations

import configparser
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "dist" / "ghostcandle"
PROGRAM = FOLDER / ("ghostcandle-console.exe" if sys.platform == "win32" else "ghostcandle")

pytestmark = [
    pytest.mark.bundle,
    pytest.mark.timeout(600),
    pytest.mark.skipif(
        not PROGRAM.exists() and not os.environ.get("GHOSTCANDLE_TEST_BUNDLE"), reason="make bundle comes first"
    ),
]


@pytest.fixture
def without_venv() -> Iterator[None]:
    """Move .venv away, so that nothing of it can be used; this test's own modules are loaded already."""
    venv, aside = ROOT / ".venv", ROOT / ".venv-aside"
    if not os.environ.get("GHOSTCANDLE_TEST_BUNDLE") or not venv.exists():
        yield
        return
    venv.rename(aside)
    try:
        yield
    finally:
        aside.rename(venv)


def ask(home: Path, *arguments: str) -> dict[str, Any]:
    """Run it with an empty environment but for a home, and return its one object."""
    done = subprocess.run(
        [str(PROGRAM), *arguments, "--json"],
        capture_output=True,
        text=True,
        timeout=300,
        env={"HOME": str(home)} if sys.platform != "win32" else None,
        cwd=home,
        check=False,
    )
    assert done.stdout, done.stderr
    assert "This plugin does not support" not in done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_the_selftest_passes_without_the_checkout(tmp_path: Path, without_venv: None) -> None:
    answer = ask(tmp_path, "selftest")
    assert answer["ok"], answer
    assert set(answer["checks"]) == {"trainer", "resume", "window", "ccxt"}


def test_the_bundle_names_its_torch_build(tmp_path: Path) -> None:
    info = json.loads((FOLDER / "BUILD_INFO.json").read_text())
    assert info["torch_build"].startswith(("CPU", "CUDA"))
    findings = {found["name"]: found for found in ask(tmp_path, "doctor")["findings"]}
    assert info["torch_build"] in findings["Package"]["what"]
    assert findings["torch"]["state"] != "bad" and info["torch"] in findings["torch"]["what"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="desktop entries are how Linux lists programs")
def test_the_menu_entry_names_this_program(tmp_path: Path) -> None:
    command = ["make", "--no-print-directory", "menu-entry"]
    subprocess.run(
        command, check=True, capture_output=True, cwd=ROOT, env={**os.environ, "XDG_DATA_HOME": str(tmp_path)}
    )
    entry = configparser.ConfigParser(interpolation=None)
    entry.read(tmp_path / "applications" / "ghostcandle.desktop")
    assert entry["Desktop Entry"]["Exec"] == f'"{PROGRAM}"'
    assert Path(entry["Desktop Entry"]["Icon"]).is_file()


def test_json_and_packed_tables_are_read(tmp_path: Path) -> None:
    """Their readers are loaded by name."""
    rows = [[1_600_000_020_000 + 60_000 * n, 1.0, 2.0, 0.5, 1.5, 3.0] for n in range(5)]
    columns = {name: [row[place] for row in rows] for place, name in enumerate(("t", "o", "h", "l", "c", "v"))}
    files = {"rows.json": rows, "columns.json": columns}
    for name, content in files.items():
        (tmp_path / name).write_text(json.dumps(content))
    (tmp_path / "table.csv.zst").write_bytes(zstd.compress("\n".join(",".join(map(str, row)) for row in rows).encode()))
    answer = ask(tmp_path, "import", *files, "table.csv.zst", "--dry-run", "--data-dir", str(tmp_path / "data"))
    assert [file["candles"] for file in answer["files"]] == [5, 5, 5]


def test_unneeded_files_are_excluded() -> None:
    shipped = {path.relative_to(FOLDER / "_internal").as_posix() for path in (FOLDER / "_internal").glob("torch/*")}
    assert "torch/test" not in shipped and "torch/include" not in shipped
    left = [path.name for path in (FOLDER / "_internal" / "torch" / "bin").glob("*")]
    assert left in ([], ["torch_shm_manager"]), left


def test_the_cuda_build_has_its_compilers_library_and_no_triton() -> None:
    libraries = [path for path in FOLDER.rglob("libnvrtc*.so.*") if not path.is_symlink()]
    compilers = [path for path in libraries if path.name.startswith("libnvrtc.so")]
    if not compilers:
        pytest.skip("a build without CUDA")
    assert all(list(path.parent.glob("libnvrtc-builtins.so.*")) for path in compilers)
    assert not (FOLDER / "_internal" / "triton").exists()


def test_a_window_job_reports_progress_and_ends_with_its_stdin(tmp_path: Path) -> None:
    """The packaged window starts its own program again for long work."""
    (sample,) = (FOLDER / "_internal" / "resources").glob("sample_*.csv")
    command = [str(PROGRAM), "evaluate", "--json", "--progress-lines", "--data-dir", str(tmp_path), "--", str(sample)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"HOME": str(tmp_path)} if sys.platform != "win32" else None,
        cwd=tmp_path,
    ) as process:
        try:
            assert process.stdin is not None and process.stdout is not None and process.stderr is not None
            next(line for line in process.stderr if line.startswith('{"progress"'))
            process.stdin.close()
            process.stderr.read()
            assert "error" in json.loads(process.stdout.read())
            assert process.wait(timeout=120.0) == 130
        finally:
            process.kill()
