from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.sweeps.plan import SettingRange, Values
from core.sweeps.typed_values import read_seeds, read_values, sweepable, values_text

RATE, WIDTH = "training.learning_rate", "model.width"


@pytest.mark.parametrize(
    ("key", "typed", "values"),
    [
        (WIDTH, "32, 64", (32, 64)),
        (WIDTH, " 32;64 ; 128", (32, 64, 128)),
        (RATE, "1e-4", (0.0001,)),
        ("training.schedule", "constant, cosine", ("constant", "cosine")),
        ("training.cuda_graphs", "true, false", (True, False)),
    ],
)
def test_a_list_is_in_the_type_of_its_setting(key: str, typed: str, values: Values) -> None:
    found = read_values(key, typed)
    assert found == values and [type(each) for each in found] == [type(each) for each in values]  # type: ignore[union-attr]


def test_a_range_may_be_logarithmic() -> None:
    found = read_values(RATE, "0.0001 to 0.01 in 3 steps, log")
    assert isinstance(found, SettingRange) and found.values() == (0.0001, 0.001, 0.01)
    assert read_values(WIDTH, "16 to 64 in 4").values() == (16, 32, 48, 64)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("key", "typed", "fault"),
    [
        (WIDTH, "", "one value or several"),
        (WIDTH, "4", "greater than or equal to 8"),
        (WIDTH, "32, wide", "integer"),
        (WIDTH, "32, 32", "twice"),
        (WIDTH, "16 to 64", "number of values"),
        (WIDTH, "64 to 16 in 3", "ascends"),
        (RATE, "0 to 1 in 3", "greater than 0"),
        ("training.schedule", "linear", "'constant'"),
        ("training.schedule", "constant to cosine in 2", "only numbers"),
    ],
)
def test_a_fault_is_said_in_words(key: str, typed: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        read_values(key, typed)


def test_a_range_that_is_drawn_from_needs_no_steps() -> None:
    found = read_values(WIDTH, "16 to 64", needs_steps=False)
    assert isinstance(found, SettingRange) and found.steps is None


@given(st.lists(st.floats(1e-7, 1.0), min_size=1, max_size=4, unique=True))
def test_values_are_read_as_they_were_written(rates: list[float]) -> None:
    assert read_values(RATE, values_text(tuple(rates))) == tuple(rates)


def test_seeds_are_a_list_or_a_range() -> None:
    assert read_seeds("0, 3;4") == (0, 3, 4) and read_seeds(" 2 to 4 ") == (2, 3, 4)
    for wrong in ("one", "4 to 2"):
        with pytest.raises(ValueError, match=r"seeds|whole numbers"):
            read_seeds(wrong)


def test_what_a_sweep_sets_otherwise_cannot_be_varied() -> None:
    keys = sweepable()
    assert {RATE, WIDTH} <= keys.keys()
    assert not {"training.seed", "training.device", "model.challengers"} & keys.keys()
