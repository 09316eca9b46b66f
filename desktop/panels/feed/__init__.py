"""The Feed dock: the connection's state, its events, and the candles that were rejected."""
