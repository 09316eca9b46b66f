"""The filter language: accepted expressions and error messages."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.checkpoints.columns import BY_NAME, COLUMNS, Kind
from core.checkpoints.expression import (
    Compare,
    Completion,
    Every,
    FilterError,
    Moment,
    Not,
    Operator,
    Period,
    Some,
    Words,
    complete,
    parse,
)

NOW = Moment(1_795_234_567_000, UTC)  # 2026-11-21


def compare(name: str, operator: str, value: object) -> Compare:
    return Compare(BY_NAME[name], Operator(operator), value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("skill > 0.01 and step > 500", Every((compare("skill", ">", 0.01), compare("step", ">", 500.0)))),
        ("SKILL>1% AND Step ≥ 12,340", Every((compare("skill", ">", 0.01), compare("step", ">=", 12_340.0)))),
        ("skill < −0.5", compare("skill", "<", -0.5)),
        ("size <= 1.5 MB", compare("size", "<=", 1.5e6)),
        ("age < 36 h", compare("age", "<", 36 * 3_600_000.0)),
        ("age < 7", compare("age", "<", 7 * 86_400_000.0)),
        ("interval = 15m", compare("interval", "=", "15m")),
        ("symbol = BTC/USDT", compare("symbol", "=", "btc/usdt")),
        ("run = 20261121-101530-ab12", compare("run", "=", "20261121-101530-ab12")),
        ('note contains "Calm and (quiet)"', compare("note", "contains", "calm and (quiet)")),
        ("tag = keep or score <> unknown", Some((compare("tags", "=", "keep"), compare("skill", "!=", None)))),
        ("best and not pinned", Every((compare("best", "=", True), Not(compare("pinned", "=", True))))),
        ("verified = no", compare("verified", "=", False)),
        ("not not (best)", Not(Not(compare("best", "=", True)))),
        ("halved rate", Words(("halved", "rate"))),
        ("don't (", None),
        ("", None),
    ],
)
def test_a_filter_text_selects_the_expected_rows(typed: str, meant: object) -> None:
    if typed.startswith("don't"):
        with pytest.raises(FilterError):
            parse(typed, NOW)
    else:
        assert parse(typed, NOW) == meant


def test_and_binds_more_than_or() -> None:
    a, b, c = (compare(name, "=", True) for name in ("best", "pinned", "verified"))
    assert parse("best or pinned and verified", NOW) == Some((a, Every((b, c))))
    assert parse("(best or pinned) and verified", NOW) == Every((Some((a, b)), c))


def test_days_follow_the_time_zone() -> None:
    zone = ZoneInfo("Europe/Berlin")
    tree = parse("when = 2026-10-25", Moment(NOW.now_ms, zone))
    assert isinstance(tree, Compare) and isinstance(tree.value, Period)
    assert tree.value.stop_ms - tree.value.first_ms == 25 * 3_600_000, "clocks go back that night"
    assert datetime.fromtimestamp(tree.value.first_ms / 1000, zone).isoformat() == "2026-10-25T00:00:00+02:00"


@pytest.mark.parametrize(
    ("name", "first", "stop"),
    [
        ("this week", "2026-11-16", "2026-11-23"),
        ("last week", "2026-11-09", "2026-11-16"),
        ("this month", "2026-11-01", "2026-12-01"),
        ("last month", "2026-10-01", "2026-11-01"),
    ],
)
def test_weeks_and_months_by_name(name: str, first: str, stop: str) -> None:
    """The 21st of November 2026 is a Saturday; 2026-10-25 has 25 hours in Berlin."""
    for zone in (UTC, ZoneInfo("Europe/Berlin")):
        wanted = Period(
            *(round(datetime.fromisoformat(day).replace(tzinfo=zone).timestamp() * 1000) for day in (first, stop))
        )
        moment = Moment(NOW.now_ms, zone)
        for typed in (f"when = {name}", f'when = "{name.title()}"', f"(when = {name})"):
            tree = parse(typed, moment)
            assert isinstance(tree, Compare) and tree.value == wanted, typed
        alone = parse(name, moment)
        assert isinstance(alone, Some), "it may be what is meant, or words of a note"
        assert alone.parts == (Words(tuple(name.split())), parse(f"when = {name}", moment))


def test_time_names_are_suggested_for_a_missing_time() -> None:
    assert complete("when = la", 9) == Completion(7, ("last week", "last month"))
    assert complete("when >= ", 8).words[0] == "today"
    assert complete("pinned = ", 9).words == ("yes", "no")
    assert complete("step > ", 7).words == ()


def test_today_and_a_minute() -> None:
    today = parse("when >= today", NOW)
    assert isinstance(today, Compare) and today.value == parse("when >= 2026-11-21", NOW).value  # type: ignore[union-attr]
    minute = parse('when = "2026-11-21 14:30"', NOW)
    assert isinstance(minute, Compare) and isinstance(minute.value, Period)
    assert minute.value.stop_ms - minute.value.first_ms == 60_000


@pytest.mark.parametrize(
    ("typed", "place", "word"),
    [
        ("skil > 0.01", (0, 4), "skill"),
        ("skill >", (7, 8), "value"),
        ("skill > fast", (8, 12), "number"),
        ("score > fast", (8, 12), "“score” is compared"),
        ("skill > 3 MB", (8, 12), "MB"),
        ("skill contains 3", (6, 14), "text"),
        ("note > 3", (5, 6), "contains"),
        ("pinned < yes", (7, 8), "yes or no"),
        ("pinned = maybe", (9, 14), "yes or no"),
        ("(best or pinned", (0, 1), "not closed"),
        ("best)", (4, 5), "without"),
        ("best and", (8, 9), "column"),
        ("and best", (0, 3), "column"),
        ("best = yes pinned", (11, 17), "missing"),
        ("when > 3", (7, 8), "2026"),
        ("when > 2026-13-40", (7, 17), "2026"),
        ("skill > 1 & best", (10, 11), "&"),
        ('note = "open', (7, 12), "not closed"),
        ("step and best", (5, 8), "comparison"),
        ("not " * 60 + "best", None, "simplify"),
        ("best or " * 300 + "best", None, "longer"),
    ],
)
def test_an_error_carries_its_position(typed: str, place: tuple[int, int] | None, word: str) -> None:
    with pytest.raises(FilterError, match=word) as error:
        parse(typed, NOW)
    assert str(error.value).endswith((".", "?", ")")) or "There are:" in str(error.value)
    if place is not None:
        assert (error.value.start, error.value.end) == place


@settings(max_examples=30)
@given(st.text(max_size=60) | st.text(alphabet="skill step()<>=!\"' and or not 019.,-%MB", max_size=60))
def test_any_text_is_parsed_or_refused_with_an_explanation(typed: str) -> None:
    try:
        parse(typed, NOW)
    except FilterError as error:
        assert str(error) and 0 <= error.start < error.end


VALUES = {
    Kind.NUMBER: "3",
    Kind.SHARE: "1 %",
    Kind.BYTES: "2 KB",
    Kind.TIME: "2026-01-02",
    Kind.AGE: "3 h",
    Kind.TEXT: "word",
    Kind.TAGS: "word",
    Kind.LINES: "word",
    Kind.FLAG: "yes",
}


@given(st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=6), st.data())
def test_every_column_can_be_filtered(columns: list, data: st.DataObject) -> None:
    parts = [f"{column.name} = {VALUES[column.kind]}" for column in columns]
    joined = parts[0]
    for part in parts[1:]:
        joined += data.draw(st.sampled_from([" and ", " or ", " and not "])) + part
    assert parse(joined, NOW) is not None


@pytest.mark.parametrize(
    ("typed", "offered", "not_offered"),
    [
        ("", "skill", "and"),
        ("sk", "skill_low", "step"),
        ("skill > 0.01 an", "and", "age"),
        ("skill > 0.01 and st", "step", "and"),
        ("note con", "contains", "coverage"),
        ("best ", "or", "skill"),
        ("not (", "pinned", "and"),
    ],
)
def test_fitting_names_are_completed(typed: str, offered: str, not_offered: str) -> None:
    found = complete(typed, len(typed))
    assert offered in found.words and not_offered not in found.words
    assert offered.startswith(typed[found.start :])


def test_values_get_no_suggestions() -> None:
    assert complete("skill > ", 8).words == ()
    assert complete('note = "a b', 11).words == ()


@pytest.mark.hostile
@pytest.mark.parametrize("day", ["0001-01-01", "1969-12-31", "9999-12-31", "9999-12-31 23:59", '"9999-12-31T23:59"'])
@pytest.mark.parametrize("zone", [None, UTC, ZoneInfo("Pacific/Kiritimati"), ZoneInfo("Pacific/Niue")])
def test_a_year_outside_the_calendar_is_refused(day: str, zone: tzinfo | None) -> None:
    with pytest.raises(FilterError, match="Years run from 1971 to 9998 here"):
        parse(f"when > {day}", Moment(NOW.now_ms, zone))


@pytest.mark.parametrize("day", ["1971-01-01", "9998-12-31", "9998-12-31 23:59"])
@pytest.mark.parametrize("zone", [None, UTC, ZoneInfo("Pacific/Kiritimati"), ZoneInfo("Pacific/Niue")])
def test_the_first_and_last_year_are_accepted(day: str, zone: tzinfo | None) -> None:
    found = parse(f"when > {day}", Moment(NOW.now_ms, zone))
    assert isinstance(found, Compare) and isinstance(found.value, Period)


@pytest.mark.hostile
@pytest.mark.parametrize("name", ["today", "yesterday", "this week", "last week", "this month", "last month"])
def test_named_times_work_in_the_year_9000(name: str) -> None:
    assert parse(name, Moment(221_845_392_000_000, UTC)) is not None
