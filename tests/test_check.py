"""The files that `make check` chooses, lists and reports; ruff, mypy and pytest are replaced."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from grimp.exceptions import SourceSyntaxError

from tests.support import check
from tests.support.check import choose
from tests.support.touched import ROOT, Near, Touched

PACKAGES = ("core", "desktop", "models")


class FixedNear(Touched):
    """Each changed file is touched by these tests, at these distances."""

    def __init__(self, **distances: int) -> None:
        self._near = [Near(f"tests/{path.replace('__', '/')}.py", distance) for path, distance in distances.items()]

    def by(self, changed: object) -> list[Near]:
        return self._near


@pytest.fixture(scope="module")
def touched() -> Touched:
    return Touched()


@pytest.fixture
def all_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "_is_fast", lambda path: True)


@pytest.fixture
def replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "_lint", lambda: (True, "ruff check .: ok\n"))
    monkeypatch.setattr(check, "_test", lambda files: 0)


def change(monkeypatch: pytest.MonkeyPatch, *paths: str) -> None:
    monkeypatch.setattr(check, "_changed", lambda: list(paths))


def test_a_change_of_any_module_runs_a_test(touched: Touched) -> None:
    modules = [path.relative_to(ROOT).as_posix() for name in PACKAGES for path in (ROOT / name).rglob("*.py")]
    assert len(modules) > 300
    assert [path for path in modules if not choose(touched, [path]).files] == []


@pytest.mark.usefixtures("all_fast")
def test_the_nearest_are_run_if_none_is_within_reach() -> None:
    assert choose(FixedNear(core__test_a=7, core__test_b=9), ["x.py"]).files == (
        "tests/core/test_a.py",
        "tests/core/test_b.py",
    )


@pytest.mark.usefixtures("all_fast")
def test_those_out_of_reach_are_left_out_if_one_is_within() -> None:
    choice = choose(FixedNear(core__test_a=4, core__test_b=5), ["x.py"])
    assert (choice.files, choice.farther) == (("tests/core/test_a.py",), 1)


@pytest.mark.parametrize("path", ["core/domain/events.py", "core/domain/clock.py"])
def test_a_widely_used_module_is_tested_in_several_folders(touched: Touched, path: str) -> None:
    files = choose(touched, [path]).files
    assert len(files) == 12
    assert {"core", "desktop"} < {file.split("/")[1] for file in files}


def test_files_without_a_fast_test_are_not_counted() -> None:
    choice = choose(FixedNear(venue__test_plug=0, faults__test_signals=1, core__domain__test_clock=2), ["x.py"])
    assert (choice.files, choice.slow) == (("tests/core/domain/test_clock.py",), 2)


@pytest.mark.usefixtures("replaced")
def test_changed_files_without_a_test_file_are_listed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    change(monkeypatch, ".ci/icons.py", "README.md", "core/domain/candle_series.py", "resources/icon.svg")
    assert check.main() == 0
    listed = [line for line in capsys.readouterr().out.splitlines() if line.startswith("no test file was chosen")]
    assert len(listed) == 1
    assert ".ci/icons.py, README.md, resources/icon.svg;" in listed[0]


@pytest.mark.usefixtures("replaced")
@pytest.mark.parametrize("paths, exit_code", [(("core/domain/candle_series.py",), 5), ((), 0)])
def test_it_is_reported_that_no_test_was_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], paths: tuple[str, ...], exit_code: int
) -> None:
    change(monkeypatch, *paths)
    monkeypatch.setattr(check, "_test", lambda files: exit_code)
    assert check.main() == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("lint and types are ok; no test was run")


@pytest.mark.usefixtures("replaced")
@pytest.mark.parametrize("error", [SourceSyntaxError("core/domain/clock.py", 3, "def f(:"), UnicodeError("no UTF-8")])
def test_lint_reports_a_file_that_cannot_be_parsed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception
) -> None:
    def fail() -> Touched:
        raise error

    change(monkeypatch, "core/domain/clock.py")
    monkeypatch.setattr(check, "Touched", fail)
    monkeypatch.setattr(check, "_lint", lambda: (False, "invalid-syntax: unexpected EOF\n"))
    assert check.main() == 1
    out = capsys.readouterr().out
    assert str(error) in out
    assert "invalid-syntax" in out
    assert out.splitlines()[-1].startswith("FAILED")


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Run git in an empty repository, in place of the program's."""

    def run(*arguments: str) -> None:
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgSign=false")
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True, capture_output=True)

    run("init", "--initial-branch=main")
    monkeypatch.setattr(check, "ROOT", tmp_path)
    return run


def test_lint_runs_the_commands_of_the_makefile() -> None:
    commands = check.lint_commands()
    names = [command[0] for command in commands]
    assert names == ["ruff", "ruff", "check-jsonschema", "pre-commit", "lint-imports", "mypy"]
    assert any(word.endswith(".yml") and "*" not in word for word in commands[2])


def test_deleted_and_renamed_files_count_as_changes(
    tmp_path: Path, git: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("deleted.py", "straße.py", "kept.py"):
        (tmp_path / name).write_text(f"{len(name)}\n" * 9)
    git("add", ".")
    git("commit", "--message=all")
    git("mv", "straße.py", "renamed.py")
    (tmp_path / "deleted.py").unlink()
    changed = check._changed()
    assert changed == ["deleted.py", "renamed.py", "straße.py"]
    check._announce_changes(changed)
    assert capsys.readouterr().out == "changed: renamed.py\ndeleted: deleted.py, straße.py\n"


def test_without_a_branch_main_changes_are_those_against_origin(
    tmp_path: Path, git: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    git("commit", "--allow-empty", "--message=first")
    git("branch", "--move", "main", "mine")
    git("update-ref", "refs/remotes/origin/main", "HEAD")
    (tmp_path / "new.py").touch()
    git("add", ".")
    git("commit", "--message=second")
    assert check._changed() == ["new.py"]
    git("update-ref", "-d", "refs/remotes/origin/main")
    assert check._changed() == []
    assert "no commit in common with main or origin/main" in capsys.readouterr().out
