from __future__ import annotations

import pytest

from core.settings.tree import from_dict

CASES: list[tuple[dict[str, object], str]] = [
    ({"learning_rate": -1}, "it is -1, and has to be above 0"),
    ({"learning_rate": "fast"}, "it is 'fast', and has to be a number"),
    ({"seed": 1.5}, "it is 1.5, and has to be a whole number"),
    ({"seed": [1]}, "it is a list, and has to be a whole number"),
    ({"host": None}, "it is null, and has to be one of 'process' or 'thread'"),
    ({"device": "x" * 90}, f"it is '{'x' * 59}…, and has to be auto, cpu, cuda, or a GPU by number, such as cuda:1"),
    ({"precision": "half"}, "it is 'half', and has to be one of 'float32', 'bfloat16' or 'float16'"),
]


@pytest.mark.parametrize(("given", "message"), CASES)
def test_a_warning_names_the_value_the_allowed_range_and_the_action(given: dict[str, object], message: str) -> None:
    (name,) = given
    settings, warnings = from_dict({"training": given})
    (warning,) = warnings
    assert warning.startswith(f"Setting 'training.{name}' was dropped: {message}")
    assert warning.endswith("; its default is used.")
    assert getattr(settings.training, name) == getattr(from_dict({})[0].training, name)


def test_an_unknown_setting_has_no_default() -> None:
    _, warnings = from_dict({"of_the_future": 1, "model": {"depth": 3}})
    assert set(warnings) == {
        "Setting 'of_the_future' was dropped: this version has no such setting.",
        "Setting 'model.depth' was dropped: this version has no such setting.",
    }


def test_an_invalid_group_gets_defaults_and_an_invalid_list_entry_is_dropped() -> None:
    settings, warnings = from_dict({"model": 7, "market": {"fallback_venues": ["binance", "BAD!"]}})
    assert (
        "Setting 'model' was dropped: it is 7, and has to be a table of names and values; its defaults are used."
        in (warnings)
    )
    (venue,) = (warning for warning in warnings if "fallback_venues.1" in warning)
    assert "'BAD!'" in venue and "default" not in venue and settings.market.fallback_venues == ("binance",)
