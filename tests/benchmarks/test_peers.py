"""The peers' environment: created once, or an error message."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.chart.rig import MeasureError
from tests.benchmarks.peers import PeerEnvironment, measure_finplot


def without_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """For uv and for pip."""
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "empty"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")


@pytest.mark.parametrize("uv", ["/bin/uv", None])
def test_a_failed_installation_is_reported_and_retried_later(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, uv: str | None
) -> None:
    ran: list[list[str]] = []
    is_online = False

    def run(command: list[str], **_options: object) -> subprocess.CompletedProcess[str]:
        ran.append(command)
        if "venv" in command:
            Path(command[-1]).mkdir(parents=True)
        has_failed = "install" in command and not is_online
        return subprocess.CompletedProcess(command, int(has_failed), "", "No route to host.\n" if has_failed else "")

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(shutil, "which", lambda _name: uv)
    environment, said = PeerEnvironment(tmp_path, ("one==1",)), []
    for _ in range(2):
        with pytest.raises(MeasureError, match=r"could not be installed: No route to host\..*network"):
            environment.prepare(said.append)
    is_online = True
    environment.prepare(said.append)
    assert len(said) == 3 and len(ran) == 6 and all(command[-1] == "one==1" for command in ran[1::2])
    assert {command[0] for command in ran[::2]} == {uv or sys.executable}
    environment.prepare(said.append)
    assert len(said) == 3, "it is there"


@pytest.mark.slow
@pytest.mark.parametrize("has_uv", [True, False])
def test_without_a_network_the_installers_fail_with_a_message(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, has_uv: bool
) -> None:
    without_network(monkeypatch, tmp_path)
    if not has_uv:
        monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with pytest.raises(MeasureError, match=r"could not be installed.*network"):
        PeerEnvironment(tmp_path).prepare(lambda sentence: None)


def test_an_existing_environment_is_reused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without_network(monkeypatch, tmp_path)
    said: list[str] = []
    environment = PeerEnvironment(tmp_path, packages=())
    environment.python.parents[1].mkdir(parents=True)
    (environment.python.parents[1] / "ready").touch()
    environment.prepare(said.append)
    assert said == []


def test_other_versions_get_another_environment(tmp_path: Path) -> None:
    assert PeerEnvironment(tmp_path, ("one==1",)).python != PeerEnvironment(tmp_path, ("one==2",)).python


@pytest.mark.slow
def test_finplot_is_measured(tmp_path: Path) -> None:
    environment = PeerEnvironment(tmp_path)
    try:
        environment.prepare(print)
    except MeasureError as error:
        pytest.skip(str(error))
    found = measure_finplot(environment, (1_000,), 20, print)["1000"]
    assert found["size"] == [1600, 900]
    assert 290 <= found["in_view"] <= 320
    assert found["tick_ms"]["samples"] == 20 and 0.0 < found["tick_ms"]["p50"] <= found["tick_ms"]["p99"]
