"""The peers' environment: made once, and a sentence where it cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from desktop.benchmark.peers import PeerEnvironment, measure_finplot, paired_ticks
from desktop.benchmark.rig import MeasureError


def without_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """For uv and for pip."""
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "empty"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")


@pytest.mark.parametrize("has_uv", [True, False])
def test_without_a_network_it_is_said_and_tried_again_later(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, has_uv: bool
) -> None:
    without_network(monkeypatch, tmp_path)
    if not has_uv:
        monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    environment = PeerEnvironment(tmp_path)
    for _ in range(2 if has_uv else 1):  # venv takes seconds
        with pytest.raises(MeasureError, match=r"could not be installed.*network"):
            environment.prepare(lambda sentence: None)


def test_what_is_there_is_not_installed_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without_network(monkeypatch, tmp_path)
    said: list[str] = []
    environment = PeerEnvironment(tmp_path, packages=())
    environment.python.parents[1].mkdir(parents=True)
    (environment.python.parents[1] / "ready").touch()
    environment.prepare(said.append)
    assert said == []


def test_a_list_of_other_versions_is_another_environment(tmp_path: Path) -> None:
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


@pytest.mark.slow
def test_the_ratio_is_that_of_the_quietest_turns(qtbot: QtBot, tmp_path: Path) -> None:
    environment = PeerEnvironment(tmp_path)
    try:
        environment.prepare(print)
    except MeasureError as error:
        pytest.skip(str(error))
    found = paired_ticks(environment, 20, print)
    assert found["size"] == 10_000 and len(found["pairs"]) == 5
    ours, theirs = (min(pair[name] for pair in found["pairs"]) for name in ("ours_p50", "finplot_p50"))
    assert found["ratio"] == theirs / ours > 1.0
