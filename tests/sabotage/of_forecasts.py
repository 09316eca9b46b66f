"""Faults in forecasts, scores, checkpoints and reports."""

from __future__ import annotations

from tests.sabotage.fault import Fault

FAULTS = (
    Fault(
        "calibration-step-of-the-wrong-side",
        "core/forecast/calibrate.py",
        "rates * (too_often + _SHARED * shared)",
        "-rates * (too_often + _SHARED * shared)",
    ),
    Fault(
        "bias-of-the-horizon-before",
        "core/forecast/calibrate.py",
        "self._bias[rows] = np.clip",
        "self._bias[rows - 1] = np.clip",
    ),
    Fault(
        "expert-rewarded-for-losing",
        "core/forecast/expert_weights.py",
        "slope * (mixture - quantiles) / unit",
        "slope * (quantiles - mixture) / unit",
    ),
    Fault(
        "quantiles-cross",
        "core/forecast/expert_weights.py",
        "combined: FloatArray = np.sort((self._weights * quantiles).sum(axis=0), axis=-1)",
        "combined: FloatArray = (self._weights * quantiles).sum(axis=0)",
    ),
    Fault(
        "coarse-candle-in-its-own-units",
        "core/forecast/coarse.py",
        "before = max(row - size, 0)",
        "before = row",
    ),
    Fault(
        "leverage-of-rises",
        "core/forecast/garch.py",
        "self._fall_share if log_return < 0.0",
        "self._fall_share if log_return > 0.0",
    ),
    Fault(
        "ghost-wicks-swapped",
        "core/forecast/ghosts.py",
        "upper + (rest - both) / 2.0",
        "lower + (rest - both) / 2.0",
    ),
    Fault(
        "normalised-by-the-candle-itself",
        "core/forecast/history.py",
        "past = row - 1 if row else row",
        "past = row",
    ),
    Fault(
        "range-normalised-by-its-own-level",
        "core/forecast/history.py",
        '(now["log_range"] if range_before is None else range_before)',
        'now["range_level"]',
    ),
    Fault(
        "target-across-a-hole",
        "core/forecast/history.py",
        'same_segment = self.column("segment")[safe] ==',
        'same_segment = self.column("segment")[safe] >=',
    ),
    Fault(
        "targets-a-candle-early",
        "core/forecast/history.py",
        "np.arange(1, self.horizons + 1)",
        "np.arange(self.horizons)",
    ),
    Fault(
        "covariance-plus-the-mean",
        "core/forecast/novelty.py",
        "self._products / self._weight - np.outer(mean, mean)",
        "self._products / self._weight + np.outer(mean, mean)",
    ),
    Fault(
        "width-linear-in-the-horizon",
        "core/domain/quantities.py",
        "root = np.sqrt(np.arange(1, horizons + 1, dtype=np.float64))",
        "root = np.arange(1, horizons + 1, dtype=np.float64)",
    ),
    Fault(
        "calm-called-volatile",
        "core/forecast/regime.py",
        "order = [calm, trending, volatile]",
        "order = [volatile, trending, calm]",
    ),
    Fault(
        "pinball-of-the-opposite-level",
        "core/forecast/score.py",
        "np.maximum(LEVELS * error, (LEVELS - 1.0) * error)",
        "np.maximum((1.0 - LEVELS) * error, -LEVELS * error)",
    ),
    Fault(
        "skill-of-too-few-candles",
        "core/forecast/score.py",
        "    if n < FEWEST_FOR_AN_ESTIMATE or total <= 0.0:\n        return Estimate(None, None, None, n)\n    sums",
        "    if total <= 0.0:\n        return Estimate(None, None, None, n)\n    sums",
    ),
    Fault(
        "chain-transposed",
        "core/forecast/switching.py",
        "likely.append(likely[-1] @ chain)",
        "likely.append(chain @ likely[-1])",
    ),
    Fault(
        "one-time-of-day-too-many",
        "core/forecast/seasons.py",
        "open_time_ms // self._width_ms % buckets",
        "open_time_ms // self._width_ms % (buckets + 1)",
    ),
    Fault(
        "returns-across-a-hole",
        "core/forecast/conditions.py",
        "is_after_gap = row > 0 and bool(segment[row] != segment[row - 1])",
        "is_after_gap = row > 0 and bool(segment[row] == segment[row - 1])",
    ),
    Fault(
        "accuracy-counts-the-warm-up",
        "core/evaluation/running.py",
        'columns["target_open_time_ms"] >= self._from_ms',
        'columns["target_open_time_ms"] >= 0',
    ),
    Fault(
        "reliability-counts-exceedances",
        "core/evaluation/assess.py",
        "(outcome[:, None] <= quantiles).astype",
        "(outcome[:, None] >= quantiles).astype",
    ),
    Fault(
        "accuracy-loses-the-newest-when-full",
        "core/evaluation/columns.py",
        "first = self._size - kept",
        "first = 0",
    ),
    Fault(
        "unproven-checkpoint-is-best",
        "core/checkpoints/catalog.py",
        'is_sound = (self.number("wrecked") == 0.0) & ',
        "is_sound = ",
    ),
    Fault(
        "not-equal-includes-the-unknown",
        "core/checkpoints/catalog.py",
        "(values != value) & ~np.isnan(values)",
        "values != value",
    ),
    Fault(
        "larger-loss-is-better",
        "core/checkpoints/compare.py",
        '"loss": -1.0',
        '"loss": 1.0',
    ),
    Fault(
        "package-with-a-pickle-accepted",
        "core/checkpoints/package.py",
        "if Path(name).suffix.lower() in PICKLE_SUFFIXES:",
        "if Path(name).suffix in PICKLE_SUFFIXES:",
    ),
    Fault(
        "table-cell-not-escaped",
        "core/checkpoints/package.py",
        'return " ".join(text.replace("|", "/").split())',
        'return " ".join(text.split())',
    ),
    Fault(
        "quantiles-moved-by-ties",
        "core/forecast/calibrate.py",
        "np.abs(shown - shown[..., MEDIAN, None]) > _TIE",
        "np.broadcast_to(LEVELS != 0.5, shown.shape)",
    ),
    Fault(
        "no-change-from-moves-with-their-sign",
        "core/forecast/reference_forecast.py",
        "outcomes[SIGNED] = np.abs(outcomes[SIGNED])",
        "pass",
    ),
    Fault(
        "others-with-the-market-itself",
        "core/forecast/other_markets.py",
        "(newest.sum(axis=0) - newest) / (len(markets) - 1)",
        "(newest.sum(axis=0) + 0.0 * newest) / len(markets)",
    ),
    Fault(
        "markets-pooled-without-units",
        "core/evaluation/pooled.py",
        "return losses / scale if scale > 0.0 else losses",
        "return losses",
    ),
    Fault(
        "pooled-as-if-independent",
        "core/evaluation/pooled.py",
        "    times = np.concatenate([_target_times(market) for market in markets])\n",
        "    times = np.arange(sum(len(market.scores) for market in markets))\n",
    ),
    Fault(
        "forecast-of-the-first-market-for-all",
        "core/training/online/forecaster.py",
        "return tuple(each.with_corrections(own) for each, own",
        "return tuple(each.with_corrections(corrections[0]) for each, own",
    ),
    Fault(
        "closes-by-market",
        "core/training/hosting/together.py",
        "key=lambda each: (each[1].open_time_ms, each[0])",
        "key=lambda each: (each[0], each[1].open_time_ms)",
    ),
)
