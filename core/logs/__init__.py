"""Log files and crash reports: writing and reading."""
