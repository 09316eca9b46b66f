"""Sources of candles, their way into the database, and what is derived from them."""
