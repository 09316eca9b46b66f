"""Candles are passed on once and in order; a later difference seen twice is a correction."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from core.domain.candle import Candle
from core.market.feeds.base import ClosedCandle, CorrectedCandle, MissingCandles, StoredCandles
from core.market.feeds.closed_candles import CandleLedger
from core.market.feeds.timing import ExchangeTimes
from tests.support.candles import MINUTE, random_walk, without

STEP_MS = MINUTE.duration_ms
WALK = random_walk(400)
FIRST_MS = WALK[0].open_time_ms
LATER_MS = WALK[-1].open_time_ms + 3_600_000


def a_ledger(limit: int | None = None, *, is_known: bool = True) -> CandleLedger:
    ledger = CandleLedger(MINUTE, ExchangeTimes(), limit)
    ledger.place(WALK[0].open_time_ms - STEP_MS, is_known=is_known)
    return ledger


def passed(ledger: CandleLedger, candles: list[Candle]) -> list[object]:
    return [event for candle in candles for event in ledger.pass_on(candle, is_live=False)]


@given(st.permutations(range(12)))
def test_candles_in_any_order_are_passed_on_ascending_and_gaps_counted(order: list[int]) -> None:
    ledger = a_ledger()
    events = passed(ledger, [WALK[index] for index in order])
    times = [event.candle.open_time_ms for event in events if isinstance(event, ClosedCandle)]
    assert times == sorted(set(times))
    missing = sum(event.count for event in events if isinstance(event, MissingCandles))
    assert missing == ledger.missing == (times[-1] - WALK[0].open_time_ms) // STEP_MS + 1 - len(times)


def test_nothing_is_missing_before_the_first_candle_of_a_new_market() -> None:
    assert passed(a_ledger(is_known=False), WALK[5:6]) == [ClosedCandle(WALK[5], False)]
    assert passed(a_ledger(), WALK[5:6])[0] == MissingCandles(WALK[0].open_time_ms, 5)


def test_skipped_candles_are_not_reported_as_missing() -> None:
    ledger = a_ledger()
    passed(ledger, WALK[:3])
    ledger.skip_to(WALK[50].open_time_ms)
    assert passed(ledger, WALK[51:52]) == [ClosedCandle(WALK[51], False)]


def test_the_limit_is_respected() -> None:
    ledger = a_ledger(limit=4)
    assert len(passed(ledger, WALK[:9])) == 4 and ledger.is_full


def test_a_difference_seen_twice_is_one_correction() -> None:
    ledger = a_ledger()
    passed(ledger, WALK[:5])
    changed = replace(WALK[2], close=WALK[2].open, volume=7.0)
    rows = [*WALK[:2], changed, *WALK[3:5]]
    assert ledger.compare(rows, LATER_MS, FIRST_MS) == [] and ledger.has_doubts
    assert ledger.compare(rows, LATER_MS, FIRST_MS) == [CorrectedCandle(changed, WALK[2])]
    assert ledger.compare(rows, LATER_MS, FIRST_MS) == [] and not ledger.has_doubts
    assert ledger.corrected == 1


def test_a_candle_whose_row_was_rejected_is_compared_again() -> None:
    """Regression: a correction was missed where the second list had an unreadable row for that candle."""
    ledger = a_ledger()
    passed(ledger, WALK[:5])
    now_ms = WALK[4].open_time_ms + 7 * STEP_MS
    for rows in (WALK[:5], without(WALK[:5], 2)):
        ledger.compare(rows, now_ms, FIRST_MS, is_complete=len(rows) == 5)
    assert ledger.due_from_ms(now_ms) == WALK[2].open_time_ms
    for _ in range(3):
        assert ledger.due_from_ms(now_ms) == WALK[2].open_time_ms
        ledger.compare(without(WALK[:5], 2), now_ms, FIRST_MS, is_complete=False)
    assert ledger.due_from_ms(now_ms) is None, "but not forever"


def test_a_difference_that_disappears_corrects_nothing() -> None:
    ledger = a_ledger()
    passed(ledger, WALK[:2])
    other, third = replace(WALK[1], volume=1.0), replace(WALK[1], volume=2.0)
    for row in (other, WALK[1], other, third, other, WALK[1]):
        assert ledger.compare([row], LATER_MS, FIRST_MS) == []


def test_a_rounding_difference_is_ignored() -> None:
    ledger = a_ledger()
    passed(ledger, WALK[:1])
    printed = replace(WALK[0], volume=WALK[0].volume * (1.0 + 1e-12))
    assert not any(ledger.compare([printed], LATER_MS, FIRST_MS) for _ in range(3))


def test_a_gap_filled_later_is_reported_as_filled() -> None:
    ledger = a_ledger()
    passed(ledger, without(WALK[:6], 3))
    ledger.compare(WALK[:6], LATER_MS, FIRST_MS)
    assert ledger.compare(WALK[:6], LATER_MS, FIRST_MS) == [CorrectedCandle(WALK[3], WALK[3], was_missing=True)]


def test_each_candle_is_compared_twice() -> None:
    ledger = a_ledger()
    passed(ledger, WALK[:1])
    end_ms = WALK[0].open_time_ms + STEP_MS
    due = []
    for after_s in (0, 5, 11, 30, 200, 299, 301, 400, 4000):
        now_ms = end_ms + after_s * 1000
        if ledger.due_from_ms(now_ms) is not None:
            due.append(after_s)
            ledger.compare(WALK[:1], now_ms, FIRST_MS)
    assert due == [11, 301]


def test_candles_of_an_earlier_run_are_compared_too() -> None:
    ledger = CandleLedger(MINUTE, ExchangeTimes())
    hole = WALK[7]
    ledger.place(WALK[9].open_time_ms, is_known=True)
    ledger.seed(StoredCandles(without(WALK[:10], 7), [hole.open_time_ms]))
    assert ledger.look_back_ms() == WALK[5].open_time_ms
    assert ledger.due_from_ms(LATER_MS) == FIRST_MS
    changed = replace(WALK[2], volume=7.0)
    rows = [*WALK[:2], changed, *WALK[3:12]]
    assert ledger.compare(rows, LATER_MS, FIRST_MS) == []
    assert ledger.compare(rows, LATER_MS, FIRST_MS) == [
        CorrectedCandle(changed, WALK[2]),
        CorrectedCandle(hole, hole, was_missing=True),
    ]
    assert ledger.due_from_ms(LATER_MS) is None
    assert passed(ledger, WALK[8:11]) == [ClosedCandle(WALK[10], False)], "nothing comes twice"


def test_memory_is_bounded_and_keeps_uncompared_candles() -> None:
    ledger = a_ledger()
    passed(ledger, WALK[:300])
    assert ledger.due_from_ms(LATER_MS) == WALK[0].open_time_ms
    ledger.compare(WALK[:300], LATER_MS, FIRST_MS)
    passed(ledger, random_walk(3000, start_ms=WALK[300].open_time_ms))
    assert len(ledger._passed) <= 1_024


def test_candles_no_longer_listed_are_not_requested_repeatedly() -> None:
    ledger = a_ledger()
    passed(ledger, WALK[:9])
    for _ in range(2):
        assert ledger.due_from_ms(LATER_MS) is not None, "however late the first comparison comes, it is one"
        ledger.compare(WALK[4:9], LATER_MS, FIRST_MS)
    assert ledger.due_from_ms(LATER_MS) is None
    assert ledger.compare([], LATER_MS, FIRST_MS) == []


def test_a_doubt_is_kept_until_settled_despite_new_candles() -> None:
    ledger = a_ledger()
    passed(ledger, WALK[:9])
    changed = replace(WALK[0], volume=7.0)
    for rows in ([*WALK[:9]], [changed, *WALK[1:9]]):
        assert ledger.compare(rows, LATER_MS, FIRST_MS) == []
    passed(ledger, WALK[9:300])
    assert ledger.compare([changed], LATER_MS, FIRST_MS) == [CorrectedCandle(changed, WALK[0])]


deeds = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 39), st.integers(0, 20), st.booleans(), st.integers(0, 400)),
    max_size=12,
)


@given(deeds)
def test_due_comparisons_equal_a_full_scan(deeds: list[tuple[int, int, int, bool, int]]) -> None:
    ledger, known = a_ledger(), 0
    for count, first, rows, is_other, later_s in deeds:
        passed(ledger, without(WALK[known : known + count], known + count // 2))
        known = min(known + count, len(WALK))
        now_ms = WALK[max(known - 1, 0)].open_time_ms + STEP_MS + 1000 * later_s
        answered = WALK[first : first + rows]
        ledger.compare([replace(each, volume=7.0) if is_other else each for each in answered], now_ms, FIRST_MS)
        of_all = [time_ms for time_ms, each in ledger._passed.items() if ledger._is_due(time_ms, each, now_ms)]
        assert ledger.due_from_ms(now_ms) == min(of_all, default=None)
        assert ledger.has_doubts == any(each.doubt is not None for each in ledger._passed.values())


def test_compared_candles_are_not_scanned_again() -> None:
    ledger = a_ledger()
    passed(ledger, WALK[:300])
    for _ in range(2):
        ledger.compare(WALK[:300], LATER_MS, FIRST_MS)
    assert ledger._passed and not ledger._open
