#!/usr/bin/env bash
# Expected: an index that was a column before set_index is a column of the file that to_parquet and to_feather write.
# Is: pandas 3.1.1 makes a range of evenly spaced integers, such as the times of candles, and pyarrow writes a range as
# three numbers in the file's metadata (pandas-dev/pandas#25672). Other readers find no such column, and pyarrow itself
# gives the index back for the file as a whole, not for a part of it.
# Version: pandas 2.3.3 and 3.1.1 with pyarrow 26.0.1, Python 3.11.7. Source: the columns of the files.
# Output seen, the same for Feather: 2.3.3 parquet: columns ['open', 'time'], index of two rows [1763164800000,
# 1763164860000]; 3.1.1 parquet: columns ['open'], index of two rows [0, 1]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for version in 2.3.3 3.1.1; do
    python3 -m venv "$folder/$version"
    "$folder/$version/bin/pip" install -q "pandas==$version" pyarrow==26.0.1
    "$folder/$version/bin/python" - "$folder" <<'PYTHON'
import sys
from pathlib import Path

import pandas as pd
import pyarrow as pa
from pyarrow import feather, parquet

path = Path(sys.argv[1]) / "candles"
times = [1_763_164_800_000 + 60_000 * minute for minute in range(4)]
frame = pd.DataFrame({"time": times, "open": 100.0}).set_index("time")
frame.to_parquet(path)
of_parquet = parquet.read_table(path)
frame.to_feather(path)
of_feather = feather.read_table(path)
is_new = pd.__version__ == "3.1.1"
assert is_new or pd.__version__ == "2.3.3"
for form, table in {"parquet": of_parquet, "feather": of_feather}.items():
    whole, part = table.to_pandas().index.tolist(), table.slice(0, 2).to_pandas().index.tolist()
    print(f"{pd.__version__} {form}: columns {table.column_names}, index of two rows {part}")
    assert table.column_names == (["open"] if is_new else ["open", "time"])
    assert whole == times and part == ([0, 1] if is_new else times[:2])
PYTHON
done
