"""A run's record as pandas tables, read-only: for notebooks and the export. No Qt, no torch.

See docs/open-data.md for each column.
"""

from core.run_data.reader import RunData, open_run, runs

__all__ = ["RunData", "open_run", "runs"]
