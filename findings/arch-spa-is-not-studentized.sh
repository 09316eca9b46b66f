#!/usr/bin/env bash
# Expected: SPA of arch divides each mean loss difference by its deviation, as its option studentize, True by default,
# says ("Flag indicating to studentize loss differentials") and as the statistic of Hansen (2005) does. So a good
# forecast is found however noisy another one in the set is.
# Is: the option changes nothing but the object's description. The statistic is the largest mean difference, undivided,
# so a useless forecast with large errors hides a good one. The deviations decide only which forecasts are re-centred.
# Version: arch 8.0.0, Python 3.11.7. Source: SPA.compute and SPA._simulate_values in bootstrap/multiple_comparison.py
# use self.studentize nowhere.
# Output seen: p-values with studentize=True 0.221, with studentize=False 0.221; of the good forecast alone 0.000; of
# both, each divided by its deviation before, 0.000
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q arch==8.0.0
"$folder/venv/bin/python" - <<'PYTHON'
import numpy as np
from arch.bootstrap import SPA

generator = np.random.default_rng(1)
benchmark = np.ones(3000)
good = 0.98 + 0.1 * generator.standard_normal(3000)  # eleven standard errors better than the benchmark
noisy = 1.0 + 5.0 * generator.standard_normal(3000)  # no better
both = np.column_stack([good, noisy])
scaled = 1.0 - (1.0 - both) / both.std(axis=0)


def p_value(models: np.ndarray, studentize: bool = True) -> float:
    test = SPA(benchmark, models, block_size=20, reps=1000, studentize=studentize, seed=1)
    test.compute()
    return float(test.pvalues["consistent"])


studentized, raw, alone, divided = p_value(both), p_value(both, False), p_value(good), p_value(scaled)
print(
    f"p-values with studentize=True {studentized:.3f}, with studentize=False {raw:.3f}; of the good forecast alone "
    f"{alone:.3f}; of both, each divided by its deviation before, {divided:.3f}"
)
assert studentized == raw and studentized > 0.05
assert alone < 0.001 and divided < 0.001
PYTHON
