"""Faults in what candles and trades come through, and in what is worked out of them at once."""

from __future__ import annotations

from tests.sabotage.fault import Fault

FAULTS = (
    Fault(
        "first-candle-of-a-stream-is-whole",
        "core/market/aggregate.py",
        "self._earliest_ms < open_time_ms",
        "self._earliest_ms <= open_time_ms",
    ),
    Fault(
        "late-trade-of-the-newest-closed-candle",
        "core/market/aggregate.py",
        "self._open_ms(trade.time_ms) <= self._closed_ms",
        "self._open_ms(trade.time_ms) < self._closed_ms",
    ),
    Fault(
        "alert-at-the-exact-price",
        "core/market/alerts.py",
        "high >= line.price if line.direction is Direction.UP",
        "high > line.price if line.direction is Direction.UP",
    ),
    Fault(
        "alert-by-the-range-before-it-was-armed",
        "core/market/alerts.py",
        "high = high if high > known.high else candle.close",
        "high = max(high, candle.close)",
    ),
    Fault(
        "pyramid-cell-of-an-odd-candle",
        "core/market/pyramid.py",
        "    if right == count:\n",
        "    if right > count:\n",
    ),
    Fault(
        "resampled-low-of-the-forming-candle",
        "core/market/resample.py",
        "min(closed.low, forming.low)",
        "min(closed.low, forming.close)",
    ),
    Fault(
        "of-equal-times-the-first-stays",
        "core/market/series.py",
        "is_last = np.append(times[1:] != times[:-1], True)",
        "is_last = np.append(True, times[1:] != times[:-1])",
    ),
    Fault(
        "rejected-jump-becomes-the-measure",
        "core/market/validate.py",
        "self._suspect_close = candle.close if reason is RejectionReason.JUMP else None",
        "self._last_close = self._suspect_close = candle.close if reason is RejectionReason.JUMP else None",
    ),
    Fault(
        "volume-not-checked-for-finite",
        "core/market/validate.py",
        "if not all(map(math.isfinite, (*prices, candle.volume))):",
        "if not all(map(math.isfinite, prices)):",
    ),
    Fault(
        "utc-offset-of-the-wrong-sign",
        "core/market/times.py",
        "TimesRead(read.ms - _offsets_ms(offset), read.is_bad)",
        "TimesRead(read.ms + _offsets_ms(offset), read.is_bad)",
    ),
    Fault(
        "told-before-it-is-stored",
        "core/market/pipeline.py",
        "        self._store.save(self._feed.market, candles)\n",
        "        asyncio.get_running_loop().call_soon(self._store.save, self._feed.market, candles)\n",
    ),
    Fault(
        "feed-left-open",
        "core/market/pipeline.py",
        "            await self._close()\n            if",
        "            if",
    ),
    Fault(
        "asked-for-wait-cut-short",
        "core/market/feeds/backoff.py",
        "return max(at_least_s, doubled_s",
        "return min(at_least_s or doubled_s, doubled_s",
    ),
    Fault(
        "second-wait-shortens-the-first",
        "core/market/feeds/holds.py",
        "until_s > self._until_s:",
        "until_s < self._until_s:",
    ),
    Fault(
        "candle-passed-on-twice",
        "core/market/feeds/ledger.py",
        "candle.open_time_ms <= self.position_ms:",
        "candle.open_time_ms < self.position_ms:",
    ),
    Fault(
        "compared-milliseconds-after-the-close",
        "core/market/feeds/ledger.py",
        "int(age_ms >= 1000.0 * times.check_s)",
        "int(age_ms >= times.check_s)",
    ),
    Fault(
        "correction-believed-at-first-sight",
        "core/market/feeds/ledger.py",
        "if passed.doubt is None or not _is_same(passed.doubt, row):",
        "if passed.doubt is not None and not _is_same(passed.doubt, row):",
    ),
    Fault(
        "unfinished-candle-taken-for-closed",
        "core/market/feeds/requests.py",
        "Page(sound if is_final else sound[:-1], newest_ms, refused, is_cut)",
        "Page(sound[:-1] if is_final else sound, newest_ms, refused, is_cut)",
    ),
    Fault(
        "clock-doubt-in-seconds",
        "core/market/feeds/server_clock.py",
        "(now_s - asked_s) * 500.0",
        "(now_s - asked_s) * 0.5",
    ),
    Fault(
        "settled-with-less-volume-than-shown",
        "core/market/feeds/settle.py",
        "found.volume < shown.volume",
        "found.volume > shown.volume",
    ),
    Fault(
        "older-view-of-the-forming-candle",
        "core/market/feeds/forming.py",
        "if known is None or candle.volume >= known.volume:",
        "if known is None or candle.volume <= known.volume:",
    ),
    Fault(
        "retry-after-ignored",
        "core/market/feeds/trouble.py",
        "wait_s=asked_s or _SLOW_DOWN_WAIT_S,",
        "wait_s=_SLOW_DOWN_WAIT_S,",
    ),
    Fault(
        "change-of-the-day-in-percent",
        "core/market/feeds/tickers.py",
        "return self.last / self.day.day_ago - 1.0",
        "return 100.0 * (self.last / self.day.day_ago - 1.0)",
    ),
    Fault(
        "ticker-source-not-closed",
        "core/market/feeds/ticker_poller.py",
        "            await source.close()\n",
        "            pass\n",
    ),
    Fault(
        "one-failed-look-ends-the-stream",
        "core/market/feeds/watch.py",
        "self._failed_looks >= _MOST_FAILED_LOOKS",
        "self._failed_looks <= _MOST_FAILED_LOOKS",
    ),
    Fault(
        "replay-repeats-the-stored-candle",
        "core/market/feeds/replay.py",
        "candle.open_time_ms > after_ms]",
        "candle.open_time_ms >= after_ms]",
    ),
    Fault(
        "closing-cancels-nobody",
        "core/market/feeds/closing.py",
        "            task.cancel()\n",
        "            task.done()\n",
    ),
    Fault(
        "backfill-of-what-has-just-closed",
        "core/market/history/backfilling.py",
        "source.now_ms() - forming_ms >= _GRACE_MS",
        "source.now_ms() - forming_ms <= _GRACE_MS",
    ),
    Fault(
        "first-answer-forgotten",
        "core/market/history/backfilling.py",
        "            found |= again\n",
        "            found = again\n",
    ),
    Fault(
        "import-of-a-candle-that-is-not-over",
        "core/market/history/importing.py",
        "table.columns.open_time_ms + market.interval.duration_ms <= now_ms",
        "table.columns.open_time_ms <= now_ms",
    ),
    Fault(
        "hole-begins-a-candle-early",
        "core/market/history/spans.py",
        "Span(int(times[place]) + step_ms, int(times[place + 1]))",
        "Span(int(times[place]), int(times[place + 1]))",
    ),
    Fault(
        "repeated-trade-counted-twice",
        "core/market/history/trades.py",
        "int(known[0]) <= high and int(known[-1]) >= low",
        "int(known[0]) <= low and int(known[-1]) >= high",
    ),
    Fault(
        "bollinger-of-the-sample",
        "core/indicators/calculations.py",
        "np.sqrt(squares / self.period)",
        "np.sqrt(squares / (self.period - 1))",
    ),
    Fault(
        "rsi-of-losses",
        "core/indicators/calculations.py",
        "100.0 * (gains / both)",
        "100.0 * (1.0 - gains / both)",
    ),
    Fault(
        "week-begins-on-thursday",
        "core/indicators/sessions.py",
        "return (open_time_ms - _FIRST_MONDAY_MS) // _WEEK_MS",
        "return open_time_ms // _WEEK_MS",
    ),
    Fault(
        "indicator-forgets-a-late-candle",
        "core/indicators/series.py",
        "first_ms, last_ms = min(first for first, _ in changes), max(last for _, last in changes)",
        "first_ms, last_ms = changes[-1][0], max(last for _, last in changes)",
    ),
)
