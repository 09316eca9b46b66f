"""SQLite (one writer per table) and the weight files next to it."""
