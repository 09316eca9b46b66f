from __future__ import annotations

import pytest

from core.settings.tree import Settings, from_dict

CASES: list[tuple[dict[str, object], str]] = [
    ({"learning_rate": -1}, "it should be greater than 0, and is -1"),
    ({"seed": 1.5}, "it should be a valid integer, got a number with a fractional part, and is 1.5"),
    ({"seed": [1]}, "it should be a valid integer"),
    ({"host": None}, "it should be 'process' or 'thread', and is None"),
    ({"device": "x" * 90}, f"it is '{'x' * 59}…, and has to be auto, cpu, cuda, or a GPU by number, such as cuda:1"),
]


@pytest.mark.parametrize(("given", "message"), CASES)
def test_a_warning_names_the_setting_the_value_and_what_is_allowed(given: dict[str, object], message: str) -> None:
    (name,) = given
    settings, warnings = from_dict({"training": given})
    assert warnings == (f"Setting 'training.{name}' was dropped: {message}.",)
    assert getattr(settings.training, name) == getattr(from_dict({})[0].training, name)


def test_an_unknown_setting_has_no_default() -> None:
    _, warnings = from_dict({"of_the_future": 1, "model": {"depth": 3}})
    assert set(warnings) == {
        "Setting 'of_the_future' was dropped: this version has no such setting.",
        "Setting 'model.depth' was dropped: this version has no such setting.",
    }


def test_an_invalid_group_and_an_invalid_list_entry_are_dropped() -> None:
    settings, warnings = from_dict({"model": 7, "market": {"fallback_venues": ["binance", "BAD!", "kraken", 7]}})
    assert {warning.split("'")[1] for warning in warnings} == {
        "model",
        "market.fallback_venues.1",
        "market.fallback_venues.3",
    }
    assert settings.market.fallback_venues == ("binance", "kraken") and settings.model == Settings().model
