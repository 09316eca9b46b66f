"""The filter: what is accepted, what is refused and with which sentence, and what it can never do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.checkpoints.columns import COLUMNS, INSERT, NAMES, TABLE, values
from core.checkpoints.filtering import LONGEST, Completion, Filter, FilterError, complete, hint, matching, parse
from tests.core.checkpoints import samples


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        db.executescript(TABLE + "CREATE TABLE secrets (word TEXT);")
        db.execute(INSERT, values(samples.kept(7)))
        yield db


@pytest.mark.parametrize(
    ("typed", "condition"),
    [
        ("score > 1 % and step > 500", "score > 1 and step > 500"),
        ("score < −0.5 %", "score < -0.5"),
        ("saved >= 2026-11-14", "saved >= '2026-11-14'"),
        ("candle < 2026-11-14 09:30 and best", "candle < '2026-11-14 09:30' and best"),
        ("note = '5 % − 2026-11-14'", "note = '5 % − 2026-11-14'"),
        ("Best", "Best"),
        ("symbol like '%ETH%'", "symbol like '%ETH%'"),
        ("score is null", "score is null"),
    ],
)
def test_a_condition_is_given_to_sqlite_with_numbers_and_dates_as_rows_show_them(typed: str, condition: str) -> None:
    assert parse(typed) == Filter(condition, {})


@pytest.mark.parametrize(
    ("typed", "condition"),
    [
        ("adds > 0,5 %", "adds > 0.5"),
        ("loss < 0,25 and note = '0,25'", "loss < 0.25 and note = '0,25'"),
        ("adds > 0.5", "adds > 0.5"),
        ("step in (100,200)", "step in (100,200)"),
    ],
)
def test_a_decimal_comma_is_read_where_the_language_writes_it(typed: str, condition: str) -> None:
    assert parse(typed, has_decimal_comma=True) == Filter(condition, {})


@pytest.mark.parametrize("typed", ["step > 12,340", "adds > 1,2,3"])
def test_what_may_be_another_number_is_refused_in_any_language(typed: str) -> None:
    with pytest.raises(FilterError):
        parse(typed, has_decimal_comma=True)


def test_a_tag_in_a_text_is_a_text() -> None:
    assert parse("note = 'a tag:keep'") == Filter("note = 'a tag:keep'", {})


@pytest.mark.parametrize("typed", ["halved rate", "don't", "in use", "what is this", "12,340", "50 %", 'a "b'])
def test_plain_words_are_a_search(typed: str) -> None:
    found = parse(typed)
    assert found is not None and " ".join(found.parameters.values()) == typed


def test_an_empty_text_is_no_filter() -> None:
    assert parse("") is parse("  ") is None


COLUMN_NAMES = (
    "Columns: step, candle, saved, reason, adds, evaluated, evaluated_on, loss, coverage, direction, gradients, size, "
    "run, symbol, venue, interval, device, parent, name, tags, note, pinned, best, in_use, known_good, verified, "
    "damaged, archived, age."
)


@pytest.mark.parametrize(
    ("typed", "matches", "sentence"),
    [
        ("note:night", 0, "No text has “note:” in it. To look into this column, compare: note like '%night%'."),
        ("colour: red", 0, f"No text has “colour:” in it, and there is no such column. {COLUMN_NAMES}"),
        ("cuda:0", 3, ""),
        ("tag:keep", 0, ""),
        ("halved rate", 0, ""),
        ("score > 6", 2, f"The table does not show the score, which only ranks checkpoints. {COLUMN_NAMES}"),
        ("note = 'score'", 2, ""),
        ("", 7, ""),
    ],
)
def test_a_filter_that_may_not_find_what_was_meant_says_so(typed: str, matches: int, sentence: str) -> None:
    assert hint(parse(typed), matches) == sentence


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("scoree > 1", "There is no column “scoree”; did you mean “score”?"),
        ("symbol = BTC/USDT", f"There is no column “BTC”; a text needs quotation marks: 'BTC'. {COLUMN_NAMES}"),
        ("step >", "The filter is not complete: a value or a parenthesis is missing."),
        ("(step > 5", "The filter is not complete: a value or a parenthesis is missing."),
        ("note = 'x", "A text in the filter has no closing quotation mark."),
        ("step > 12,340", "“12,340” may be 12340 or 12.340: write one of them."),
        ("adds > 0,5 %", "“0,5” is not a number here: it is written without a comma, as 0.5 or 12000."),
        ("(adds > 0,25)", "“0,25” is not a number here: it is written without a comma, as 0.5 or 12000."),
        ("step > 3 " + "a" * LONGEST, f"The filter is longer than {LONGEST:,} characters; make it shorter."),
    ],
)
def test_a_fault_is_one_sentence_with_a_way_out(typed: str, sentence: str) -> None:
    with pytest.raises(FilterError) as refused:
        parse(typed)
    assert str(refused.value) == sentence


def test_a_unit_is_refused_with_the_way_to_write_it() -> None:
    with pytest.raises(FilterError, match=r"near “MB”\. Numbers have no unit.*size > 5"):
        parse("size > 5 MB")


@pytest.mark.parametrize(
    "typed",
    [
        "1 = (SELECT count(*) FROM secrets)",
        "1 = (SELECT count(*) FROM sqlite_master)",
        "1 = (SELECT count(*) FROM pragma_database_list)",
        "load_extension('x') = 1",
        "randomblob(1000000000) = 1",
        "printf('%1000000000d', 1) = 1",
        "step > (WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n)",
        "1=1); DELETE FROM checkpoints; --",
        "1=1); ATTACH '/tmp/other.db' AS other; --",
        "1=1); PRAGMA query_only = 1; --",
        "1=1); VACUUM INTO '/tmp/copy.db'; --",
    ],
)
def test_a_filter_reads_the_table_and_does_nothing_else(db: sqlite3.Connection, typed: str) -> None:
    with pytest.raises(FilterError):
        matching(db, Filter(typed, {}), 0)
    assert db.execute("SELECT count(*) FROM checkpoints").fetchone() == (1,), "the connection is free again"


def test_a_filter_that_takes_too_long_is_ended() -> None:
    many = samples.many(2_000)
    slow = parse(
        "1 < (select count(*) from checkpoints a, checkpoints b, checkpoints c where a.step < b.step + c.step)"
    )
    with pytest.raises(FilterError, match="takes too long"):
        many.rows(slow)
    assert len(many.rows(parse("step >= 0"))) == 2_000


@given(st.text(max_size=60) | st.text(alphabet="step>best()andnot '\"%0123456789-;", max_size=40))
def test_any_text_is_a_filter_or_a_sentence(typed: str) -> None:
    try:
        parse(typed)
    except FilterError as error:
        assert str(error)[-1] in ".?"


@pytest.mark.parametrize(
    ("typed", "completion"),
    [
        ("cov", Completion(0, ("coverage",))),
        ("adds > 1 and ad", Completion(13, ("adds", "adds_low", "adds_high"))),
        ("PIN", Completion(0, ("pinned",))),
        ("note = 'cov", Completion(8, ())),
        ("coverage", Completion(0, ())),
    ],
)
def test_names_of_columns_are_suggested(typed: str, completion: Completion) -> None:
    found = complete(typed, len(typed))
    assert (found.start, set(found.words)) == (completion.start, set(completion.words))


def test_everything_is_suggested_for_an_empty_filter() -> None:
    assert complete("", 0).words == NAMES and len(set(NAMES)) == len(COLUMNS) + 1
