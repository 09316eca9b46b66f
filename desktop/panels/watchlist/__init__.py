"""The Watchlist dock: its table, its model, and the line that adds a market."""
