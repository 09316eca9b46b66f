"""SQLite (one writer per table) and the weight files beside it."""
