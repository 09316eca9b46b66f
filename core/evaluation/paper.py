"""The paper score: the result of a fixed rule on the forecasts, after costs. No order was ever placed.

The rule, decided at each close for the next candle: long if the forecast median rises by more than the cost of one
trade, short if it falls by more, else flat. A change of the position by one unit (from flat to long, say) is one trade
and pays the cost once; from long to short it is two. Positions end before a gap.

The headline is the break-even cost: the highest cost of a trade at which the rule, applied without regard to costs,
does not lose. It needs no assumption on a venue's fees.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.domain.candle import Interval
from core.domain.events import Estimate
from core.domain.quantities import MEDIAN, FloatArray, Quantity
from core.forecast.sample_sizes import FEWEST_FOR_AN_ESTIMATE
from core.forecast.score import mean, ratio
from core.settings.paper import PaperSettings
from core.storage.record_reader import RecordReader
from core.storage.runs import Run
from core.training.online.trainer_spec import own_mode_of

TRADE_COST = PaperSettings().of_a_trade
"""The cost of a trade for the rule with costs, by default."""
_ALL = 2**63 - 1


@dataclass(frozen=True, slots=True)
class PaperScore:
    """The score over n candles. Log returns of one unit; costs as a share of a trade's value.

    break_even: the cost of a trade at which the rule without costs ends at zero; None if it never trades, without
    an interval if it trades too rarely for one.
    net: mean return a candle after costs. turnover: trades a candle. drawdown: the largest fall of the summed net
    returns below an earlier value.
    """

    n: int
    break_even: Estimate
    cost: float
    net: Estimate
    net_total: float | None
    turnover: float | None
    drawdown: float | None
    time_in_market: float | None
    """Share of candles with a position."""


def paper_score_of(reader: RecordReader, run: Run, from_ms: int, cost: float) -> PaperScore:
    """The score of the run's own next-candle forecasts with targets from `from_ms` on. Raises StorageError."""
    past = reader.past_forecasts(1, from_ms, _ALL, _ALL)
    if not len(past):
        return paper_score(np.empty(0), np.empty(0), np.empty(0, dtype=np.bool_), cost)
    opened, closes, _ = reader.origins()
    places = np.searchsorted(opened, past.target_open_time_ms)
    is_known = np.append(opened, -1)[places] == past.target_open_time_ms
    is_own = np.array([mode is own_mode_of(run.market) for mode in past.mode], dtype=np.bool_)
    chosen = is_known & is_own & ~past.after_gap
    targets = past.target_open_time_ms[chosen]
    returns = np.log(closes[places[chosen]] / past.origin_close[chosen])
    return paper_score(
        past.quantiles[chosen, Quantity.CLOSE, MEDIAN], returns, directly_after(targets, run.market.interval), cost
    )


def directly_after(open_time_ms: NDArray[np.int64], interval: Interval) -> NDArray[np.bool_]:
    """Whether each candle [n] comes directly after the one before it in the array."""
    follows: NDArray[np.bool_] = np.diff(open_time_ms, prepend=open_time_ms[:1]) == interval.duration_ms
    return follows


def paper_score(medians: FloatArray, returns: FloatArray, follows: NDArray[np.bool_], cost: float) -> PaperScore:
    """medians, returns: [n], forecast and actual log returns of the next close, in time order. follows: [n], whether
    the candle comes directly after the previous one; if not, no position is carried over. cost: a trade's, >= 0."""
    n = medians.size
    free, charged = _positions(medians, 0.0), _positions(medians, cost)
    break_even = _bounded(ratio(free * returns, _trades(free, follows)))
    if n < FEWEST_FOR_AN_ESTIMATE:
        return PaperScore(n, break_even, cost, Estimate(None, None, None, n), None, None, None, None)
    trades = _trades(charged, follows)
    net = charged * returns - cost * trades
    total = np.concatenate([[0.0], np.cumsum(net)])
    return PaperScore(
        n=n,
        break_even=break_even,
        cost=cost,
        net=mean(net),
        net_total=float(net.sum()),
        turnover=float(trades.mean()),
        drawdown=float((np.maximum.accumulate(total) - total).max()),
        time_in_market=float(np.count_nonzero(charged)) / n,
    )


def _bounded(cost: Estimate) -> Estimate:
    """The cost, without an interval that reaches beyond a trade's whole value: such a resample has next to no trade."""
    ends = (cost.low, cost.high)
    is_known = all(end is not None and abs(end) < 1.0 for end in ends)
    return cost if is_known else Estimate(cost.value, None, None, cost.n)


def _positions(medians: FloatArray, cost: float) -> FloatArray:
    """1 long, -1 short, 0 flat: [n]."""
    positions: FloatArray = np.sign(medians) * (np.abs(medians) > cost)
    return positions


def _trades(positions: FloatArray, follows: NDArray[np.bool_]) -> FloatArray:
    """Units traded for each candle: [n]. A position that is not carried over, and the last one, is closed with
    its candle."""
    carried = np.where(follows, np.concatenate([[0.0], positions[:-1]]), 0.0) if positions.size else positions
    opened = np.abs(positions - carried)
    is_last = np.append(~follows[1:], True) if positions.size else follows
    trades: FloatArray = opened + np.where(is_last, np.abs(positions), 0.0)
    return trades
