"""The catalog against plain Python over the same checkpoints."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.checkpoints.catalog import Catalog, CheckpointRow
from core.checkpoints.expression import Moment, parse
from core.domain.candle import Interval, Market
from tests.core.checkpoints import samples

NOW = Moment(samples.NOW_MS)


def shown(catalog: Catalog, typed: str) -> list[int]:
    return [catalog[row].sequence for row in catalog.rows(parse(typed, NOW), samples.NOW_MS)]


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
        ("skill > 1%", [1, 4]),
        ("skill = unknown", [2, 3]),
        ("skill != 0.02", [4]),
        ("not skill > 0.01", [2, 3]),
        ("loss < 1", [1, 3]),
        ("note contains CALM", [1]),
        ("tags = keep", [2]),
        ("tags = night", []),
        ("tags contains night", [2]),
        ("tags != keep", []),
        ("device = unknown", [1, 2, 4]),
        ("best", [1]),
        ("pinned or run = run-2", [1, 3, 4]),
        ("verified", [3]),
        ("damaged", [4]),
        ("step >= 30 and not known_good", [4]),
        ("night", [1, 2]),
        ("night keep", [2]),
        ("pinned", [1]),
        ("age < 1 d", [1, 2, 3, 4]),
        ("when > 2027-01-01", []),
        ("", [1, 2, 3, 4]),
    ],
)
def test_a_filter_selects_matching_rows(four: Catalog, typed: str, expected: list[int]) -> None:
    assert shown(four, typed) == expected


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("symbol = BTC/USDT", [1, 2]),
        ("symbol = eth/usdt", [2]),
        ("symbol != ETH/USDT", [1]),
        ("symbol contains eth", [2]),
        ("symbol = USDT", []),
        ("sol/", []),
        ("eth/", [2]),
    ],
)
def test_a_model_of_several_markets_is_found_by_each_of_them(typed: str, expected: list[int]) -> None:
    others = (Market("kraken", "ETH/USDT", Interval(samples.MINUTE_MS)),)
    assert shown(samples.catalog(samples.kept(1), replace(samples.kept(2), others=others)), typed) == expected


def test_an_imported_checkpoint_is_never_the_best() -> None:
    """Only the original run can rank it: its other checkpoints are unknown here."""
    catalog = samples.catalog(samples.kept(1, "imported-run-7", skill=0.9), samples.kept(2, skill=0.02))
    assert shown(catalog, "best") == [2] and catalog.best_of("imported-run-7") is None


def test_a_diverged_checkpoint_is_never_the_best() -> None:
    catalog = samples.catalog(samples.kept(1, skill=0.9, health="diverged"), samples.kept(2, skill=0.1))
    assert shown(catalog, "best") == [2]


def test_a_checkpoint_worse_than_no_model_is_never_the_best() -> None:
    harm = samples.kept(1, skill=0.9, model_gain=-0.003)
    catalog = samples.catalog(harm, samples.kept(2, skill=-0.1), samples.kept(3, skill=-0.1, model_gain=0.01))
    assert catalog.best_of("run-1") is None and shown(catalog, "best") == []
    catalog.put([samples.kept(4, skill=0.02, model_gain=0.0)])
    assert shown(catalog, "best") == [4]


def test_a_missing_number_is_never_the_best(four: Catalog) -> None:
    assert four.best_of("run-1").step == 10  # type: ignore[union-attr]
    assert four.best_of("run-2") is None, "one is no number, the other not known good"
    for is_descending in (False, True):
        order = four.ordered(np.arange(4), "skill", is_descending)
        assert [four[row].sequence for row in order] == [1, 3, 2, 4]


def test_a_diverged_checkpoint_is_not_known_good() -> None:
    catalog = samples.catalog(samples.kept(1, health="healthy"), samples.kept(2, health="diverged"), samples.kept(3))
    assert shown(catalog, "known_good") == [1, 3]
    assert shown(catalog, "not known_good") == [2]


@pytest.mark.parametrize("name", ["skill", "shown_skill", "loss", "coverage", "evaluated"])
def test_no_diverged_checkpoint_ranks_above_an_unscored_healthy_one(name: str) -> None:
    """For example a restored checkpoint, which has no score before 100 candles."""
    rows = [
        samples.kept(1, skill=0.02, shown_skill=0.03, loss=0.3, coverage=0.9, health="healthy"),
        samples.kept(2, skill=-0.85, shown_skill=0.01, loss=14.2, coverage=0.1, health="diverged"),
        samples.kept(3, skill=0.05, shown_skill=0.04, loss=0.2, coverage=0.95, health="diverged"),
        samples.kept(4, skill=0.01, shown_skill=0.02, loss=0.4, coverage=0.8, health="always clipping"),
        samples.kept(5, skill=0.9, shown_skill=0.9, loss=0.1, coverage=1.0, is_known_good=False),
        samples.kept(6, health="too early to tell", reason="restore"),
        samples.kept(7),
    ]
    catalog = samples.catalog(*rows)
    for is_descending in (False, True):
        order = [catalog[row].sequence for row in catalog.ordered(np.arange(len(rows)), name, is_descending)]
        assert set(order[:4]) == {1, 4, 6, 7} and set(order[4:]) == {2, 3, 5}
        assert name == "evaluated" or order[2:4] == [7, 6], "what is not known comes after what is"
    by_step = [catalog[row].sequence for row in catalog.ordered(np.arange(len(rows)), "step", False)]
    assert by_step == [1, 2, 3, 4, 5, 6, 7], "an order of time is one of all"


def test_the_in_use_mark_moves(four: Catalog) -> None:
    four.use(four[1].info.checkpoint_id)
    assert shown(four, "in use") == shown(four, "in_use") == [2] and four.info(1).is_in_use
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


@given(kept_rows(), st.sampled_from(["skill", "loss", "note", "step", "run", "best"]), st.booleans())
def test_sorting_equals_python_sort(rows: list[CheckpointRow], name: str, is_descending: bool) -> None:
    catalog = samples.catalog(*rows)
    order = catalog.ordered(np.arange(len(rows)), name, is_descending)

    def key(row: int) -> tuple:
        info = catalog.info(row)
        is_wreck = name in ("skill", "loss") and (info.health == "diverged" or not info.is_known_good)
        value = {"note": info.note.casefold(), "run": info.run_id, "best": float(info.is_best)}.get(
            name, getattr(info, name, None)
        )
        if value is None or value == "" or (isinstance(value, float) and not math.isfinite(value)):
            return (is_wreck, 1, 0, -catalog[row].sequence)
        if isinstance(value, str):
            rank = sorted({"a", "ab", "b", "run-1", "run-2"}).index(value)
            value = rank
        return (is_wreck, 0, -value if is_descending else value, -catalog[row].sequence)

    assert list(order) == sorted(range(len(rows)), key=key)


@settings(max_examples=60)
@given(kept_rows(), st.randoms(use_true_random=False))
def test_incremental_changes_equal_a_full_rebuild(rows: list[CheckpointRow], random_choice: random.Random) -> None:
    patched = Catalog()
    there: dict[str, CheckpointRow] = {}
    for row in rows:
        patched.number("best")
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
    assert [patched[row] for row in range(len(patched))] == list(there.values())
    for typed in ("note = new", "skill > 0", "best", "run contains 1", "known_good", "new"):
        assert shown(patched, typed) == shown(rebuilt, typed)
    for name in ("skill", "note", "run"):
        rows_of = np.arange(len(rebuilt))
        assert list(patched.ordered(rows_of, name, True)) == list(rebuilt.ordered(rows_of, name, True))


def test_adding_many_at_once_equals_one_by_one() -> None:
    many = samples.many(300)
    single = Catalog()
    for row in range(len(many)):
        single.put([many[row]])
    for typed in ("skill > 0.01 and step > 500", "tags = kept", "parent contains 12", "note 100"):
        assert shown(many, typed) == shown(single, typed) and shown(many, typed)
