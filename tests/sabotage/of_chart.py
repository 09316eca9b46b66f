"""Faults in the chart, and in what the window lays on it."""

from __future__ import annotations

from tests.sabotage.fault import Fault

FAULTS = (
    Fault(
        "view-of-a-pane-off-by-a-candle",
        "desktop/chart/panes/box.py",
        "half = _HALF_PX / frame.spacing",
        "half = 1.0",
    ),
    Fault(
        "kept-items-left-out-of-an-export",
        "desktop/chart/items/kept.py",
        "if not self.shown.is_kept:\n            super().paint",
        "if self.shown.is_kept:\n            super().paint",
    ),
    Fault(
        "grouped-candle-at-its-left-edge",
        "desktop/chart/data/columns.py",
        "* group + (group - 1) / 2.0",
        "* group",
    ),
    Fault(
        "overlapping-holes-counted-twice",
        "desktop/chart/data/holes.py",
        "found[1:, 0] > reach[:-1]",
        "found[1:, 0] >= found[:-1, 0]",
    ),
    Fault(
        "marker-at-the-next-candle",
        "desktop/chart/data/markers.py",
        'side="right").astype(np.int64) - 1',
        'side="right").astype(np.int64)',
    ),
    Fault(
        "measured-from-the-end",
        "desktop/chart/data/measurement.py",
        "share=change / start.price if start.price",
        "share=change / end.price if start.price",
    ),
    Fault(
        "past-error-with-the-wrong-sign",
        "desktop/chart/data/past.py",
        "self.actual_close / self.close - 1.0",
        "self.close / self.actual_close - 1.0",
    ),
    Fault(
        "regime-of-the-candle-before",
        "desktop/chart/data/regimes.py",
        "self._sums[row + 1] - self._sums[row]",
        "self._sums[row] - self._sums[row - 1]",
    ),
    Fault(
        "heikin-ashi-from-the-first-in-view",
        "desktop/chart/data/shapes.py",
        "begin = max(0, first - _WARM_UP * group)",
        "begin = first",
    ),
    Fault(
        "flat-candle-falls",
        "desktop/chart/drawing/geometry.py",
        "    rising = drawn.close >= drawn.open\n    return CandleRects",
        "    rising = drawn.close > drawn.open\n    return CandleRects",
    ),
    Fault(
        "frame-clock-that-is-never-stopped",
        "desktop/chart/frame_clock.py",
        "        self._dirty = Dirty.NOTHING\n        self._timer.stop()",
        "        self._dirty = Dirty.NOTHING",
    ),
    Fault(
        "array-and-number-a-pixel-apart",
        "desktop/chart/framing/pane.py",
        "exact = self.inner_bottom - 1 - self.shown.shares(values) * self.height",
        "exact = self.inner_bottom - self.shown.shares(values) * self.height",
    ),
    Fault(
        "panes-take-the-whole-chart",
        "desktop/chart/framing/pane_heights.py",
        "min(1.0, _MOST_FOR_ALL / total)",
        "max(1.0, _MOST_FOR_ALL / total)",
    ),
    Fault(
        "ghosts-out-of-the-range",
        "desktop/chart/framing/builder.py",
        "            if lowest < placed.index < highest:",
        "            if placed.index < lowest:",
    ),
    Fault(
        "price-axis-stretched-the-wrong-way",
        "desktop/chart/handling/axes.py",
        "_STRETCH_PER_HEIGHT * (y - at.position.y())",
        "_STRETCH_PER_HEIGHT * (at.position.y() - y)",
    ),
    Fault(
        "pan-that-runs-out-backwards",
        "desktop/chart/handling/pan.py",
        "before - self._speed * elapsed / self._scale.spacing",
        "before + self._speed * elapsed / self._scale.spacing",
    ),
    Fault(
        "cursor-steps-out-of-the-candles",
        "desktop/chart/handling/key_cursor.py",
        "index = min(max(wanted, 0), self._last())",
        "index = max(wanted, 0)",
    ),
    Fault(
        "late-candles-push-the-view",
        "desktop/chart/handling/view_anchor.py",
        "return 0 if found is None else found - index",
        "return 0 if found is None else index - found",
    ),
    Fault(
        "countdown-to-the-open",
        "desktop/chart/labels/countdown.py",
        "series.interval.close_time_ms(forming.open_time_ms) - self._clock.now_ms()",
        "forming.open_time_ms - self._clock.now_ms()",
    ),
    Fault(
        "change-against-its-own-close",
        "desktop/chart/labels/readout.py",
        "base = candle.open if close_before is None else close_before",
        "base = candle.close if close_before is None else close_before",
    ),
    Fault(
        "hole-the-exchange-has-none-of",
        "desktop/chart/layers/grid.py",
        "model.holes.within_ms(first_ms, stop_ms) == stop_ms - first_ms",
        "model.holes.within_ms(first_ms, stop_ms) > 0",
    ),
    Fault(
        "percent-as-a-fraction",
        "desktop/chart/scales/price_scale.py",
        "return (value / self.base - 1.0) * 100.0",
        "return value / self.base - 1.0",
    ),
    Fault(
        "zoom-about-the-wrong-place",
        "desktop/chart/scales/time_scale.py",
        "self.pan_to(index + (self._width - x) / self._spacing)",
        "self.pan_to(index + x / self._spacing)",
    ),
    Fault(
        "time-axis-in-utc",
        "desktop/chart/scales/time_axis.py",
        "moment = wall.replace(tzinfo=time_zone) if time_zone is not None else",
        "moment = wall.replace(tzinfo=UTC) if time_zone is not None else",
    ),
    Fault(
        "prices-below-zero",
        "desktop/chart/scales/held_range.py",
        "low, high = max(low, lowest), min(high, highest)",
        "low, high = min(low, lowest), min(high, highest)",
    ),
    Fault(
        "alert-noted-but-not-announced",
        "desktop/charting/alerts.py",
        "                    if after.crossed_at_ms is not None:",
        "                    if after.crossed_at_ms is None:",
    ),
    Fault(
        "market-time-in-seconds",
        "desktop/charting/alerts.py",
        "round(1000.0 * (self._clock.monotonic_s() - self._seen_at_s))",
        "round(self._clock.monotonic_s() - self._seen_at_s)",
    ),
    Fault(
        "coarse-candles-not-synced",
        "desktop/charting/candles.py",
        "            self._coarse.sync()\n            self._show_forming()",
        "            self._show_forming()",
    ),
    Fault(
        "history-not-connected",
        "desktop/charting/candles.py",
        "        history.loaded.connect(self._on_history)\n",
        "",
    ),
    Fault(
        "export-that-cannot-be-cancelled",
        "desktop/charting/csv_writer.py",
        "        self._cancelled.set()\n",
        "        self._cancelled.is_set()\n",
    ),
    Fault(
        "undo-of-a-drag-in-small-steps",
        "desktop/charting/line_book.py",
        "self._merges_with == stored.line_id:",
        "self._merges_with != stored.line_id:",
    ),
    Fault(
        "date-read-in-the-wrong-zone",
        "desktop/charting/go_to_date.py",
        "wall.astimezone() if zone is None else wall.replace(tzinfo=zone)",
        "wall.astimezone(zone)",
    ),
    Fault(
        "incident-at-the-step-after",
        "desktop/charting/markers.py",
        'at_ms, side="right")) - 1',
        'at_ms, side="right"))',
    ),
    Fault(
        "old-forecast-drawn-as-new",
        "desktop/chart/layers/forecast.py",
        "if model.forecast_age or _oddity(model):",
        "if _oddity(model):",
    ),
)
