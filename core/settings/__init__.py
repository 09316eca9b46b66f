"""The settings tree: typed, with ranges and units, read from one JSON file and repaired where it is wrong."""
