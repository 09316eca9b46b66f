from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from core.domain.clock import ManualClock
from core.settings.tree import Settings
from core.training.hosting import threads
from core.training.hosting.threads import choose_threads, fastest
from tests.core.training import rigs

UNSEEDED = dataclasses.replace(rigs.SMALL, training=dataclasses.replace(rigs.SMALL.training, seed=None))


@pytest.fixture(autouse=True)
def back_to_one() -> Iterator[None]:
    yield
    torch.set_num_threads(1)


def test_a_seeded_run_uses_one_thread_without_measuring(tmp_path: Path) -> None:
    assert choose_threads(rigs.SMALL, tmp_path / "threads.json", ManualClock()) == 1
    assert not (tmp_path / "threads.json").exists()


def test_a_configured_count_is_used(tmp_path: Path) -> None:
    chosen = dataclasses.replace(UNSEEDED, training=dataclasses.replace(UNSEEDED.training, threads=3))
    assert choose_threads(chosen, tmp_path / "threads.json", ManualClock()) == 3


def test_the_count_is_measured_once_per_model(tmp_path: Path) -> None:
    cache = tmp_path / "threads.json"
    first = choose_threads(UNSEEDED, cache, ManualClock())
    (key,) = json.loads(cache.read_text())
    assert first == 1, "on this clock no step takes any time"
    cache.write_text(json.dumps({key: 7}))
    assert choose_threads(UNSEEDED, cache, ManualClock()) == 7
    wider = dataclasses.replace(UNSEEDED, model=dataclasses.replace(UNSEEDED.model, width=16))
    choose_threads(wider, cache, ManualClock())
    assert len(json.loads(cache.read_text())) == 2


@pytest.mark.parametrize("content", ["", "[]", '{"a": "many"}', "{", '{"a": 0}'])
def test_a_broken_cache_is_measured_again(tmp_path: Path, content: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "fastest", lambda counts, _seconds_of: counts[0])
    cache = tmp_path / "threads.json"
    cache.write_text(content)
    assert choose_threads(UNSEEDED, cache, ManualClock()) == 1
    assert list(json.loads(cache.read_text()).values()) == [1]


@given(st.lists(st.floats(1e-4, 1.0), min_size=1, max_size=4))
def test_the_choice_is_never_slower_than_one_thread(seconds: list[float]) -> None:
    counts = [1, 2, 4, 8][: len(seconds)]
    times = dict(zip(counts, seconds, strict=True))
    assert times[fastest(counts, times.__getitem__)] <= times[1]


def test_a_small_gain_is_not_worth_a_second_core() -> None:
    assert fastest([1, 2], {1: 1.0, 2: 0.95}.__getitem__) == 1
    assert fastest([1, 2, 4], {1: 1.0, 2: 0.6, 4: 0.3}.__getitem__) == 4
    assert Settings().training.threads == 0
