"""The settings tree: typed, with ranges and units, read from one JSON file, with invalid values replaced."""
