"""The catalog against plain Python over the same checkpoints."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.checkpoints.catalog import Catalog
from core.checkpoints.filtering import parse
from core.checkpoints.row import CheckpointRow
from core.domain.candle import Interval, Market
from core.domain.dates import local_text
from tests.core.checkpoints import samples


def shown(catalog: Catalog, typed: str) -> list[int]:
    return [row.sequence for row in catalog.rows(parse(typed), now_ms=samples.NOW_MS, is_descending=False)]


def ordered(catalog: Catalog, name: str, *, is_descending: bool) -> list[int]:
    return [row.sequence for row in catalog.rows(order_by=name, is_descending=is_descending)]


def best_of(catalog: Catalog, run_id: str) -> int | None:
    return next((row.info.step for row in catalog.of_run(run_id) if row.info.is_best), None)


@pytest.fixture
def four() -> Catalog:
    return samples.catalog(
        samples.kept(1, skill=0.02, loss=0.3, note="Calm night", is_pinned=True),
        samples.kept(2, skill=None, loss=float("nan"), tags=("keep", "night-run")),
        samples.kept(3, "run-2", skill=float("nan"), loss=0.1, device="CUDA: card", verified_at_ms=5),
        samples.kept(4, "run-2", skill=0.05, is_known_good=False, name="Try", fault="It was cut short."),
    )


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("score > 1", [1, 4]),
        ("score is null", [2, 3]),
        ("score != 2", [4]),
        ("not score > 1", []),
        ("loss < 1", [1, 3]),
        ("note like 'CALM%'", [1]),
        ("tags like '%keep%'", [2]),
        ("tags = 'keep, NIGHT-run'", [2]),
        ("tag:keep", [2]),
        ("tag:Night-Run night", [2]),
        ("tag:night", []),
        ("tags:keep and loss is null or tag:none", [2]),
        ("not tag:keep and step < 40", [1, 3]),
        ("keep", [2]),
        ("device is null", [1, 2, 4]),
        ("best", [1]),
        ("pinned or run = 'run-2'", [1, 3, 4]),
        ("verified", [3]),
        ("damaged", [4]),
        ("step >= 30 and not known_good", [4]),
        ("step = (select max(step) from checkpoints)", [4]),
        ("night", [1, 2]),
        ("night keep", [2]),
        ("pinned", [1]),
        ("age < 1", [1, 2, 3, 4]),
        ("age < 0.5", []),
        ("size > 1.4 and size < 1.5", [1, 2, 3, 4]),
        ("saved > 2027-01-01", []),
        ("", [1, 2, 3, 4]),
    ],
)
def test_a_filter_selects_matching_rows(four: Catalog, typed: str, expected: list[int]) -> None:
    assert shown(four, typed) == expected


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("symbol like '%BTC/USDT%'", [1, 2]),
        ("symbol like '%eth/usdt%'", [2]),
        ("symbol not like '%ETH/USDT%'", [1]),
        ("sol/", []),
        ("eth/", [2]),
    ],
)
def test_a_model_of_several_markets_is_found_by_each_of_them(typed: str, expected: list[int]) -> None:
    others = (Market("kraken", "ETH/USDT", Interval(samples.MINUTE_MS)),)
    assert shown(samples.catalog(samples.kept(1), replace(samples.kept(2), others=others)), typed) == expected


def test_a_time_is_compared_as_text_in_the_zone_of_the_machine() -> None:
    catalog = samples.catalog(samples.kept(1), samples.kept(2))
    minute = local_text(samples.kept(2).info.created_at_ms, "%Y-%m-%d %H:%M")
    assert shown(catalog, f"saved >= {minute}") == [2] and shown(catalog, f"date(saved) = {minute[:10]}") == [1, 2]


def test_what_is_not_proven_matches_no_comparison() -> None:
    proven = samples.kept(1, model_gain=0.07, gain_low=0.01, gain_high=0.12)
    catalog = samples.catalog(proven, samples.kept(2, model_gain=0.09, gain_low=-0.01, gain_high=0.2))
    assert shown(catalog, "adds > 6") == shown(catalog, "adds > 6 %") == [1]
    assert shown(catalog, "adds is null") == [2] and shown(catalog, "adds_high > 10") == [1, 2]


def test_an_imported_checkpoint_is_never_the_best() -> None:
    """Only the original run can rank it: its other checkpoints are unknown here."""
    catalog = samples.catalog(samples.kept(1, "imported-run-7", skill=0.9), samples.kept(2, skill=0.02))
    assert shown(catalog, "best") == [2] and best_of(catalog, "imported-run-7") is None


def test_a_missing_number_is_never_the_best(four: Catalog) -> None:
    assert best_of(four, "run-1") == 10
    assert best_of(four, "run-2") is None, "one is no number, the other not known good"
    for is_descending in (False, True):
        assert ordered(four, "score", is_descending=is_descending) == [1, 3, 2, 4]


def test_a_diverged_checkpoint_is_not_known_good() -> None:
    catalog = samples.catalog(samples.kept(1, health="healthy"), samples.kept(2, health="diverged"), samples.kept(3))
    assert shown(catalog, "known_good") == [1, 3]
    assert shown(catalog, "not known_good") == [2]


@pytest.mark.parametrize("name", ["score", "adds_low", "loss", "coverage", "evaluated"])
def test_no_diverged_checkpoint_ranks_above_an_unscored_healthy_one(name: str) -> None:
    """For example a restored checkpoint, which has no score before 100 candles."""
    rows = [
        samples.kept(1, skill=0.02, gain_low=0.03, loss=0.3, coverage=0.9, health="healthy"),
        samples.kept(2, skill=-0.85, gain_low=0.01, loss=14.2, coverage=0.1, health="diverged"),
        samples.kept(3, skill=0.05, gain_low=0.04, loss=0.2, coverage=0.95, health="diverged"),
        samples.kept(4, skill=0.01, gain_low=0.02, loss=0.4, coverage=0.8, health="always clipping"),
        samples.kept(5, skill=0.9, gain_low=0.9, loss=0.1, coverage=1.0, is_known_good=False),
        samples.kept(6, health="too early to tell", reason="restore"),
        samples.kept(7),
    ]
    catalog = samples.catalog(*rows)
    for is_descending in (False, True):
        order = ordered(catalog, name, is_descending=is_descending)
        assert set(order[:4]) == {1, 4, 6, 7} and set(order[4:]) == {2, 3, 5}
        assert name == "evaluated" or order[2:4] == [7, 6], "what is not known comes after what is"
    assert ordered(catalog, "step", is_descending=False) == [1, 2, 3, 4, 5, 6, 7], "an order of time is one of all"


def test_the_in_use_mark_moves(four: Catalog) -> None:
    two = samples.kept(2).info.checkpoint_id
    four.use(two)
    assert shown(four, "in use") == shown(four, "in_use") == [2] and four.get(two).info.is_in_use  # type: ignore[union-attr]
    four.put([samples.kept(2, note="read again")])
    assert shown(four, "in_use") == [2]
    four.use(None)
    assert shown(four, "in_use") == []


NUMBERS = st.none() | st.sampled_from([0.0, 0.1, -0.2, math.nan, math.inf]) | st.floats(-1, 1)


@st.composite
def kept_rows(draw: st.DrawFn) -> list[CheckpointRow]:
    count = draw(st.integers(0, 12))
    return [
        samples.kept(
            number,
            draw(st.sampled_from(["run-1", "run-2"])),
            skill=draw(NUMBERS),
            loss=draw(NUMBERS),
            note=draw(st.sampled_from(["", "a", "B", "ab"])),
            is_known_good=draw(st.booleans()),
            health=draw(st.sampled_from([None, "healthy", "diverged"])),
        )
        for number in range(count)
    ]


@given(kept_rows(), st.sampled_from(["score", "loss", "note", "step", "run", "best"]), st.booleans())
def test_sorting_equals_python_sort(rows: list[CheckpointRow], name: str, is_descending: bool) -> None:
    catalog = samples.catalog(*rows)

    def key(row: CheckpointRow) -> tuple:
        info = row.info
        is_wreck = name in ("score", "loss") and (info.health == "diverged" or not info.is_known_good)
        value = {
            "score": info.skill,
            "note": info.note.casefold(),
            "run": info.run_id,
            "best": float(info.is_best),
        }.get(name, getattr(info, name, None))
        if value is None or value == "" or (isinstance(value, float) and not math.isfinite(value)):
            return (is_wreck, 1, 0, -row.sequence)
        if isinstance(value, str):
            value = sorted({"a", "ab", "b", "run-1", "run-2"}).index(value)
        return (is_wreck, 0, -value if is_descending else value, -row.sequence)

    found = ordered(catalog, name, is_descending=is_descending)
    assert found == [row.sequence for row in sorted(catalog, key=key)]


@settings(max_examples=60)
@given(kept_rows(), st.randoms(use_true_random=False))
def test_incremental_changes_equal_a_full_rebuild(rows: list[CheckpointRow], random_choice: random.Random) -> None:
    patched = Catalog()
    there: dict[str, CheckpointRow] = {}
    for row in rows:
        best_of(patched, "run-1")
        patched.put([row])
        there[row.info.checkpoint_id] = row
        if random_choice.random() < 0.3:
            chosen = random_choice.choice(list(there))
            changed = replace(there[chosen], info=replace(there[chosen].info, note="new", skill=random_choice.random()))
            patched.put([changed])
            there[chosen] = changed
        if random_choice.random() < 0.3:
            chosen = random_choice.choice(list(there))
            patched.remove([chosen, "unknown"])
            del there[chosen]
    rebuilt = samples.catalog(*there.values())
    assert list(patched) == list(rebuilt) and len(patched) == len(there)
    for typed in ("note = 'new'", "score > 0", "best", "run like '%1'", "known_good", "new"):
        assert shown(patched, typed) == shown(rebuilt, typed)
    for name in ("score", "note", "run"):
        assert ordered(patched, name, is_descending=True) == ordered(rebuilt, name, is_descending=True)
