"""How much more skill one run has than another on the same candles: of two settings, models or programs.

    python docs/examples/compare_runs.py FOLDER OTHER

Both are data folders, made for example by `ghostcandle headless --file A.csv --speed 0 --seed 0 --data-dir FOLDER`.
Of each market that both have, the newest runs are compared candle by candle; `all` is their mean. The intervals are
those of `ghostcandle evaluate`. Nothing is written.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

from core.domain.candle import Market
from core.forecast.score import gain
from core.run_data import open_run, runs

QUANTITIES = ("close", "range")
KEY = ["horizon", "target_open_time_ms"]
COLUMNS = ["market", "horizon", "quantity", "n", "percent", "low", "high"]


def newest_runs(folder: Path) -> dict[Market, str]:
    """The id of each market's newest run."""
    return {run.market: run.run_id for run in reversed(runs(folder))}


def judged(folder: Path, run_id: str) -> pd.DataFrame:
    """The losses that count, as in recompute_evaluate.ipynb."""
    with open_run(folder, run_id) as data:
        run, origins, scores = data.run, data.forecasts()["origin_open_time_ms"].unique(), data.scores()
    left_out = 1000 if len(origins) >= 1000 + 300 else 0
    own_mode = "simulated" if run.market.is_simulated else "replay" if run.market.venue == "file" else "live"
    newest = scores.drop_duplicates(KEY, keep="last")
    counts = (newest["mode"] == own_mode) & ~newest["after_gap"] & newest["close_loss_without_the_model"].notna()
    first_ms = origins[left_out] if len(origins) else 0
    own = newest[counts & (newest["target_open_time_ms"] >= first_ms)]
    return own.set_index(KEY)[[f"{name}_loss{of}" for name in QUANTITIES for of in ("", "_reference")]]


def both(folder: Path, other: Path, ours: str, theirs: str) -> pd.DataFrame:
    """The losses of targets that both have, those of a quantity in units of its mean loss of the reference."""
    joined = judged(folder, ours).merge(
        judged(other, theirs), left_index=True, right_index=True, suffixes=("", "_other")
    )
    for name in QUANTITIES:
        those = [column for column in joined if column.startswith(name)]
        joined[those] /= joined.groupby("horizon")[f"{name}_loss_reference"].transform("mean").to_numpy()[:, None]
    return joined


def differences(name: str, losses: pd.DataFrame) -> list[tuple[object, ...]]:
    """Rows of the table, in percent of the reference's loss: above 0 the first run is better."""
    rows: list[tuple[object, ...]] = []
    for horizon, those in losses.groupby("horizon"):
        for quantity in QUANTITIES:
            of = (those[f"{quantity}_loss{run}"].to_numpy() for run in ("", "_other", "_reference"))
            found = gain(*of, int(horizon))
            values = (None if each is None else 100.0 * each for each in (found.value, found.low, found.high))
            rows.append((name, horizon, quantity, found.n, *values))
    return rows


def compare(folder: Path, other: Path) -> pd.DataFrame:
    ours, theirs = newest_runs(folder), newest_runs(other)
    losses = {market: both(folder, other, ours[market], theirs[market]) for market in ours if market in theirs}
    if not losses:
        raise SystemExit("No market is in both folders.")
    rows = [row for market, of_market in losses.items() for row in differences(str(market), of_market)]
    if len(losses) > 1:
        rows += differences("all", pd.concat(losses.values()).groupby(KEY).mean())
    return pd.DataFrame(rows, columns=COLUMNS)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    print(compare(Path(sys.argv[1]), Path(sys.argv[2])).to_string(index=False, float_format="%.2f"))
