"""Sources of candles, their way into the database, and data derived from them."""
