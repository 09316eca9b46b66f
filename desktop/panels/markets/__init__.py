"""The Markets dock: its table, its model, and the line that adds a market."""
